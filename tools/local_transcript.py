"""`make transcript`: what the small model of `make model` answers to one story of the demo, into docs/judges.md."""

from tools import demo_site  # isort: skip  (a folder of its own, before anything of Django's is read)

import json
import os
import platform
import re
import time
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from judges import catalogue, runs
from judges.endpoints.presets import LOCAL, all_presets
from judges.models import Call, Endpoint, Judge, Price, Run
from judges.runs import Scope
from reports.management.commands.demo import CLOSED, FOLDER
from studies import loader
from studies.models import Study
from tools import local_model

DOCUMENT = demo_site.ROOT / "docs" / "judges.md"
BEGIN, END = "<!-- make transcript -->\n", "<!-- end of the transcript -->\n"
STORY, STEP = "h1a", "tests"
PROMPTS = ("plain-structured", "plain-verdict-first")
LONGEST = 150  # letters of a reply that are shown
PARAMETERS = {"temperature": 0, "seed": 1, "max_tokens": 100}


def ask(study: Study, address: str, prompt: str) -> tuple[Run, float]:
    """The run of a judge with that prompt on the one story, at its end, and how many seconds it took."""
    preset = all_presets()[LOCAL]
    settings.ALLOWED_PRIVATE_ENDPOINTS = [address.split("/")[2]]
    values = preset.fields | {"base_url": address, "is_allowed": True}
    endpoint, _ = Endpoint.objects.get_or_create(name=preset.slug, defaults=values)
    free = {"usd_per_million_in": 0, "usd_per_million_out": 0, "valid_from": timezone.now().date()}
    Price.objects.get_or_create(endpoint=endpoint, model=preset.model, defaults=free)
    row = next(row for row in catalogue.load_prompts() if row.name == prompt)
    judge = Judge.objects.create(slug=prompt, endpoint=endpoint, model=preset.model, prompt=row, parameters=PARAMETERS)
    begun = time.monotonic()
    run = runs.drain(runs.start(study, judge, by="transcript", scope=Scope(selection=(STORY,), steps=(STEP,))))
    return run, time.monotonic() - begun


def describe_call(call: Call) -> str:
    """One row: the question, what came back, what was read from it, and its tokens."""
    attempt = call.attempts.order_by("number").last()
    if attempt is None or call.item is None:
        return ""
    body: dict[str, Any] = json.loads(attempt.body)
    words = " ".join(str(body["choices"][0]["message"]["content"]).split())
    shown = words if len(words) <= LONGEST else f"{words[:LONGEST]} …"
    parse = attempt.parses.last()
    answers = [str(answer) for answer in (parse.values if parse else {}).values()]
    read = ", ".join(answers) or f"{call.get_state_display()}: {call.reason}"
    form = f" ({parse.form})" if parse and parse.form else ""
    tokens = f"{attempt.n_tokens_in:,} ({attempt.n_tokens_cached or 0:,}) | {attempt.n_tokens_out:,}"
    return f"| {call.item.title} | {shown.replace('|', '∣')} | {read}{form} | {tokens} |"


def describe_run(run: Run, seconds: float) -> str:
    """What the judge was, a row for every call, and what it came to."""
    calls = list(run.calls.select_related("item").order_by("pk"))
    states = ", ".join(f"{n} {state}" for state, n in sorted(runs.count_calls(run).items()))
    attempts = [attempt for call in calls for attempt in call.attempts.all()]
    cost = sum((attempt.cost or Decimal(0) for attempt in attempts), Decimal(0))
    n_in = sum(attempt.n_tokens_in or 0 for attempt in attempts)
    n_out = sum(attempt.n_tokens_out or 0 for attempt in attempts)
    return "\n".join(
        [
            f"**`{run.judge.slug}`**: {run.get_state_display().lower()}, {states}; {n_in:,} tokens read, {n_out:,} "
            f"written, {seconds:.0f} s, cost $ {cost:.2f}.{f' {run.note}' if run.note else ''}",
            "",
            "| question | reply | read as | tokens in (of the cache) | out |",
            "|---|---|---|---|---|",
            *filter(None, map(describe_call, calls)),
        ]
    )


def write(sections: list[str]) -> None:
    """The transcript between its two marks."""
    day = timezone.now().date()
    lead = (
        f"`make transcript` wrote this on {day:%d %B %Y} ({platform.machine()}, {os.cpu_count()} cores; load "
        f"{os.getloadavg()[2]:.0f}): TTCW’s "
        f"questions about the demo’s story `{STORY}` (545 words), two prompts, temperature 0, at most "
        f"{PARAMETERS['max_tokens']} tokens a reply. Replies are cut after {LONGEST} letters here."
    )
    text = DOCUMENT.read_text(encoding="utf-8")
    new = BEGIN + "\n\n".join([lead, *sections]) + "\n" + END
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    DOCUMENT.write_text(re.sub(pattern, lambda _: new, text, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    call_command("migrate", verbosity=0)
    study = loader.load_study(FOLDER / CLOSED)
    with local_model.serving() as (_process, address):
        write([describe_run(*ask(study, address, prompt)) for prompt in PROMPTS])


if __name__ == "__main__":
    main()
