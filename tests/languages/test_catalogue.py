"""The translation files: complete, with every placeholder, compiled, and holding all that the code says."""

import gettext
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import to_locale

LOCALE = Path(settings.BASE_DIR) / "locale"
TRANSLATED = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%?[a-z]+\b|<[^>]+>")


@dataclass
class Entry:
    """One entry. key : with its context, as a compiled file has it"""

    key: str = ""
    plural: str = ""
    said: list[str] = field(default_factory=list)
    is_fuzzy: bool = False

    @property
    def singular(self) -> str:
        return self.key.rpartition("\x04")[2]


def entries(text: str) -> list[Entry]:
    """The entries of a .po file, its head included under an empty key."""
    found = []
    for block in re.split(r"\n{2,}", text):
        entry, context, last = Entry(), "", ""
        for line in block.splitlines():
            if line.startswith("#"):
                entry.is_fuzzy |= line.startswith("#,") and "fuzzy" in line
                continue
            keyword, _, rest = line.partition(" ")
            last, said = (last, json.loads(line)) if line.startswith('"') else (keyword, json.loads(rest))
            if last == "msgctxt":
                context += said
            elif last == "msgid":
                entry.key += said
            elif last == "msgid_plural":
                entry.plural += said
            elif line.startswith('"'):
                entry.said[-1] += said
            else:
                entry.said.append(said)
        if entry.said:
            entry.key = f"{context}\x04{entry.key}" if context else entry.key
            found.append(entry)
    return found


def faults(entry: Entry) -> list[str]:
    """Why a translation will not do."""
    if entry.is_fuzzy:
        return ["is a guess"]
    if not all(said.strip() for said in entry.said):
        return ["is not translated"]
    originals = [entry.singular, entry.plural] if entry.plural else [entry.singular]
    found = []
    for n, said in enumerate(entry.said):
        allowed = [set(PLACEHOLDER.findall(original)) for original in originals]
        # The form for one may leave the number out, as the English one does.
        if set(PLACEHOLDER.findall(said)) not in (allowed if n == 0 else allowed[-1:]):
            found.append(f"keeps other placeholders: {said}")
        if '"' in re.sub(r"<[^>]+>", "", said) and '"' not in entry.singular:
            found.append("has a straight quote, which would end an attribute; write “ ”")
        for edge in (str.startswith, str.endswith):
            if edge(said, " ") != edge(originals[-1], " "):
                found.append("has another blank at an end")
    return found


def po(code: str) -> Path:
    return LOCALE / to_locale(code) / "LC_MESSAGES" / "django.po"


@pytest.mark.parametrize("code", TRANSLATED)
def test_everything_is_translated_and_keeps_its_placeholders(code: str) -> None:
    every = [each for each in entries(po(code).read_text()) if each.key]

    assert len(every) > 300
    assert {each.key: faults(each) for each in every if faults(each)} == {}


@pytest.mark.parametrize("code", TRANSLATED)
def test_what_is_compiled_is_what_is_written(code: str) -> None:
    with po(code).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]

    written = {}
    for each in entries(po(code).read_text()):
        if each.plural:
            written |= {(each.key, n): said for n, said in enumerate(each.said)}
        else:
            written[each.key] = each.said[0]
    assert {**compiled, "": ""} == {**written, "": ""}


def test_the_file_holds_all_that_the_code_says_and_no_more(tmp_path: Path) -> None:
    if not shutil.which("xgettext"):
        pytest.skip("there is no xgettext on this machine")
    base = Path(settings.BASE_DIR)
    # makemessages writes beside the code, so it is given a copy.
    for folder in ("annotation", "config", "judges", "reports", "stats", "studies", "templates", "locale"):
        shutil.copytree(base / folder, tmp_path / folder)
    shutil.copy(base / "manage.py", tmp_path)
    (target,) = re.findall(r"manage\.py (makemessages .*)", (base / "Makefile").read_text())
    subprocess.run([sys.executable, "manage.py", *target.split()], cwd=tmp_path, check=True, capture_output=True)

    for code in TRANSLATED:
        made = po(code).relative_to(base)
        assert keys(tmp_path / made) == keys(base / made), "run `make messages`"


def keys(file: Path) -> set[tuple[str, str]]:
    return {(each.key, each.plural) for each in entries(file.read_text())}


# ── and faults would be found ──────────────────────────────────────────────────────────────────────────────────────

GOOD = """msgctxt "verb"
msgid "%(n)s word"
msgid_plural "%(n)s words"
msgstr[0] "%(n)s palavra"
msgstr[1] "%(n)s palavras\""""


def test_an_entry_is_read_with_context_and_plural() -> None:
    assert entries(GOOD) == [Entry("verb\x04%(n)s word", "%(n)s words", ["%(n)s palavra", "%(n)s palavras"])]
    assert faults(entries(GOOD)[0]) == []


@pytest.mark.parametrize(
    "text",
    [
        f"#, fuzzy\n{GOOD}",
        GOOD.replace("%(n)s palavras", ""),
        GOOD.replace("%(n)s palavras", "%(m)s palavras"),
        'msgid "Story <b>%(letter)s</b>"\nmsgstr "História %(letter)s"',
        'msgid "%%n open"\nmsgstr "em aberto"',
        'msgid "Say “yes”"\nmsgstr "Diga \\"sim\\""',
        'msgid " So far one."\nmsgstr "Até agora, uma."',
    ],
)
def test_a_translation_that_will_not_do_is_found(text: str) -> None:
    assert faults(entries(text)[0])
