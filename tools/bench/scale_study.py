"""A study of thirteen sources on ten scales: 1,056 stories, each rated by three people."""

import numpy as np

from annotation.models import Assignment, Rater, Response
from studies import protocol
from studies.models import Item, Provenance, Source, Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tools.bench import large_study

N_GROUPS, N_STORIES, N_SOURCES, N_ITEMS = 88, 12, 13, 10
SCALE = {"low": 1, "high": 5, "anchors": {"1": "Not at all", "5": "Entirely"}}


def make(slug: str = "scales", *, has_judge: bool = False, state: str = "closed") -> Study:
    """A study with all its answers: 31,680 by people, and a third as many by a judge if there is one.

    Sources differ, the first of them being a person; so do stories, raters and items.
    """
    study = factories.study(
        slug, n_groups=N_GROUPS, n_stories=N_STORIES, n_items=N_ITEMS, comparative=False, planned=False
    )
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug=f"{slug}-tests").update(
            type="scale", settings=SCALE, rationale="none", rationale_least=0
        )
        _share_out(study)
    factories.plan(study)
    study.seats.all().delete()
    study.state, study.closed_at = state, NOON if state == "closed" else None
    study.save()
    groups = list(study.groups.order_by("code").prefetch_related("stories"))
    _answer(study, large_study.add_assignments(study, groups, has_judge=has_judge))
    return study


def _share_out(study: Study) -> None:
    """Each source writes for eleven or twelve of thirteen groups."""
    sources = [Source.objects.get_or_create(name=f"Source {n}")[0] for n in range(1, N_SOURCES + 1)]
    Source.objects.exclude(name="Source 1").update(kind=Source.Kind.MODEL)
    provenances = list(Provenance.objects.filter(story__study=study).order_by("story_id"))
    for n, provenance in enumerate(provenances):
        provenance.source = sources[n % N_SOURCES]
    Provenance.objects.bulk_update(provenances, ["source"], batch_size=500)


def _answer(study: Study, assignments: list[Assignment]) -> None:
    rng = np.random.default_rng(study.seed)
    (step,) = protocol.load_protocol(protocol.current(study)).ratings
    items = list(protocol.items_of(step))
    stories = {story.code: story for story in Story.objects.filter(study=study).select_related("provenance__source")}
    merit = {f"Source {n}": 3.6 - 0.08 * n for n in range(1, N_SOURCES + 1)}
    of_story = {
        code: merit[story.provenance.source.name] + rng.normal(0, 0.5, N_ITEMS) for code, story in stories.items()
    }
    severity = {
        pk: rng.normal(0, 0.3, N_ITEMS) for pk in Rater.objects.filter(study=study).values_list("pk", flat=True)
    }
    rows: list[Response] = []
    for assignment in assignments:
        for code in assignment.seat.order:
            drawn = of_story[code] - severity[assignment.rater_id] + rng.normal(0, 0.8, N_ITEMS)
            points = np.clip(np.rint(drawn), SCALE["low"], SCALE["high"]).astype(int).tolist()
            rows += [
                Response(
                    assignment=assignment,
                    step_id=step.pk,
                    item_id=item.pk,
                    story=stories[code],
                    value=point,
                    outcome=Response.Outcome.ANSWERED,
                    revision=1,
                    first_answered_at=NOON,
                    last_edited_at=NOON,
                )
                for item, point in zip(items, points, strict=True)
            ]
    Response.objects.bulk_create(rows, batch_size=large_study.AT_ONCE)
