"""Results of two versions of the code, value by value: what was collected with the one is what the other gives.

    python PATH/tools/results collect DIR [TTCW]      in the folder of a version, even an older one, with QUIRE_VAR set
    python -m tools.results compare BEFORE AFTER      names that changed stand in renamed.toml, those of columns in the
                                                      vocabulary of the report

Collected are, of every study of the demo, sealed and closed, with simulated raters and the stub judge: the document of
`report --json`, and every CSV file; and the documents of `replicate ttcw` and of `replicate pds` on generated files.
"""

import csv
import io
import json
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path
from typing import Any

TOLERANCE = 1e-12
FILES = ("responses_long", "codebook")  # beside the tables of the figures
# Of a row of these columns, what the clock or chance outside the seed decides; two runs of one version differ there.
OF_THE_RUN = {"first_answered_at", "last_edited_at", "assignment"}


def collect(folder: Path, ttcw: Path | None) -> None:
    """Write everything into the folder, one file a document."""
    import os

    import django

    sys.path.insert(0, str(Path.cwd()))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command

    from studies.models import Study

    call_command("migrate", verbosity=0)
    call_command("demo", stdout=io.StringIO())
    for study in Study.objects.order_by("slug"):
        _fill(study)
        _reports(study.slug, folder / f"{study.slug}-{study.state}")
        if study.state == Study.State.LIVE:
            _close(study)
            _reports(study.slug, folder / f"{study.slug}-closed")
    _replications(folder, ttcw)


def _fill(study: Any) -> None:
    """Every free seat of a live study answered by simulated raters, and every study judged by the stub."""
    from datetime import UTC, datetime

    from annotation import simulation
    from annotation.simulation import Tendency
    from reports.management.commands import demo
    from studies.models import Provenance, Study

    if study.state == Study.State.LIVE:
        sources = dict(Provenance.objects.filter(story__study=study).values_list("story__code", "source__name"))
        names = sorted(set(sources.values()))
        tendencies = {
            code: demo.TENDENCY_BY_SOURCE.get(name, Tendency(1.2 - 0.9 * names.index(name)))
            for code, name in sources.items()
        }
        simulation.simulate(study, tendencies, seed=demo.SEED, begins=datetime(2026, 11, 1, tzinfo=UTC))
        try:
            demo.ensure_stub_run(study)
        except Exception as error:
            sys.stderr.write(f"no judge of {study.slug}: {error}\n")


def _close(study: Any) -> None:
    from django.utils import timezone

    from studies.models import Study

    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED, closed_at=timezone.now())


def _reports(slug: str, folder: Path) -> None:
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.test import Client

    from reports.figures import by_table

    folder.mkdir(parents=True, exist_ok=True)
    out = io.StringIO()
    call_command("report", slug, json=True, stdout=out)
    (folder / "report.json").write_text(out.getvalue())
    out = io.StringIO()
    call_command("report", slug, stdout=out)
    (folder / "report.txt").write_text(out.getvalue())
    client = Client(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.get(username="admin"))
    for name in (*FILES, *by_table()):
        response = client.get(f"/reports/{slug}/{name}.csv")
        if response.status_code == 404:  # a table that does not apply; older versions sent an empty one
            continue
        if response.status_code != 200:
            raise SystemExit(f"{name}.csv of {slug}: {response.status_code}")
        (folder / f"{name}.csv").write_bytes(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    page = client.get(f"/reports/{slug}/figures/all/")
    (folder / "page.html").write_bytes(page.content)


def _replications(folder: Path, ttcw: Path | None) -> None:
    from django.core.management import CommandError, call_command

    from tests.reports import pds_generated

    def replicate(name: str, data: Path, to: Path, **options: Any) -> None:
        out = io.StringIO()
        try:
            call_command("replicate", name, data=data, json=True, stdout=out, stderr=io.StringIO(), **options)
        except CommandError as error:
            if not out.getvalue():
                raise SystemExit(f"replicate {name}: {error}") from error
        to.write_text(out.getvalue())

    if ttcw:
        replicate("ttcw", ttcw, folder / "replicate-ttcw.json")
        _reports("ttcw-release", folder / "ttcw-release-closed")
    for case, generate in {
        "random": lambda path: pds_generated.at_random(path),
        "97": lambda path: pds_generated.as_published(path, pds_generated.SUMS_97, pds_generated.WEIGHTED_FLEISS_97),
        "100": lambda path: pds_generated.as_published(path, pds_generated.SUMS_100, pds_generated.WEIGHTED_FLEISS_100),
    }.items():
        data = folder / f"pds-{case}-data"
        data.mkdir(parents=True, exist_ok=True)
        generate(data / "human_annotations.csv")
        replicate("pds", data, folder / f"replicate-pds-{case}.json", study=f"pds-{case}")
        _reports(f"pds-{case}", folder / f"pds-{case}-closed")


def compare(before: Path, after: Path) -> int:
    """Print how many values were compared and those that differ; the number of differences."""
    from reports.document.vocabulary import RENAMED

    names = {**tomllib.loads((Path(__file__).parent / "renamed.toml").read_text()), "columns": RENAMED}
    n_compared, differences = 0, []
    paths = sorted(
        path.relative_to(before)
        for pattern in ("*.json", "*/*.json", "*/*.csv", "*/page.html")
        for path in before.glob(pattern)
    )
    counts: dict[str, int] = {}
    for path in paths:
        old, new = _values(before / path, names), _values(after / path, names)
        kind = "replicate" if path.name.startswith("replicate") else path.suffix[1:]
        counts[kind] = counts.get(kind, 0) + len(old)
        n_compared += len(old)
        for place in sorted(old.keys() | new.keys()):
            if not _is_same(old.get(place), new.get(place)):
                differences.append(f"{path}: {place}: {old.get(place)!r}, now {new.get(place)!r}")
    print(f"{len(paths)} files, {n_compared} values {counts}, {len(differences)} differences")
    print("\n".join(differences[:60]))
    return len(differences)


def _values(path: Path, names: dict[str, Any]) -> dict[str, Any]:
    """Every value of a document by its place, under the names that it had before, and of a table under those that its
    columns have now; none if there is no such file."""
    if not path.exists():
        return {}
    if path.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
        new_names = names["columns"].get(path.stem, {})
        header = [new_names.get(column, column) for column in rows[0]] if rows else []
        places = {
            f"{n}/{column}": cell
            for n, row in enumerate(rows[1:])
            for column, cell in zip_longest(header, row, fillvalue="")
            if column not in OF_THE_RUN
        }
        return {"header": sorted(header)} | places
    if path.suffix == ".html":
        return read_sections(path.read_text())
    document = _renamed(json.loads(path.read_text()), names)
    return {place: value for place, value in _leaves(document) if place.rsplit("/", 1)[-1] not in OF_THE_RUN}


class _Page(HTMLParser):
    """The words of each section of a report's page by its key, those of its drawings and cells apart by a bar."""

    APART = {
        "td",
        "th",
        "p",
        "tr",
        "li",
        "dd",
        "dt",
        "caption",
        "summary",
        "h2",
        "h3",
        "text",
        "figcaption",
        "title",
        "desc",
    }

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, list[str]] = {}
        self.key, self.depth = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.depth += 1
            self.key = (dict(attrs).get("id") or self.key) if self.depth == 1 else self.key
        self._end(tag)

    def handle_endtag(self, tag: str) -> None:
        self._end(tag)
        self.depth -= tag == "section"

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.words.setdefault(self.key, []).append(data)

    def _end(self, tag: str) -> None:
        if tag in self.APART:
            self.handle_data(" | ")


def read_sections(page: str) -> dict[str, str]:
    """The text of each section of a report's page."""
    parser = _Page()
    parser.feed(page)
    texts = {key: " ".join("".join(words).split()) for key, words in parser.words.items()}
    return {key: " | ".join(filter(None, (part.strip() for part in text.split("|")))) for key, text in texts.items()}


def _renamed(document: Any, names: dict[str, Any]) -> Any:
    """A document as it was: reasons as sentences, and what was moved where it stood."""
    for now, before in names.get("moved", {}).items():
        if not isinstance(document.get(now), dict) or before not in document[now]:
            continue
        document[now] = document[now][before]
    return _with_sentences(document, names.get("reasons", {}))


def _with_sentences(part: Any, sentences: dict[str, str]) -> Any:
    if isinstance(part, list):
        return [_with_sentences(value, sentences) for value in part]
    if not isinstance(part, dict):
        return part
    if part.keys() == {"code", "values"} and part["code"] in sentences:
        return sentences[part["code"]] % part["values"]
    return {name: _with_sentences(value, sentences) for name, value in part.items()}


def _leaves(part: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict | list) and part:
        for name, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from _leaves(value, f"{place}/{name}")
    else:
        yield place, part


def _is_same(old: Any, new: Any) -> bool:
    """Whether the two say the same: numbers to twelve digits, and what is missing as null."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(old - new) <= TOLERANCE * max(1.0, abs(old))
    return bool(old == new)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["collect", to, *ttcw]:
            collect(Path(to), Path(ttcw[0]) if ttcw else None)
        case ["compare", before, after]:
            raise SystemExit(bool(compare(Path(before), Path(after))))
        case _:
            raise SystemExit(__doc__)
