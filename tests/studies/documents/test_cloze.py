from pathlib import Path

import pytest

from studies.documents.cloze import Blank, Check, Constraint, Edge, Section, parse_cloze, read_cloze
from studies.documents.errors import DocumentError
from studies.documents.reader import LARGEST_TEXT
from tests.studies.cloze.documents import SHOES, shoes


def test_a_document_says_what_stands_in_the_file() -> None:
    document = shoes()

    assert (document.slug, document.version, document.title, document.language) == ("shoes", "1", "Seven Pairs", "en")
    assert document.citation == "Written for the tests."
    assert document.skeleton.startswith("Between Basel")
    assert document.skeleton.endswith("“{{5}},” she said.")
    assert document.sections[0] == Section(
        1,
        "The Corridor",
        (
            Constraint(
                "The object must be small enough to lie in a heel.",
                must=True,
                checks=(Check("Is it smaller than a matchbox?", required=True), Check("Would it stay there?")),
            ),
            Constraint("Nothing says whose the shoes are."),
        ),
    )
    assert document.blanks_of(2) == [Blank(3, "sentence", 2), Blank(4, "paragraph", 2, "what Anselm did next", (2, 3))]
    assert document.edges[1] == Edge(1, 3, "Does the officer’s find agree with the object?")


def test_the_shipped_mystery_is_read() -> None:
    document = read_cloze(Path(__file__).parents[3] / "studies" / "demo" / "mystery" / "cloze.toml")

    assert (len(document.sections), len(document.blanks), len(document.edges)) == (7, 44, 16)


def test_a_key_that_says_nothing_is_as_good_as_none() -> None:
    said = SHOES.replace('version = "1"', 'version = " "\nnotes = ""').replace(
        "section = 3", "section = 3\nfollows = []"
    )

    assert said != SHOES
    assert parse_cloze(said, "shoes.toml") == shoes()


def test_the_order_in_the_file_is_free() -> None:
    first, *blanks = SHOES.split("[[blanks]]")
    turned = "[[blanks]]".join([first, *(block.rstrip() + "\n\n" for block in reversed(blanks[:4])), blanks[4]])

    assert turned != SHOES
    assert parse_cloze(turned, "shoes.toml") == shoes()


def test_bytes_a_byte_order_mark_and_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shoes.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SHOES.replace("\n", "\r\n").encode())

    assert read_cloze(path) == shoes()
    assert parse_cloze(SHOES.encode(), "shoes.toml") == shoes()


def test_a_later_section_can_bear_on_an_earlier_one() -> None:
    turned = SHOES.replace("follows = [2, 3]\n", "")
    turned = turned.replace("from = 1\nto = 3", "from = 3\nto = 1").replace("from = 1\nto = 2", "from = 3\nto = 2")

    assert [(edge.from_, edge.to) for edge in parse_cloze(turned, "shoes.toml").edges] == [(3, 1), (3, 2)]


BLANK_6 = '\n[[blanks]]\nnumber = 6\nkind = "word"\nsection = {section}\n'
SECTION_4 = '\n[[sections]]\nnumber = 4\ntitle = "Nobody"\n[[sections.constraints]]\ntext = "Nothing."\n'

REFUSED = {
    "a blank outside every section": (
        [('"sentence"\nsection = 3', '"sentence"\nsection = 7')],
        "blank 5, section: there is no section 7, so the blank is outside every section; the last is 3",
    ),
    "a blank of no section": (
        [('kind = "word"\nsection = 1\n\n', 'kind = "word"\n\n')],
        "blanks[2], section: is missing or empty",
    ),
    "an edge to nothing": ([("to = 3", "to = 9")], "edge 1 → 9: there is no section 9; the last is 3"),
    "an edge from nothing": (
        [("from = 1\nto = 3", "from = 4\nto = 3")],
        "edge 4 → 3: there is no section 4; the last is 3",
    ),
    "an edge twice": ([("to = 3", "to = 2")], "edge 1 → 2: stands 2 times; ask one question of each pair of sections"),
    "a cycle": (
        [("from = 1\nto = 2", "from = 3\nto = 1")],
        "edges: 1 → 3 → 1 is a cycle; what comes first cannot hang on what follows from it, remove one of them",
    ),
    "a longer cycle": (
        [("from = 1\nto = 3", 'from = 3\nto = 1\nquestion = "?"\n[[edges]]\nfrom = 2\nto = 3')],
        "edges: 1 → 2 → 3 → 1 is a cycle; what comes first cannot hang on what follows from it, remove one of them",
    ),
    "a section that hangs on itself": (
        [("to = 3", "to = 1")],
        "edges: 1 → 1 is a cycle; what comes first cannot hang on what follows from it, remove one of them",
    ),
    "a doubled blank": (
        [('number = 2\nkind = "word"', 'number = 1\nkind = "word"')],
        "blank 1, number: stands 2 times; every blank has a number of its own",
    ),
    "a doubled section": (
        [('number = 3\ntitle = "The B', 'number = 2\ntitle = "The B')],
        "section 2, number: stands 2 times; every section has a number of its own",
    ),
    "two sections of one title": (
        [("The Border", "The Corridor")],
        "sections, title: “The Corridor” stands 2 times; reports tell sections by their titles",
    ),
    "blanks with a gap": (
        [('number = 5\nkind = "sentence"', 'number = 7\nkind = "sentence"')],
        "blanks: there is no blank 5, yet one of 7; number them from 1 without gaps",
    ),
    "sections with a gap": (
        [('number = 3\ntitle = "The B', 'number = 5\ntitle = "The B')],
        "sections: there is no section 3, yet one of 5; number them from 1 without gaps",
    ),
    "an empty constraint": (
        [('"Nothing says whose the shoes are."', '" \\n "')],
        "sections[1], constraints[2], text: is missing or empty",
    ),
    "a constraint of nothing": (
        [('text = "Nothing says whose the shoes are."', "must = false")],
        "sections[1], constraints[2], text: is missing or empty",
    ),
    "an empty check": (
        [("Would it stay there?", "")],
        "sections[1], constraints[1], checks[2], text: is missing or empty",
    ),
    "a section without constraints": (
        [('[[sections.constraints]]\ntext = "The widow hears what nobody could have done."', "")],
        "sections[2], constraints: is missing or empty",
    ),
    "an edge without question": (
        [("Does the officer’s find agree with the object?", "")],
        "edges[2], question: is missing or empty",
    ),
    "a section without blanks": (
        [("[[blanks]]\nnumber = 1", SECTION_4 + "[[blanks]]\nnumber = 1")],
        "section 4: has no blanks; give it one or remove it",
    ),
    "a marker without blank": (
        [("the shoes.\n", "the shoes {{6}} here.\n")],
        "skeleton: {{6}} has no blank; add one under [[blanks]] or take the marker out",
    ),
    "a blank without marker": (
        [("[[edges]]\nfrom = 1\nto = 2", BLANK_6.format(section=3) + "[[edges]]\nfrom = 1\nto = 2")],
        "blank 6: has no marker; put {{6}} into the skeleton or remove the blank",
    ),
    "a marker twice": (
        [("collects the", "collects {{2}} the")],
        "skeleton: {{2}} stands twice; every blank has one place",
    ),
    "something like a marker": (
        [("{{2}}", "{{ 2 }}")],
        "skeleton: “{{ 2 }}” is no marker; a marker is written {{1}}, a number in double braces",
    ),
    "half a marker": (
        [("{{2}}", "2}}")],
        "skeleton: “2}}” is no marker; a marker is written {{1}}, a number in double braces",
    ),
    "blanks out of order": (
        [("{{1}}", "{{0}}"), ("{{2}}", "{{1}}"), ("{{0}}", "{{2}}")],
        "skeleton: {{1}} stands after {{2}}; number the blanks in the order of the text",
    ),
    "blanks with nothing between": (
        [(" and they were wet; in the heel\nof the left one lay ", " \n")],
        "skeleton: nothing stands between {{1}} and {{2}}; put words between them, begin a "
        "new paragraph, or make them one blank",
    ),
    "a section in two places": (
        [
            ('"sentence"\nsection = 3', '"sentence"\nsection = 1'),
            ('"paragraph"\nsection = 2', '"paragraph"\nsection = 3'),
        ],
        "skeleton: {{5}} of section 1 stands after section 3 has begun; the blanks of a section stand together, and "
        "sections are numbered in the order of the text",
    ),
    "two sections in one paragraph": (
        [('"word"\nsection = 1\n\n', '"word"\nsection = 2\n\n')],
        "skeleton: {{1}} of section 1 and {{2}} of section 2 share a paragraph; begin a new paragraph with the section",
    ),
    "a heading of no section": (
        [("Between Basel", "## The Corridor\n\nBetween Basel")],
        "skeleton: “## The Corridor” opens no section; the line that opens section 1 is ## 1",
    ),
    "a line that begins like a heading": (
        [("in the heel\n", "in the heel\n#")],
        "skeleton: “#of the left one lay {{2}}.” opens no section; the line that opens section 1 is ## 1",
    ),
    "headings of some sections": (
        [("Between Basel", "## 1\nBetween Basel"), ("“I have", "## 2\n“I have")],
        "skeleton: its lines open the sections 1, 2; they have to open 1, 2, 3, in this order",
    ),
    "words above the first heading": (
        [("The seventh", "## 1\nThe seventh"), ("“I have", "## 2\n“I have"), ("At the border", "## 3\nAt the border")],
        "skeleton: words stand before the line ## 1; move them below it, or take all such lines out",
    ),
    "a blank below the wrong heading": (
        [("Between Basel", "## 1\nBetween Basel"), ("{{4}}", "## 2\n{{4}}"), ("At the border", "## 3\nAt the border")],
        "skeleton: {{3}} of section 2 stands below the line ## 1",
    ),
    "a blank that follows a later one": (
        [("[2, 3]", "[2, 5]")],
        "blank 4, follows: 5 is no earlier blank; a blank follows from those that stand before it",
    ),
    "a blank that follows nothing": (
        [("[2, 3]", "[0]")],
        "blanks[4], follows: must be from 1 to 9999",
    ),
    "a blank that follows one twice": ([("[2, 3]", "[3, 3]")], "blank 4, follows: 3 stands 2 times"),
    "a blank that follows what is no number": (
        [("[2, 3]", "3")],
        "blanks[4], follows: must be a list of numbers, such as [1, 4], not a whole number",
    ),
    "a blank that follows where no edge leads": (
        [("section = 3\n", "section = 3\nfollows = [4]\n")],
        "blank 5, follows: 4 is in section 2, and there is no edge 2 → 3; add one",
    ),
    "an unknown key": ([('citation = "', 'citatoin = "')], "citatoin: there is no such key; did you mean “citation”?"),
    "an unknown key of a blank": (
        [('hint = "what kind', 'colour = "what kind')],
        "blanks[1], colour: there is no such key; known are number, kind, section, hint, follows. "
        "If a newer Quire wrote the file, only that version can read it",
    ),
    "an unknown key of a constraint": (
        [("must = true\nchecks", "msut = true\nchecks")],
        "sections[1], constraints[1], msut: there is no such key; did you mean “must”?",
    ),
    "an unknown kind": (
        [('"paragraph"', '"chapter"')],
        "blanks[4], kind: “chapter” is not one of word, sentence, paragraph",
    ),
    "a number in words": (
        [("number = 1\nkind", 'number = "one"\nkind')],
        "blanks[1], number: must be a whole number, not text",
    ),
    "a number that is none": ([("number = 1\nkind", "number = 0\nkind")], "blanks[1], number: must be from 1 to 9999"),
    "a must that may be": (
        [("must = true\nchecks", "must = 1\nchecks")],
        "sections[1], constraints[1], must: must be true or false, not a whole number",
    ),
    "no table but a text": (
        [
            ('[[sections.constraints]]\ntext = "The widow', 'constraints = "The widow'),
        ],
        "sections[2], constraints: must be a list of tables; write each under a heading of its own, in double brackets",
    ),
    "a control character": (
        [("berth eleven", "berth\\u0000 eleven")],
        "skeleton: contains the control character U+0000; remove it",
    ),
    "a slug with capitals": (
        [('slug = "shoes"', 'slug = "Shoes"')],
        "slug: “Shoes” will not do; use small letters, digits, “-” and “_”, "
        "beginning and ending with a letter or digit",
    ),
    "no title": ([('title = "Seven Pairs"\n', "")], "title: is missing or empty"),
    "a key twice": (
        [('version = "1"', 'version = "1"\nversion = "2"')],
        "file: is not TOML: Cannot overwrite a value (at line 3, column 14)",
    ),
    "no TOML": ([('slug = "shoes"', "slug = shoes")], "file: is not TOML: Invalid value (at line 1, column 8)"),
    "a number of thousands of digits": (
        [("to = 3", f"to = {'9' * 5000}")],
        "file: holds a number with too many digits",
    ),
    "nesting without end": (
        [("to = 3", f"to = {'[' * 5000}")],
        "file: is nested too deeply",
    ),
    "a key of very many parts": (
        [('kind = "paragraph"', f"kind.{'.'.join('k' * 5000)} = 1")],
        "file: has a key of more than 24 parts at line 66; a key has one part",
    ),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_used_is_refused_with_file_field_and_reason(
    changes: list[tuple[str, str]], message: str
) -> None:
    broken = SHOES
    for old, new in changes:
        assert old in broken, "the example has changed under the test"
        broken = broken.replace(old, new, 1)

    with pytest.raises(DocumentError) as refused:
        parse_cloze(broken, "shoes.toml")

    assert str(refused.value) == f"shoes.toml: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file: the file is empty; docs/cloze.md has an example to start from"),
        (b"\xef\xbb\xbf \n", "file: the file is empty; docs/cloze.md has an example to start from"),
        (b'slug = "a"\ntitle = "caf\xe9"', "file: line 2 is not UTF-8; save the file as UTF-8"),
        (b"#" * (LARGEST_TEXT + 5), "file: the file is larger than 1,000,000 bytes"),
        (b"slug = 3", "slug: must be text, not a whole number"),
        (b'slug = "a"', "title: is missing or empty"),
    ],
)
def test_a_file_that_is_no_document_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_bytes(content)

    with pytest.raises(DocumentError) as refused:
        read_cloze(path)

    assert str(refused.value) == f"some.toml: {message}"


def test_a_document_has_no_more_parts_than_an_instrument_can_hold() -> None:
    many = "".join(f'\n[[edges]]\nfrom = 1\nto = 2\nquestion = "{i}"\n' for i in range(999))

    with pytest.raises(DocumentError, match=r"^shoes\.toml: edges: has 1001 entries; at most 1000 are read$"):
        parse_cloze(SHOES + many, "shoes.toml")
