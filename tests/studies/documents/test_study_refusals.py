"""A bad study file is refused whole, in one line with file, row, field and reason."""

import json
from pathlib import Path

import pytest

from studies import loader
from studies.documents import instrument
from tests.studies.folders import CSV, HEADER, ROW, STUDY, folder, refused

pytestmark = pytest.mark.django_db


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
        loader.load_study(path)


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
        loader.load_study(path)


def test_a_bad_line_of_json_is_refused_whole(tmp_path: Path) -> None:
    path = folder(tmp_path, jsonl=json.dumps(ROW) + '\n\n{"story": \n')

    with refused("stories.jsonl: row 3: is not JSON: Expecting value at line 1, column 11"):
        loader.load_study(path)


THERE = ", ".join(sorted(instrument.discover()))


BAD_STUDY = {
    "an empty file": ("", "study.toml: file: the file is empty; docs/study-files.md has an example to start from"),
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
        "study.toml: file: has a key of more than 24 parts at line 1; a key has one part",
    ),
    "a hundred thousand brackets": ("x = " + "[" * 100_000, "study.toml: file: is nested too deeply"),
    "no slug": (STUDY.replace('slug = "plums"', ""), "study.toml: slug: is missing or empty"),
    "no title": (STUDY.replace('title = "Plums"', 'title = " "'), "study.toml: title: is missing or empty"),
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
        "study.toml: steps: “Which do you value most?” asks “Put them in order”, which compares stories, so it must be "
        "asked about each group",
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
    "a rating without scope": (STUDY.replace('scope = "story"', ""), "study.toml: step 2, scope: is missing or empty"),
    "a consent without words": (
        STUDY.replace('text = "You can stop at any time."', ""),
        "study.toml: step 1, text: is missing or empty",
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
        loader.load_study(path)


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

    with refused(f"study.toml: steps: “Story Comparison Task” asks “The better story”, {said}"):
        loader.load_study(path)
