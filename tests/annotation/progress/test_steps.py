"""What comes next: decided on steps that are in no database."""

import pytest

from annotation.models import Assignment, Response
from annotation.progress import (
    Answers,
    Page,
    Part,
    Question,
    RaterProgress,
    combined_state,
    find_part,
    list_parts,
    list_questions,
    may_end_with,
    neighbours,
    next_page,
    response_state,
    resume,
    steps_around_groups,
)
from studies.models import Instrument, Item, ProtocolVersion, Step
from studies.protocol import Protocol

AB = ["A", "B"]


def asked(key: str, *, n_items: int = 1) -> Instrument:
    """An instrument with its items at hand, as if they had been fetched."""
    instrument = Instrument(pk=1, slug=key)
    items = [
        Item(pk=n, instrument=instrument, position=n, key=f"{key}{n}", type="binary") for n in range(1, n_items + 1)
    ]
    instrument._prefetched_objects_cache = {"items": items}
    return instrument


def protocol(*said: str) -> Protocol:
    """Steps by word: `consent`, `text:k`, `once:k`, `story:k`, `group:k`, `stories:k`; with `!` one that locks."""
    steps = []
    for position, each in enumerate(said, start=1):
        scope, _, key = each.lstrip("!").partition(":")
        kind = {"consent": "consent", "text": "briefing"}.get(scope, "rating")
        instrument = asked(key, n_items=2 if scope == "story" else 1) if kind == "rating" else None
        steps.append(
            Step(
                pk=position,
                position=position,
                key=key or scope,
                kind=kind,
                scope=scope if kind == "rating" else "",
                instrument=instrument,
                locks=each.startswith("!"),
            )
        )
    return Protocol(ProtocolVersion(), tuple(steps))


WHOLE = protocol(
    "consent", "text:welcome", "once:about", "story:tests", "group:order", "stories:guess", "once:exit", "text:debrief"
)


def way(**more: object) -> RaterProgress:
    return RaterProgress(
        **{"protocol": WHOLE, "has_consented": True, "n_left": 1, "passed": frozenset({"welcome", "about"}), **more}
    )


def test_nothing_comes_before_consent():
    assert next_page(way(has_consented=False, at_work=Assignment(code="c"))) == Page("consent")


@pytest.mark.parametrize(
    ("passed", "page"),
    [
        (set(), Page("briefing", ("welcome",))),
        ({"welcome"}, Page("once", ("about",))),
        ({"welcome", "about"}, Page("begin")),
        ({"about"}, Page("briefing", ("welcome",))),
    ],
)
def test_texts_and_first_questions_come_in_order_before_the_first_group(passed, page):
    assert next_page(way(passed=frozenset(passed))) == page


def test_who_has_begun_a_group_returns_to_it_whatever_else_is_open():
    assert next_page(way(passed=frozenset(), at_work=Assignment(code="c"))) == Page("assignment", ("c",))


def test_another_group_is_offered_while_there_is_one():
    assert next_page(way(n_submitted=1)) == Page("begin")


def test_the_last_questions_come_when_no_group_is_left():
    assert next_page(way(n_submitted=1, n_left=0)) == Page("once", ("exit",))


def test_who_has_finished_is_done_though_groups_are_left():
    assert next_page(way(n_submitted=1, has_finished=True)) == Page("done")


def test_who_finds_no_seat_at_all_is_not_asked_the_last_questions():
    assert next_page(way(n_left=0, has_begun=True)) == Page("done")


@pytest.mark.parametrize("before", [{"has_consented": False}, {"passed": frozenset()}])
def test_nothing_is_asked_of_who_has_no_place_to_begin_at(before):
    assert next_page(way(n_left=0, **before)) == Page("full")


@pytest.mark.parametrize(
    ("far", "may"),
    [({"n_submitted": 1}, True), ({}, False), ({"n_submitted": 1, "at_work": Assignment()}, False)],
)
def test_the_last_questions_may_be_chosen_after_a_group_and_not_within_one(far, may):
    assert may_end_with(way(**far), WHOLE.step("exit")) is may


def test_steps_stand_before_within_or_after_the_groups():
    before, after = steps_around_groups(WHOLE)

    assert [s.key for s in before] == ["welcome", "about"]
    assert [s.key for s in after] == ["exit", "debrief"]


def test_comparative_steps_that_follow_each_other_share_a_page():
    found = list_parts(protocol("story:a", "story:b", "text:t", "group:c", "stories:d", "once:e", "story:f"))

    assert [(p.kind, [s.key for s in p.steps]) for p in found] == [
        ("desk", ["a", "b"]),
        ("text", ["t"]),
        ("together", ["c", "d"]),
        ("desk", ["f"]),
    ]


def test_a_step_that_locks_begins_a_part():
    found = list_parts(protocol("group:a", "!group:b", "group:c"))

    assert [(p.locks, [s.key for s in p.steps]) for p in found] == [(False, ["a"]), (True, ["b", "c"])]


def test_the_desk_goes_story_by_story_and_a_page_step_by_step():
    desk, together = list_parts(protocol("story:a", "story:b", "group:c", "stories:d"))

    assert [p.path for p in list_questions(desk, AB)] == [
        "a/A/a1", "a/A/a2", "b/A/b1", "b/A/b2", "a/B/a1", "a/B/a2", "b/B/b1", "b/B/b2",
    ]  # fmt: skip
    assert [p.path for p in list_questions(together, AB)] == ["c/c1", "d/A/d1", "d/B/d1"]


def test_neighbours_lead_through_stories_and_pages():
    found = list_parts(protocol("story:a", "group:c"))
    first, *_, last = list_questions(found[0], AB)

    assert neighbours(found, found[0], AB, first)[0] is None
    assert neighbours(found, found[0], AB, last) == (list_questions(found[0], AB)[-2], found[1])
    assert neighbours(found, found[1], AB) == (last, None)


def answer(question: Question, story: int | None, **said: object) -> Response:
    given = {"outcome": "answered", "value": "yes"} | said
    return Response(step=question.step, item=question.item, story_id=story, **given)


def answered(found: list[Part], *paths: str) -> Answers:
    ids = {"A": 11, "B": 12}
    mine = [p for part in found for p in list_questions(part, AB) if p.path in paths]
    return Answers({(p.step.pk, p.item.pk, ids.get(p.letter)): answer(p, ids.get(p.letter)) for p in mine}, ids)


def test_coming_back_leads_to_the_question_last_seen():
    found = list_parts(protocol("story:a", "group:c"))

    back = resume(found, AB, answered(found), last_page="a/B/a2")

    assert isinstance(back, Question)
    assert back.path == "a/B/a2"


@pytest.mark.parametrize("page", ["", "gone", "a/C/a1"])
def test_without_a_known_question_one_comes_back_to_the_first_that_is_open(page):
    found = list_parts(protocol("story:a", "group:c"))

    back = resume(found, AB, answered(found, "a/A/a1"), last_page=page)

    assert isinstance(back, Question)
    assert back.path == "a/A/a2"


def test_of_a_page_one_comes_back_to_the_page_and_of_nothing_open_to_nothing():
    found = list_parts(protocol("story:a", "group:c"))
    read = ("a/A/a1", "a/A/a2", "a/B/a1", "a/B/a2")

    assert resume(found, AB, answered(found, *read), last_page="") == found[1]
    assert resume(found, AB, answered(found), last_page="c") == found[1]
    assert resume(found, AB, answered(found, *read, "c/c1"), last_page="") is None


def test_who_may_skip_everything_still_begins_at_the_first_question():
    found = list_parts(protocol("story:a", "group:c"))
    for part in found:
        for question in list_questions(part, AB):
            question.item.is_skippable = True

    back = resume(found, AB, answered(found), last_page="")

    assert isinstance(back, Question)
    assert back.path == "a/A/a1"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (None, "open"),
        ({"outcome": "open", "value": None, "rationale": ""}, "open"),
        ({"outcome": "open", "value": None, "rationale": "So far."}, "begun"),
        ({"rationale": ""}, "begun"),
        ({"rationale": "It is so."}, "done"),
    ],
)
def test_an_answer_is_open_begun_or_done(said, found):
    item = Item(type="binary", rationale="required", rationale_least=1)

    assert response_state(Response(**{"outcome": "answered", "value": "yes"} | said) if said else None, item) == found


@pytest.mark.parametrize(
    ("read", "found"), [((), "open"), (("a/A/a1",), "begun"), (("a/A/a1", "a/A/a2"), "done"), (("a/B/a1",), "open")]
)
def test_a_story_is_as_complete_as_its_answers(read, found):
    desk = list_parts(protocol("story:a"))
    about_a = [question for question in list_questions(desk[0], AB) if question.letter == "A"]

    assert combined_state(about_a, answered(desk, *read)) == found


@pytest.mark.parametrize(("read", "found"), [((), "open"), (("a/A/a1",), "done")])
def test_what_may_all_be_skipped_is_done_only_once_something_is_said(read, found):
    desk = list_parts(protocol("story:a"))
    about_a = [question for question in list_questions(desk[0], AB) if question.letter == "A"]
    for question in about_a:
        question.item.is_skippable = True

    assert combined_state(about_a, answered(desk, *read)) == found


def test_a_step_belongs_to_one_part():
    found = list_parts(WHOLE)

    assert find_part(found, "guess") == found[1]
    assert find_part(found, "exit") is None
