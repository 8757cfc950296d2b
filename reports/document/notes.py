"""Notes that the margins of several sections share."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _

from reports.document.model import Head, TextBlock
from reports.document.phrases import phrase, reason_words
from reports.document.values import Interval, Reason


def weakest(intervals: Iterable[Interval | None]) -> list[TextBlock]:
    """What the weakest of some intervals rests on; nothing if all are sound."""
    noted = [ends for ends in intervals if ends and ends.note]
    if not noted:
        return []
    note = min(noted, key=lambda ends: ends.n_resampled or 0).note or ""
    sentence = _(
        'Interval based on the least data: <span lang="en">%(note)s</span>. A broken line or † marks fewer than five '
        "clusters, or answers that hardly vary."
    )
    return [TextBlock(words=phrase(sentence, note=note))]


def table_below_plot() -> str:
    """What a plot says of itself to people who do not see it."""
    return _("The table below the plot holds every value with its interval.")


def table_below() -> str:
    return _("The table below holds every value with its interval.")


def clusters_of_verdicts() -> TextBlock:
    """What intervals of verdicts take as one."""
    sentence = _(
        "Lines are 95 %% intervals. They take as one what was sampled together: <strong>stories of a "
        "group</strong> share their raters, and groups on one prompt share that. Verdicts on one "
        "story are not independent."
    )
    return TextBlock(words=phrase(sentence))


def sealed(head: Head) -> list[TextBlock]:
    """When values by source will be shown, while they are not yet."""
    is_waiting = head.is_sealed and not head.is_closed
    return [TextBlock(words=_("By source after the study is closed."))] if is_waiting else []


def models_stories() -> TextBlock:
    """To which column of a table of coefficients the chance floor belongs."""
    sentence = _(
        "The <strong>chance floor</strong> in a row is that of all stories. What stands under "
        "<strong>Models’ stories</strong>, the same over the stories of language models alone, has none here; of fewer "
        "stories, shuffled answers reach higher."
    )
    return TextBlock(words=phrase(sentence))


def clusters_of_pairs() -> TextBlock:
    return TextBlock(words=_("Intervals are over groups; those on the same of several prompts count as one."))


def reason(why: Reason) -> TextBlock:
    """Why there is nothing to show, in place of it."""
    return TextBlock(words=reason_words(why))
