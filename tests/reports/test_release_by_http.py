"""The public TTCW release, played through the web pages by its experts: what comes in is what was published.

Every expert opens a link, agrees, begins a group, reads each story, answers fourteen tests with their reasons, changes
some answers on the way, and submits. Only pages are read: which story stands under which letter is told by its words.
"""

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Response, ResponseEvent
from annotation.participation import invitations
from reports import results
from studies.documents.ttcw_release import read_ttcw_release
from studies.loader import load_instrument
from studies.models import ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from tests import factories

SOURCES = {
    "GPT3.5": ("GPT-3.5", "language_model"),
    "GPT4": ("GPT-4", "language_model"),
    "Claude": ("Claude 1.3", "language_model"),
    "NewYorker": ("The New Yorker", "expert_writer"),
}
Verdicts = dict[tuple[str, int], tuple[str, str]]


class Played:
    """The release as its experts' sheets, and the study that they play it into."""

    def __init__(self, release: Path) -> None:
        self.stories = json.loads((release / "ttcw_short_stories.json").read_text())
        self.sheets: dict[int, dict[str, Verdicts]] = defaultdict(lambda: defaultdict(dict))
        for row in json.loads((release / "ttcw_annotations.json").read_text()):
            sheet = self.sheets[row["expert_idx"]][f"plot-{row['story_idx']:02}"]
            sheet[row["story_id"], row["ttcw_idx"]] = row["binary_verdict"].lower(), row["explanation"]
        self.instrument = load_instrument(read_ttcw_release(release / "ttcw_all_tests.json"))
        self.keys = list(self.instrument.items.order_by("position").values_list("key", flat=True))
        self.study = self._study()

    def text(self, story: dict[str, Any]) -> str:
        """The story's words; a placeholder where the release has none."""
        return story["content"] if not story["content"].startswith("http") else f"Placeholder for {story['story_id']}."

    def _study(self) -> Study:
        study = Study.objects.create(slug="played", title="Played", state="live", seats_per_group=3, seed=0)
        for told in self.stories:
            group, _ = StoryGroup.objects.get_or_create(study=study, code=f"plot-{told['story_idx']:02}")
            story = Story.objects.create(study=study, code=told["story_id"], text=self.text(told))
            name, kind = SOURCES[told["story_id"].split("_")[1]]
            source, _ = Source.objects.get_or_create(name=name, defaults={"kind": kind})
            Provenance.objects.create(story=story, source=source)
            group.stories.add(story)
        version = ProtocolVersion.objects.create(study=study, number=1)
        Step.objects.create(version=version, position=1, key="consent", kind="consent", text="Do you agree?")
        asked = {"key": "tests", "kind": "rating", "instrument": self.instrument, "scope": "story"}
        Step.objects.create(version=version, position=2, **asked)
        factories.plan(study)
        return study

    def arrive(self, expert: int) -> Client:
        """An expert at the first page after consent. Their link names the groups that they had."""
        groups = StoryGroup.objects.filter(study=self.study, code__in=self.sheets[expert])
        _, token = invitations.issue(self.study, groups=groups)
        client = Client()
        assert client.get(f"/r/{token}/").status_code == 200
        client.post(f"/r/{token}/")
        assert client.post("/consent/", {"agrees": "yes"}).status_code == 302
        return client

    def read_group(self, client: Client, expert: int) -> tuple[str, str]:
        """Begin a group of which nothing is known: its code, and the code of the assignment."""
        asked = client.post("/group/", follow=True)
        code = asked.request["PATH_INFO"].split("/")[2]
        begun = client.post(f"/a/{code}/recognition/", {"knows": "no"}, follow=True)
        shown = self.shown(begun.content.decode())
        return f"plot-{int(shown.split('_')[0]):02}", code

    def shown(self, page: str) -> str:
        """Which story a page shows, found by its first words."""
        found = [s["story_id"] for s in self.stories if plain(self.text(s)) in plain(page)]
        assert len(found) == 1
        return found[0]


def plain(text: str) -> str:
    """The letters of a text's beginning, whatever the page made of its quotes; of a page, all letters."""
    stripped = text if "<article" not in text else text[text.index("<article") : text.index("</article>")]
    for entity in ("&#x27;", "&quot;", "&amp;", "&lt;", "&gt;"):
        stripped = stripped.replace(entity, "")
    is_page = "<article" in text
    letters = "".join(c for c in (untagged(stripped) if is_page else stripped) if c.isalnum())
    return letters if is_page else letters[:60]


def untagged(html: str) -> str:
    out, depth = [], 0
    for c in html:
        depth += c == "<"
        if not depth:
            out.append(c)
        depth -= c == ">"
    return "".join(out)


def answer(client: Client, code: str, letter: str, key: str, verdict: str, why: str, *, base: int) -> None:
    url = f"/a/{code}/s/tests/{letter}/{key}/"
    posted = client.post(url, {f"answer-tests-{letter}-{key}": verdict, "rationale": why, "base": str(base)})
    assert posted.status_code == 302


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.django_db
def test_the_release_played_through_the_pages_gives_the_releases_report(release: Path) -> None:
    played = Played(release / "ttcw")
    n_changed = 0

    for expert, sheets in played.sheets.items():
        client = played.arrive(expert)
        for _ in sheets:
            group, code = played.read_group(client, expert)
            sheet = sheets[group]
            for letter in "ABCD":
                story = played.shown(client.get(f"/a/{code}/s/tests/{letter}/{played.keys[0]}/").content.decode())
                for test, key in enumerate(played.keys, start=1):
                    verdict, why = sheet[story, test]
                    base = 0
                    if test == 1 + expert % 14:  # second thoughts: first the contrary, and half a reason
                        answer(client, code, letter, key, "no" if verdict == "yes" else "yes", why[:20], base=0)
                        base, n_changed = 1, n_changed + 1
                    answer(client, code, letter, key, verdict, why, base=base)
            submitted = client.post(f"/a/{code}/check/", follow=True)
            assert submitted.request["PATH_INFO"] == f"/a/{code}/receipt/"

    played.study.state = "closed"
    played.study.save()
    call_command("replicate", "ttcw", "--data", str(release / "ttcw"), stdout=io.StringIO(), stderr=io.StringIO())
    came_in, published = results.compute(played.study), results.compute(Study.objects.get(slug="ttcw-release"))
    assert Response.objects.filter(assignment__study=played.study, outcome="answered").count() == 2016
    assert ResponseEvent.objects.filter(response__assignment__study=played.study).count() == 2016 + n_changed
    assert n_changed == 144
    assert figures(came_in["pass_rates"]) == figures(published["pass_rates"])
    assert figures(came_in["agreement"]) == figures(published["agreement"])
    assert by_story(came_in) == by_story(published)


def by_story(report: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Tests passed for every story: its group, its source, its value. Codes of stories are each study's own."""
    stories = report["tests_passed"]["stories"]
    return sorted((s["group"], s["source"], round(s["value"], 12)) for s in stories)


def figures(part: Any) -> Any:
    """The same without intervals and chance floors, which are drawn over each study's own order of stories."""
    if isinstance(part, dict):
        return {k: figures(v) for k, v in part.items() if k not in ("interval", "floor", "chance_floor")}
    if isinstance(part, list):
        return [figures(each) for each in part]
    return round(part, 12) if isinstance(part, float) else part
