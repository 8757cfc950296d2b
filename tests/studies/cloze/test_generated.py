from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.documents.cloze import ClozeDocument, parse_cloze
from studies.documents.errors import DocumentError
from tests.studies.cloze.documents import write_cloze
from tests.studies.cloze.generated import document, slipped


def outcome(toml: str) -> ClozeDocument | str:
    """The document, or the words with which it was refused."""
    try:
        return parse_cloze(toml, "one.toml")
    except DocumentError as error:
        return str(error)


@pytest.mark.slow
def test_ten_thousand_documents_round_trip_or_are_refused() -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=10_000, deadline=None, derandomize=True, database=None)
    @given(st.integers(0, 2**64))
    def each(seed: int) -> None:
        random = Random(seed)
        whole = document(random)
        toml = write_cloze(whole)
        assert parse_cloze(toml, "one.toml") == whole
        outcomes["documents"] += 1

        read = outcome(slipped(toml, random))
        if isinstance(read, str):
            assert read.startswith("one.toml: ")
            assert "\n" not in read
            outcomes["refused"] += 1
        else:
            assert parse_cloze(write_cloze(read), "one.toml") == read
            outcomes["taken"] += 1

    each()

    assert outcomes["documents"] >= 10_000
    assert min(outcomes["refused"], outcomes["taken"]) > 1_000, outcomes
