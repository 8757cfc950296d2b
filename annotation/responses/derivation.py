"""A study of what others wrote: every submitted fill of a cloze becomes a blind story, to be judged one by one."""

import re
import secrets
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Assignment, Fill, Rater
from annotation.responses.fills import answers_of, cloze_of, text_by_blank
from studies import loader, protocol
from studies.cloze import compilation, text
from studies.construction import SourceConflict, create_study
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.documents.stories import GroupDocument, StoryDocument
from studies.documents.study import StepDocument
from studies.facts import FACTS
from studies.models import Cloze, Source, Step, Study

NAMES_A_PLACE = re.compile(r"\b(?:blank|section)s?\s+[0-9]+", re.IGNORECASE)
COMPLETE = (Fill.State.SUBMITTED, Fill.State.SHORTLISTED)
ABOUT_NUMBERS = (
    "Parts of this text were filled in by its writer. A small raised number stands where such a part begins, and again "
    "where it ends: what the questions call blank 1 stands between ¹ and ¹. A line such as “§ 1” opens section 1; the "
    "numbers and these lines are not the writer’s."
)


class NotDerivable(ValueError):
    """No study can be made of these fills; the message says why."""


def derivable_fills(study: Study) -> list[Fill]:
    """The complete texts of a study that are in no derived study yet, by the code of their writer."""
    fills = Fill.objects.filter(
        assignment__study=study, assignment__status=Assignment.Status.SUBMITTED, state__in=COMPLETE, story=None
    )
    # In the same order whatever a database takes for the alphabet.
    return sorted(
        fills.select_related("assignment__rater", "assignment__study"), key=lambda fill: fill.assignment.rater.code
    )


@transaction.atomic
def derive(study: Study, slug: str, fills: Sequence[Fill], *, numbered: bool = True, has_coarse: bool = False) -> Study:
    """A draft in which raters judge these fills, each in a group of its own. Raises NotDerivable.

    The stories are what their writers sent in; what an editor made of it is not judged. Their codes are drawn, so that
    they tell neither writer nor order. Consent and briefing are for the designer to add.
    numbered : mark where each blank begins and ends and which section is which, since questions speak of both by number
    has_coarse : ask every constraint once more in three steps, the paper's control, in a step of its own
    """
    cloze = _check(study, slug, fills)
    if not numbered:
        _check_questions(cloze)
    stories = [_story(fill, cloze, numbered=numbered) for fill in fills]
    steps = [_step("step 1", "judge", "Questions about the text", "judging", numbered=numbered)]
    instruments = {"judging": cloze.judging} if cloze.judging else {}
    if has_coarse:
        steps.append(_step("step 2", "judge-coarse", "The same in three steps", "coarse", numbered=numbered))
        instruments["coarse"] = loader.load_instrument(compilation.coarse_instrument(cloze.parsed))
    try:
        derived = create_study(
            {
                "slug": slug,
                "title": cloze.title,
                "language": cloze.parsed.language,
                "description": f"What was written in {study.slug}: fills of the cloze {cloze}.",
                **{fact.key: getattr(study, fact.key) for fact in FACTS if fact.is_passed_to_fills},
                "seed": study.seed,
            },
            stories=stories,
            groups=[GroupDocument(key=story.key, premise="", stories=(story.key,)) for story in stories],
            steps=steps,
            instruments=instruments,
        )
    except SourceConflict as error:
        message = _("the source “%(name)s” is known as %(kind)s; rename it, or correct it")
        values = {"name": error.source.name, "kind": error.source.get_kind_display()}
        raise NotDerivable(message % values) from None
    story_by_code = {story.code: story for story in derived.stories.all()}
    for fill, story in zip(fills, stories, strict=True):
        Fill.objects.filter(pk=fill.pk).update(story=story_by_code[story.key])
    findings = protocol.collect_findings(derived, protocol.load_protocol(derived.versions.get()))
    if errors := protocol.select_errors(findings, protocol.Purpose.PLAN):
        raise NotDerivable("; ".join(map(str, errors)))
    return derived


def _check(study: Study, slug: str, fills: Sequence[Fill]) -> Cloze:
    """The cloze that these fills fill. Raises NotDerivable."""
    try:
        reader.slug(80)(slug)
    except InvalidValue as error:
        raise NotDerivable(_("the slug %(why)s") % {"why": error}) from None
    if Study.objects.filter(slug=slug).exists():
        raise NotDerivable(_("there is a study “%(slug)s” already; choose another slug") % {"slug": slug})
    if not fills:
        message = _("%(study)s has no complete fill that is in no derived study yet")
        raise NotDerivable(message % {"study": study.slug})
    for fill in fills:
        if fill.assignment.study_id != study.pk:
            message = _("%(fill)s belongs to another study than %(study)s")
            raise NotDerivable(message % {"fill": fill, "study": study.slug})
        if fill.state not in COMPLETE or fill.assignment.status != Assignment.Status.SUBMITTED:
            raise NotDerivable(_("%(fill)s is not a complete text that was submitted") % {"fill": fill})
        if fill.story:
            message = _("%(fill)s is the story %(story)s of %(study)s already")
            raise NotDerivable(message % {"fill": fill, "story": fill.story, "study": fill.story.study})
    clozes = {cloze_of(fill.assignment) for fill in fills}
    if len(clozes) != 1 or (cloze := clozes.pop()) is None:
        raise NotDerivable(_("these fills are of several clozes; derive a study of each"))
    return cloze


def _check_questions(cloze: Cloze) -> None:
    """Raise NotDerivable if a question names a blank or section by its number, which a text without numbers lacks."""
    for item in cloze.judging.items.all() if cloze.judging else ():
        if place := NAMES_A_PLACE.search(item.question):
            message = _(
                "the question %(key)s speaks of “%(place)s”, and a text without numbers does not say which that is; "
                "derive the study with numbers"
            )
            raise NotDerivable(message % {"key": item.key, "place": place[0]})


def _step(location: str, key: str, title: str, instrument: str, *, numbered: bool) -> StepDocument:
    return StepDocument(
        location=location,
        key=key,
        kind=Step.Kind.RATING,
        title=title,
        text=ABOUT_NUMBERS if numbered else "",
        instrument=instrument,
        scope=Step.Scope.STORY,
        background=Step.Background.ABOVE,  # says what a broken must is worth, and what a check is part of
    )


def _story(fill: Fill, cloze: Cloze, *, numbered: bool) -> StoryDocument:
    texts = text_by_blank(cloze.parsed, answers_of(fill.assignment, cloze))
    writer = fill.assignment.rater
    return StoryDocument(
        key=f"fill-{secrets.token_hex(6)}",
        text=(text.numbered if numbered else text.fill_blanks)(cloze.parsed, texts),
        source=writer.source_name,
        source_kind=_source_kind(writer),
        title=cloze.title,
        factors={"outcome": fill.state},
    )


def _source_kind(writer: Rater) -> str:
    # Who only stands in for a writer is nothing but a source of another kind.
    is_model = writer.kind == Rater.Kind.MODEL and not writer.is_simulated
    return Source.Kind.MODEL if is_model else Source.Kind.OTHER
