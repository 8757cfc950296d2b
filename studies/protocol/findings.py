"""What is to be said of a study before it is planned, launched, judged or filled from a release, all at once.

One list for pages, launch and commands. Each finding says its location, what is wrong, the way out, and for which
purposes it counts.
"""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from studies import items
from studies.documents import placeholders
from studies.documents.analysis_plan import KEY
from studies.models import Instrument, Item, Step, Study
from studies.protocol import repeats
from studies.protocol.analysis_plans import find_plan_faults
from studies.protocol.groups import GroupShape, read_group_shapes
from studies.protocol.purposes import WITH_RATERS, WITH_READERS, Finding, Purpose
from studies.protocol.steps import Protocol, has_right_answers, items_of
from studies.protocol.warnings import collect_warnings


def collect_findings(study: Study, protocol: Protocol) -> list[Finding]:
    """Everything to be said of the study with that protocol."""
    groups = read_group_shapes(study)
    return [
        *_findings_of_groups(groups),
        *_findings_of_protocol(protocol),
        *(finding for step in protocol.steps for finding in _findings_of_items(step, groups)),
        *(finding for step in protocol.steps for finding in _findings_of_step(step, protocol, groups)),
        *_findings_for_raters(study, protocol),
        *repeats.collect_findings(study, protocol),
        *collect_warnings(study, protocol),
        *(_error(KEY, sentence) for sentence in find_plan_faults(study, protocol, is_blind=True)),
    ]


def _error(location: str, sentence: str, way_out: str = "", *, part: str = "", anchor: str = "") -> Finding:
    return Finding("error", location, sentence, way_out, part=part, anchor=anchor)


def _findings_of_groups(groups: Sequence[GroupShape]) -> Iterator[Finding]:
    if not groups:
        yield _error("", _("the study has no groups of stories"), part="stories")
    for group in groups:
        if not group.n_stories:
            yield _error(f"group {group.code}", _("group %(group)s has no stories") % {"group": group.code})


def _findings_of_protocol(protocol: Protocol) -> Iterator[Finding]:
    if not protocol.ratings:
        yield _error("", _("no step asks an instrument about stories or groups"))
    for step in protocol.steps:
        for name in placeholders.find_unfilled(step.text, protocol.version.study.value_by_fact):
            sentence = _("“%(step)s” tells raters “%(field)s”, which is still empty")
            names = {"step": step.name, "field": placeholders.LABELS[name]}
            way_out, anchor = _("fill it in"), f"id_{name}"
            yield Finding("error", name, sentence % names, way_out, WITH_READERS, anchor=anchor)
    consents = [step for step in protocol.steps if step.kind == Step.Kind.CONSENT]
    if len(consents) > 1:
        sentence = _("there is more than one consent step")
        yield Finding("error", f"step {consents[1].key}", sentence, purposes=WITH_READERS)
    if consents and consents[0] is not protocol.steps[0]:
        sentence = _("consent must be the first step")
        yield Finding("error", f"step {consents[0].key}", sentence, purposes=WITH_READERS)


def _findings_of_items(step: Step, groups: Sequence[GroupShape]) -> Iterator[Finding]:
    """What keeps an item that compares stories from being asked."""
    location = f"step {step.key}"
    for item in items_of(step):
        if step.kind == Step.Kind.PRACTICE or not items.find_type(item.type).about_stories:
            continue
        if step.scope != Step.Scope.GROUP:
            sentence = _("“%(step)s” asks “%(item)s”, which compares stories, so it must be asked about each group")
            yield _error(location, sentence % {"step": step.name, "item": str(item)})
        for group in groups:
            if sentence := _misfit(item, group.n_stories):
                names = {"step": step.name, "item": str(item), "group": group.code, "n": group.n_stories}
                yield _error(location, sentence % names)


def _misfit(item: Item, n_stories: int) -> str:
    """Why an item cannot compare that many stories; "" if it can."""
    most = items.find_type(item.type).most_stories
    if n_stories == 1:
        return _("“%(step)s” asks “%(item)s”, which compares stories, but group %(group)s has only one")
    if most and n_stories > most:
        return _("“%(step)s” asks “%(item)s”, which compares two stories, but group %(group)s has %(n)d")
    return ""


def _findings_of_step(step: Step, protocol: Protocol, groups: Sequence[GroupShape]) -> Iterator[Finding]:
    location = f"step {step.key}"
    if step.instrument and step.instrument.status != Instrument.Status.PUBLISHED:
        sentence = _("“%(step)s” asks %(instrument)s, which is a draft and could still change")
        names = {"step": step.name, "instrument": step.instrument}
        yield _error(location, sentence % names, _("publish it first"))
    yield from (_error(location, sentence) for sentence in _findings_of_layout(step, groups))
    yield from (_error(location, sentence) for sentence in _findings_of_check(step, protocol))
    yield from (_error(location, sentence) for sentence in _findings_of_practice(step, protocol))
    if step.locks and step not in protocol.ratings:
        sentence = _("“%(step)s”: only a step that asks about stories or groups can lock earlier answers")
        yield _error(location, sentence % {"step": step.name})
    if step.revises and protocol.revised_by(step) is None:
        sentence = _("“%(step)s” revises “%(revised)s”, which is no earlier step with the same instrument and scope")
        yield _error(location, sentence % {"step": step.name, "revised": step.revises})


def _findings_for_raters(study: Study, protocol: Protocol) -> Iterator[Finding]:
    """What only people need: a judge's run and an import do without."""
    if not study.seats_per_group:
        sentence, way_out = _("it has no places for people"), _("set “places per group” to one or more")
        yield Finding("error", "seats_per_group", sentence, way_out, frozenset({Purpose.PLAN, Purpose.LAUNCH}))
    if protocol.consent is None:
        sentence, way_out = _("it does not ask for consent"), _("add a consent step as the first step")
        yield Finding("error", "", sentence, way_out, WITH_RATERS)
    if n := study.stories.filter(is_withheld=True).count():
        sentence = _("the text of %(n)d of its stories is withheld, so nobody could read them") % {"n": n}
        yield Finding("error", "", sentence, purposes=WITH_RATERS, part="stories")
    yield from _findings_of_texts(protocol)
    if not study.contact and not any("{contact}" in step.text for step in protocol.steps):
        sentence, way_out = _("raters have no contact address for questions"), _("say who they can write to")
        yield Finding("warning", "contact", sentence, way_out, WITH_RATERS, anchor="id_contact")


def _findings_of_texts(protocol: Protocol) -> Iterator[Finding]:
    """What people would read that was not meant for them, or too early."""
    for step in protocol.steps:
        for words in placeholders.find_templates_words(step.text):
            sentence = _("“%(step)s” still contains the placeholder “%(words)s”")
            way_out = _("replace it with the text for raters")
            names = {"step": step.name, "words": words}
            yield Finding("error", f"step {step.key}", sentence % names, way_out, WITH_RATERS)
    closing = protocol.debriefing
    if closing and (later := next((s for s in protocol.ratings if s.position > closing.position), None)):
        sentence = _("“%(step)s” tells raters what the study was about before “%(rating)s” is asked")
        way_out = _("move it after the last questions about stories")
        names = {"step": closing.name, "rating": later.name}
        anchor = f"step-{closing.key}"
        yield Finding("error", f"step {closing.key}", sentence % names, way_out, WITH_RATERS, anchor=anchor)


def _findings_of_layout(step: Step, groups: Sequence[GroupShape]) -> Iterator[str]:
    """What keeps a step from being laid out as it says."""
    yield from step.layout_type.findings(step, groups)


def _findings_of_check(step: Step, protocol: Protocol) -> Iterator[str]:
    """What keeps a step with the options of a comprehension check from being one."""
    if not step.options or step.layout_type.fills_text or step.scope != Step.Scope.ONCE or protocol.is_check(step):
        return
    if has_right_answers(items_of(step)):
        yield _("“%(step)s” is a comprehension check, which belongs before the first group") % {"step": step.name}
    else:
        sentence = _("“%(step)s” says what happens to people who fail it, but none of its questions has a right answer")
        yield sentence % {"step": step.name}


def _findings_of_practice(step: Step, protocol: Protocol) -> Iterator[str]:
    """What keeps a story from being practised on."""
    if step.kind != Step.Kind.PRACTICE or not step.instrument:
        return
    if any(rating.position < step.position for rating in protocol.ratings):
        yield _("“%(step)s” is a practice, which belongs before the first group") % {"step": step.name}
    if not step.story:
        yield _("“%(step)s” has no story to practise on") % {"step": step.name}
    if not step.samples or not isinstance(step.samples, dict):
        yield _("“%(step)s” has no sample answers, so it asks nothing") % {"step": step.name}
        return
    item_by_key = {item.key: item for item in step.instrument.items.all()}
    for key, sample in step.samples.items():
        names = {"step": step.name, "item": key, "instrument": step.instrument}
        if not isinstance(sample, dict) or set(sample) != {"value", "why"}:
            yield _("“%(step)s”, the sample answer to “%(item)s”: must have value and why, and nothing else") % names
            continue
        if key not in item_by_key:
            yield _("“%(step)s” has a sample answer to “%(item)s”, which %(instrument)s does not ask") % names
            continue
        kind = items.find_type(item_by_key[key].type)
        if kind.about_stories:
            yield (_("“%(step)s” practises “%(item)s”, which compares stories, but a practice has only one") % names)
            continue
        try:
            kind.clean(item_by_key[key], sample["value"], stories=())
        except items.InvalidAnswer as error:
            names_and_reason = {**names, "why": error}
            yield _("“%(step)s”, the sample answer to “%(item)s”: %(why)s") % names_and_reason
