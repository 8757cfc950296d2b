"""Study files: what a good one becomes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from studies import loader, protocol
from studies.documents import instrument, stories
from studies.documents.errors import DocumentError
from studies.documents.study import read_study
from studies.models import Provenance, Source, Story, StoryGroup, Study
from studies.protocol import drafts
from tests.studies.folders import CSV, HEADER, ROW, STUDY, folder, refused, rows_by_table

pytestmark = pytest.mark.django_db


def test_a_study_comes_in_as_its_file_says(tmp_path: Path) -> None:
    study = STUDY.replace(
        'title = "Plums"',
        'title = "Plums"\nlanguage = "de"\ndescription = "For us."\nnotice = "A trial."\norganiser = "We"\n'
        'contact = "we@example.org"\nminutes = 90\nseats_per_group = 5\ngroups_per_sitting = 2\n'
        'order_policy = "random"\nseed = 7\nshows_premise = true',
    )
    header = f"{HEADER},premise,title,url,licence,may_redistribute,may_send_out,size,tier"
    csv = f'{header}\ns1,g1,"Once,\n\nonly.",Ann,expert_writer,A plum.,Plum,https://example.org/p,MIT,yes,no,70B,\n'

    made = loader.load_study(folder(tmp_path, study=study, csv=csv))

    told = Study.objects.values().get(pk=made.pk)
    assert told == told | {
        "slug": "plums",
        "title": "Plums",
        "language": "de",
        "description": "For us.",
        "notice": "A trial.",
        "organiser": "We",
        "contact": "we@example.org",
        "minutes": 90,
        "seats_per_group": 5,
        "groups_per_sitting": 2,
        "order_policy": "random",
        "seed": 7,
        "shows_premise": True,
        "state": "draft",
    }
    story = Story.objects.values("code", "text", "language", "n_words", "is_withheld").get()
    assert story == {"code": "s1", "text": "Once,\n\nonly.", "language": "de", "n_words": 2, "is_withheld": False}
    assert Provenance.objects.values(
        "source__name", "source__kind", "title", "url", "licence", "may_redistribute", "may_send_out", "factors"
    ).get() == {
        "source__name": "Ann",
        "source__kind": "expert_writer",
        "title": "Plum",
        "url": "https://example.org/p",
        "licence": "MIT",
        "may_redistribute": True,
        "may_send_out": False,
        "factors": {"size": "70B"},
    }
    assert StoryGroup.objects.values("code", "premise", "stories__code").get() == {
        "code": "g1",
        "premise": "A plum.",
        "stories__code": "s1",
    }


def test_steps_come_in_as_listed_with_their_instruments(tmp_path: Path) -> None:
    study = STUDY + '[[steps]]\nkey = "who"\nkind = "rating"\ninstrument = "authorship-guess@1"\n'
    study += 'scope = "stories"\nlocks = true\nbackground = "on_demand"\ntext = "Now guess."\n'

    made = loader.load_study(folder(tmp_path, study=study))

    steps = made.versions.get().steps.order_by("position")
    names = ("key", "kind", "text", "instrument__slug", "instrument__version", "scope", "locks", "background")
    assert list(steps.values_list(*names)) == [
        ("consent", "consent", "You can stop at any time.", None, None, "", False, "folded"),
        ("tests", "rating", "", "ttcw", "1", "story", False, "folded"),
        ("who", "rating", "Now guess.", "authorship-guess", "1", "stories", True, "on_demand"),
    ]


def test_a_text_takes_in_the_briefing_of_an_instrument(tmp_path: Path) -> None:
    read = '[[steps]]\nkey = "read"\nkind = "briefing"\ntext = "{briefing of pds}\\n\\nYou can stop at any time."\n'
    made = loader.load_study(folder(tmp_path, study=STUDY + read))

    text = made.versions.get().steps.get(key="read").text
    assert text.startswith("*Dos:*\n\n“Be honest with your ratings.")
    assert text.endswith("give your best guess.”\n\nYou can stop at any time.")


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
def test_the_three_forms_of_a_file_of_stories_say_the_same(tmp_path: Path, suffix: str) -> None:
    rows = [ROW | {"tier": "upper"}, ROW | {"story": "s2", "text": "Twice, “so”.", "tier": "lower"}]
    cells = [",".join(ROW | {"tier": ""})] + [",".join(f'"{v}"' for v in row.values()) for row in rows]
    content = {
        "csv": "\r\n".join(cells),
        "json": json.dumps(rows),
        "jsonl": "\n".join(map(json.dumps, rows)) + "\n",
    }[suffix]

    read = stories.read_stories(folder(tmp_path, **{suffix: content}) / f"stories.{suffix}")

    assert [(s.key, s.text, s.source, s.factors) for s in read.stories] == [
        ("s1", "Once.", "Ann", {"tier": "upper"}),
        ("s2", "Twice, “so”.", "Ann", {"tier": "lower"}),
    ]
    assert [(g.key, g.stories) for g in read.groups] == [("g1", ("s1", "s2"))]


def test_json_keeps_the_type_of_a_factor(tmp_path: Path) -> None:
    content = json.dumps([ROW | {"n": 3, "x": 0.5, "tuned": True, "may_send_out": True, "none": None}])

    (story,) = stories.read_stories(folder(tmp_path, json=content) / "stories.json").stories

    assert (story.factors, story.may_send_out) == ({"n": 3, "x": 0.5, "tuned": True}, True)


def test_a_story_may_stand_in_several_groups_and_need_not_be_said_again(tmp_path: Path) -> None:
    csv = f"{CSV}s1,g2,,,\ns2,g2,Twice.,Bob,language_model\ns3,g2,Thrice.,Ann,expert_writer\n"

    made = loader.load_study(folder(tmp_path, csv=csv))

    assert {g.code: [s.code for s in g.stories.all()] for g in made.groups.all()} == {
        "g1": ["s1", "s2"],
        "g2": ["s1", "s2", "s3"],
    }
    assert made.stories.count() == 3


def test_texts_may_stand_in_files(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_bytes("\ufeffOnce.\r\n\r\nOnly.\r\n".encode())
    (tmp_path / "consent.txt").write_text("You can stop.\n")
    csv = "story,group,text_file,source,source_kind\ns1,g1,texts/one.txt,Ann,expert_writer\n"
    study = STUDY.replace('text = "You can stop at any time."', 'text_file = "consent.txt"')

    made = loader.load_study(folder(tmp_path, study=study, csv=csv))

    assert Story.objects.get().text == "Once.\n\nOnly."
    assert made.versions.get().steps.get(key="consent").text == "You can stop."


def test_texts_may_name_the_organiser_and_the_contact(tmp_path: Path) -> None:
    study = STUDY.replace("You can stop at any time.", "{organiser} asks; write to {contact}. {This} stays.")
    study = study.replace('title = "Plums"', 'title = "Plums"\norganiser = "We"\ncontact = "we@example.org"')

    made = loader.load_study(folder(tmp_path, study=study))

    assert made.versions.get().steps.get(key="consent").text == "We asks; write to we@example.org. {This} stays."


def test_every_text_comes_through_exactly_but_for_its_line_ends(tmp_path: Path) -> None:
    text = " “Once” — é 🙂, \u200b<b>&amp;\t=1+1\n\n  indented\nlast "

    (story,) = stories.read_stories(
        folder(tmp_path, json=json.dumps([ROW | {"text": f"\r\n{text}\r\n"}])) / "stories.json"
    ).stories

    assert story.text == text


def test_nothing_stays_when_the_last_step_fails(tmp_path: Path) -> None:
    bad = '[[steps]]\nkey = "last"\nkind = "rating"\ninstrument = "nothing"\nscope = "story"\n'
    before = rows_by_table()

    with pytest.raises(DocumentError):
        loader.load_study(folder(tmp_path, study=STUDY + bad))
    assert rows_by_table() == before

    loader.load_study(folder(tmp_path))
    assert Source.objects.count() == 2  # it was the step alone that stood in the way


def test_reading_touches_no_database(tmp_path: Path, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        read = read_study(folder(tmp_path))

    assert (read.study["slug"], len(read.steps), len(read.collection.stories)) == ("plums", 2, 2)


def test_a_slug_without_a_version_means_the_builtin_instrument(tmp_path: Path) -> None:
    builtin = instrument.read_instrument(instrument.discover()["ttcw"])
    for version in ("0", "2"):
        loader.load_instrument(replace(builtin, version=version))

    made = loader.load_study(folder(tmp_path))

    assert str(made.versions.get().steps.get(key="tests").instrument) == f"ttcw {builtin.version}"


@pytest.mark.parametrize(("name", "version"), [("ttcw@1", "1"), ("ttcw@published", "published")])
def test_a_version_can_be_named(tmp_path: Path, name: str, version: str) -> None:
    builtin = instrument.read_instrument(instrument.discover()["ttcw"])
    loader.load_instrument(replace(builtin, version="published"))

    made = loader.load_study(folder(tmp_path, study=STUDY.replace('"ttcw"', f'"{name}"')))

    assert str(made.versions.get().steps.get(key="tests").instrument) == f"ttcw {version}"


def test_of_several_loaded_versions_one_has_to_be_named(tmp_path: Path) -> None:
    mine = replace(instrument.read_instrument(instrument.discover()["ttcw"]), slug="mine")
    for version in ("1", "2"):
        loader.load_instrument(replace(mine, version=version))

    with refused("study.toml: step 2, instrument: “mine” has several versions; name one: mine@1, mine@2"):
        loader.load_study(folder(tmp_path, study=STUDY.replace('"ttcw"', '"mine"')))


def test_an_instrument_that_differs_from_the_builtin_one_of_its_version_is_refused(tmp_path: Path) -> None:
    builtin = instrument.read_instrument(instrument.discover()["ttcw"])
    loader.load_instrument(replace(builtin, items=builtin.items[:3]))

    said = "ttcw 1 is published and asks something else than this file; raise the version in the file"
    with refused(f"study.toml: step 2, instrument: {said}"):
        loader.load_study(folder(tmp_path))


CHECK = """[[steps]]
key = "check"
kind = "rating"
instrument = "litbench-comprehension"
scope = "once"
"""
FLAG = {"attempts": 3, "on_failure": "continue"}


def test_a_check_from_a_file_is_the_one_made_on_pages(tmp_path: Path) -> None:
    head, rest = STUDY.split('[[steps]]\nkey = "tests"')
    file = head + CHECK + "{options}" + '[[steps]]\nkey = "tests"' + rest
    made = loader.load_study(folder(tmp_path, study=file.format(options="")))
    plain = made.versions.get().steps.get(key="check")
    by_rule = protocol.hash_rows(protocol.read_rows(made.versions.get()))
    drafts.change_step(plain, {"options": FLAG})
    on_pages = protocol.hash_rows(protocol.read_rows(made.versions.get()))
    made.delete()

    options = 'options = { attempts = 3, on_failure = "continue" }\n'
    again = loader.load_study(folder(tmp_path, study=file.format(options=options)))

    assert plain.options == {}, "a check that says nothing is as it always was"
    assert again.versions.get().steps.get(key="check").options == FLAG
    assert protocol.hash_rows(protocol.read_rows(again.versions.get())) == on_pages != by_rule
    assert not [
        f for f in protocol.collect_findings(again, protocol.read_rows(again.versions.get())) if "check" in f.location
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("{ attempts = 0 }", "the option attempts must be a whole number from 1 to 5"),
        ('{ on_failure = "flag" }', "the option on_failure must be one of end, continue"),
        ("{ way_out = true }", "there is no option “way_out”; known are attempts, on_failure"),
    ],
)
def test_a_check_with_other_options_is_refused(tmp_path: Path, options: str, reason: str) -> None:
    path = folder(tmp_path, study=f"{STUDY}{CHECK}options = {options}\n")

    with refused(f"study.toml: step 3, options: {reason}"):
        loader.load_study(path)
