"""Study files: what a good one becomes; a bad one is refused whole, in one line with file, row, field and reason."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from django.apps import apps

from studies import documents, files, loading, stories, studyfile
from studies.documents import DocumentError
from studies.models import Provenance, Source, Story, StoryGroup, Study

pytestmark = pytest.mark.django_db

STUDY = """
slug = "plums"
title = "Plums"

[[steps]]
key = "consent"
kind = "consent"
text = "You can stop at any time."

[[steps]]
key = "tests"
kind = "rating"
instrument = "ttcw"
scope = "story"
"""
HEADER = "story,group,text,source,source_kind"
CSV = f"{HEADER}\ns1,g1,Once.,Ann,expert_writer\ns2,g1,Twice.,Bob,language_model\n"
ROW = {"story": "s1", "group": "g1", "text": "Once.", "source": "Ann", "source_kind": "expert_writer"}


def folder(tmp_path: Path, *, study: str = STUDY, **told: str | bytes) -> Path:
    """A study's folder: study.toml, and files of stories by suffix; a valid CSV unless others are given."""
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    for suffix, content in (told or {"csv": CSV}).items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / f"stories.{suffix}").write_bytes(data)
    return tmp_path


def rows_by_table() -> dict[str, int]:
    names = ("studies", "annotation")
    return {
        m._meta.db_table: m._default_manager.count() for name in names for m in apps.get_app_config(name).get_models()
    }


@contextmanager
def refused(said: str) -> Iterator[None]:
    """Nothing comes in, and the message is this, on one line."""
    before = rows_by_table()
    with pytest.raises(DocumentError) as caught:
        yield
    assert str(caught.value) == said
    assert "\n" not in str(caught.value)
    assert rows_by_table() == before


def test_a_study_comes_in_as_its_file_says(tmp_path: Path) -> None:
    study = STUDY.replace(
        'title = "Plums"',
        'title = "Plums"\nlanguage = "de"\ndescription = "For us."\nnotice = "A trial."\norganiser = "We"\n'
        'contact = "we@example.org"\nminutes = 90\nseats_per_group = 5\ngroups_per_sitting = 2\n'
        'order_policy = "random"\nseed = 7\nshows_premise = true',
    )
    header = f"{HEADER},premise,title,url,licence,may_redistribute,may_send_out,size,tier"
    csv = f'{header}\ns1,g1,"Once,\n\nonly.",Ann,expert_writer,A plum.,Plum,https://example.org/p,MIT,yes,no,70B,\n'

    made = loading.load_study(folder(tmp_path, study=study, csv=csv))

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

    made = loading.load_study(folder(tmp_path, study=study))

    steps = made.versions.get().steps.order_by("position")
    names = ("key", "kind", "text", "instrument__slug", "instrument__version", "scope", "locks", "background")
    assert list(steps.values_list(*names)) == [
        ("consent", "consent", "You can stop at any time.", None, None, "", False, "folded"),
        ("tests", "rating", "", "ttcw", "1", "story", False, "folded"),
        ("who", "rating", "Now guess.", "authorship-guess", "1", "stories", True, "on_demand"),
    ]


def test_a_text_takes_in_the_briefing_of_an_instrument(tmp_path: Path) -> None:
    read = '[[steps]]\nkey = "read"\nkind = "briefing"\ntext = "{briefing of pds}\\n\\nYou can stop at any time."\n'
    made = loading.load_study(folder(tmp_path, study=STUDY + read))

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

    read = stories.read(folder(tmp_path, **{suffix: content}) / f"stories.{suffix}")

    assert [(s.key, s.text, s.source, s.factors) for s in read.stories] == [
        ("s1", "Once.", "Ann", {"tier": "upper"}),
        ("s2", "Twice, “so”.", "Ann", {"tier": "lower"}),
    ]
    assert [(g.key, g.stories) for g in read.groups] == [("g1", ("s1", "s2"))]


def test_json_keeps_the_type_of_a_factor(tmp_path: Path) -> None:
    content = json.dumps([ROW | {"n": 3, "x": 0.5, "tuned": True, "may_send_out": True, "none": None}])

    (story,) = stories.read(folder(tmp_path, json=content) / "stories.json").stories

    assert (story.factors, story.may_send_out) == ({"n": 3, "x": 0.5, "tuned": True}, True)


def test_a_story_may_stand_in_several_groups_and_need_not_be_said_again(tmp_path: Path) -> None:
    csv = f"{CSV}s1,g2,,,\ns2,g2,Twice.,Bob,language_model\ns3,g2,Thrice.,Ann,expert_writer\n"

    made = loading.load_study(folder(tmp_path, csv=csv))

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

    made = loading.load_study(folder(tmp_path, study=study, csv=csv))

    assert Story.objects.get().text == "Once.\n\nOnly."
    assert made.versions.get().steps.get(key="consent").text == "You can stop."


def test_texts_may_name_the_organiser_and_the_contact(tmp_path: Path) -> None:
    study = STUDY.replace("You can stop at any time.", "{organiser} asks; write to {contact}. {This} stays.")
    study = study.replace('title = "Plums"', 'title = "Plums"\norganiser = "We"\ncontact = "we@example.org"')

    made = loading.load_study(folder(tmp_path, study=study))

    assert made.versions.get().steps.get(key="consent").text == "We asks; write to we@example.org. {This} stays."


def test_every_text_comes_through_exactly_but_for_its_line_ends(tmp_path: Path) -> None:
    text = " “Once” — é 🙂, \u200b<b>&amp;\t=1+1\n\n  indented\nlast "

    (story,) = stories.read(
        folder(tmp_path, json=json.dumps([ROW | {"text": f"\r\n{text}\r\n"}])) / "stories.json"
    ).stories

    assert story.text == text


# Each line of the table: what is wrong, the file of stories, and the whole message.
BAD_CSV = {
    "a story without text": (
        f"{HEADER}\ns1,g1,,Ann,expert_writer\n",
        "stories.csv: row 2, text: story “s1” has no text; give text or text_file",
    ),
    "a story of blanks": (
        f'{HEADER}\ns1,g1," \n ",Ann,expert_writer\n',
        "stories.csv: row 2, text: story “s1” has no text; give text or text_file",
    ),
    "two stories of one key": (
        f"{CSV}s1,g1,Other.,Ann,expert_writer\n",
        "stories.csv: row 4, story: “s1” stands in group “g1” already, in row 2; give every story a key of its own",
    ),
    "two stories of one key in two groups": (
        f"{CSV}s1,g2,Other.,Ann,expert_writer\n",
        "stories.csv: row 4, text: story “s1” has another text in row 2; make the two the same, or leave this one out",
    ),
    "a group without stories": (
        f"{CSV},g2,,,\n",
        "stories.csv: row 4, story: is missing; without one, group “g2” has no story here",
    ),
    "a story without a group": (
        f"{HEADER}\ns1,,Once.,Ann,expert_writer\n",
        "stories.csv: row 2, group: is missing; every story is read in a group",
    ),
    "a premise that differs within a group": (
        f"{HEADER},premise\ns1,g1,Once.,Ann,expert_writer,A\ns2,g1,Twice.,Ann,expert_writer,B\n",
        "stories.csv: row 3, premise: group “g1” has another premise in row 2; "
        "make the two the same, or leave this one out",
    ),
    "another source for the same story": (
        f"{CSV}s1,g2,,Bob,\n",
        "stories.csv: row 4, source: story “s1” has another source in row 2; "
        "make the two the same, or leave this one out",
    ),
    "no source": (
        f"{HEADER}\ns1,g1,Once.,,expert_writer\n",
        "stories.csv: row 2, source: is missing for story “s1”",
    ),
    "no kind of source": (
        f"{HEADER}\ns1,g1,Once.,Ann,\n",
        "stories.csv: row 2, source_kind: is missing for story “s1”",
    ),
    "an unknown kind of source": (
        f"{HEADER}\ns1,g1,Once.,Ann,poet\n",
        "stories.csv: row 2, source_kind: “poet” is not one of expert_writer, amateur_writer, language_model, other",
    ),
    "one source of two kinds": (
        f"{HEADER}\ns1,g1,Once.,Ann,other\ns2,g1,Twice.,Ann,language_model\n",
        "stories.csv: story s2, source_kind: “Ann” is known as other, not language_model; "
        "a source has one kind, so correct it or rename the source",
    ),
    "a key that is a formula": (
        f"{HEADER}\n=1+1,g1,Once.,Ann,other\n",
        "stories.csv: row 2, story: “=1+1” would run as a formula in a spreadsheet; begin with something else",
    ),
    "a title that is a formula": (
        f"{HEADER},title\ns1,g1,Once.,Ann,other,@SUM(A1)\n",
        "stories.csv: row 2, title: “@SUM(A1)” would run as a formula in a spreadsheet; begin with something else",
    ),
    "a factor that is a formula": (
        f"{HEADER},tier\ns1,g1,Once.,Ann,other,+cmd|calc\n",
        "stories.csv: row 2, tier: “+cmd|calc” would run as a formula in a spreadsheet; begin with something else",
    ),
    "a key with blanks": (
        f"{HEADER}\ns 1,g1,Once.,Ann,other\n",
        "stories.csv: row 2, story: “s 1” will not do; "
        "use letters A–Z, digits, “_”, “.” and “-”, beginning with a letter or digit",
    ),
    "an address of another kind": (
        f"{HEADER},url\ns1,g1,Once.,Ann,other,javascript:alert(1)\n",
        "stories.csv: row 2, url: “javascript:alert(1)” is not an http or https address",
    ),
    "neither yes nor no": (
        f"{HEADER},may_send_out\ns1,g1,Once.,Ann,other,perhaps\n",
        "stories.csv: row 2, may_send_out: must be true or false, not text",
    ),
    "a column of ours, misspelt": (
        f"{HEADER},May Send-out\ns1,g1,Once.,Ann,other,yes\n",
        "stories.csv: row 2, May Send-out: would become a factor; the column is called “may_send_out”",
    ),
    "a column without a name": (
        f"{HEADER},\ns1,g1,Once.,Ann,other,yes\n",
        "stories.csv: row 1, column 6: has no name",
    ),
    "a column twice": (
        f"{HEADER},text\ns1,g1,Once.,Ann,other,Twice.\n",
        "stories.csv: row 1, text: stands twice; each column has its own name",
    ),
    "no column for groups": (
        "story,text\ns1,Once.\n",
        "stories.csv: row 1, group: this column is missing",
    ),
    "semicolons": (
        CSV.replace(",", ";"),
        "stories.csv: row 1, story: this column is missing; the file seems to use semicolons, save it with commas",
    ),
    "too many cells": (
        f"{HEADER}\ns1,g1,Once, only.,Ann,other\n",
        "stories.csv: row 2: has 6 cells under 5 columns; put a cell that holds a comma into quotes",
    ),
    "a quote that does not end": (
        f'{HEADER}\ns1,g1,"Once.,Ann,other\n',
        "stories.csv: row 2: is not CSV: unexpected end of data",
    ),
    "a control character": (
        f"{HEADER}\ns1,g1,On\x00ce.,Ann,other\n",
        "stories.csv: row 2, text: contains the control character U+0000; remove it",
    ),
    "a title on two lines": (
        f'{HEADER},title\ns1,g1,Once.,Ann,other,"One\ntwo"\n',
        "stories.csv: row 2, title: must stand on one line",
    ),
    "a header alone": (f"{HEADER}\n", "stories.csv: stories: there are none; add a row for each story"),
    "an empty file": ("", "stories.csv: file: the file is empty"),
    "not UTF-8": (CSV.encode("utf-16"), "stories.csv: file: line 1 is not UTF-8; save the file as UTF-8"),
    "Latin-1": (
        f"{HEADER}\ns1,g1,Café.,Ann,other\n".encode("latin-1"),
        "stories.csv: file: line 2 is not UTF-8; save the file as UTF-8",
    ),
}


@pytest.mark.parametrize(("content", "said"), BAD_CSV.values(), ids=BAD_CSV)
def test_a_bad_csv_is_refused_whole(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = folder(tmp_path, csv=content)

    with refused(said):
        loading.load_study(path)


BAD_JSON = {
    "a key twice": (
        '[{"story": "s1", "group": "g1", "text": "Once.", "text": "Twice."}]',
        "stories.json: row 1, text: stands twice; a key can be given once",
    ),
    "an object": ('{"stories": []}', "stories.json: file: must hold a list of stories: [{…}, {…}]"),
    "a list of texts": ('["s1"]', "stories.json: row 1: must be an object, {…}, not text"),
    "a number for text": (
        json.dumps([ROW | {"text": 7}]),
        "stories.json: row 1, text: must be text, not a whole number",
    ),
    "a number for a key": (
        json.dumps([ROW | {"story": 7}]),
        "stories.json: row 1, story: must be text, not a whole number",
    ),
    "a word for true": (
        json.dumps([ROW | {"may_send_out": "yes"}]),
        "stories.json: row 1, may_send_out: must be true or false, not text",
    ),
    "a factor with parts": (
        json.dumps([ROW, ROW | {"story": "s2", "tier": ["a"]}]),
        "stories.json: row 2, tier: a factor must be text, a number, true or false, not a list",
    ),
    "half a surrogate pair": (
        json.dumps([ROW])[:-2] + ', "title": "\\ud800"}]',
        "stories.json: row 1, title: contains the control character U+D800; remove it",
    ),
    "no number": (
        json.dumps([ROW])[:-2] + ', "x": NaN}]',
        "stories.json: file: holds NaN, which is not JSON",
    ),
    "a number of ten thousand digits": (
        json.dumps([ROW])[:-2] + f', "x": {"9" * 10_000}}}]',
        "stories.json: file: holds a number with too many digits",
    ),
    "no JSON": (
        "[{'story'}]",
        "stories.json: file: is not JSON: Expecting property name enclosed in double quotes at line 1, column 3",
    ),
    "a hundred thousand brackets": ("[" * 100_000, "stories.json: file: is nested too deeply"),
}


@pytest.mark.parametrize(("content", "said"), BAD_JSON.values(), ids=BAD_JSON)
def test_a_bad_json_file_is_refused_whole(tmp_path: Path, content: str, said: str) -> None:
    path = folder(tmp_path, json=content)

    with refused(said):
        loading.load_study(path)


def test_a_bad_line_of_json_is_refused_whole(tmp_path: Path) -> None:
    path = folder(tmp_path, jsonl=json.dumps(ROW) + '\n\n{"story": \n')

    with refused("stories.jsonl: row 3: is not JSON: Expecting value at line 1, column 11"):
        loading.load_study(path)


THERE = ", ".join(sorted(documents.discover()))
BAD_STUDY = {
    "an empty file": ("", "study.toml: file: the file is empty"),
    "no TOML": (
        "slug plums",
        "study.toml: file: is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 6)",
    ),
    "a key twice": (
        'slug = "a"\nslug = "b"\n',
        "study.toml: file: is not TOML: Cannot overwrite a value (at line 2, column 11)",
    ),
    "a key of a thousand parts": (
        "a." * 1000 + "b = 1",
        "study.toml: file: a line has more than 200 dots; break the line, or put the text into a file of its own",
    ),
    "a hundred thousand brackets": ("x = " + "[" * 100_000, "study.toml: file: is nested too deeply"),
    "no slug": (STUDY.replace('slug = "plums"', ""), "study.toml: slug: is missing"),
    "no title": (STUDY.replace('title = "Plums"', 'title = " "'), "study.toml: title: is missing"),
    "a slug with capitals": (
        STUDY.replace('"plums"', '"Plums"'),
        "study.toml: slug: “Plums” will not do; "
        "use small letters, digits, “-” and “_”, beginning and ending with a letter or digit",
    ),
    "an unknown key, nearly ours": (
        STUDY.replace("title", "titel"),
        "study.toml: titel: there is no such key; did you mean “title”?",
    ),
    "a truth for a number": (
        "seed = true" + STUDY,
        "study.toml: seed: must be a whole number, not true or false",
    ),
    "no seats": ("seats_per_group = 0" + STUDY, "study.toml: seats_per_group: must be from 1 to 1000"),
    "an unknown order": (
        'order_policy = "alphabetical"' + STUDY,
        "study.toml: order_policy: “alphabetical” is not one of balanced, random, fixed",
    ),
    "no e-mail": ('contact = "us"' + STUDY, "study.toml: contact: “us” is not an e-mail address"),
    "no language": (
        'language = "English"' + STUDY,
        "study.toml: language: “English” will not do; give a language code such as “en” or “pt-BR”",
    ),
    "no steps": (
        STUDY.partition("[[steps]]")[0],
        "study.toml: steps: a study needs steps; write each under [[steps]]",
    ),
    "steps of the wrong kind": (
        STUDY.partition("[[steps]]")[0] + 'steps = ["consent"]',
        "study.toml: steps: a study needs steps; write each under [[steps]]",
    ),
    "an unknown instrument, nearly ours": (
        STUDY.replace('"ttcw"', '"ttwc"'),
        "study.toml: step 2, instrument: there is no instrument “ttwc”; did you mean “ttcw”?",
    ),
    "an unknown instrument": (
        STUDY.replace('"ttcw"', '"zzz"'),
        f"study.toml: step 2, instrument: there is no instrument “zzz”; there are {THERE}",
    ),
    "an unknown version": (
        STUDY.replace('"ttcw"', '"ttcw@9"'),
        "study.toml: step 2, instrument: there is no instrument “ttcw@9”; did you mean “ttcw”?",
    ),
    "consent later": (
        STUDY + '[[steps]]\nkey = "again"\nkind = "consent"\ntext = "Yes?"\n',
        "study.toml: step 3, kind: is out of place: consent is asked once, and as the first step",
    ),
    "a revision of nothing": (
        STUDY + 'revises = "consent"\n',
        "study.toml: step 2, revises: “consent” is no earlier step with the same instrument, asked once or in the same "
        "scope",
    ),
    "a lock with nothing to lock": (
        STUDY + "locks = true\n",
        "study.toml: step 2, locks: is out of place: no answers are asked before this step",
    ),
    "a lock on what is asked once": (
        STUDY + '[[steps]]\nkey = "leave"\nkind = "rating"\ninstrument = "ttcw"\nscope = "once"\nlocks = true\n',
        "study.toml: step 3, locks: belongs to a step within a group, not to one asked once",
    ),
    "a lock on a consent": (
        STUDY.replace('text = "You can stop at any time."', 'text = "Yes?"\nlocks = true'),
        "study.toml: step 1, locks: belongs to a step of kind rating, not consent",
    ),
    "a comparison of one story": (
        STUDY.replace('"ttcw"', '"preference-ranking"'),
        "study.toml: steps: step tests asks preference, which compares stories, so its scope must be group",
    ),
    "no question about stories": (
        STUDY.replace('"story"', '"once"'),
        "study.toml: steps: no step asks an instrument about stories or groups",
    ),
    "a step twice": (
        STUDY.replace('"tests"', '"consent"'),
        "study.toml: step 2, key: “consent” stands twice; every step needs a key of its own",
    ),
    "an unknown kind of step": (
        STUDY.replace('kind = "rating"', 'kind = "survey"'),
        "study.toml: step 2, kind: “survey” is not one of consent, briefing, practice, rating",
    ),
    "a rating without scope": (STUDY.replace('scope = "story"', ""), "study.toml: step 2, scope: is missing"),
    "a consent without words": (
        STUDY.replace('text = "You can stop at any time."', ""),
        "study.toml: step 1, text: is missing",
    ),
    "a consent with an instrument": (
        STUDY.replace('text = "You can stop at any time."', 'text = "Yes?"\ninstrument = "ttcw"'),
        "study.toml: step 1, instrument: belongs to a step of kind rating or practice, not consent",
    ),
    "an unknown key in a step": (
        STUDY + "lock = true",
        "study.toml: step 2, lock: there is no such key; did you mean “locks”?",
    ),
    "a text of two origins": (
        STUDY.replace('text = "You', 'text_file = "a.txt"\ntext = "You'),
        "study.toml: step 1, text_file: text is given as well; keep one of the two",
    ),
    "a briefing that is nowhere": (
        STUDY + '[[steps]]\nkey = "read"\nkind = "briefing"\ntext = "{briefing of ttcw}"\n',
        "study.toml: step 3, text: no built-in instrument “ttcw” has a briefing",
    ),
    "a briefing in another text": (
        STUDY.replace("You can", "{briefing of pds} You can"),
        "study.toml: step 1, text: takes in a briefing, which belongs to a step of kind briefing",
    ),
    "an organiser who is not given": (
        STUDY.replace("You can", "{organiser} can"),
        "study.toml: step 1, text: names {organiser}, but the study file gives no organiser",
    ),
}


@pytest.mark.parametrize(("study", "said"), BAD_STUDY.values(), ids=BAD_STUDY)
def test_a_bad_study_file_is_refused_whole(tmp_path: Path, study: str, said: str) -> None:
    path = folder(tmp_path, study=study)

    with refused(said):
        loading.load_study(path)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "which compares stories, but group g1 has only one"),
        (3, "which compares two stories, but group g1 has 3"),
    ],
)
def test_a_pair_is_of_two_stories(tmp_path: Path, n: int, said: str) -> None:
    study = STUDY.replace('"ttcw"', '"litbench-preference"').replace('"story"', '"group"')
    stories = [f"s{i},g1,Once.,Ann,expert_writer" for i in range(n)]
    path = folder(
        tmp_path,
        study=study,
        csv="\n".join([HEADER, *stories, "a,g2,A.,Ann,expert_writer", "b,g2,B.,Ann,expert_writer"]),
    )

    with refused(f"study.toml: steps: step tests asks better, {said}"):
        loading.load_study(path)


OUTSIDE = ["/etc/hostname", "../secret.txt", "texts/../../secret.txt", "..\\secret.txt", "C:/secret.txt", "file:///x"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_text_file_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("Secret.")
    (tmp_path / "in" / "texts").mkdir(parents=True)
    csv = f"story,group,text_file,source,source_kind\ns1,g1,{name},Ann,other\n"
    path = folder(tmp_path / "in", csv=csv)

    said = f"“{name}” must name a file inside the study's folder, as in “texts/one.txt”"
    with refused(f"stories.csv: row 2, text_file: {said}"):
        loading.load_study(path)


@pytest.mark.parametrize("name", ["link.txt", "texts/secret.txt"])
def test_a_text_file_is_never_a_link_nor_in_a_linked_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text("Secret.")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out" / "secret.txt")
    (tmp_path / "in" / "texts").symlink_to(tmp_path / "out")
    csv = f"story,group,text_file,source,source_kind\ns1,g1,{name},Ann,other\n"
    path = folder(tmp_path / "in", csv=csv)

    said = f"“{name}” is a link; put the file itself into the study's folder"
    with refused(f"stories.csv: row 2, text_file: {said}"):
        loading.load_study(path)


def test_a_linked_file_of_stories_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, elsewhere=CSV)
    (path / "stories.csv").symlink_to(path / "stories.elsewhere")

    with refused("study.toml: file: “stories.csv” is a link; put the file itself into the study's folder"):
        loading.load_study(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no file “one.txt” in the study's folder"),
        (b"", "the file is empty"),
        (b"\xff\xfe", "line 1 is not UTF-8; save the file as UTF-8"),
        (b"x" * 1_000_001, "the file is larger than 1,000,000 bytes"),
    ],
)
def test_a_bad_text_file_is_refused_whole(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "one.txt").write_bytes(content)
    path = folder(tmp_path, csv="story,group,text_file,source,source_kind\ns1,g1,one.txt,Ann,other\n")

    with refused(f"stories.csv: row 2, text_file: {said}"):
        loading.load_study(path)


def test_a_folder_without_stories_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)

    said = "there is no file of stories in its folder; add one of stories.csv, stories.json, stories.jsonl"
    with refused(f"study.toml: file: {said}"):
        loading.load_study(tmp_path)


def test_two_files_of_stories_are_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, csv=CSV, json=json.dumps([ROW]))

    with refused("study.toml: file: there are stories.csv and stories.json in its folder; keep one"):
        loading.load_study(path)


def test_a_missing_study_file_is_refused(tmp_path: Path) -> None:
    with refused("study.toml: file: cannot be read: No such file or directory"):
        loading.load_study(tmp_path)


def test_a_file_beyond_the_cap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 50)
    path = folder(tmp_path, csv=CSV)

    with refused("stories.csv: file: the file is larger than 50 bytes"):
        loading.load_study(path)


def test_a_text_beyond_the_cap_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, csv=f"{HEADER}\ns1,g1,{'x' * 1_000_001},Ann,other\n")

    with refused("stories.csv: row 2, text: is longer than 1,000,000 bytes"):
        loading.load_study(path)


def test_more_rows_than_the_cap_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stories, "MOST_ROWS", 1)
    path = folder(tmp_path)

    with refused("stories.csv: row 3: there are more than 1 rows; split the study"):
        loading.load_study(path)


def test_a_group_larger_than_the_alphabet_is_refused(tmp_path: Path) -> None:
    rows = [f"s{n},g1,Once.,Ann,other" for n in range(27)]
    path = folder(tmp_path, csv="\n".join([HEADER, *rows]))

    said = "group “g1” has more than 26 stories, and raters know them by letters"
    with refused(f"stories.csv: row 28, group: {said}"):
        loading.load_study(path)


def test_nothing_stays_when_the_last_step_fails(tmp_path: Path) -> None:
    bad = '[[steps]]\nkey = "last"\nkind = "rating"\ninstrument = "nothing"\nscope = "story"\n'
    before = rows_by_table()

    with pytest.raises(DocumentError):
        loading.load_study(folder(tmp_path, study=STUDY + bad))
    assert rows_by_table() == before

    loading.load_study(folder(tmp_path))
    assert Source.objects.count() == 2  # it was the step alone that stood in the way


def test_reading_touches_no_database(tmp_path: Path, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        read = studyfile.read(folder(tmp_path))

    assert (read.study["slug"], len(read.steps), len(read.collection.stories)) == ("plums", 2, 2)


def test_a_slug_without_a_version_means_the_builtin_instrument(tmp_path: Path) -> None:
    builtin = documents.read(documents.discover()["ttcw"])
    for version in ("0", "2"):
        loading.load_instrument(replace(builtin, version=version))

    made = loading.load_study(folder(tmp_path))

    assert str(made.versions.get().steps.get(key="tests").instrument) == f"ttcw {builtin.version}"


@pytest.mark.parametrize(("name", "version"), [("ttcw@1", "1"), ("ttcw@published", "published")])
def test_a_version_can_be_named(tmp_path: Path, name: str, version: str) -> None:
    builtin = documents.read(documents.discover()["ttcw"])
    loading.load_instrument(replace(builtin, version="published"))

    made = loading.load_study(folder(tmp_path, study=STUDY.replace('"ttcw"', f'"{name}"')))

    assert str(made.versions.get().steps.get(key="tests").instrument) == f"ttcw {version}"


def test_of_several_loaded_versions_one_has_to_be_named(tmp_path: Path) -> None:
    mine = replace(documents.read(documents.discover()["ttcw"]), slug="mine")
    for version in ("1", "2"):
        loading.load_instrument(replace(mine, version=version))

    with refused("study.toml: step 2, instrument: “mine” has several versions; name one: mine@1, mine@2"):
        loading.load_study(folder(tmp_path, study=STUDY.replace('"ttcw"', '"mine"')))


def test_an_instrument_that_differs_from_the_builtin_one_of_its_version_is_refused(tmp_path: Path) -> None:
    builtin = documents.read(documents.discover()["ttcw"])
    loading.load_instrument(replace(builtin, items=builtin.items[:3]))

    said = "ttcw 1 is published and asks something else than this file; raise the version in the file"
    with refused(f"study.toml: step 2, instrument: {said}"):
        loading.load_study(folder(tmp_path))
