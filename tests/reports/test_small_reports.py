"""Reports of hardly anything: three stories of one group, of which nobody likes any better; a study without answers."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.responses import submission
from reports.page.statements import statement_lines
from studies import lifecycle
from studies.models import Study
from tests import factories, triggers
from tests.replay import replayed
from tests.reports import given
from tests.reports.figures.test_comparisons import read

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
@replayed
def three_stories() -> Study:
    """Each of two raters says the same of all three; one says Yes, one No, and then again the same of all of them."""
    study = factories.study(n_stories=3, k=2)
    for value in ("yes", "no"):
        assignment = factories.assignment(study)
        factories.answer_all(assignment, value=value)
        submission.submit(assignment, at=timezone.now())
    lifecycle.close(study, at=timezone.now())
    study.refresh_from_db()
    return study


def page_of(client: Client, study: Study) -> str:
    client.force_login(factories.staff("researcher"))
    html = client.get(f"/reports/{study.slug}/figures/all/").content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_sources_that_are_level_are_all_named_and_none_is_called_the_next(client: Client, three_stories: Study) -> None:
    words = page_of(client, three_stories)

    assert "Source 1, Source 2 and Source 3 each pass 50 % of the tests" in words
    assert "the next" not in words


def test_one_group_is_one_and_an_interval_that_is_not_there_is_not_announced(
    client: Client, three_stories: Study
) -> None:
    words = page_of(client, three_stories)

    assert "Intervals are over groups , of which there is 1." in words
    assert "Two raters’ counts on one story go together at" in words
    assert "95 % interval –" not in words


def test_where_nothing_was_compared_nothing_is_said_of_pairs(client: Client, three_stories: Study) -> None:
    words = page_of(client, three_stories)

    assert "No source can be compared with Source 1 here" in words
    assert "Groups pair the sources" not in words


def test_one_story_and_one_rater_are_named_in_the_singular(client: Client) -> None:
    study = factories.study(n_stories=1, k=1, comparative=False)
    assignment = factories.assignment(study)
    factories.answer_all(assignment, value="yes")
    submission.submit(assignment, at=timezone.now())

    words = page_of(client, study)

    assert "story in 1 group 1 rater 1 of" in words


def test_agreement_within_sources_is_offered_only_once_the_study_is_closed(
    client: Client, three_stories: Study
) -> None:
    assert "With agreement within every source" in page_of(client, three_stories)

    with triggers.lifted():
        Study.objects.update(state="live", closed_at=None)
    live = client.get(f"/reports/{three_stories.slug}/figures/all/").content.decode()

    assert "Inter-rater agreement" in live
    assert "With agreement within every source" not in live


def test_nobody_is_called_the_strictest_of_raters_who_are_equally_strict(client: Client) -> None:
    study = factories.study(n_stories=3, k=2)
    for _rater in range(2):
        assignment = factories.assignment(study)
        factories.answer_all(assignment, value="yes")
        submission.submit(assignment, at=timezone.now())

    words = page_of(client, study)

    assert "Below 0 a rater is stricter" in words
    assert "is the strictest" not in words


def test_of_two_who_are_equally_strict_neither_is_called_the_strictest(client: Client) -> None:
    study = factories.study(n_stories=3, k=3)
    for value in ("yes", "no", "no"):
        assignment = factories.assignment(study)
        factories.answer_all(assignment, value=value)
        submission.submit(assignment, at=timezone.now())

    words = page_of(client, study)

    assert "Below 0 a rater is stricter" in words
    assert "is the strictest" not in words


def test_one_cluster_is_not_counted_in_the_plural(client: Client, three_stories: Study) -> None:
    words = page_of(client, three_stories)

    assert "2 answers, 1 cluster " in words


def test_no_answers_are_not_said_to_be_complete(client: Client) -> None:
    words = page_of(client, factories.study())

    assert "0 of 3 places submitted" in words
    assert "none missing" not in words


def test_a_reader_sees_from_the_ticks_how_large_a_coefficient_is_beside_full_agreement(three_stories: Study) -> None:
    (line,) = [line for line in statement_lines(read(three_stories)) if line.key == "agreement"]

    assert line.effect is not None
    assert [words for _x, words in line.effect.ticks] == ["−1", "−.50", "0", ".50", "1"]
    assert [x for x, _words in line.effect.ticks] == [12, 56, 100, 144, 188]
    assert line.effect.value < line.effect.zero == 100


def test_an_interval_that_is_not_there_is_not_said_to_be_for_anything(three_stories: Study) -> None:
    (line,) = [line for line in statement_lines(read(three_stories)) if line.key == "agreement"]

    assert line.statement.basis == "The mean of 2 tests"


def test_of_two_items_neither_has_least_in_common_with_the_other(client: Client) -> None:
    study = given.closed_study(n_groups=3, n_items=2)
    given.verdicts(study, {"E01": "yynnynynyyyn", "E02": "ynnnyyyynnyn"})

    words = page_of(client, study)

    assert "Pearson’s r over sets of answers" in words
    assert "has least in common" not in words


def test_where_nothing_says_how_sure_a_difference_is_the_findings_say_so(client: Client) -> None:
    study = given.closed_study(n_groups=1, n_items=2)
    given.verdicts(study, {"E01": "yyny", "E02": "yyny"})

    words = page_of(client, study)

    assert "Stories by Source 1 pass 100 % of the tests; next are those by Source 2 with 50 %" in words
    assert (
        "How sure it is that stories by Source 1 and by Source 2 differ is not known: 100.0 against 50.0 %. There are "
        "no more stories than sources and prompts, so how much stories of one source differ is not known." in words
    )
    assert "1 story each" in words
    assert "the interval is for" not in words


def test_a_planned_contrast_without_a_value_stays_among_the_findings(client: Client) -> None:
    given.closed_study(n_groups=2, n_items=2)
    with triggers.lifted():
        Study.objects.update(analysis_plan={"outcome": "verdicts", "reference": "Source 1"})
        factories.freeze_anew(Study.objects.get())
    given.verdicts(Study.objects.get(), {"E01": "yynnyynn"})

    words = page_of(client, Study.objects.get())

    assert "How sure it is that stories by Source 1 and by Source 2 differ is not known: 100.0 against 0.0 %." in words
    assert "Confirmatory" in words
