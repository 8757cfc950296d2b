"""What a study is to test: a form until the protocol is frozen, then to be read; and the same as text to register."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import lifecycle, protocol
from studies.access import Access
from studies.documents import analysis_plan
from studies.documents.analysis_plan import AnalysisPlan, parse_analysis_plan
from studies.documents.errors import DocumentError
from studies.models import Cloze, Study
from studies.protocol import Outcome, Protocol
from studies.protocol.exclusion_words import describe_rules
from studies.protocol.preregistration import write_preregistration
from studies.views.exclusion_form import RULE_FIELDS, CodesField, ExclusionForm, WeightsField
from studies.views.guards import require_in_study
from studies.views.standard_form import STANDARD_FIELDS, StandardForm

# People who plan contrasts know who wrote the stories, so blind coordinators do not see the page.
SEES = "studies.view_provenance"
MAY_CHANGE = "studies.change_provenance"
CONTRASTS = {
    analysis_plan.AGAINST_REFERENCE: gettext_lazy("Every other source against the reference"),
    analysis_plan.EVERY_PAIR: gettext_lazy("Every two sources"),
    analysis_plan.NAMED_PAIRS: gettext_lazy("Only the pairs ticked below"),
}
TESTS = {
    analysis_plan.BY_MODEL: gettext_lazy(
        "A mixed model of all answers, with raters, stories and writing prompts in it"
    ),
    analysis_plan.BY_DEFAULT: gettext_lazy("Wilcoxon where groups pair the sources, else Welch"),
    analysis_plan.OF_MEANS: gettext_lazy("Paired t where groups pair the sources, else Welch"),
    analysis_plan.OF_RANKS: gettext_lazy(
        "Wilcoxon where groups pair the sources, else Mann–Whitney with Cliff’s delta"
    ),
}
REFERENCE_TEXTS = {
    "": gettext_lazy("Texts by models where two or more are by models, else all"),
    analysis_plan.OF_MODELS: gettext_lazy("All texts by models"),
    analysis_plan.OF_PEOPLE: gettext_lazy("All texts by people"),
    analysis_plan.SHORTLISTED: gettext_lazy("The shortlisted texts"),
    analysis_plan.ALL_TEXTS: gettext_lazy("All texts"),
}
CORRELATIONS = {
    analysis_plan.WITHIN_PROMPTS: gettext_lazy("The mean of those within each prompt"),
    analysis_plan.POOLED: gettext_lazy("That over all ideas together"),
}
JURY = ("jury", "jury_weights")
OF_FILLED_TEXTS = ("reference_texts", "embedding")
OF_IDEAS = (
    "nsv_target",
    "nsv_references",
    "nsv_coherence",
    "nsv_surprise",
    "nsv_value",
    "nsv_pairs",
    "nsv_correlation",
)
# The fields under the heading that they stand under on the page.
PARTS = {
    gettext_lazy("What is compared"): (
        *("outcome", "secondary", "reference", "contrasts", "pairs", "test", "margin", "epsilon", *JURY, "hypotheses"),
    ),
    gettext_lazy("A standard beside people"): STANDARD_FIELDS,
    gettext_lazy("Filled texts"): OF_FILLED_TEXTS,
    gettext_lazy("Novelty, surprise and value"): OF_IDEAS,
    gettext_lazy("What is left out"): RULE_FIELDS,
}


class AnalysisPlanForm(StandardForm, ExclusionForm):
    """The fields of `AnalysisPlan`; what is wrong with them is said by the reader of study files."""

    outcome = forms.ChoiceField(
        label=gettext_lazy("Primary outcome"), help_text=gettext_lazy("The one result that the study is made for.")
    )
    secondary = forms.MultipleChoiceField(
        label=gettext_lazy("Secondary outcomes"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Compared as planned, too: the same contrasts by a mixed model, corrected by Holm as a family of their own."
        ),
    )
    reference = forms.ChoiceField(
        label=gettext_lazy("Reference"),
        required=False,
        help_text=gettext_lazy(
            "The source that the others are compared with. Named now, never picked as the best afterwards."
        ),
    )
    contrasts = forms.ChoiceField(label=gettext_lazy("Contrasts"), choices=list(CONTRASTS.items()))
    pairs = forms.MultipleChoiceField(
        label=gettext_lazy("Pairs"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Two sources each, tested in addition to those against the reference, or alone."),
    )
    test = forms.ChoiceField(
        label=gettext_lazy("Test"),
        choices=list(TESTS.items()),
        help_text=gettext_lazy("With Holm’s correction over the contrasts."),
    )
    margin = forms.FloatField(
        label=gettext_lazy("Margin"),
        required=False,
        help_text=gettext_lazy(
            "Sources whose difference lies within it count as equally good, in points. Empty: this is not tested."
        ),
    )
    epsilon = forms.FloatField(
        label=gettext_lazy("Margin for a judge, ε"),
        help_text=gettext_lazy("By how much an expert may do better than a judge that is to stand in for one."),
    )
    jury = CodesField(
        label=gettext_lazy("Jury"),
        required=False,
        help_text=gettext_lazy(
            "Judges that the report also reads as one, separated by commas: what has more than half of their weight, "
            "on scales their mean, where two or more have answered. Empty: none."
        ),
    )
    jury_weights = WeightsField(
        label=gettext_lazy("Weights of the jury"),
        required=False,
        help_text=gettext_lazy("A number for each of its judges, separated by commas. Empty: all count alike."),
    )
    reference_texts = forms.ChoiceField(
        label=gettext_lazy("Reference set"),
        choices=list(REFERENCE_TEXTS.items()),
        required=False,
        help_text=gettext_lazy("For filled texts: the fills from which the distance, called surprise, is measured."),
    )
    embedding = forms.CharField(
        label=gettext_lazy("Embedding"),
        required=False,
        help_text=gettext_lazy("The embedding by which fills are compared."),
    )
    nsv_target = forms.MultipleChoiceField(
        label=gettext_lazy("NSV: measure of creativity"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "The scales of the panel whose mean a score of novelty, surprise and value is to agree with. The source "
            "names none, so it is chosen here. None: no such score is computed."
        ),
    )
    nsv_references = forms.CharField(
        label=gettext_lazy("NSV: reference set"),
        required=False,
        help_text=gettext_lazy("The name of the stored set of stories that ideas are measured against."),
    )
    nsv_coherence = forms.ChoiceField(
        label=gettext_lazy("NSV: coherence"),
        required=False,
        help_text=gettext_lazy("The question whose Yes makes an idea coherent. Others never count as creative."),
    )
    nsv_surprise = forms.CharField(
        label=gettext_lazy("NSV: surprise"),
        required=False,
        help_text=gettext_lazy(
            "The name of the metric, or of the scores from elsewhere, that say how unlikely an idea is to a language "
            "model. Empty: a trigram model of the reference set."
        ),
    )
    nsv_value = forms.CharField(
        label=gettext_lazy("NSV: value"),
        required=False,
        help_text=gettext_lazy(
            "The name of scores from elsewhere, as of a reward model, that say how good an idea is. Empty: it is "
            "learnt from pairs."
        ),
    )
    nsv_pairs = forms.CharField(
        label=gettext_lazy("NSV: pairs"),
        required=False,
        help_text=gettext_lazy(
            "What value is learnt from: a question which story is preferred, as “pairs/best”, or the "
            "name of scores from elsewhere, as votes. Empty: the pairs that the scales above rate "
            "differently."
        ),
    )
    nsv_correlation = forms.ChoiceField(
        label=gettext_lazy("NSV: confirmatory correlation"), choices=list(CORRELATIONS.items()), required=False
    )
    hypotheses = forms.CharField(label=gettext_lazy("Hypotheses"), required=False, widget=forms.Textarea({"rows": 4}))

    def __init__(self, *args: Any, study: Study, current_protocol: Protocol, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.current_protocol, self.sources = study, current_protocol, protocol.list_sources(study)
        outcomes = [(o.key, title_of(o)) for o in protocol.list_outcomes(current_protocol.steps)]
        for name in ("outcome", "secondary"):
            self.fields[name].choices = outcomes  # type: ignore[attr-defined]
        if not _judges_filled_texts(study):
            for name in OF_FILLED_TEXTS:
                del self.fields[name]
        if not _rates_ideas(study):
            for name in OF_IDEAS:
                del self.fields[name]
        else:
            self._offer_outcomes_of_nsv(protocol.list_outcomes(current_protocol.steps))
        pairs = list(combinations(self.sources, 2))
        self.fields["pairs"].choices = [(json.dumps(pair), f"{pair[0]} – {pair[1]}") for pair in pairs]  # type: ignore[attr-defined]
        self.fields["reference"].choices = [("", _("None")), *((name, name) for name in self.sources)]  # type: ignore[attr-defined]

    def _offer_outcomes_of_nsv(self, outcomes: list[Outcome]) -> None:
        scales = [(o.key, title_of(o)) for o in outcomes if o.kind == "rating"]
        verdicts = [(o.key, title_of(o)) for o in outcomes if o.kind == "verdict"]
        self.fields["nsv_target"].choices = scales  # type: ignore[attr-defined]
        self.fields["nsv_coherence"].choices = [("", _("None")), *verdicts]  # type: ignore[attr-defined]

    def parts(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        """The fields by the heading that they stand under, for templates."""
        for heading, names in PARTS.items():
            if fields := [self[name] for name in names if name in self.fields]:
                yield str(heading), fields

    def clean(self) -> None:
        if self.errors:
            return
        # 0 is what somebody typed, and equal to False.
        table = {
            name: value
            for name, value in self.cleaned_data.items()
            if value is not False and value not in ("", None, [])
        }
        table["pairs"] = [json.loads(pair) for pair in self.cleaned_data["pairs"]]
        try:
            plan = parse_analysis_plan(table, self.study.slug)
        except DocumentError as error:
            self.add_error(error.location.rpartition(", ")[2], error.reason)
            return
        for field, sentence in protocol.find_misfits(plan, self.current_protocol, self.sources):
            self.add_error(field, sentence)
        self.cleaned_data["plan"] = plan


def _judges_filled_texts(study: Study) -> bool:
    return Cloze.objects.filter(judging__step__version__study=study).exists()


def _rates_ideas(study: Study) -> bool:
    return study.text_kind == Study.TextKind.IDEA or bool(study.analysis_plan.get("nsv_target"))


def title_of(outcome: Outcome) -> str:
    """What the form calls an outcome."""
    if outcome.kind == "verdicts":
        return _("All tests together, % Yes")
    if outcome.kind == "dimension":
        return _("%(dimension)s, %% Yes") % {"dimension": outcome.title}
    if outcome.kind == "score":
        return _("%(title)s, score") % {"title": outcome.title}
    if outcome.kind == "scale_mean":
        return _("%(title)s, mean of its scales (not declared as a score)") % {"title": outcome.title}
    return outcome.title


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def analysis_plan_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who know the sources: what is planned; for those who make the study, to change it until it is frozen."""
    study = access.study
    current_protocol = protocol.read_rows(protocol.latest(study))
    is_open = lifecycle.may_edit(study, is_frozen=current_protocol.version.frozen_at is not None)
    plan = protocol.drafted_plan(study)
    form, status = AnalysisPlanForm(initial=_initial(plan), study=study, current_protocol=current_protocol), 200
    if request.method == "POST":
        form = AnalysisPlanForm(request.POST, study=study, current_protocol=current_protocol)
        if "remove" in request.POST or form.is_valid():
            _save(request, study, None if "remove" in request.POST else form.cleaned_data["plan"])
            return redirect("studies:analysis_plan", slug=study.slug)
        status = 400
    context = {
        "study": study,
        "access": access,
        "plan": plan,
        "version": current_protocol.version,
        "is_open": is_open,
        "may_change": is_open and access.may(MAY_CHANGE),
        "form": form,
        "facts": describe_facts(plan, current_protocol) if plan else [],
    }
    return render(request, "studies/analysis_plan.html", context, status=status)


def _initial(plan: AnalysisPlan | None) -> dict[str, Any]:
    if plan is None:
        settings = {"epsilon": analysis_plan.EPSILON, "embedding": analysis_plan.EMBEDDING}
        return settings | {"test": analysis_plan.BY_MODEL}
    return vars(plan) | {
        "exclude_faster_than": plan.detail_of(analysis_plan.FAST),
        # A plan from a file may name the two of a pair in any order.
        "pairs": [json.dumps(sorted(pair, key=str.casefold)) for pair in plan.pairs],
    }


def _save(request: HttpRequest, study: Study, plan: AnalysisPlan | None) -> None:
    try:
        protocol.save_plan(study, plan)
    except protocol.PlanFrozen as error:
        messages.error(request, str(error))
        return
    messages.success(request, _("The analysis plan is saved.") if plan else _("Nothing is planned now."))


def describe_facts(plan: AnalysisPlan, current_protocol: Protocol) -> list[tuple[str, str]]:
    """The plan to be read, field by field."""
    title_by_key = {outcome.key: title_of(outcome) for outcome in protocol.list_outcomes(current_protocol.steps)}
    rows = [
        (_("Primary outcome"), title_by_key.get(plan.outcome, plan.outcome)),
        (_("Secondary outcomes"), "\n".join(title_by_key.get(key, key) for key in plan.secondary)),
        (_("Reference"), plan.reference),
        (_("Contrasts"), str(CONTRASTS[plan.contrasts])),
        (_("Pairs"), "\n".join(f"{first} – {second}" for first, second in plan.pairs)),
        (_("Test"), str(TESTS[plan.test])),
        (_("Margin"), "" if plan.margin is None else f"{plan.margin:g}"),
        (_("Margin for a judge, ε"), f"{plan.epsilon:g}"),
        (_("Jury"), ", ".join(f"{name} ({w:g})" for name, w in zip(plan.jury, plan.weights_of_jury, strict=True))),
        (_("Standard"), plan.standard),
        (_("Labels in properties of stories"), "\n".join(f"{key} = {name}" for key, name in plan.standard_labels)),
        (_("Labels imported as answers"), plan.standard_rater),
        *_facts_of_filled_texts(plan, current_protocol.version.study),
        *_facts_of_ideas(plan, title_by_key),
        (_("Hypotheses"), plan.hypotheses),
        (_("Exclusion rules"), "\n".join(map(capfirst, describe_rules(plan)))),
        (_("Other exclusions"), plan.exclusions),
    ]
    return [(name, value or "–") for name, value in rows]


def _facts_of_filled_texts(plan: AnalysisPlan, study: Study) -> list[tuple[str, str]]:
    """What is planned for the texts of a cloze; nothing in a study that judges none."""
    if not _judges_filled_texts(study):
        return []
    return [(_("Reference set"), str(REFERENCE_TEXTS[plan.reference_texts])), (_("Embedding"), plan.embedding)]


def _facts_of_ideas(plan: AnalysisPlan, title_by_key: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is planned of novelty, surprise and value; nothing where no target was chosen."""
    if not plan.nsv_target:
        return []
    return [
        (_("NSV: measure of creativity"), ", ".join(title_by_key.get(key, key) for key in plan.nsv_target)),
        (_("NSV: reference set"), plan.nsv_references),
        (_("NSV: coherence"), title_by_key.get(plan.nsv_coherence, plan.nsv_coherence)),
        (_("NSV: surprise"), plan.nsv_surprise or _("A trigram model of the reference set")),
        (_("NSV: value"), plan.nsv_value or _("Learnt from pairs")),
        *_fact_of_pairs(plan, title_by_key),
        (_("NSV: confirmatory correlation"), str(CORRELATIONS[plan.nsv_correlation])),
    ]


def _fact_of_pairs(plan: AnalysisPlan, title_by_key: Mapping[str, str]) -> list[tuple[str, str]]:
    if plan.nsv_value:
        return []
    name = title_by_key.get(plan.nsv_pairs, plan.nsv_pairs)
    return [(_("NSV: pairs"), name or _("Those that the scales rate differently"))]


@require_in_study(SEES)
def preregistration(request: HttpRequest, access: Access) -> HttpResponse:
    """The plan as a file to register; 404 without one."""
    plan = protocol.drafted_plan(access.study)
    if plan is None:
        raise Http404
    disposition = f'attachment; filename="{access.study.slug}-analysis-plan.md"'
    return HttpResponse(
        write_preregistration(access.study, plan),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": disposition},
    )
