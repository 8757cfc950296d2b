"""What does not hinder a study but should be thought of before it is launched. Nothing here reads who wrote a story."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from studies import lifecycle
from studies.documents import placeholders
from studies.models import Item, Study
from studies.protocol.groups import words_of_a_group
from studies.protocol.minutes import estimate_path, minutes_in_all
from studies.protocol.purposes import WITH_RATERS, Finding
from studies.protocol.steps import Protocol, items_of

# How items that ask who wrote a story are told: by the dimension, or by what can be chosen.
AUTHORSHIP = "authorship"
AUTHORS = frozenset({"ai", "llm", "human", "machine", "model"})


def collect_warnings(study: Study, protocol: Protocol) -> list[Finding]:
    """What raters are not told, guesses before ratings, and texts that are the same."""
    return [
        *_warnings_of_information(study, protocol),
        *_warnings_of_guesses(protocol),
        *_warnings_of_equal_texts(study),
    ]


def check_deadline(study: Study, protocol: Protocol, *, at: datetime) -> list[Finding]:
    """A deadline that has passed, is missing or is shorter than the work; empty if all is well."""
    if study.closes_at is None:
        sentence, way_out = _("raters are not told the deadline"), _("set a deadline")
        return [_warn("closes_at", sentence, way_out, anchor="id_closes_at")]
    if lifecycle.has_run_out(study, at=at):
        sentence, way_out = _("the deadline is in the past"), _("set a later one, or none")
        return [Finding("error", "closes_at", sentence, way_out, WITH_RATERS, anchor="id_closes_at")]
    minutes = study.minutes or minutes_in_all(estimate_path(protocol, words_of_a_group(study)))
    if study.closes_at - at < timedelta(minutes=minutes):
        sentence = _("the deadline leaves too little time: one group takes about %(n)d minutes")
        return [_warn("closes_at", sentence % {"n": round(minutes)}, _("set a later one"), anchor="id_closes_at")]
    return []


def _warn(location: str, sentence: str, way_out: str, *, part: str = "", anchor: str = "") -> Finding:
    return Finding("warning", location, sentence, way_out, WITH_RATERS, part, anchor)


def _warnings_of_information(study: Study, protocol: Protocol) -> Iterator[Finding]:
    information = "rater_information"
    if not study.minutes:
        sentence, way_out = _("raters are not told how long a group takes"), _("say the minutes")
        yield _warn("", sentence, way_out, part=information, anchor="id_minutes")
    if not study.pay and not any(
        "pay" in placeholders.find_unfilled(step.text, study.value_by_fact) for step in protocol.steps
    ):
        sentence, way_out = _("raters are not told what they are paid"), _("say so even if nothing is paid")
        yield _warn("", sentence, way_out, part=information, anchor="id_pay")


def _asks_author(item: Item) -> bool:
    options = {option.get("value") for option in item.options if isinstance(option, dict)}
    return item.dimension.casefold() == AUTHORSHIP or not AUTHORS.isdisjoint(options)


def _warnings_of_guesses(protocol: Protocol) -> Iterator[Finding]:
    guesses = [step for step in protocol.ratings if any(map(_asks_author, items_of(step)))]
    for step in guesses:
        later = next((s for s in protocol.ratings if s.position > step.position and s not in guesses), None)
        if later:
            sentence = _("“%(guess)s” asks who wrote a story before “%(rating)s” asks for ratings of it")
            names = {"guess": step.name, "rating": later.name}
            way_out = _("ask it last, so that the guess cannot influence the ratings")
            yield _warn(f"step {step.key}", sentence % names, way_out, anchor=f"step-{step.key}")


def _warnings_of_equal_texts(study: Study) -> Iterator[Finding]:
    codes_by_hash: dict[str, list[str]] = defaultdict(list)
    for code, sha256 in study.stories.filter(is_withheld=False).order_by("code").values_list("code", "sha256"):
        codes_by_hash[sha256].append(code)
    for codes in codes_by_hash.values():
        if len(codes) > 1:
            sentence = _("the stories %(codes)s have the same text") % {"codes": ", ".join(codes)}
            yield _warn("", sentence, _("remove all but one"), part="stories")
