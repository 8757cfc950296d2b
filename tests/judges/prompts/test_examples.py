"""Examples for a judge come from experts, and from nothing that is related to what it judges."""

from hypothesis import given
from hypothesis import strategies as st

from judges.prompts import Candidate, JudgedStory, choose_examples

KEYS = st.sampled_from(["", "a", "b", "c"])
CODES = st.sampled_from(["s1", "s2", "s3", "s4"])
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        item=st.sampled_from(["ending", "plot"]),
        story=CODES,
        group=st.sampled_from(["g1", "g2"]),
        prompt=st.sampled_from(["", "A well.", "a  WELL.", "A mill."]),
        value=st.sampled_from(["yes", "no"]),
        rationale=KEYS,
        text_sha256=KEYS,
        is_expert=st.booleans(),
    ),
    max_size=12,
)
JUDGED = st.builds(
    JudgedStory,
    item=st.sampled_from(["ending", "plot"]),
    story=CODES,
    group=st.sampled_from(["g1", "g2"]),
    prompt=st.sampled_from(["", "A well.", "A mill."]),
    text_sha256=KEYS,
)


@given(CANDIDATES, JUDGED, st.integers(0, 5), st.integers(0, 3))
def test_no_example_is_related_to_what_is_judged(
    candidates: list[Candidate], judged: JudgedStory, n: int, seed: int
) -> None:
    chosen = choose_examples(candidates, judged, n=n, seed=seed)

    assert len(chosen) <= n
    assert len({candidate.story for candidate in chosen}) == len(chosen)
    for candidate in chosen:
        assert candidate in candidates
        assert candidate.is_expert
        assert candidate.item == judged.item
        assert candidate.story != judged.story
        assert candidate.group != judged.group
        assert not judged.prompt or candidate.prompt.casefold().split() != judged.prompt.casefold().split()
        assert not judged.text_sha256 or candidate.text_sha256 != judged.text_sha256


@given(CANDIDATES, JUDGED, st.integers(0, 3), st.randoms())
def test_the_order_of_the_candidates_decides_nothing(
    candidates: list[Candidate], judged: JudgedStory, seed: int, rng: object
) -> None:
    shuffled = list(candidates)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]

    chosen = choose_examples(candidates, judged, n=4, seed=seed)

    assert [c.example for c in choose_examples(shuffled, judged, n=4, seed=seed)] == [c.example for c in chosen]


@given(CANDIDATES, JUDGED)
def test_as_many_are_chosen_as_there_are_stories(candidates: list[Candidate], judged: JudgedStory) -> None:
    usable = {
        c.story
        for c in candidates
        if choose_examples([c], judged, n=1, seed=0)  # each by itself
    }

    assert len(choose_examples(candidates, judged, n=12, seed=0)) == len(usable)


def far(story: str, value: str) -> Candidate:
    return Candidate("ending", story, f"g-{story}", "", value)


def test_values_take_turns() -> None:
    candidates = [far(f"y{n}", "yes") for n in range(9)] + [far("n1", "no"), far("n2", "no")]

    chosen = choose_examples(candidates, JudgedStory("ending", "s", "g"), n=4, seed=1)

    assert sorted(c.value for c in chosen) == ["no", "no", "yes", "yes"]


def test_another_seed_chooses_others() -> None:
    candidates = [far(f"y{n}", "yes") for n in range(30)]
    judged = JudgedStory("ending", "s", "g")

    assert len({choose_examples(candidates, judged, n=1, seed=seed)[0].story for seed in range(20)}) > 5
