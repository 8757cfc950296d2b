"""A study as the folder that `load_study` reads, in one ZIP file: study.toml, its stories, its own instruments.

Loaded under the same slug it asks the same of the same texts, so that its protocol has the same hash.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import tomli_w
from django.utils.translation import gettext as _

from studies import protocol
from studies.documents.instrument import discover, write_instrument
from studies.documents.stories import find_column_alike
from studies.documents.study import CLOZE_FILE, INSTRUMENTS, NAME, STEP_KEYS, STUDY_KEYS, belongs_to
from studies.loader import document_of
from studies.models import Provenance, Step, Study

STORIES = "stories.jsonl"
# Of every file in the ZIP, so that a study that is the same is the same file, byte by byte.
DATE = (1980, 1, 1, 0, 0, 0)


class NotWritable(ValueError):
    """The study has something that no study file can say; the message says what, and the way out."""


def write_study_file(study: Study) -> bytes:
    """The ZIP file, with who wrote each story. Raises NotWritable. Six queries."""
    latest = protocol.read_rows(protocol.latest(study))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, NAME, tomli_w.dumps(_study_table(study, latest), multiline_strings=True))
        _write(archive, STORIES, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _story_rows(study)))
        for name, text in _documents(latest).items():
            _write(archive, name, text)
    return content.getvalue()


def _write(archive: zipfile.ZipFile, name: str, text: str) -> None:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16  # without it nobody could read what is unpacked
    archive.writestr(entry, text)


def _study_table(study: Study, latest: protocol.Protocol) -> dict[str, Any]:
    table = {name: value for name in STUDY_KEYS if _says(value := getattr(study, name, None))}
    if any(map(protocol.cloze_of, latest.steps)):
        table["cloze"] = CLOZE_FILE
    if study.analysis_plan:
        table["analysis_plan"] = study.analysis_plan
    return table | {"steps": [_step_table(step) for step in latest.steps]}


def _step_table(step: Step) -> dict[str, Any]:
    names = [name for name in STEP_KEYS if belongs_to(name, step.kind) and name != "instrument"]
    table = {name: value for name in names if _says(value := getattr(step, name, None))}
    if step.instrument:
        table["instrument"] = f"{step.instrument.slug}@{step.instrument.version}"
    return table


def _says(value: Any) -> bool:
    """Whether it is to be written; what is empty is so without a word."""
    return value not in (None, "", [], {})


def _documents(latest: protocol.Protocol) -> dict[str, str]:
    """The cloze and the instruments that do not come with Quire, by the file of each."""
    texts = {}
    for step in latest.steps:
        instrument = step.instrument
        if cloze := protocol.cloze_of(step):
            texts[CLOZE_FILE] = cloze.document
        elif instrument and instrument.slug not in discover():
            name = f"{INSTRUMENTS}/{instrument.slug}-{instrument.version}.toml"
            texts[name] = write_instrument(document_of(instrument))
    return texts


def _story_rows(study: Study) -> Iterator[dict[str, Any]]:
    """A row for each story in each group, by their codes."""
    provenance_by_story = {
        row.story_id: row for row in Provenance.objects.filter(story__study=study).select_related("source")
    }
    placed = set()
    for group in study.groups.prefetch_related("stories").order_by("code"):
        for story in sorted(group.stories.all(), key=lambda story: story.code):
            placed.add(story.pk)
            origin = provenance_by_story.get(story.pk)
            if origin is None:
                sentence = _("%(story)s has no source. Enter it under Stories, then save the file.")
                raise NotWritable(sentence % {"story": story.code})
            text = "" if story.is_withheld else story.text
            row = {"story": story.code, "group": group.code, "premise": group.premise, "text": text}
            yield {name: value for name, value in (row | _origin(origin)).items() if _says(value)}
    if left := sorted(story.code for story in study.stories.exclude(pk__in=placed).only("code")[:9]):
        sentence = _("A study file cannot hold stories without a group. Put these into a group first: %(stories)s.")
        raise NotWritable(sentence % {"stories": ", ".join(left)})


def _origin(origin: Provenance) -> dict[str, Any]:
    if taken := next((name for name in origin.factors if find_column_alike(name)), ""):
        sentence = _(
            "A story has a factor called “%(factor)s”, which a study file would take for its column of that name. "
            "Rename the factor in the record room, then save the file."
        )
        raise NotWritable(sentence % {"factor": taken})
    names = ("title", "url", "licence", "may_redistribute", "may_send_out")
    source = {"source": origin.source.name, "source_kind": origin.source.kind}
    return source | {name: getattr(origin, name) for name in names} | dict(origin.factors)
