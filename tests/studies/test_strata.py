"""The draw itself: even over strata and over each criterion, the same for a seed, and refused in words."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from studies.strata import CannotDraw, Criterion, DrawableStory, SubsetRule, draw, parse_criterion


def story(key: int, *, source: str = "", n_words: int = 100, prompt: str = "", **factors: Any) -> DrawableStory:
    prompts = {prompt: prompt} if prompt else {}
    return DrawableStory(key, f"{key * 7919 % 10_007:05}", f"s{key:05}", n_words, source, prompts, factors)


def rule(n: int, *by: str, each: bool = False, seed: int = 1) -> SubsetRule:
    return SubsetRule(n, seed, is_each=each, criteria=tuple(map(parse_criterion, by)))


def counts(*labelled: tuple[str, int]) -> list[DrawableStory]:
    """So many stories of each label."""
    labels = [label for label, n in labelled for _ in range(n)]
    return [story(key, tier=label) for key, label in enumerate(labels, start=1)]


def taken(drawn: Any) -> Mapping[tuple[str, ...], tuple[int, int, int]]:
    return {s.labels: (s.n_there, s.n_asked, s.n_taken) for s in drawn.strata}


def test_so_many_from_each_stratum_and_a_stratum_with_fewer_gives_all_and_says_what_lacks() -> None:
    drawn = draw(counts(("high", 30), ("low", 3)), rule(5, "tier", each=True))

    assert taken(drawn) == {("high",): (30, 5, 5), ("low",): (3, 5, 3)}
    assert [stratum.n_lacking for stratum in drawn.strata] == [0, 2]
    assert (drawn.n_there, drawn.n_taken, drawn.n_lacking) == (33, 8, 1)


def test_so_many_in_all_are_spread_evenly_and_what_one_lacks_the_others_give() -> None:
    drawn = draw(counts(("a", 50), ("b", 2), ("c", 50)), rule(21, "tier"))

    assert {labels[0]: n for labels, (_there, _asked, n) in taken(drawn).items()} in (
        {"a": 10, "b": 2, "c": 9},
        {"a": 9, "b": 2, "c": 10},
    )
    assert drawn.n_taken == 21
    assert [stratum.n_lacking for stratum in drawn.strata] == [0, 5, 0]


def test_with_more_strata_than_stories_each_criterion_is_as_even_as_it_can_be() -> None:
    """As the 97 of 495 stories for the study of psychological depth were balanced by premise, author and strategy."""
    stories = [
        story(n, source=f"author {n % 6}", prompt=f"premise {n // 6 % 15}", strategy=f"way {n // 90 % 2}")
        for n in range(495)
    ]

    drawn = draw(stories, rule(97, "group", "source", "strategy", seed=97))

    chosen = [stories[key] for key in drawn.keys]
    assert len(drawn.strata) == 180
    assert {s.n_taken for s in drawn.strata} == {0, 1}
    assert sorted(Counter(c.source for c in chosen).values()) == [16, 16, 16, 16, 16, 17]
    assert set(Counter(next(iter(c.prompts)) for c in chosen).values()) == {6, 7}
    assert sorted(Counter(c.factors["strategy"] for c in chosen).values()) == [48, 49]


def test_a_draw_without_strata_gives_every_story_the_same_chance() -> None:
    stories = [story(n) for n in range(20)]

    often = Counter(key for seed in range(1000) for key in draw(stories, rule(5, seed=seed)).keys)

    # 250 expected of each, with a standard deviation of 13.7.
    assert all(190 < often[n] < 310 for n in range(20))


def test_the_same_seed_draws_the_same_whatever_the_order_and_more_from_each_are_these_and_others() -> None:
    stories = counts(("a", 40), ("b", 40))
    few = draw(stories, rule(5, "tier", each=True))

    assert draw(list(reversed(stories)), rule(5, "tier", each=True)).keys == few.keys
    assert set(few.keys) < set(draw(stories, rule(9, "tier", each=True)).keys)
    assert draw(stories, rule(5, "tier", each=True, seed=2)).keys != few.keys


def test_quarters_of_a_number_are_alike_in_size_and_equal_numbers_stay_together() -> None:
    drawn = draw([story(n, votes=n) for n in range(1, 13)], rule(1, "votes=quarters", each=True))
    tied = draw([story(n, votes="10" if n < 9 else str(n)) for n in range(1, 13)], rule(1, "votes=quarters", each=True))

    assert taken(drawn) == {(f"{n} – {n + 2}",): (3, 1, 1) for n in (1, 4, 7, 10)}
    assert taken(tied) == {("9 – 10",): (10, 1, 1), ("11 – 12",): (2, 1, 1)}


def test_dates_are_divided_by_a_day_and_lengths_by_thirds() -> None:
    dates = ["2022-12-31", "2022-12-31T23:59:59Z", "2023-01-01", "2024-05-06"]
    by_day = draw([story(n, date=day) for n, day in enumerate(dates)], rule(2, "date=2023-01-01"))
    by_length = draw([story(n, n_words=n) for n in range(9)], rule(3, "text=thirds"))

    assert taken(by_day) == {("< 2023-01-01",): (2, 1, 1), ("≥ 2023-01-01",): (2, 1, 1)}
    assert taken(by_length) == {("0 – 2",): (3, 1, 1), ("3 – 5",): (3, 1, 1), ("6 – 8",): (3, 1, 1)}


def test_stories_that_say_nothing_of_a_criterion_are_left_out_and_counted() -> None:
    stories = [*counts(("a", 3), ("b", 3)), story(7), story(8, tier="")]

    drawn = draw(stories, rule(6, "tier"))

    assert (drawn.n_there, dict(drawn.left_out)) == (6, {"tier": 2})
    assert not {7, 8} & set(drawn.keys)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (rule(9, "tier"), "There are 8 stories to draw from; ask for no more."),
        (rule(6, "tier", each=True), "No stratum has 6 stories; the largest has 5."),
        (rule(0), "Ask for one story or more."),
        (rule(1, each=True), "Choose what the strata are formed by"),
        (
            rule(1, "colour"),
            "No story has a property “colour”. There are: source, group, text=quarters, mixed, one, tier.",
        ),
        (rule(1, "one"), "All stories are alike in “one”, so it divides nothing: leave it out."),
        (rule(1, "source"), "All stories are alike in “source”, so it divides nothing"),
        (rule(1, "text=thirds"), "All stories are alike in “text”, so it divides nothing"),
        (rule(1, "group"), "All stories are on one prompt, so it divides nothing"),
        (rule(1, "tier=thirds"), "In 8 stories “tier” is not a number, as in “a”."),
        (rule(1, "mixed=thirds"), "In 1 story “mixed” is not a number: “x”. Write mixed without parts, or correct it."),
        (rule(1, "tier=2023-01-01"), "In 8 stories “tier” is not a date, as in “a”."),
        (rule(1, "tier", "tier"), "“tier” is named twice"),
        (rule(1, "tier", "one", "source", "group"), "by 3 criteria at most"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_way_out(asked: SubsetRule, sentence: str) -> None:
    stories = [story(n, source="s", prompt="p", tier="a" if n < 5 else "b", one="1", mixed=n or "x") for n in range(8)]

    with pytest.raises(CannotDraw, match=r"^[^\n]*$") as refusal:
        draw(stories, asked)

    assert sentence in str(refusal.value)


def test_a_story_on_several_prompts_has_no_stratum_among_them() -> None:
    several = DrawableStory(1, "0", "s1", 9, "a", {"p": "p", "q": "q"}, {})

    with pytest.raises(CannotDraw, match="“s1” is read on several prompts"):
        draw([several, story(2, prompt="p")], rule(1, "group"))


def test_nothing_is_drawn_from_nothing() -> None:
    with pytest.raises(CannotDraw, match="There are no stories to draw from"):
        draw([], rule(1))


@pytest.mark.parametrize("text", ["tier", "votes=quarters", "text=halves", "date=2023-01-31", "generation: way/a"])
def test_a_criterion_is_written_as_it_is_read(text: str) -> None:
    assert str(parse_criterion(text)) == text


def test_a_criterion_that_says_nothing_is_refused() -> None:
    for text in ("votes=fifths", "date=2023-13-01", "source=thirds", "group=thirds", "text", "text=2023-01-01", "=x"):
        with pytest.raises(CannotDraw):
            parse_criterion(text)
    assert parse_criterion(" votes = thirds ") == Criterion("votes", n_parts=3)
