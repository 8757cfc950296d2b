"""A study of what others wrote: every submitted fill of a cloze becomes a blind story, to be judged one by one."""

import secrets
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import fills as filling
from annotation.models import Assignment, Fill, Rater
from studies import files
from studies.cloze import text
from studies.files import Unfit
from studies.models import Cloze, ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study

COMPLETE = (Fill.State.SUBMITTED, Fill.State.SHORTLISTED)
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
ABOUT_NUMBERS = (
    "Parts of this text were filled in by its writer. A small raised number stands where such a part begins: "
    "what the questions call blank 1 begins after ¹."
)


class NotDerivable(ValueError):
    """No study can be made of these fills; the message says why."""


def submitted(study: Study) -> list[Fill]:
    """The complete texts of a study that are in no derived study yet, by the code of their writer."""
    found = Fill.objects.filter(
        assignment__study=study, assignment__status=Assignment.Status.SUBMITTED, state__in=COMPLETE, story=None
    )
    return list(found.select_related("assignment__rater", "assignment__study").order_by("assignment__rater__code"))


@transaction.atomic
def derive(study: Study, slug: str, fills: Sequence[Fill], *, numbered: bool = True) -> Study:
    """A draft in which raters judge these fills, each in a group of its own. Raises NotDerivable.

    The stories are what their writers sent in; what an editor made of it is not judged. Their codes are drawn, so that
    they tell neither writer nor order. Consent and briefing are for the designer to add.
    numbered : mark where each blank begins, since constraints speak of blanks by number
    """
    cloze = _check(study, slug, fills)
    made = Study.objects.create(
        slug=slug,
        title=cloze.title,
        language=cloze.parsed.language,
        description=f"What was written in {study.slug}: fills of the cloze {cloze}.",
        organiser=study.organiser,
        contact=study.contact,
        notice=study.notice,
        seed=study.seed,
    )
    for fill in fills:
        _story(made, fill, cloze, numbered=numbered)
    Step.objects.create(
        version=ProtocolVersion.objects.create(study=made, number=1),
        position=1,
        key="judge",
        kind=Step.Kind.RATING,
        title="Questions about the text",
        text=ABOUT_NUMBERS if numbered else "",
        instrument=cloze.judging,
        scope=Step.Scope.STORY,
        background=Step.Background.ABOVE,  # says what a broken must is worth
    )
    return made


def _check(study: Study, slug: str, fills: Sequence[Fill]) -> Cloze:
    """The cloze that these fills fill. Raises NotDerivable."""
    try:
        files.slug(80)(slug)
    except Unfit as unfit:
        raise NotDerivable(_("the slug %(why)s") % {"why": unfit}) from None
    if Study.objects.filter(slug=slug).exists():
        raise NotDerivable(_("there is a study “%(slug)s” already; choose another slug") % {"slug": slug})
    if not fills:
        said = _("%(study)s has no complete fill that is in no derived study yet")
        raise NotDerivable(said % {"study": study.slug})
    for fill in fills:
        if fill.assignment.study_id != study.pk:
            said = _("%(fill)s belongs to another study than %(study)s")
            raise NotDerivable(said % {"fill": fill, "study": study.slug})
        if fill.state not in COMPLETE or fill.assignment.status != Assignment.Status.SUBMITTED:
            raise NotDerivable(_("%(fill)s is not a complete text that was submitted") % {"fill": fill})
        if fill.story:
            said = _("%(fill)s is the story %(story)s of %(study)s already")
            raise NotDerivable(said % {"fill": fill, "story": fill.story, "study": fill.story.study})
    clozes = {filling.cloze_of(fill.assignment) for fill in fills}
    if len(clozes) != 1 or (cloze := clozes.pop()) is None:
        raise NotDerivable(_("these fills are of several clozes; derive a study of each"))
    return cloze


def _story(study: Study, fill: Fill, cloze: Cloze, *, numbered: bool) -> Story:
    texts = filling.filled(cloze.parsed, filling.answers_of(fill.assignment, cloze))
    if numbered:
        texts = {number: f"{str(number).translate(RAISED)}{said.strip()}" for number, said in texts.items()}
    made = Story.objects.create(
        study=study,
        code=f"fill-{secrets.token_hex(6)}",
        text=text.filled(cloze.parsed, texts),
        language=cloze.parsed.language,
    )
    Provenance.objects.create(
        story=made, source=_source(fill.assignment.rater), title=cloze.title, factors={"outcome": fill.state}
    )
    StoryGroup.objects.create(study=study, code=made.code).stories.set([made])
    Fill.objects.filter(pk=fill.pk).update(story=made)
    return made


def _source(writer: Rater) -> Source:
    """The writer as a source: a person by code and study, a model by the name of its judge."""
    is_model = writer.kind == Rater.Kind.MODEL
    name = writer.code if is_model else f"participant {writer.code} of {writer.study.slug}"
    # Who only stands in for a writer is nothing but a source of another kind.
    kind = Source.Kind.MODEL if is_model and not writer.is_simulated else Source.Kind.OTHER
    source, _created = Source.objects.get_or_create(name=name, defaults={"kind": kind})
    if source.kind != kind:
        said = _("the source “%(name)s” is known as %(kind)s; rename it, or correct it")
        raise NotDerivable(said % {"name": name, "kind": source.get_kind_display()})
    return source
