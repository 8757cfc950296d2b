"""One grammar of names: what is a slug in one kind of document is one in every other."""

import pytest

from studies.documents import cloze, instrument, study
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.names import CODE, SLUG, first_free
from tests.studies.cloze.documents import SHOES

ITEM = {"type": "binary", "question": "So?"}
SLUGS = {
    "plums": True,
    "plums-2": True,
    "big_plums": True,
    "Plums": False,
    "-plums": False,
    "plums.2": False,
    "": False,
}


@pytest.mark.parametrize(("name", "is_slug"), SLUGS.items())
def test_a_slug_is_a_slug_in_every_kind_of_document(name: str, is_slug: bool) -> None:
    readers = {
        "study": lambda: study._STUDY["slug"](name),
        "step": lambda: study._STEP["key"](name),
        "cloze": lambda: cloze.parse_cloze(SHOES.replace('slug = "shoes"', f'slug = "{name}"'), "a.toml"),
        "instrument": lambda: instrument.parse_instrument(
            {"slug": name, "version": "1", "title": "A", "items": [{"key": "a", **ITEM}]}, "a.toml"
        ),
        "item": lambda: instrument.parse_instrument(
            {"slug": "a", "version": "1", "title": "A", "items": [{"key": name, **ITEM}]}, "a.toml"
        ),
    }

    accepted = {}
    for kind, read in readers.items():
        try:
            read()
            accepted[kind] = True
        except (DocumentError, InvalidValue):
            accepted[kind] = False

    assert accepted == dict.fromkeys(readers, is_slug)


def test_codes_may_come_from_elsewhere_and_name_no_way_out_of_a_folder() -> None:
    for code in ("A1", "story.2", "12-ab_C"):
        CODE.check(code)
    for name in ("../a", "a/b", ".a", "a b", "ä"):
        with pytest.raises(InvalidValue, match="will not do; use letters"):
            CODE.check(name)
    with pytest.raises(InvalidValue, match="“A” will not do; use small letters"):
        SLUG.check("A")


def test_a_name_that_is_taken_gets_the_first_free_number_and_keeps_its_length() -> None:
    assert first_free("pears", {"plums"}, longest=80) == "pears"
    assert first_free("pears", {"pears", "pears-2"}, longest=80) == "pears-3"
    assert first_free("pears-and-plums", {"pears-and"}, longest=9) == "pears-a-2"
    assert first_free("pears-and-plums", {"pears-and"}, longest=8) == "pears-an"
