"""How many calls at once: what an endpoint says that it bears is followed, and never more than it was set to."""

from judges.endpoints.pace import Pace
from judges.providers import Limits


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_the_window_is_halved_once_for_all_calls_that_were_under_way() -> None:
    clock = Clock()
    pace = Pace(share=64, size=64, clock=clock)

    halved = [pace.note_overload(sent_at=clock.seconds - n) for n in (1.0, 2.0, 0.5)]

    assert (halved, pace.limit) == ([True, False, False], 32)
    pace.note_answer(sent_at=clock.seconds - 0.5)
    clock.seconds += 1
    assert not pace.note_overload(sent_at=clock.seconds - 0.5), "what was answered had been sent before it was too much"
    pace.note_answer(sent_at=clock.seconds - 0.5)
    assert pace.note_overload(sent_at=clock.seconds - 0.5)
    assert pace.limit == 16


def test_the_window_is_never_closed() -> None:
    clock = Clock()
    pace = Pace(share=8, size=2, clock=clock)

    for _ in range(5):
        clock.seconds += 2
        pace.note_answer(sent_at=clock.seconds - 1)
        pace.note_overload(sent_at=clock.seconds - 1)

    assert pace.limit == 1


def test_an_endpoint_that_refuses_everything_for_a_while_narrows_the_window_once() -> None:
    clock = Clock()
    pace = Pace(share=64, size=64, clock=clock)

    for _ in range(5):
        clock.seconds += 2
        pace.note_overload(sent_at=clock.seconds - 1)

    assert pace.limit == 32


def test_the_window_grows_by_one_for_each_window_that_was_answered() -> None:
    pace = Pace(share=6, size=4)
    sizes = []

    for _ in range(4 + 5 + 20):
        pace.note_answer(sent_at=pace.clock())
        sizes.append(pace.limit)

    assert sizes == [4] * 3 + [5] * 5 + [6] * 21


def test_after_a_bad_minute_most_of_what_was_borne_comes_back_with_as_many_answers() -> None:
    clock = Clock()
    pace = Pace(share=64, size=64, clock=clock)
    for _ in range(64):
        pace.note_answer(sent_at=clock.seconds)
    for _ in range(4):  # each with one answer before it, as of a server that comes and goes
        clock.seconds += 2
        pace._is_answering = True
        pace.note_overload(sent_at=clock.seconds - 1)
    assert pace.limit == 4

    sizes = []
    for _ in range(40):
        pace.note_answer(sent_at=pace.clock())
        sizes.append(pace.limit)

    assert sizes[:23] == list(range(5, 28))
    assert sizes[-1] == 28, "three quarters of 64, less by an eighth four times; from there by one a window"


def test_a_worker_begins_with_what_the_window_of_the_one_before_it_would_have_come_back_to() -> None:
    """Of workers that are killed one after another in a bad minute each would begin as narrow as the last one ended."""
    clock = Clock()
    size = 64
    sizes = []

    for _ in range(3):
        pace = Pace(share=64, size=size, clock=clock)
        for _ in range(size):
            pace.note_answer(sent_at=clock.seconds)
        for _ in range(2):
            clock.seconds += 2
            pace._is_answering = True
            pace.note_overload(sent_at=clock.seconds - 1)
        size = pace.lasting_size
        sizes.append((pace.limit, size))

    assert sizes == [(16, 36), (9, 27), (7, 21)], "three quarters of 64, less by an eighth for each time"


def test_a_larger_share_opens_a_window_that_was_never_narrowed_and_no_other() -> None:
    wide, narrow = Pace(share=4, size=4), Pace(share=4, size=2)

    for pace in (wide, narrow):
        pace.set_share(8)

    assert (wide.limit, narrow.limit) == (8, 2)


def test_calls_that_hang_count_for_the_share_and_not_for_the_window() -> None:
    """Else a window that was halved once too often holds calls that hang, and nothing is asked until they time out."""
    clock = Clock()
    pace = Pace(share=8, size=2, clock=clock)
    hanging = [clock.seconds] * 2
    assert pace.n_free(hanging) == 0
    pace.note_answer(sent_at=clock.seconds - 0.5)

    frees = []
    for seconds in (9.0, 2.0):
        clock.seconds += seconds
        frees.append(pace.n_free([*hanging, clock.seconds]))

    assert frees == [0, 1], "after ten seconds they hang, where answers take half a second"
    assert pace.n_free([*hanging * 4]) == 0, "the share is full"


def test_calls_hang_that_take_far_longer_than_answers_took_to_come_to_others() -> None:
    """A worker that comes into a narrow window, and whose first calls all hang, has no answer of its own to tell by."""
    clock = Clock()
    pace = Pace(share=8, size=2, usual_seconds=0.5, clock=clock)
    hanging = [clock.seconds] * 2

    clock.seconds += 11

    assert pace.n_free(hanging) == 2


def test_slow_answers_do_not_hang() -> None:
    clock = Clock()
    pace = Pace(share=8, size=2, clock=clock)
    pace.note_answer(sent_at=clock.seconds - 5.0)
    sent_at = [clock.seconds] * 2

    clock.seconds += 39.0

    assert pace.n_free(sent_at) == 0
    clock.seconds += 2.0
    assert pace.n_free(sent_at) == 2, "eight times as long as answers take"


def test_what_a_provider_has_left_is_counted_down_until_its_window_ends() -> None:
    clock = Clock()
    pace = Pace(share=8, size=8, clock=clock)
    assert pace.n_left() is None

    pace.note_limits(Limits(n_requests=10, n_requests_left=3, requests_reset_seconds=20.0))
    lefts = [pace.n_left()]
    for _ in range(3):
        pace.note_sending()
        lefts.append(pace.n_left())
    clock.seconds += 20.0

    assert lefts == [3, 2, 1, 0]
    assert pace.n_left() is None


def test_without_tokens_nothing_is_sent_until_there_are_some_again() -> None:
    clock = Clock()
    pace = Pace(share=8, size=8, clock=clock)

    pace.note_limits(Limits(n_requests_left=5, requests_reset_seconds=60.0, n_tokens_left=0, tokens_reset_seconds=2.0))

    assert pace.n_left() == 0
    clock.seconds += 2.0
    assert pace.n_left() == 5
