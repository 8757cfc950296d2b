"""`python -m tools.browsers`: the raters' way of each demo study in Firefox and WebKit, written to docs/browsers.md.

Needs the environment of tools/browsers/requirements.txt to run in, and .venv for the site: `make browsers` makes both.
A browser that is not installed is left out with the line that installs it, and fails only where --only asks for it.
Exits with 1 if anything was found.
"""

import argparse
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field

from tools import measurement
from tools.browsers.site import ROOT, Site
from tools.browsers.walk import Walk
from tools.browsers.way import walk_through
from tools.browsers.windows import NoBrowser, open_browser

BROWSERS = ("firefox", "webkit")
PICTURES = ROOT / "var" / "browsers"
ABOUT = (
    "Written by `make browsers`; do not edit. A rater's way through every live study of the demo, from the link to the "
    "receipt, in other browsers than the Chromium of the tests: the same steps, by mouse and by keys. A page is looked "
    "at for text that is cut, for a desk that has slid and for what is wider than the window: when it is first met at "
    "1440, 1024 and 390 pixels (WebKitGTK is no narrower than 447), later at 1440. Pictures are put into "
    "`var/browsers`. `harbour` is closed and asks what `orchard` asks."
)


@dataclass
class Visit:
    """All studies in one browser."""

    browser: str
    walks: list[tuple[Walk, float]] = field(default_factory=list)

    @property
    def findings(self) -> list[str]:
        return [f"{self.browser}, {walk.study}: {finding}" for walk, _ in self.walks for finding in walk.findings]


def visit(name: str, studies: list[str]) -> Visit:
    """Every live study of a new demo, in a new window each. Raises NoBrowser."""
    pictures = PICTURES / name
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Site(folder) as site, open_browser(name) as first:
        visit = Visit(first.browser)
        for study in studies or list(site.links):
            started_at = time.monotonic()
            walk = Walk(study, first, site, pictures)
            walk_through(walk)
            visit.walks.append((walk, time.monotonic() - started_at))
            measurement.progress(f"{first.browser}, {study}: {walk.n_pages} pages, {len(walk.findings)} findings")
    return visit


def page(visits: list[Visit], absent: list[str]) -> str:
    """docs/browsers.md."""
    lines = [
        "# Other browsers",
        "",
        ABOUT,
        "",
        f"Commit {measurement.commit()}; {measurement.machine()}.",
        "",
    ]
    for visit in visits:
        lines += [f"## {visit.browser}", "", "| study | pages | seconds | findings | way |", "|---|---|---|---|---|"]
        for walk, seconds in visit.walks:
            way = ", ".join(dict.fromkeys(walk.steps))
            lines.append(f"| {walk.study} | {walk.n_pages} | {seconds:.0f} | {len(walk.findings) or 'none'} | {way} |")
        lines += ["", *[f"- {finding}" for finding in visit.findings], *([""] if visit.findings else [])]
    lines += [f"{words}\n" for words in absent]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.browsers", description=__doc__)
    parser.add_argument("--only", choices=[*BROWSERS, "chromium"], help="one browser, and nothing is written")
    parser.add_argument("--study", action="append", default=[], help="this study alone, and nothing is written")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that server and browser end with it
    visits, absent = [], []
    for name in [arguments.only] if arguments.only else BROWSERS:
        try:
            visits.append(visit(name, arguments.study))
        except NoBrowser as error:
            absent.append(str(error))
    text = page(visits, absent)
    if arguments.only or arguments.study:
        sys.stdout.write(text)
    else:
        measurement.write("docs/browsers.md", text)
    for words in absent:
        measurement.progress(words)
    return bool(
        [finding for visit in visits for finding in visit.findings] or (arguments.only and absent) or not visits
    )


if __name__ == "__main__":
    sys.exit(main())
