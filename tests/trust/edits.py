"""Edits of a study and of what it asks, and the ways in which each can be tried: page, command, queryset, SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.models import Model, ProtectedError
from django.test import Client
from django.urls import reverse

from studies import middleware
from studies.documents import analysis_plan
from studies.models import Instrument, Item, ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from studies.publication import AlreadyPublished
from tests import factories, staff_forms

Form = dict[str, Any]
Row = Callable[[Study], Model]


@dataclass(frozen=True)
class Edit:
    """One change of one row, to be tried in each way.

    row : which is changed or deleted, or, not saved yet, added
    values : what the row says afterwards, by field; None if it is deleted
    staff : posts it to the admin
    page : posts it to a page of the admin's that is no change form
    command : the arguments of the management command that would make it
    """

    row: Row
    values: Form | None
    staff: Callable[[Client, Study], Any] | None = None
    page: Callable[[Client, Study], Any] | None = None
    command: Callable[[Study, Path], list[str]] | None = None
    adds: bool = False


@contextmanager
def refusal() -> Iterator[list[str]]:
    """Takes the error of a refusal, and has its sentence; every other error goes on."""
    sentences: list[str] = []
    try:
        with transaction.atomic():
            yield sentences
    except (DatabaseError, AlreadyPublished) as error:
        sentence = middleware.explain(error)
        if not sentence and not isinstance(error, ProtectedError):
            raise
        sentences.append(sentence or str(error))
    except CommandError as error:
        sentences.append(str(error))


def by_queryset(edit: Edit, study: Study) -> None:
    row = edit.row(study)
    rows = type(row)._default_manager.filter(pk=row.pk)
    if edit.adds:
        row.save(force_insert=True)
    elif edit.values is None:
        rows.delete()
    else:
        rows.update(**edit.values)


def by_sql(edit: Edit, study: Study) -> None:
    row = edit.row(study)
    table, key = row._meta.db_table, row._meta.pk.column
    with connection.cursor() as cursor:
        if edit.adds:
            columns, values = columns_of(row)
            marks = ", ".join("%s" for _ in columns)
            cursor.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)
        elif edit.values is None:
            cursor.execute(f"DELETE FROM {table} WHERE {key} = %s", [row.pk])
        else:
            for name, value in edit.values.items():
                setattr(row, name, value)
            columns, values = columns_of(row, list(edit.values))
            changes = ", ".join(f"{column} = %s" for column in columns)
            cursor.execute(f"UPDATE {table} SET {changes} WHERE {key} = %s", [*values, row.pk])


def columns_of(row: Model, names: list[str] | None = None) -> tuple[list[str], list[Any]]:
    """The columns of these fields, and what the database is given for them; of all if none is named."""
    fields = [each for each in row._meta.concrete_fields if names is None or {each.name, each.attname} & {*names}]
    return (
        [f'"{each.column}"' for each in fields],
        [each.get_db_prep_save(getattr(row, each.attname), connection) for each in fields],
    )


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def study_itself(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


def version(study: Study) -> ProtocolVersion:
    return ProtocolVersion.objects.get(study=study)


def step(study: Study) -> Step:
    return Step.objects.get(version__study=study, key="consent")


def last_step(study: Study) -> Step:
    return Step.objects.get(version__study=study, key="guess")


def instrument(study: Study) -> Instrument:
    return Instrument.objects.get(slug=f"{study.slug}-tests")


def item(study: Study) -> Item:
    return Item.objects.get(instrument=instrument(study), key="item-2")


def story(study: Study) -> Story:
    return Story.objects.get(study=study, code="p1s1")


def group(study: Study) -> StoryGroup:
    return StoryGroup.objects.get(study=study, code="plot1")


def provenance(study: Study) -> Provenance:
    return Provenance.objects.get(story=story(study))


def source(study: Study) -> Source:
    return provenance(study).source


def membership(study: Study) -> Model:
    return StoryGroup.stories.through.objects.get(storygroup=group(study), story=story(study))


def new_step(study: Study) -> Step:
    return Step(pk=90_000, version=version(study), position=90, key="new", kind="briefing", text="More.")


def metric_step(study: Study) -> Step:
    numbers = Instrument.objects.get(slug="numbers")
    return Step(
        pk=90_000,
        version=version(study),
        position=90,
        key="new",
        kind="metric",
        instrument=numbers,
        layout="",
        scope="",
    )


def new_item(study: Study) -> Item:
    return Item(pk=90_000, instrument=instrument(study), position=90, key="new", type="text", question="Why?")


def new_story(study: Study) -> Story:
    text = "Another."
    return Story(
        pk=90_000, study=study, code="new", text=text, n_words=1, sha256=factories.hashing.sha256(text), language="en"
    )


def new_group(study: Study) -> StoryGroup:
    return StoryGroup(pk=90_000, study=study, code="new")


def new_membership(study: Study) -> Model:
    other = StoryGroup.objects.get(study=study, code="plot2")
    return StoryGroup.stories.through(pk=90_000, storygroup=other, story=story(study))


# ── pages of the admin ─────────────────────────────────────────────────────────────────────────────────────────────


def address(row: Model, page: str = "change") -> str:
    return reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_{page}", args=[] if page == "add" else [row.pk])


def changed(row: Row, /, **fields: Any) -> Callable[[Client, Study], Any]:
    """Posts the row's form with these fields."""

    def post(client: Client, study: Study) -> Any:
        where = address(row(study))
        return client.post(where, staff_forms.read_form(client, where) | fields)

    return post


def inline(parent: Row, key: str, /, **fields: Any) -> Callable[[Client, Study], Any]:
    """Posts the parent's form with these fields in the row of that key, or in a new one."""

    def post(client: Client, study: Study) -> Any:
        where = address(parent(study))
        form = staff_forms.read_form(client, where)
        prefix = "steps" if parent is version else "items"
        if parent is instrument:
            form["title"] = "Tests"  # as the form was while the instrument could be edited
        if key == "new":
            form = staff_forms.add_row(form, prefix, fields)
        else:
            form |= {f"{staff_forms.find_row(form, 'key', key)}-{name}": value for name, value in fields.items()}
        return client.post(where, form)

    return post


def added(row: Row, /, **fields: Any) -> Callable[[Client, Study], Any]:
    return lambda client, study: client.post(address(row(study), "add"), fields | {"study": study.pk})


def deleted(row: Row) -> Callable[[Client, Study], Any]:
    return lambda client, study: client.post(address(row(study), "delete"), {"post": "yes"})


def members(codes: list[str], *, of: str) -> Callable[[Client, Study], Any]:
    """Posts the form of that group, or of a new one, with the stories of these codes."""

    def post(client: Client, study: Study) -> Any:
        stories = Story.objects.filter(study=study, code__in=codes).values_list("pk", flat=True)
        where = address(StoryGroup.objects.get(study=study, code=of)) if of else address(StoryGroup(), "add")
        return client.post(where, {"study": study.pk, "code": of or "new", "stories": list(stories)})

    return post


def normalised(client: Client, study: Study) -> Any:
    where = reverse("admin:studies_provenance_formatting", args=[study.pk])
    return client.post(where, {"kinds": ["quotes"]})


def run_command(edit: Edit, study: Study, folder: Path) -> None:
    assert edit.command is not None
    call_command(*edit.command(study, folder))


# ── pages of designers ─────────────────────────────────────────────────────────────────────────────────────────────


def form_of(response: Any, name: str) -> Form:
    """What a browser would post of the form that stands in the page's context under that name."""
    form = response.context[name]
    values = {field.html_name: value for field in form if (value := field.value()) not in (None, False)}
    return values | {"seen": form.seen_value}


def on_page(
    name: str, *args: Callable[[Study], Any], form: str = "form", to: str = "", **fields: Any
) -> Callable[[Client, Study], Any]:
    """Posts the form of that page with these fields, whether or not the page shows it still.

    name, args : of the page, of which the first says the study, or the instrument
    form : under which name it stands in the page's context; if "", only the fields are posted
    to : the name of the page that takes it, if it is another one
    """

    def post(client: Client, study: Study) -> Any:
        keys = [arg(study) for arg in args] or [study.slug]
        where = reverse(name, args=keys)
        values = form_of(client.get(where), form) if form else {}
        return client.post(reverse(to, args=keys) if to else where, values | fields)

    return post


def slug(study: Study) -> str:
    return study.slug


def key_of(row: Row) -> Callable[[Study], int]:
    return lambda study: row(study).pk


def told(**fields: Any) -> Callable[[Client, Study], Any]:
    return on_page("designer:rater_information", **fields)


def planned(**fields: Any) -> Callable[[Client, Study], Any]:
    return on_page("designer:reading_plan", **fields)


def on_step(**fields: Any) -> Callable[[Client, Study], Any]:
    return on_page("designer:step", slug, key_of(step), **fields)


def asked(key: str, **fields: Any) -> Callable[[Client, Study], Any]:
    """Posts the form of that question of the instrument; of a new one if the key is empty."""

    def post(client: Client, study: Study) -> Any:
        pk = instrument(study).pk
        page = client.get(reverse("instruments:show", args=[pk]), {"question": key} if key else {"new": ""})
        name, args = ("question", [pk, key]) if key else ("new_question", [pk])
        return client.post(reverse(f"instruments:{name}", args=args), form_of(page, "item_form") | fields)

    return post


def of_stories(action: str, **fields: Any) -> Callable[[Client, Study], Any]:
    """Does that with the story in its group, on the page of stories."""

    def post(client: Client, study: Study) -> Any:
        chosen = f"{story(study).pk}.{group(study).pk}"
        address = reverse("studies:stories", args=[study.slug])
        return client.post(address, {"action": action, "story": chosen, "sure": "yes"} | fields)

    return post


def emptied(client: Client, study: Study) -> Any:
    """Moves all stories of the group to another one, which leaves nothing of it."""
    chosen = [f"{pk}.{group(study).pk}" for pk in group(study).stories.values_list("pk", flat=True)]
    page = reverse("studies:stories", args=[study.slug])
    return client.post(page, {"action": "move", "story": chosen, "to": "plot2"})


PASTED = "story,group,text,source,source_kind\nnew,plot1,Once.,Ann,expert_writer\n"
PLAN = {
    "outcome": "tests/item-1",
    "contrasts": analysis_plan.EVERY_PAIR,
    "test": analysis_plan.BY_DEFAULT,
    "epsilon": "0.2",
}


def brought_in(client: Client, study: Study) -> Any:
    """Pastes a story, and brings it in as the page that follows proposes."""
    response = client.post(reverse("studies:new_story_import", args=[study.slug]), {"pasted": PASTED})
    if response.url == reverse("studies:stories", args=[study.slug]):
        return response
    form = client.get(response.url).context["form"]
    values = {field.html_name: value for field in form if (value := field.value()) not in (None, False)}
    response = client.post(response.url, values | {"bring_in": ""})
    assert Story.objects.filter(study=study, text="Once.").exists()
    return response
