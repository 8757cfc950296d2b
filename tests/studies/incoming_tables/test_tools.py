"""Each tool knows its own exports and no other, and says what is in them. A sample of each stands in `samples/`."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.answer_import import roles as answer_roles
from annotation.answer_import.files import ANSWERS
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file, read_pasted
from studies.incoming_tables.formats.delimited import read_delimited
from studies.incoming_tables.formats.tools import all_tools
from studies.incoming_tables.tables import IncomingTable, TableKind
from studies.story_import import columns
from studies.story_import.columns import guess_choices
from studies.story_import.files import STORIES

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
KINDS = {"answers": ANSWERS, "stories": STORIES}
ROLE_KEYS = {
    "answers": {"", *(role.key for role in answer_roles.ROLES)},
    "stories": {role.key for role in columns.ROLES},
}
GULLS = "Nobody had told the gulls."
TIDE = "The tide came in twice that morning."


def tool_of(sample: Path) -> str:
    return max((name for name in all_tools() if sample.stem.startswith(name)), key=len)


def find(name: str) -> Path:
    return next(path for path in SAMPLES if path.name == name)


def read(name: str, kind: TableKind = ANSWERS) -> IncomingTable:
    return read_file(name, find(name).read_bytes(), kind)


def cells(table: IncomingTable, *names: str) -> list[tuple[str, ...]]:
    places = [table.columns.index(name) for name in names]
    return [tuple(row[at] for at in places) for _n, row in table.rows]


def test_every_tool_has_a_sample() -> None:
    assert {tool_of(sample) for sample in SAMPLES} == {*all_tools()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_tool_knows_its_sample_and_gives_hints_about_columns_that_are_there(sample: Path, kind: str) -> None:
    table = read_file(sample.name, sample.read_bytes(), KINDS[kind])
    hints = table.hints

    assert hints["tool"] == all_tools()[tool_of(sample)].title
    assert hints.keys() <= {"tool", "zone", "roles", "names", "left_out"}
    assert {*hints.get("roles", {}), *hints.get("names", {}), *hints.get("left_out", {})} <= {*table.columns}
    assert {*hints.get("roles", {}).values()} <= ROLE_KEYS[kind]
    numbers = table.find_left_out()
    assert {column for column, _value in numbers} == {*hints.get("left_out", {})}
    assert len({n for rows in numbers.values() for n in rows}) < len(table.rows)
    assert IncomingTable.from_text(table.name, table.as_text()).hints == hints


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_no_other_tool_takes_the_sample_for_its_own(sample: Path) -> None:
    content = sample.read_bytes()
    if sample.suffix in (".csv", ".tsv"):
        table = read_delimited(sample.name, content, ANSWERS)
        known_by = [tool.name for tool in all_tools().values() if tool.wrote(table)]
    else:
        words = content.decode()
        first = json.JSONDecoder().raw_decode(words, words.index("{"))[0]
        known_by = [tool.name for tool in all_tools().values() if tool.unpack(first) is not None]

    assert known_by in ([tool_of(sample)], [])
    assert known_by or sample.name == "hugging-face.jsonl"  # whose lines any reader reads; its columns tell


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_cut_file_is_read_or_refused_with_a_sentence(sample: Path) -> None:
    content = sample.read_bytes()
    refusals: list[str] = []

    for end in range(1, len(content), 41):
        try:
            read_file(sample.name, content[:end], ANSWERS)
        except UnreadableFile as refusal:
            refusals.append(str(refusal))

    assert all(refusals)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"responses": []},
        {"responses": [{"a": 1}]},
        {"rows": [3], "features": []},
        {"id": 1, "data": {}, "annotations": [3]},
        {"id": 1, "data": {}, "annotations": [{"result": [3, {"value": 3}, {"value": {}, "from_name": "x"}]}]},
        {"id": 1, "text": "a", "annotations": [{}], "meta": {}},
        {"fields": {"text": {"deep": [[{}]]}}, "responses": {"q": [3], "r": 3}},
        {"q.responses.users": None, "q.responses": 3},
        {"instance_id": [1], "label_annotations": {"q": [1], "r": None}},
        {"_input_hash": None, "_task_hash": None, "answer": {}, "_timestamp": "soon", "accept": {"a": 1}},
    ],
    ids=str,
)
def test_an_entry_of_no_sense_is_not_the_tool_s_or_has_little_in_it(entry: dict[str, Any]) -> None:
    for tool in all_tools().values():
        tasks = tool.unpack(entry)
        assert tasks is None or all(isinstance(task.facts, dict) for task in tasks)


def test_headers_of_qualtrics_are_no_answers_and_previews_stay_out() -> None:
    table = read("qualtrics.csv")

    assert cells(table, "ResponseId", "Q1", "Q2")[:2] == [("R_1a2b3c", "p1s1", "4"), ("R_4d5e6f", "p1s1", "3")]
    assert table.rows[0][0] == 4
    assert table.hints["zone"] == "America/Denver"
    assert table.hints["names"]["Q2"] == "How engaging was it?"
    assert table.find_left_out() == {("Status", "Survey Preview"): (6,), ("Finished", "False"): (7,)}
    roles = table.hints["roles"]
    assert (roles["ResponseId"], roles["EndDate"], roles["StartDate"]) == ("rater", "time", "")


def test_a_participant_s_own_number_is_the_rater_in_qualtrics() -> None:
    content = find("qualtrics.csv").read_text().replace("Q3\n", "PROLIFIC_PID\n", 1)

    assert read_file("a.csv", content.encode(), ANSWERS).hints["roles"]["PROLIFIC_PID"] == "rater"


def test_rows_of_a_grid_are_called_by_what_stands_in_brackets() -> None:
    names = {
        "google-forms.csv": {
            "Please rate the story [Engagement]": "Engagement",
            "Please rate the story [Authenticity]": "Authenticity",
        },
        "limesurvey.csv": {"rate[engagement]": "engagement", "rate[authenticity]": "authenticity"},
        "limesurvey-text.csv": {"Please rate the story. [Engagement]": "Engagement"},
    }

    assert {name: read(name).hints["names"] for name in names} == names


def test_limesurvey_with_codes_and_texts_as_headers_is_known_too() -> None:
    header = "id. Response ID,submitdate. Date submitted,startlanguage. Start language,rate[a]. Rate it [All]"
    hints = read_file("a.csv", f"{header}\n1,2024-05-01 10:00:00,en,4\n".encode(), ANSWERS).hints

    assert hints["roles"]["id. Response ID"] == "rater"
    assert hints["names"]["rate[a]. Rate it [All]"] == "a"


def test_limesurvey_without_dates_has_no_times_and_unsubmitted_responses_stay_out() -> None:
    assert read("limesurvey-text.csv").hints["roles"]["Date submitted"] == ""
    assert read("limesurvey.csv").hints["roles"]["submitdate"] == "time"
    assert read("limesurvey.csv").find_left_out() == {("submitdate", ""): (3,)}
    assert read("limesurvey.json").find_left_out() == {("submitdate", ""): (2,)}


@pytest.mark.parametrize(
    ("header", "ticks"),
    [
        ("record_id,work___1,work___2,work___3,a_complete", ("1", "0", "1")),
        ("Record ID,work (choice=1),work (choice=2),work (choice=3),Complete?", ("Checked", "Unchecked", "Checked")),
    ],
    ids=["raw", "labels"],
)
def test_ticks_of_redcap_are_one_answer(header: str, ticks: tuple[str, ...]) -> None:
    table = read_file("a.csv", f"{header}\n1,{','.join(ticks)},Incomplete\n".encode(), ANSWERS)

    assert cells(table, "work") == [("1; 3",)]
    assert list(table.find_left_out().values()) == [(2,)]


def test_a_record_of_several_forms_stays_in_though_one_is_unfinished() -> None:
    table = read_file("a.csv", b"record_id,q,a_complete,b_complete\n1,4,2,0\n", ANSWERS)

    assert table.hints["tool"] == "REDCap"
    assert table.find_left_out() == {}


def test_what_participants_took_back_is_no_answer_and_returned_submissions_stay_out() -> None:
    table = read("prolific.csv")

    assert cells(table, "Participant id", "Age") == [("5f01", "34"), ("5f02", ""), ("5f03", "41")]
    assert table.find_left_out() == {("Status", "RETURNED"): (4,)}
    assert table.hints["roles"]["Total approvals"] == ""


def test_answers_of_mturk_are_one_column_a_question_and_rejected_assignments_stay_out() -> None:
    table = read("mturk.csv")

    assert cells(table, "WorkerId", "Input.story", "Answer.engagement.label", "Answer.genre") == [
        ("A1B2C3", "p1s1", "4", "horror"),
        ("A9Z8", "p1s1", "2", ""),
        ("A9Z9", "p1s2", "3", "horror; comedy"),
    ]
    assert table.find_left_out() == {("AssignmentStatus", "Rejected"): (3,)}
    assert table.hints["names"]["Answer.engagement.label"] == "engagement"


def test_tasks_of_label_studio_are_one_row_a_judgement() -> None:
    table = read("label-studio.json")

    assert cells(table, "id", "annotator", "created_at", "quality", "engagement", "why", "genre") == [
        ("11", "ann@example.org", "2024-05-01T10:20:00.000000Z", "Good", "4", "The gulls.", "Horror; Comedy"),
        ("11", "2", "2024-05-01T11:20:00.000000Z", "", "2", "", ""),
        ("11", "3", "2024-05-01T12:20:00.000000Z", "", "", "", ""),
        ("12", "2", "2024-05-01T11:30:00.000000Z", "", "5", "", ""),
    ]
    assert table.find_left_out() == {("was_cancelled", "yes"): (3,)}


@pytest.mark.parametrize("name", ["label-studio-min.json", "label-studio.csv"])
def test_smaller_exports_of_label_studio_say_the_same(name: str) -> None:
    assert cells(read(name), "id", "annotator", "quality", "engagement", "genre") == [
        ("11", "1", "Good", "4", "Horror; Comedy"),
        ("11", "2", "", "2", ""),
    ]


def test_labels_of_doccano_belong_to_the_annotator_of_the_file() -> None:
    content = find("doccano.jsonl").read_bytes()

    assert cells(read_file("ann.jsonl", content, ANSWERS), "id", "label", "annotator") == [
        ("1", "good", "ann"),
        ("2", "bad; short", "ann"),
    ]
    assert "annotator" not in read_file("all.jsonl", content, ANSWERS).columns
    assert cells(read("doccano.csv"), "id", "label") == [("1", "good"), ("2", "bad; short")]
    assert cells(read("doccano-users.json"), "id", "label", "annotator") == [("1", "3", "1"), ("1", "4", "2")]


def test_answers_of_prodigy_have_their_annotator_and_time_and_ignored_tasks_stay_out() -> None:
    table = read("prodigy.jsonl")

    assert cells(table, "_annotator_id", "meta.id", "accept", "_timestamp") == [
        ("eval-ann", "p1s1", "Yes", "2024-05-01T10:20:00+00:00"),
        ("eval-bob", "p1s1", "", "2024-05-01T10:21:00+00:00"),
        ("eval-bob", "p1s2", "No", "2024-05-01T10:21:40+00:00"),
    ]
    assert table.find_left_out() == {("answer", "ignore"): (2,)}
    assert [column for column, key in table.hints["roles"].items() if key == "value"] == ["accept"]


def test_records_of_argilla_are_one_row_a_user() -> None:
    assert cells(read("argilla.json"), "id", "user_id", "engagement", "genre") == [
        ("p1s1", "6f0a", "4", "horror; comedy"),
        ("p1s1", "77bc", "2", ""),
        ("p1s2", "77bc", "5", ""),
    ]
    flat = read("argilla-flat.jsonl")
    assert cells(flat, "id", "user_id", "engagement") == [("p1s1", "6f0a", "4"), ("p1s1", "77bc", "2")]
    assert flat.find_left_out() == {("response_status", "discarded"): (2,)}


@pytest.mark.parametrize("name", ["potato.jsonl", "potato.tsv"])
def test_labels_of_potato_are_one_column_a_question(name: str) -> None:
    assert cells(read(name), "user", "instance_id", "quality", "engagement", "why") == [
        ("ann@example.org", "p1s1", "good", "4", "The gulls."),
        ("bob@example.org", "p1s1", "bad", "2", ""),
    ]


STORY_COLUMNS = {
    "label-studio.json": {"code": ["11", "12"], "text": [TIDE, GULLS], "source": ["plum-1", "a hand"]},
    "label-studio.csv": {"code": ["11"], "text": [TIDE]},
    "doccano.jsonl": {"code": ["1", "2"], "text": [TIDE, GULLS]},
    "prodigy.jsonl": {"code": ["p1s1", "p1s2"], "text": [TIDE, GULLS], "source": ["plum-1", "a hand"]},
    "argilla.json": {"code": ["p1s1", "p1s2"], "text": [TIDE, GULLS], "source": ["plum-1", "a hand"]},
    "potato.tsv": {"code": ["p1s1"], "text": [TIDE]},
    "mturk.csv": {"code": ["p1s1", "p1s2"], "text": [TIDE, GULLS], "source": ["plum-1", "a hand"]},
    "hugging-face.json": {"text": [TIDE, GULLS], "source": ["plum-1", "a hand"]},
    "litbench.csv": {"premise": ["A flood", "A house"]},
}


@pytest.mark.parametrize("name", STORY_COLUMNS)
def test_each_story_comes_once_with_its_text_and_whoever_wrote_it_kept_apart(name: str) -> None:
    table = read(name, STORIES)
    choices, _unsure = guess_choices(table)

    said = {key: [cell for (cell,) in cells(table, choices.column_of(key))] for key in STORY_COLUMNS[name]}
    assert said == STORY_COLUMNS[name]
    assert choices.left_out == []


def test_pairs_of_preferences_keep_both_columns_and_of_a_conversation_its_last_turn() -> None:
    turns = json.dumps([{"role": "user", "content": "A flood"}, {"role": "assistant", "content": TIDE}])
    content = f'prompt,chosen,rejected\nA flood,"{turns.replace(chr(34), chr(34) * 2)}",{GULLS}\n'

    assert read("litbench.csv", STORIES).columns[1:3] == ("chosen_story", "rejected_story")
    assert cells(read_file("a.csv", content.encode(), STORIES), "chosen", "rejected") == [(TIDE, GULLS)]


def test_pasted_cells_are_known_by_their_columns_too() -> None:
    words = find("potato.tsv").read_text().replace("displayed_text", "text")

    assert read_pasted(words, STORIES).hints["tool"] == "Potato"


def test_a_table_without_hints_as_earlier_versions_kept_it_is_restored() -> None:
    table = IncomingTable.from_text("a.csv", '[["a"], [[2, ["b"]]], [[2, 0]], "cp1252"]')

    assert table == IncomingTable("a.csv", ("a",), ((2, ("b",)),), ((2, 0),), "cp1252")
    assert table.find_left_out() == {}


def test_parquet_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnreadableFile, match="to_json"):
        read_file("train.parquet", b"PAR1\x00\x00PAR1", STORIES)


def test_the_first_person_of_responses_without_further_headers_stays_whatever_its_id() -> None:
    header = "StartDate,EndDate,Status,Finished,ResponseId,Q1"
    table = read_file("a.csv", f"{header}\na,b,0,1,p01,4\na,b,0,1,p02,5\n".encode(), ANSWERS)

    assert cells(table, "ResponseId", "Q1") == [("p01", "4"), ("p02", "5")]
    assert table.hints["tool"] == "Qualtrics"


@pytest.mark.parametrize(
    ("said", "zone"), [('""Z""', "UTC"), ("null", None), ('""Nowhere/At_All""', None), ("3", None)]
)
def test_a_time_zone_of_qualtrics_that_there_is_not_is_none(said: str, zone: str | None) -> None:
    content = find("qualtrics.csv").read_text().replace('""America/Denver""', said)

    assert read_file("a.csv", content.encode(), ANSWERS).hints.get("zone") == zone


def test_yes_and_no_of_mturk_are_answers_not_ticks() -> None:
    header = "HITId,WorkerId,Answer.coherent.label,Answer.s1.coherence,Answer.s2.x"
    table = read_file("a.csv", f"{header}\n3X,A1,Yes,No,true\n3X,A2,No,Yes,false\n".encode(), ANSWERS)

    assert cells(table, "Answer.coherent.label", "Answer.s1.coherence", "Answer.s2") == [
        ("Yes", "No", "x"),
        ("No", "Yes", ""),
    ]


def test_responses_in_argilla_of_nobody_named_are_not_one_rater_s() -> None:
    responses = {
        "engagement": [{"value": 4, "user_id": None}, {"value": 2}],
        "genre": [{"value": "x", "user_id": None}],
    }
    entry = {"id": "p1s1", "fields": {"text": TIDE}, "responses": responses}
    table = read_file("a.json", json.dumps([entry]).encode(), ANSWERS)

    assert cells(table, "user_id", "engagement", "genre") == [("", "4", ""), ("", "2", ""), ("", "", "x")]


@pytest.mark.parametrize("header", ["rater,id,text,label,Comments", "id,text,Comments,source,tier"])
def test_an_ordinary_table_with_comments_is_not_of_doccano(header: str) -> None:
    table = read_file("a.csv", f"{header}\n1,2,Once.,4,x\n".encode(), STORIES)

    assert "tool" not in table.hints


def test_stories_of_one_number_with_different_texts_all_stay() -> None:
    content = f"id,text,label,Comments\n1,{TIDE},a,\n1,{GULLS},b,\n1,{GULLS},c,\n"

    assert cells(read_file("a.csv", content.encode(), STORIES), "text") == [(TIDE,), (GULLS,)]
