"""Parts of the form of a file of answers: columns that name stories or raters, stories called otherwise, rows to leave
out, times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answer_import.column_map import AnswerColumn, ColumnMapping, OmittedRows
from annotation.answer_import.crossed_columns import AskedItem, Crossing, make_answers
from annotation.answer_import.names import StoryNames
from annotation.answer_import.times import DAY_FIRST, MONTH_FIRST, TimeForms
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study

MOST_NAMES = 100  # of stories that can be said one by one
MOST_OPTIONS = 300  # stories that such a list offers
MOST_CONDITIONS = 20
_WORDS = re.compile(r'\s*"(?:[^"]|"")*"\s*(?=;|$)|[^;]+')
EMPTY = gettext_lazy("(empty)")  # what stands for an empty cell among words


@dataclass(frozen=True)
class Question:
    """A question that columns name. label : as they call it; columns : that do; field : which item it is"""

    label: str
    columns: Sequence[str]
    field: forms.BoundField


@dataclass(frozen=True)
class StoryName:
    """What the file calls a story, how often, and which one it is."""

    name: str
    n: int
    field: forms.BoundField


@dataclass(frozen=True)
class OmissionRow:
    """Rows to be left out."""

    column: forms.BoundField
    words: forms.BoundField


class CrossedFields:
    """Which item each question is that columns name beside a story or rater; whether they are read so at all."""

    def __init__(
        self,
        form: forms.Form,
        crossing: Crossing,
        mapping: ColumnMapping,
        asked: Sequence[AskedItem],
        *,
        is_wanted: bool,
    ) -> None:
        self.form, self.crossing = form, crossing
        self.pair_by_key = {f"{step.key}/{item.key}": (step, item) for step, item in asked}
        saved = {column: answer for answer in mapping.answers for column in answer.columns}
        own = {crossed.column for crossed in crossing.columns}
        form.fields["is_crossed"] = forms.BooleanField(
            label=_("Read these columns this way"),
            required=False,
            initial=is_wanted and not any(a.value and not (a.story or a.rater) for c, a in saved.items() if c in own),
        )
        choices = [
            ("", _("Leave out")),
            *((key, item.title or item.key) for key, (_step, item) in self.pair_by_key.items()),
        ]
        for n, (question, columns) in enumerate(crossing.questions.items()):
            answer = next((saved[crossed.column] for crossed in columns if crossed.column in saved), None)
            form.fields[f"question-{n}"] = forms.ChoiceField(
                label=question or _("no question"),
                choices=choices,
                required=False,
                initial=self._key(answer) if answer else "",
            )

    def _key(self, answer: AnswerColumn) -> str:
        keys = [key for key in self.pair_by_key if key.rpartition("/")[2] == answer.item]
        return next((key for key in keys if key.rpartition("/")[0] == answer.step), keys[0] if keys else "")

    @property
    def is_read(self) -> bool:
        """Whether the columns are read so, as posted or as saved."""
        return bool(self.form["is_crossed"].value())

    @property
    def field(self) -> forms.BoundField:
        return self.form["is_crossed"]

    @property
    def n_about(self) -> int:
        """How many stories or raters the columns name."""
        return len({crossed.about for crossed in self.crossing.columns})

    def questions(self) -> list[Question]:
        return [
            Question(question, [crossed.column for crossed in columns], self.form[f"question-{n}"])
            for n, (question, columns) in enumerate(self.crossing.questions.items())
        ]

    def updated_answers(self, names: StoryNames, given: dict[str, str]) -> Iterator[AnswerColumn]:
        """The answers in these columns, as posted. given : codes of stories that the file calls otherwise"""
        item_by_question = {
            question: self.pair_by_key[key]
            for n, question in enumerate(self.crossing.questions)
            if (key := self.form.cleaned_data.get(f"question-{n}", ""))
        }
        abouts = {crossed.about for crossed in self.crossing.columns}
        code_by_about = {about: given.get(about) or names.code_of(about) for about in abouts}
        groups = {about: names.groups_by_story.get(code, []) for about, code in code_by_about.items()}
        return make_answers(self.crossing, item_by_question, groups)


class StoryFields:
    """Which story is meant, for each name that is none of those of the study."""

    def __init__(self, form: forms.Form, labels: dict[str, int], mapping: ColumnMapping, study: Study) -> None:
        names = StoryNames(study, mapping.story.by)
        unknown = [label for label in labels if label in mapping.story.names or not names.knows(label)]
        codes = sorted(names.groups_by_story)[:MOST_OPTIONS]
        choices = [("", _("unknown")), *((code, code) for code in codes)]
        self.form, self.saved = form, mapping.story.names
        self.names = {f"named-{n}": (label, labels[label]) for n, label in enumerate(unknown[:MOST_NAMES])}
        for field, (label, _n) in self.names.items():
            form.fields[field] = forms.ChoiceField(
                label=label, choices=choices, required=False, initial=mapping.story.names.get(label, "")
            )

    def rows(self) -> list[StoryName]:
        return [StoryName(label, n, self.form[field]) for field, (label, n) in self.names.items()]

    def updated(self) -> dict[str, str]:
        """Codes of stories by what the file calls them, as posted, and as saved where the page does not ask."""
        listed_labels = {label for label, _n in self.names.values()}
        unlisted = {label: code for label, code in self.saved.items() if label not in listed_labels}
        posted = {label: self.form.cleaned_data.get(field, "") for field, (label, _n) in self.names.items()}
        return unlisted | {label: code for label, code in posted.items() if code}


class LeftOutFields:
    """Rows to leave out: each condition that was saved, and room for one more."""

    def __init__(self, form: forms.Form, table: IncomingTable, mapping: ColumnMapping) -> None:
        self.form = form
        saved = mapping.leave_out[: MOST_CONDITIONS - 1]
        self.hidden = mapping.leave_out[MOST_CONDITIONS - 1 :]
        choices = [("", "–"), *((column, column[:80]) for column in table.columns)]
        self.n = len(saved) + 1
        for n in range(self.n):
            column, words = (saved[n].column, saved[n].words) if n < len(saved) else ("", ())
            form.fields[f"out-column-{n}"] = forms.ChoiceField(
                label=_("Leave out rows in which"), choices=choices, required=False, initial=column
            )
            form.fields[f"out-words-{n}"] = forms.CharField(
                label=_("says"),
                required=False,
                max_length=500,
                initial=join_words(word or str(EMPTY) for word in words),
            )

    def rows(self) -> list[OmissionRow]:
        return [OmissionRow(self.form[f"out-column-{n}"], self.form[f"out-words-{n}"]) for n in range(self.n)]

    def updated(self) -> tuple[OmittedRows, ...]:
        posted = self.form.cleaned_data
        conditions = [(posted.get(f"out-column-{n}", ""), posted.get(f"out-words-{n}", "")) for n in range(self.n)]
        return (
            *(OmittedRows(column, _read_words(words)) for column, words in conditions if column and words.strip()),
            *self.hidden,
        )


def _read_words(words: str) -> tuple[str, ...]:
    return tuple("" if word == str(EMPTY) else word for word in split_words(words))


def join_words(words: Iterable[str]) -> str:
    """The words between semicolons; in quotation marks, doubled inside, where they hold a semicolon themselves."""
    return "; ".join('"' + word.replace('"', '""') + '"' if ";" in word or word[:1] == '"' else word for word in words)


def split_words(words: str) -> tuple[str, ...]:
    """What stands between semicolons, as `join_words` writes it."""
    parts = (part.strip() for part in _WORDS.findall(words))
    is_quoted = re.compile(r'"(?:[^"]|"")+"').fullmatch
    return tuple(part[1:-1].replace('""', '"') if is_quoted(part) else part for part in parts if part)


def add_time_fields(form: forms.Form, times: TimeForms) -> None:
    """How the file writes times."""
    zones = [("", _("%(zone)s, as this server") % {"zone": settings.TIME_ZONE})]
    form.fields["zone"] = forms.ChoiceField(
        label=_("Times without a time zone are in"),
        required=False,
        choices=[*zones, *((zone, zone) for zone in sorted(available_timezones()))],
        initial=times.zone,
    )
    form.fields["dates"] = forms.ChoiceField(
        label=_("Dates in numbers"),
        required=False,
        choices=[
            ("", _("as the file shows by itself")),
            (DAY_FIRST, _("day first: 31/1/2027")),
            (MONTH_FIRST, _("month first: 1/31/2027")),
        ],
        initial=times.dates,
    )
