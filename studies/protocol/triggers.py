"""What the database refuses once a protocol is frozen or an instrument published, by SQL as well.

A metric's step stands outside of the protocol and can come and go; the text of a story, and the text as it came, can
still be taken away.
A frozen study is never deleted: what was asked, and about which texts, is what its answers mean. A rehearsal is: in it
nothing counts.
"""

from collections.abc import Mapping, Sequence

from django.db.models import Model
from django.utils.translation import gettext_noop

from studies.models import (
    Amendment,
    Cloze,
    Instrument,
    Item,
    ProtocolVersion,
    Provenance,
    Source,
    Step,
    Story,
    StoryGroup,
    Study,
)
from studies.protocol.frozen import IF_SAID, STUDY
from studies.triggers import Operation, Trigger, any_changed

INSTRUMENTS = Instrument._meta.db_table
STUDIES = Study._meta.db_table
VERSIONS = ProtocolVersion._meta.db_table
STORIES = Story._meta.db_table
GROUPS = StoryGroup._meta.db_table
PROVENANCES = Provenance._meta.db_table

# What the database says, in English; pages say it in the reader's language.
OF_INSTRUMENT = gettext_noop("A published instrument never changes; make a new version of it.")
OF_CLOZE = gettext_noop("A published cloze never changes; make a new version of it.")
OF_VERSION = gettext_noop("A frozen protocol never changes; load the study anew under another slug.")
OF_STUDY = gettext_noop("What raters are told of a frozen study changes by an amendment only.")
OF_AMENDMENT = gettext_noop("An amendment never changes; make another one.")
OF_STORY = gettext_noop("The stories of a frozen study never change; load it anew under another slug.")
OF_GROUP = gettext_noop("The groups of a frozen study never change; load it anew under another slug.")
OF_PROVENANCE = gettext_noop("Who wrote a story of a frozen study never changes; load it anew under another slug.")
OF_REHEARSAL = gettext_noop("A study never becomes a rehearsal, nor a rehearsal a study.")
OF_SOURCE = gettext_noop("A source of stories of a frozen study keeps its name and kind; make another source.")


# What the document says of the study; of these some only where they are set.
FINAL_OF_STUDY = ("slug", *STUDY, *IF_SAID, "facts", "text_kind", "analysis_plan")
AMENDMENTS = Amendment._meta.db_table
ROWS: Mapping[Operation, tuple[str, ...]] = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
# A rehearsal is frozen as a study is, and taken away when it is made anew.
IS_REHEARSAL = f"EXISTS (SELECT 1 FROM {STUDIES} WHERE {STUDIES}.id = {{study}} AND rehearsal_of_id IS NOT NULL)"
FROZEN = f"frozen_at IS NOT NULL AND NOT {IS_REHEARSAL.format(study=f'{VERSIONS}.study_id')}"
PUBLISHED = "status = 'published'"
OF_STUDIES = f"FROM {VERSIONS} WHERE study_id IN"
# Of the studies that have a story by that source.
OF_SOURCES = (
    f"{OF_STUDIES} (SELECT study_id FROM {STORIES} JOIN {PROVENANCES} ON story_id = {STORIES}.id "
    "WHERE source_id = OLD.id)"
)
ENDINGS = {"INSERT": "complete", "UPDATE": "final", "DELETE": "kept"}


def _columns(model: type[Model], names: Sequence[str] = (), *, but: Sequence[str] = ()) -> list[str]:
    """The columns of these fields and of the primary key; of all fields if none is named."""
    fields = [field for field in model._meta.concrete_fields if field.name not in but]
    return [str(f.column) for f in fields if f.primary_key or not names or f.name in names or f.attname in names]


def _refuse_change(model: type[Model], sentence: str, *, final: str, change: str, held: str = "") -> list[Trigger]:
    """What is final itself is neither changed nor deleted.

    final : a condition on OLD; change : one on NEW and OLD; held : as in `Trigger`
    """
    table = model._meta.db_table
    return [
        Trigger(f"{table}_is_final", table, "UPDATE", f"{final} AND {change}", sentence, held),
        Trigger(f"{table}_is_kept", table, "DELETE", final, sentence, held),
    ]


def _refuse_change_of_part(
    model: type[Model], sentence: str, *, column: str, whole: str, final: str, change: str, unless: str = ""
) -> list[Trigger]:
    """What is part of something final is neither added nor changed nor deleted.

    column : which refers to the whole; whole : "FROM … WHERE … IN {keys}"; final : a condition on the whole
    unless : a condition on a {row} that is no such part
    """
    table = model._meta.db_table
    triggers = []
    for operation, rows in ROWS.items():
        held = whole.format(keys="(" + ", ".join(f"{row}.{column}" for row in rows) + ")")
        conditions = [f"EXISTS (SELECT 1 {held} AND {final})"]
        conditions += [change] if operation == "UPDATE" else []
        conditions += [f"NOT ({' AND '.join(unless.format(row=row) for row in rows)})"] if unless else []
        name = f"{table}_is_{ENDINGS[operation]}"
        triggers.append(Trigger(name, table, operation, " AND ".join(conditions), sentence, held))
    return triggers


def _latest_amendment_says_otherwise() -> str:
    """The condition that the study is to say what its latest amendment does not say, or that it has none."""
    latest = f"(SELECT MAX(number) FROM {AMENDMENTS} WHERE study_id = OLD.id)"
    differs = " OR ".join(f'NEW."{name}" IS DISTINCT FROM said."{name}"' for name in Amendment.FIELDS)
    same = f"said.study_id = OLD.id AND said.number = {latest} AND NOT ({differs})"
    return f"NOT EXISTS (SELECT 1 FROM {AMENDMENTS} said WHERE {same})"


NEVER_AMENDED = [name for name in FINAL_OF_STUDY if name not in Amendment.FIELDS]

TRIGGERS: list[Trigger] = [
    *_refuse_change(
        Instrument,
        OF_INSTRUMENT,
        final="OLD.status = 'published'",
        change=any_changed(_columns(Instrument, Instrument.FINAL)),
    ),
    *_refuse_change_of_part(
        Item,
        OF_INSTRUMENT,
        column="instrument_id",
        whole=f"FROM {INSTRUMENTS} WHERE id IN {{keys}}",
        final=PUBLISHED,
        change=any_changed(_columns(Item, but=Item.MAY_CHANGE)),
    ),
    *_refuse_change(
        Cloze, OF_CLOZE, final="OLD.filling_id IS NOT NULL", change=any_changed(_columns(Cloze, Cloze.FINAL))
    ),
    *_refuse_change(
        ProtocolVersion,
        OF_VERSION,
        final=f"OLD.frozen_at IS NOT NULL AND NOT {IS_REHEARSAL.format(study='OLD.study_id')}",
        change=any_changed(_columns(ProtocolVersion)),
    ),
    *_refuse_change_of_part(
        Step,
        OF_VERSION,
        column="version_id",
        whole=f"FROM {VERSIONS} WHERE id IN {{keys}}",
        final=FROZEN,
        change=any_changed(_columns(Step)),
        unless="{row}.kind = 'metric'",
    ),
    *_refuse_change(
        Study,
        OF_STUDY,
        final=f"EXISTS (SELECT 1 {OF_STUDIES} (OLD.id) AND {FROZEN})",
        change=f"({any_changed(_columns(Study, NEVER_AMENDED))} OR "
        f"{any_changed(Amendment.FIELDS)} AND {_latest_amendment_says_otherwise()})",
        held=f"{OF_STUDIES} (OLD.id)",
    ),
    *_refuse_change(Amendment, OF_AMENDMENT, final="OLD.id IS NOT NULL", change="NEW.id IS NOT NULL"),
    *_refuse_change_of_part(
        Story,
        OF_STORY,
        column="study_id",
        whole=f"{OF_STUDIES} {{keys}}",
        final=FROZEN,
        change=f"({any_changed(_columns(Story, but=('text', 'is_withheld')))} OR "
        f"{any_changed(('text', 'is_withheld'))} AND NOT (NEW.text = '' AND NEW.is_withheld))",
    ),
    *_refuse_change_of_part(
        StoryGroup,
        OF_GROUP,
        column="study_id",
        whole=f"{OF_STUDIES} {{keys}}",
        final=FROZEN,
        change=any_changed(_columns(StoryGroup)),
    ),
    *_refuse_change_of_part(
        StoryGroup.stories.through,
        OF_GROUP,
        column="storygroup_id",
        whole=f"{OF_STUDIES} (SELECT study_id FROM {GROUPS} WHERE id IN {{keys}})",
        final=FROZEN,
        change=any_changed(_columns(StoryGroup.stories.through)),
    ),
    *_refuse_change_of_part(
        Provenance,
        OF_PROVENANCE,
        column="story_id",
        whole=f"{OF_STUDIES} (SELECT study_id FROM {STORIES} WHERE id IN {{keys}})",
        final=FROZEN,
        change=f"({any_changed(_columns(Provenance, ('source', 'factors', 'raw_sha256')))} OR "
        f"{any_changed(['raw_text'])} AND NOT NEW.raw_text = '')",
    ),
    *_refuse_change(
        Source,
        OF_SOURCE,
        final=f"EXISTS (SELECT 1 {OF_SOURCES} AND {FROZEN})",
        change=any_changed(_columns(Source)),
        held=OF_SOURCES,
    ),
    # Or a study could be hidden, and then deleted, by calling it a rehearsal.
    Trigger(f"{STUDIES}_is_rehearsal", STUDIES, "UPDATE", any_changed(["rehearsal_of_id"]), OF_REHEARSAL),
]
