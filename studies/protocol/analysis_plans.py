"""The analysis plan of a study: read from its rows or as it was frozen, checked against the study, and saved."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from django.utils.translation import gettext as _

from studies import items
from studies.documents.analysis_plan import KEY, OF_A_STORY, AnalysisPlan, parse_analysis_plan
from studies.documents.errors import quote
from studies.models import Item, ProtocolVersion, Provenance, Source, Step, Study
from studies.protocol.outcomes import ABOUT_STORIES, Outcome, list_outcomes
from studies.protocol.steps import Protocol, items_of

REFERENCE, PAIRS, LABELS = "reference", "pairs", "standard_labels"
FEWEST_ALIKE = 3  # scales whose answers must all be the same to call it straight-lining
MOST_LISTED = 20  # codes that a message names


class PlanFrozen(ValueError):
    """The protocol is frozen, and what is tested with it."""


def drafted_plan(study: Study) -> AnalysisPlan | None:
    """The plan as the study has it now; None without one."""
    return parse_analysis_plan(study.analysis_plan, study.slug) if study.analysis_plan else None


def frozen_plan(study: Study) -> AnalysisPlan | None:
    """The plan in its frozen protocol; None if it has none, or if nothing is frozen. One query."""
    version = study.frozen_versions.first()
    return plan_of(version) if version else None


def plan_of(version: ProtocolVersion) -> AnalysisPlan | None:
    """The plan in the document of a frozen version; all versions have the same, or none."""
    table = json.loads(version.document).get(KEY)
    return parse_analysis_plan(table, f"protocol {version.number}") if table else None


def list_sources(study: Study) -> list[str]:
    """The names of those who wrote its stories, in alphabetical order."""
    names = Source.objects.filter(provenances__story__study=study).values_list("name", flat=True)
    return sorted(set(names), key=str.casefold)


def find_plan_faults(study: Study, protocol: Protocol, *, is_blind: bool = False) -> list[str]:
    """What in its plan the study does not have, in sentences. Reads sources only if there is a plan.

    is_blind : no source is named, for findings, which coordinators read as well
    """
    plan = drafted_plan(study)
    faults = find_misfits(plan, protocol, list_sources(study)) if plan else ()
    without_names = {
        REFERENCE: _("no story is by the reference source; choose another one on the page of the analysis plan"),
        PAIRS: _("no story is by one of the sources it names; choose the pairs again on the page of the analysis plan"),
        LABELS: _("a question or a property of the standard is not there; see the page of the analysis plan"),
    }
    return [f"{field}: {without_names.get(field, sentence) if is_blind else sentence}" for field, sentence in faults]


def find_misfits(plan: AnalysisPlan, protocol: Protocol, sources: list[str]) -> Iterator[tuple[str, str]]:
    """The fields of a plan that name what is not there, each with a sentence and the way out."""
    steps = list(protocol.steps)
    outcomes = {outcome.key: outcome for outcome in list_outcomes(steps)}
    if plan.outcome not in outcomes:
        yield "outcome", _("there is no outcome %(name)s; %(way_out)s") % _names(plan.outcome, list(outcomes))
    if unknown := [key for key in plan.secondary if key not in outcomes]:
        yield "secondary", _("there is no outcome %(name)s; %(way_out)s") % _names(unknown[0], list(outcomes))
    yield from _misfits_of_rules(plan, protocol)
    yield from _misfits_of_nsv(plan, outcomes, steps)
    if plan.standard_labels:
        yield from _misfits_of_standard(plan, protocol)
    if plan.reference and plan.reference not in sources:
        yield REFERENCE, _("no story is by %(name)s; %(way_out)s") % _names(plan.reference, sources)
    absent = [name for name in dict.fromkeys(name for pair in plan.pairs for name in pair) if name not in sources]
    if absent:
        yield PAIRS, _("no story is by %(name)s; %(way_out)s") % _names(absent[0], sources)
    if len(sources) < 2 and not plan.standard:
        yield "contrasts", _("the stories have fewer than two sources, so there is nothing to compare")


def _misfits_of_rules(plan: AnalysisPlan, protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Exclusion rules that could leave nothing out, since the study does not ask what they rest on."""
    study = protocol.version.study
    if plan.exclude_failed_checks and not protocol.checks:
        yield (
            "exclude_failed_checks",
            _("the protocol has no comprehension check; add one to its steps, or leave the rule out"),
        )
    n_alike = count_alike_scales(protocol.steps)
    if plan.exclude_straight_lining == OF_A_STORY and n_alike < FEWEST_ALIKE:
        message = _(
            "fewer than %(n)d scales with the same ends are asked about a story, so that the same answer to all of "
            "them says little; leave the rule out, or apply it to all stories"
        )
        yield "exclude_straight_lining", message % {"n": FEWEST_ALIKE}
    elif plan.exclude_straight_lining and not n_alike:
        yield "exclude_straight_lining", _("no scale is asked about a story; leave the rule out")
    if plan.exclude_recognised and not study.asks_recognition:
        yield (
            "exclude_recognised",
            _("raters are not asked whether they know a story; ask it in the settings of the study, or leave it out"),
        )
    if plan.exclude_stories:
        codes = list(study.stories.order_by("code").values_list("code", flat=True))
        if unknown := [code for code in plan.exclude_stories if code not in codes]:
            message = _("there is no story %(name)s; %(way_out)s")
            yield "exclude_stories", message % _names(unknown[0], codes[:MOST_LISTED])


def _misfits_of_standard(plan: AnalysisPlan, protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Labels of what is not asked about stories or pairs, or in a property that no story has."""
    asked = [step for step in protocol.steps if step.kind == Step.Kind.RATING and step.instrument]
    keys = [f"{step.key}/{item.key}" for step in asked for item in items_of(step) if _can_have_label(step, item)]
    if unknown := [key for key, _name in plan.standard_labels if key not in keys]:
        message = _("there is no question %(name)s that a property of stories could answer; %(way_out)s")
        yield LABELS, message % _names(unknown[0], keys)
    of_stories = Provenance.objects.filter(story__study=protocol.version.study).values_list("factors", flat=True)
    properties = sorted({name for factors in of_stories for name in factors})
    if absent := [name for _key, name in plan.standard_labels if name not in properties]:
        message = _("no story has a property %(name)s; %(way_out)s")
        yield LABELS, message % _names(absent[0], properties)


def _can_have_label(step: Step, item: Item) -> bool:
    kind = items.find_type(item.type)
    if step.scope in ABOUT_STORIES:
        return kind.is_verdict or kind.has_options or kind.level in ("ordinal", "interval")
    return step.scope == Step.Scope.GROUP and kind.chooses_story


def count_alike_scales(steps: Iterable[Step]) -> int:
    """Of the scales about stories with the same ends, how many there are of the most frequent ends."""
    about_stories = [step for step in steps if step.kind == Step.Kind.RATING and step.scope in ABOUT_STORIES]
    scales = [i for step in about_stories for i in items_of(step) if items.find_type(i.type).level == "ordinal"]
    return max(Counter((item.settings["low"], item.settings["high"]) for item in scales).values(), default=0)


def _misfits_of_nsv(
    plan: AnalysisPlan, outcomes: Mapping[str, Outcome], steps: Iterable[Step]
) -> Iterator[tuple[str, str]]:
    scales = [key for key, outcome in outcomes.items() if outcome.kind == "rating"]
    verdicts = [key for key, outcome in outcomes.items() if outcome.kind == "verdict"]
    unknown = [key for key in plan.nsv_target if key not in scales]
    if unknown:
        yield "nsv_target", _("there is no scale %(name)s; %(way_out)s") % _names(unknown[0], scales)
    if plan.nsv_coherence and plan.nsv_coherence not in verdicts:
        message = _("there is no question %(name)s answered Yes or No; %(way_out)s")
        yield "nsv_coherence", message % _names(plan.nsv_coherence, verdicts)
    choices = [key for key, outcome in outcomes.items() if outcome.kind == "preference"]
    if "/" in plan.nsv_pairs and plan.nsv_pairs not in choices:
        message = _("there is no question %(name)s that asks which story is preferred; %(way_out)s")
        yield "nsv_pairs", message % _names(plan.nsv_pairs, choices)
    item_by_key = {(step.key, item.key): item for step in steps if step.instrument for item in items_of(step)}
    keys = [key for name in plan.nsv_target if name in scales for key in outcomes[name].items]
    ends = {tuple(item_by_key[key].settings.get(end) for end in ("low", "high")) for key in keys}
    if len(ends) > 1:
        yield (
            "nsv_target",
            _("the scales have different ends; choose scales of the same ends"),
        )


def _names(name: str, available: list[str]) -> dict[str, str]:
    near = get_close_matches(name, available, n=1)
    if near:
        way_out = _("did you mean %(name)s?") % {"name": quote(near[0])}
    else:
        way_out = _("there are %(names)s") % {"names": ", ".join(available) or "–"}
    return {"name": quote(name), "way_out": way_out}


def save_plan(study: Study, plan: AnalysisPlan | None) -> None:
    """Plan this, or nothing. Raises PlanFrozen once a protocol is frozen; the database refuses it then as well."""
    if study.frozen_versions.exists():
        raise PlanFrozen(_("The protocol is frozen, and the analysis plan with it."))
    study.analysis_plan = plan.as_table() if plan else {}
    study.save(update_fields=["analysis_plan"])
