"""What is said of NSV in sentences: the panel, the verdict, and with what and on which prompts it was computed."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges.laboratory.embeddings import explain
from reports.document import notes
from reports.document.model import Phrase, TextBlock
from reports.document.phrases import joined, phrase, reason_words
from reports.figures.nsv.results import IdeaPanelAgreement, NsvScores, NsvSetting
from reports.numbers import coefficient, coefficients, whole

VERDICTS = {
    "met": gettext_noop("H1 holds: the lower end of the interval is .6 or more."),
    "not_met": gettext_noop("H1 does not hold: the whole interval lies below .6."),
    "open": gettext_noop("H1 is open: the interval does not lie on one side of .6."),
}


def about_panel(panel: IdeaPanelAgreement | None) -> Iterator[TextBlock]:
    """How far those who rated agree; nothing if nobody rated."""
    if panel is None:
        return
    about = _("The panel, on %(titles)s, over %(n)s ideas:")
    about %= {"titles": ", ".join(panel.titles), "n": whole(panel.n_ideas)}
    alpha = phrase(
        _("Krippendorff’s alpha %(alpha)s (95 %% interval %(ends)s)."),
        alpha=coefficient(panel.value),
        ends=coefficients(panel.interval),
    )
    yield TextBlock(words=joined(about, reason_words(panel.why) if panel.why else alpha))


def verdict(scores: NsvScores) -> TextBlock:
    """What H1 comes to, and what it could come to at most beside this panel."""
    ceiling = _("A perfect score would reach %(ceiling)s beside this panel.")
    has_ceiling = scores.ceiling is not None
    most = ceiling % {"ceiling": coefficient(scores.ceiling)} if has_ceiling else ""
    return TextBlock(words=joined(_(VERDICTS[scores.verdict]), most))


def about_scores(scores: NsvScores) -> Iterator[TextBlock]:
    """With what, and on which prompts the scores were computed."""
    setting = scores.setting
    split = _(
        "Medians, MADs, preferences and weights come from %(n)s ideas on %(p)s prompts, drawn by the seed %(seed)s; "
        "all that is told comes from %(m)s ideas on the other %(q)s."
    )
    yield TextBlock(
        words=split
        % {
            "n": whole(setting.n_development),
            "p": len(setting.development),
            "seed": setting.seed,
            "m": whole(setting.n_held_out),
            "q": len(setting.held_out),
        }
    )
    yield TextBlock(words=joined(_novelty(setting), _surprise(setting), *_value(scores), _pairs(setting)))
    yield TextBlock(words=_left_out(setting))
    prompts = _(
        "Prompts: those whose ideas differ in the score, so that they have a correlation of their own. p: sign test "
        "over prompts, of what the correlation within each changes by. MAUVE is left out: its library is under the "
        "GPL, and the same distribution scores .999 at 12 texts and .949 at 500."
    )
    yield TextBlock(words=prompts)
    ends = [part.interval for row in scores.methods for part in (row.pooled, row.within)]
    yield from notes.weakest([*ends, *(row.interval for row in scores.ablations)])


def _novelty(setting: NsvSetting) -> Phrase:
    sentence = _(
        "Novelty: the mean distance to the %(k)s nearest of the prompt and of the set “%(name)s” (%(n)s ideas, stored "
        "as %(short)s), half each, by %(embedding)s (version %(version)s)."
    )
    return sentence % {
        "k": setting.k,
        "name": setting.references,
        "n": whole(setting.n_references),
        "short": setting.sha256[:12],
        "embedding": explain(setting.embedding),
        "version": setting.version,
    }


def _surprise(setting: NsvSetting) -> Phrase:
    if setting.surprise:
        return _("Surprise: the scores %(metric)s.") % {"metric": setting.surprise}
    return _("Surprise: a trigram model of the set’s ideas on other prompts.")


def _value(scores: NsvScores) -> Iterator[Phrase]:
    """Where value comes from, and how it does on pairs of other prompts."""
    tried, name = scores.preferences, scores.setting.value
    auc = coefficient(tried.auc)
    if name:
        yield _("Value: the scores %(name)s.") % {"name": name}
        if tried.auc is not None:
            sentence = _(
                "On %(n)s pairs of ideas that the panel rates differently, on the other prompts, their AUC is %(auc)s."
            )
            yield sentence % {"n": whole(tried.n_held_out), "auc": auc}
    elif tried.why:
        yield _("Value: learnt from %(n)s pairs of ideas of one prompt.") % {"n": whole(tried.n_pairs)}
    else:
        sentence = _(
            "Value: learnt from %(n)s pairs of ideas of one prompt; on pairs of the other prompts its AUC is %(auc)s."
        )
        yield sentence % {"n": whole(tried.n_pairs), "auc": auc}


def _pairs(setting: NsvSetting) -> Phrase:
    return _("Which of a pair is preferred: %(name)s.") % {"name": setting.pairs} if setting.pairs else ""


def _left_out(setting: NsvSetting) -> Phrase:
    sentence = _(
        "Left out: %(near)s ideas of the set that are near-copies, %(gone)s that are gone; of the study’s ideas "
        "%(several)s on several prompts, %(few)s on prompts with too few of the set, %(none)s without surprise, "
        "%(valueless)s without value."
    )
    return sentence % {
        "near": whole(setting.n_near_copies),
        "gone": whole(setting.n_gone),
        "several": whole(setting.n_on_several_prompts),
        "few": whole(setting.n_without_neighbours),
        "none": whole(setting.n_without_surprise),
        "valueless": whole(setting.n_without_value),
    }
