"""Tables of themes in a package: the codebook, and what coders found in each reason that two people have coded."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet

from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.models import Coder, Coding
from reports.rationales import codings

THEME = {
    "position": TableField("Its place in the codebook.", "integer"),
    "theme": TableField("Its name."),
    "definition": TableField("When a reason is about it, and when not."),
    "example": TableField("A reason that is about it."),
}
FOUND = {
    "sample": TableField(
        "Which sample of reasons, from 1; those that two people have not finished stand nowhere.", "integer"
    ),
    "about": TableField("Step and item that its reasons are drawn from, with a point between; empty of all."),
    "number": TableField("Number of the reason in its sample.", "integer"),
    "rater": TableField("Code of whose reason it is."),
    "group": TableField("Code of the group."),
    "seat": TableField("Number of the place.", "integer"),
    "step": TableField("Key of the step."),
    "item": TableField("Key of the item."),
    "story": TableField("Code of the story; empty if the answer is about the whole group."),
    "coder": TableField(
        "1 and 2 are the people who coded blind, 3 is the judge that suggested themes afterwards.", "integer"
    ),
    "judge": TableField("Which judge; empty of people, whose names stand in no package."),
    "themes": TableField("Names of the themes that the coder found; an empty list is an answer.", "array"),
}


def theme_rows(content: PackageContent) -> Iterator[Row]:
    themes = content.study.themes.order_by("position").values_list("position", "name", "definition", "example")
    return (dict(zip(THEME, theme, strict=True)) for theme in themes)


def _samples(content: PackageContent) -> dict[int, int]:
    """The number of each sample that two people have coded, by its id: one unfinished would tell each the other's."""
    return {pk: number for number, pk in enumerate(codings.done_samples(content.study), start=1)}


def _codings(content: PackageContent, samples: dict[int, int]) -> QuerySet[Coding]:
    of_samples = Coding.objects.filter(coder__sample__in=samples)
    return of_samples.filter(reason__response__assignment__in=content.assignments.order_by())


def coding_rows(content: PackageContent) -> Iterator[Row]:
    number_by_sample = _samples(content)
    rows = _codings(content, number_by_sample).order_by("coder__sample_id", "reason__number", "coder__number")
    related = rows.select_related(
        "coder__sample",
        "reason__response__step",
        "reason__response__item",
        "reason__response__story",
        "reason__response__assignment__rater",
        "reason__response__assignment__group",
        "reason__response__assignment__seat",
    )
    for coding in related.prefetch_related("themes").iterator(chunk_size=2000):
        response = coding.reason.response
        assignment = response.assignment
        yield {
            "sample": number_by_sample[coding.coder.sample_id],
            "about": coding.coder.sample.item,
            "number": coding.reason.number,
            "rater": assignment.rater.code,
            "group": assignment.group.code if assignment.group else "",
            "seat": assignment.seat.number if assignment.seat else 0,
            "step": response.step.key,
            "item": response.item.key,
            "story": response.story.code if response.story else "",
            "coder": coding.coder.number,
            "judge": coding.coder.name if coding.coder.number == Coder.JUDGE else "",
            "themes": [theme.name for theme in coding.themes.all()],
        }


TABLES = (
    PackageTable(
        "theme_codebook.csv",
        "The themes that reasons were coded by.",
        lambda content: THEME,
        theme_rows,
        lambda content: content.study.themes.count(),
    ),
    PackageTable(
        "codings.csv",
        "The themes that coders found in reasons, coded blind by two people.",
        lambda content: FOUND,
        coding_rows,
        lambda content: _codings(content, _samples(content)).count(),
    ),
)
