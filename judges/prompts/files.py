"""The data files of this package: prompts, sets of personas, and the fixed texts that show whether a judge drifts.

A file keeps apart what is quoted and what is ours: quoted words stand once, under a name in its table `quoted`, and the
template calls them by `{{ quoted.NAME }}`. What is quoted can so be compared with its source to the character.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from judges.prompts import templates
from judges.prompts.errors import InvalidPrompt
from studies import items

Order = Literal["reasoning_first", "verdict_first"]
Source = Literal["paper", "repository", "own"]
ORDERS: tuple[Order, ...] = get_args(Order)
SOURCES: tuple[Source, ...] = get_args(Source)
FOLDER = Path(__file__).parent
_QUOTATION = re.compile(r"\{\{ quoted\.([a-z_]+) \}\}")
# Openings and statements of a template: what is left is its own words.
_OPENINGS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)


@dataclass(frozen=True)
class PromptFile:
    """A built-in prompt as its file says it.

    template : with the quoted words in their places
    place : where in its source it is printed; missing : what the source does not print
    is_verbatim : all words of the template are quoted; the guard of the fence and the placing of texts are always ours
    kind, asks : as the template says; asks is in the file, too, for its readers
    personas : name of the set whose personas it can be told to be
    is_structured : the server is told the form of the answer
    item_types : the only types of items that it can ask; empty if all
    quoted : words of the source by name
    """

    name: str
    version: str
    protocol: Order
    template: str
    source: Source
    citation: str
    is_verbatim: bool
    system: str = ""
    place: str = ""
    missing: str = ""
    asks: templates.Asks = "item"
    personas: str = ""
    is_structured: bool = False
    item_types: tuple[str, ...] = ()
    quoted: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> templates.Kind:
        return templates.shape_of(self.template).kind

    def can_ask(self, item_type: str) -> bool:
        """Whether it can ask items of that type."""
        return not self.item_types or item_type in self.item_types


@dataclass(frozen=True)
class Persona:
    """As whom a model answers: a short name, and what it is told to be."""

    name: str
    text: str


@dataclass(frozen=True)
class PersonaFile:
    """A set of personas as its file says it."""

    name: str
    version: str
    source: Source
    citation: str
    is_verbatim: bool
    personas: tuple[Persona, ...]
    place: str = ""
    missing: str = ""


@dataclass(frozen=True)
class AnchorText:
    """A fixed text that every run can judge beside its stories, with the place that it should take among the others.

    rank : 1 for the best of the set
    """

    key: str
    rank: int
    why: str
    text: str


@dataclass(frozen=True)
class AnchorFile:
    """A set of fixed texts as its file says it; use says what they are for, and what nobody may read into them."""

    name: str
    version: str
    use: str
    texts: tuple[AnchorText, ...]


def load_built_in() -> list[PromptFile]:
    """Every prompt in this folder, by the name of its file. Raises InvalidPrompt, naming the file."""
    return [read_prompt(path) for path in sorted(FOLDER.glob("*.toml"))]


def find_built_in(name: str) -> PromptFile:
    """The built-in prompt of that name. Raises InvalidPrompt if there is none."""
    path = FOLDER / f"{name}.toml"
    if not re.fullmatch(r"[a-z0-9-]+", name) or not path.is_file():
        raise InvalidPrompt(f"there is no built-in prompt “{name}”")
    return read_prompt(path)


def load_personas() -> list[PersonaFile]:
    """Every set of personas that comes with Quire. Raises InvalidPrompt, naming the file."""
    return [_read_personas(path) for path in sorted((FOLDER / "personas").glob("*.toml"))]


def load_anchors() -> AnchorFile:
    """The fixed texts that come with Quire. Raises InvalidPrompt."""
    path = FOLDER / "anchors" / "anchors.toml"
    content = _read(path)
    try:
        texts = tuple(AnchorText(**entry) for entry in content.pop("texts"))
        return AnchorFile(**content, texts=texts)
    except (KeyError, TypeError) as error:
        raise InvalidPrompt(f"{path.name}: {error}") from error


def read_prompt(path: Path) -> PromptFile:
    """The prompt that the file says. Raises InvalidPrompt, naming file, field and reason."""
    content = _read(path)
    try:
        if base := content.pop("like", ""):
            content = {**_read(path.with_name(f"{base}.toml")), **content}
        quoted = {name: _strip_line_ends(text) for name, text in content.pop("quoted", {}).items()}
        if "template" not in content:
            raise InvalidPrompt("template: is missing")
        own, content["template"] = content["template"], _quote(content["template"], quoted)
        content["item_types"] = tuple(content.get("item_types", ()))
        prompt = PromptFile(**content, quoted=quoted)
        templates.check_templates(prompt.system, prompt.template)
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidPrompt(f"{path.name}: {error}") from error
    if fault := _find_fault(prompt, own):
        raise InvalidPrompt(f"{path.name}: {fault}")
    return prompt


def _find_fault(prompt: PromptFile, own: str) -> str:
    """What the file says wrongly of itself; "" if nothing."""
    if prompt.protocol not in ORDERS:
        return f"protocol: must be {' or '.join(ORDERS)}"
    if prompt.source not in SOURCES:
        return f"source: must be one of {', '.join(SOURCES)}"
    if prompt.asks != (asks := templates.shape_of(prompt.template).asks):
        return f"asks: the template asks by {asks}"
    if unknown := sorted(set(prompt.item_types) - set(items.all_types())):
        return f"item_types: “{unknown[0]}” is not an item type"
    has_own_words = re.search(r"[^\W\d_]", _OPENINGS.sub("", own)) is not None
    if prompt.is_verbatim and (has_own_words or not prompt.quoted):
        return "is_verbatim: the template has words that are not quoted"
    return ""


def _read_personas(path: Path) -> PersonaFile:
    content = _read(path)
    try:
        personas = tuple(Persona(entry["name"], _strip_line_ends(entry["text"])) for entry in content.pop("personas"))
        return PersonaFile(**content, personas=personas)
    except (KeyError, TypeError) as error:
        raise InvalidPrompt(f"{path.name}: {error}") from error


def _read(path: Path) -> dict[str, Any]:
    """The table that the file says. Raises InvalidPrompt, naming the file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidPrompt(f"{path.name}: {error}") from error


def _quote(template: str, quoted: Mapping[str, str]) -> str:
    """The template with the quoted words in their places. Raises InvalidPrompt."""
    if missing := set(_QUOTATION.findall(template)) - set(quoted):
        raise InvalidPrompt(f"quoted.{min(missing)}: is missing")
    return _QUOTATION.sub(lambda opening: quoted[opening[1]], template)


def _strip_line_ends(text: str) -> str:
    return text.strip("\n")
