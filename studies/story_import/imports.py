"""Stories on their way in: kept from the file to the confirmation, then put into the study, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from stats import garbage_collection
from studies import construction, hashing
from studies.action_log import log_action
from studies.incoming_tables import uploads
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.tables import IncomingTable
from studies.items.pair import Pair
from studies.models import Provenance, Source, Step, StoryColumns, StoryImport, Study
from studies.story_edits import require_editable
from studies.story_import.columns import ColumnChoices, count_kind_values, fill_kinds, guess_choices, restore_choices
from studies.story_import.problems import Examination, StudyContents, examine
from studies.story_import.rows import RowCounter, count_nothing

MOST_KINDS = 300  # that can be said one by one


def find_waiting(study: Study, by: User) -> StoryImport | None:
    """The file that this account brought last and whose stories are not in, without table and content. One query."""
    rows = StoryImport.objects.filter(study=study, user=by, intake__ended_at=None)
    return rows.select_related("intake").defer("table", "content").order_by("-pk").first()


def forget_old_imports(*, at: datetime) -> int:
    """Delete files that nobody confirmed for a day, and those asked for a day ago or longer; how many there were."""
    is_old = Q(created_at__lt=at - uploads.KEPT) & (Q(intake=None) | Q(intake__asked_at__lt=at - uploads.KEPT))
    return uploads.forget(StoryImport.objects.filter(is_old))


def choose_anew(table: IncomingTable, earlier: ColumnChoices) -> ColumnChoices:
    """The choices for a table that is read otherwise now: what was said of columns that it still has stays."""
    choices, _unsure = guess_choices(table)
    left_out = choices.left_out
    kept = {column: role for column, role in earlier.roles.items() if column in choices.roles}
    if len(kept) == len(choices.roles):
        choices = restore_choices(earlier.as_json())
    choices.roles |= kept
    choices.left_out, choices.accepts_encoding = left_out, False
    fill_kinds(choices, list(count_kind_values(table, choices))[:MOST_KINDS], find_kinds())
    return choices


@transaction.atomic
def keep_import(study: Study, table: IncomingTable, *, by: User, at: datetime) -> StoryImport:
    """The table, kept for this account until it is confirmed, in place of what it brought for this study before.

    A file that a worker is bringing in stays. Its columns are as they were said of the last file of the same columns,
    or guessed. Raises StoriesFinal.
    """
    require_editable(study)
    forget_old_imports(at=at)
    is_at_rest = Q(intake=None) | ~Q(intake__problem="") | Q(intake__ended_at__isnull=False)
    earlier_imports = StoryImport.objects.filter(is_at_rest, study=study, user=by)
    choices, _unsure = guess_choices(table)
    if choices.grouping != "column" and _asks_for_pairs(study):
        choices.grouping = "pairs"
    earlier = StoryColumns.objects.filter(study=study, columns_sha256=_hash_columns(table)).first()
    if earlier:
        choices = replace(restore_choices(earlier.choices), left_out=choices.left_out)
    fill_kinds(choices, list(count_kind_values(table, choices))[:MOST_KINDS], find_kinds())
    return uploads.keep(earlier_imports, table, at=at, study=study, user=by, choices=choices.as_json())


def _asks_for_pairs(study: Study) -> bool:
    return Step.objects.filter(version__study=study, instrument__items__type=Pair.name).exists()


def _hash_columns(table: IncomingTable) -> str:
    return hashing.sha256(hashing.canonical_json(list(table.columns)))


def find_kinds() -> dict[str, str]:
    """The kind of every source that is known, by its name."""
    return dict(Source.objects.values_list("name", "kind"))


def read_contents(study: Study) -> StudyContents:
    """What the study holds, as far as new stories must fit to it."""
    pairs = list(study.stories.values_list("code", "sha256"))
    return StudyContents(
        language=study.language,
        seed=study.seed,
        codes=frozenset(code for code, _sha256 in pairs),
        hashes=frozenset(sha256 for _code, sha256 in pairs),
        group_codes=frozenset(study.groups.values_list("code", flat=True)),
        kind_by_source=find_kinds(),
    )


def save_choices(story_import: StoryImport, choices: ColumnChoices, table: IncomingTable) -> None:
    """Keep what was said of the table; values that are new to the translation of kinds get a guess."""
    fill_kinds(choices, list(count_kind_values(table, choices))[:MOST_KINDS], find_kinds())
    story_import.choices = choices.as_json()
    story_import.save(update_fields=["choices"])


def take_way_out(choices: ColumnChoices, act: Sequence[Any]) -> None:
    """Change the choices as a way out of a problem says. Raises ValueError for one that nobody offers."""
    match list(act):
        case ["leave", *rows] if all(isinstance(row, int) for row in rows):
            choices.left_out = sorted({*choices.left_out, *rows})
        case ["merge", str(name), str(other)]:
            choices.merged[name] = other
        case ["kind", str(value), str(kind)]:
            choices.kinds[value] = kind
        case ["normalise", str(kind)]:
            choices.normalisations = [*dict.fromkeys([*choices.normalisations, kind])]
        case ["codes"]:
            choices.has_new_codes = True
        case ["encoding"]:
            choices.accepts_encoding = True
        case ["all", *acts] if acts and all(isinstance(part, list) and part[:1] != ["all"] for part in acts):
            for part in acts:
                take_way_out(choices, part)
        case ["restore"]:
            choices.left_out = []
        case _:
            raise ValueError(act)


@dataclass(frozen=True)
class PreparedImport:
    """An import that can come in. contents : of the study when the import was examined"""

    table: IncomingTable
    choices: ColumnChoices
    contents: StudyContents
    examination: Examination


def bring_in(story_import: StoryImport) -> Examination:
    """Put all stories of the import into its study; what was said of the columns is kept, the import is not.

    Raises ImportRefused, or StoriesFinal; then nothing has come in.
    """
    prepared = prepare(story_import)
    with transaction.atomic():
        write(story_import, prepared)
        story_import.delete()
    return prepared.examination


def prepare(story_import: StoryImport, *, count: RowCounter = count_nothing) -> PreparedImport:
    """The import, examined: most of the work, done before the transaction so that nobody has to wait for it.

    Raises ImportRefused, or StoriesFinal.
    """
    require_editable(story_import.study)
    table, choices = uploads.restore(story_import), restore_choices(story_import.choices)
    contents = read_contents(story_import.study)
    examination = examine(table, choices, contents, count=count)
    if examination.collection is None:
        raise ImportRefused(_("Fix the problems first."))
    return PreparedImport(table, choices, contents, examination)


@garbage_collection.only_new()
def write(story_import: StoryImport, prepared: PreparedImport) -> None:
    """Put what is prepared into the study, in the transaction of the caller, who says what becomes of the import.

    Raises ImportRefused if the study is not as it was examined any more, or StoriesFinal.
    """
    # Whoever launches the study, or brings in the same file twice, is waited for.
    study = Study.objects.select_for_update().get(pk=story_import.study_id)
    if not StoryImport.objects.filter(pk=story_import.pk).exists():
        raise ImportRefused(_("These stories are already imported, or the file was discarded."))
    require_editable(study)
    contents = replace(read_contents(study), kind_by_source=prepared.contents.kind_by_source)
    collection = prepared.examination.collection
    if contents != prepared.contents or collection is None:
        sentence = _("The study’s stories were changed in the meantime. Check the file again.")
        raise ImportRefused(sentence)
    try:
        construction.add_stories(study, collection.stories, collection.groups)
    except construction.SourceConflict as error:
        raise ImportRefused(_("Nothing was imported: %(why)s.") % {"why": error}) from None
    _keep_raw_texts(study, prepared.examination.raw_text_by_code)
    StoryColumns.objects.update_or_create(
        study=study,
        columns_sha256=_hash_columns(prepared.table),
        defaults={"choices": prepared.choices.for_next_file()},
    )
    log_action(study, f"{prepared.examination.n_stories} stories brought in", by=story_import.user)


def _keep_raw_texts(study: Study, raw_text_by_code: Mapping[str, str]) -> None:
    """Keep what texts were before their typing was made alike, as `formatting.normalise` does."""
    if not raw_text_by_code:
        return
    rows = Provenance.objects.filter(story__study=study).select_related("story")
    changed = [row for row in rows if row.story.code in raw_text_by_code]
    for row in changed:
        row.raw_text = raw_text_by_code[row.story.code]
        row.raw_sha256 = hashing.sha256(row.raw_text)
    Provenance.objects.bulk_update(changed, ["raw_text", "raw_sha256"], batch_size=200)
