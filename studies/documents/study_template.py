"""Study templates: what a new study begins with, one TOML file each in `studies/study_templates/`, discovered.

A template is a study file without slug, title and stories: `[template]` says what the gallery shows, `[study]` how it
is planned, `[[steps]]` what is asked. {consent}, {rules} and {debriefing} take in the texts of the folder `texts`,
{task} what raters do; facts in braces stay, and are filled for each study.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from studies.documents import placeholders, reader
from studies.documents.reader import FieldReader
from studies.documents.study import STUDY_READERS, StepDocument, parse_steps

FOLDER = Path(__file__).parents[1] / "study_templates"
TEXTS = ("consent", "rules", "debriefing")
GUIDE = "docs/study-files.md"

_TEMPLATE: dict[str, FieldReader] = {
    "position": reader.whole_number(1, 1000),
    "title": reader.line(80),
    "summary": reader.line(300),
    "source": reader.line(120),
    "needs": reader.line(120),
    "minutes": reader.line(60),
    "picture": reader.slug(40),
    "task": reader.text,
    "needs_cloze": reader.boolean,
}


@dataclass(frozen=True)
class StudyTemplate:
    """One template. study : fields of the study; needs_cloze : its step of the instrument “cloze” waits for one"""

    key: str
    title: str
    position: int
    summary: str
    picture: str
    study: Mapping[str, Any]
    steps: tuple[StepDocument, ...]
    source: str = ""
    needs: str = ""
    minutes: str = ""
    needs_cloze: bool = False


@cache
def discover_templates() -> dict[str, StudyTemplate]:
    """The templates by key, in the order of the gallery."""
    templates = [read_template(path) for path in FOLDER.glob("*.toml")]
    return {template.key: template for template in sorted(templates, key=lambda t: (t.position, t.key))}


def read_template(path: Path) -> StudyTemplate:
    """The template in that file. Raises DocumentError at the first fault."""
    raw = reader.read_toml(path, guide=GUIDE)
    head = reader.read_table(raw.get("template", {}), _TEMPLATE, path=path, location="template")
    reader.check_required(head, ["position", "title", "summary", "picture", "task"], path=path, location="template")
    study = reader.read_table(raw.get("study", {}), STUDY_READERS, path=path, location="study")
    words = {name: _read_text(name) for name in TEXTS}
    words["consent"] = words["consent"].replace("{task}", head.pop("task"))
    for step in raw.get("steps", []):
        for name, text in words.items():
            step["text"] = step.get("text", "").replace(f"{{{name}}}", text)
        if not step["text"]:
            del step["text"]
    kept = {name: f"{{{name}}}" for name in placeholders.NAMES}
    return StudyTemplate(key=path.stem, study=study, steps=parse_steps(raw.get("steps"), kept, path=path), **head)


def _read_text(name: str) -> str:
    return (FOLDER / "texts" / f"{name}.txt").read_text(encoding="utf-8").strip()
