"""A protocol as a page of prose, made from the very document that is frozen; every part of it stands in one section."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies import hashing
from studies.documents.scores import parse_score
from studies.facts import PLAIN_FACTS
from studies.layouts.items import CheckOptions
from studies.protocol.score_words import score_words
from studies.vocabulary import OrderPolicy, StepKind, StepScope

TOLD, PLAN, STORIES, STEPS = "rater_information", "reading_plan", "stories", "steps"


@dataclass(frozen=True)
class ProseSentence:
    """words : what raters read there, in full; "" if it is said"""

    text: str
    words: str = ""


@dataclass(frozen=True)
class ProseSection:
    """A part of the page. part : where it is changed; sha256 : of all that the document says there"""

    key: str
    title: str
    part: str
    sentences: tuple[ProseSentence, ...]
    sha256: str


@dataclass(frozen=True)
class ProseFacts:
    """What the document does not hold. least, most : words of a story; closes_at : in words, "" if it stays open"""

    least: int
    most: int
    closes_at: str


# Of the document what each section rests on; whatever none names belongs to the first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "who": ("minutes", "pay", "pay_for_part", "groups_per_rater", "excluded_studies"),
    "texts": ("stories", "groups", "premises", "shows_premise", "text_kind"),
    "steps": ("steps", "instruments"),
    "layout": (
        *("seats_per_group", "order_policy", "seed", "groups_per_sitting", "n_repeats", "hours_per_group"),
        "asks_recognition",
    ),
}


def write_prose(document: str, facts: ProseFacts) -> list[ProseSection]:
    """The sections of the page, in their order."""
    content = json.loads(document)
    return [
        _section("study", "", TOLD, _study(content), content),
        _section("who", _("Who is asked"), TOLD, _who(content, facts), content, facts.closes_at),
        _section("texts", _("What they read"), STORIES, _texts(content, facts), content),
        _section("steps", _("What they are asked"), STEPS, _steps(content), content),
        _section("layout", _("How it is laid out"), PLAN, _layout(content), content),
    ]


def write_text(sections: Iterable[ProseSection], heading: str, standing: str) -> str:
    """The page as plain text, with what raters read in full. standing : which version it is, in a sentence"""
    lines = [heading, "=" * len(heading), "", standing]
    for section in sections:
        if section.title:
            lines += ["", "", section.title, "-" * len(section.title)]
        for sentence in section.sentences:
            lines += ["", sentence.text]
            if sentence.words:
                lines += ["", indent(sentence.words.strip(), "    ")]
    return "\n".join(lines) + "\n"


def _section(
    key: str, title: str, part: str, sentences: Iterator[ProseSentence], content: Mapping[str, Any], more: str = ""
) -> ProseSection:
    elsewhere = {name for names in KEYS.values() for name in names}
    names = KEYS.get(key) or sorted(set(content) - elsewhere)
    of_section = {name: content.get(name) for name in names}
    return ProseSection(key, title, part, tuple(sentences), hashing.sha256(hashing.canonical_json(of_section) + more))


def _study(content: Mapping[str, Any]) -> Iterator[ProseSentence]:
    sentence = _("This study is called “%(title)s”") % {"title": content["title"]}
    if content["organiser"]:
        sentence = _("%(called)s and is run by %(organiser)s") % {"called": sentence, "organiser": content["organiser"]}
    yield ProseSentence(sentence + (f" ({content['contact']})." if content["contact"] else "."))
    if content["notice"]:
        yield ProseSentence(_("Every page shows: “%(notice)s”") % {"notice": content["notice"]})
    for fact in PLAIN_FACTS:
        if words := content.get(fact.key):
            yield ProseSentence(f"{fact.label}: {words}")


def _who(content: Mapping[str, Any], facts: ProseFacts) -> Iterator[ProseSentence]:
    if most := content.get("groups_per_rater"):
        sentence = ngettext(
            "People are invited individually, each for one group.",
            "People are invited individually, each for up to %(n)d groups.",
            most,
        )
        yield ProseSentence(sentence % {"n": most})
    else:
        yield ProseSentence(_("People are invited individually, each for as many groups as they like."))
    if content["minutes"]:
        sentence = ngettext(
            "They are told that a group takes about %(n)d minute.",
            "They are told that a group takes about %(n)d minutes.",
            content["minutes"],
        )
        yield ProseSentence(sentence % {"n": content["minutes"]})
    else:
        yield ProseSentence(_("They are not told how long a group takes."))
    if content.get("pay"):
        yield ProseSentence(_("Pay: %(pay)s") % {"pay": content["pay"]})
    else:
        yield ProseSentence(_("They are not told about pay."))
    if content.get("pay_for_part"):
        yield ProseSentence(_("Pay for a part: %(pay)s") % {"pay": content["pay_for_part"]})
    if content.get("excluded_studies"):
        n = len(content["excluded_studies"])
        sentence = ngettext(
            "People who took part in a named earlier study get no group.",
            "People who took part in one of %(n)d earlier studies get no group.",
            n,
        )
        yield ProseSentence(sentence % {"n": n})
    if facts.closes_at:
        yield ProseSentence(_("They may answer until %(time)s.") % {"time": facts.closes_at})
    else:
        yield ProseSentence(_("They may answer until the study is closed; no deadline is set."))


def _texts(content: Mapping[str, Any], facts: ProseFacts) -> Iterator[ProseSentence]:
    sizes = sorted({len(codes) for codes in content["groups"].values()})
    n_groups, n_stories = len(content["groups"]), len(content["stories"])
    stories = ngettext("%(n)d story", "%(n)d stories", n_stories) % {"n": n_stories}
    groups = ngettext("%(n)d group", "%(n)d groups", n_groups) % {"n": n_groups}
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}" if sizes else "0"
    words = f"{facts.least}" if facts.least == facts.most else f"{facts.least}–{facts.most}"
    sentence = _("%(stories)s of %(words)s words in %(groups)s of %(size)s, without the names of their authors.")
    yield ProseSentence(sentence % {"stories": stories, "words": words, "groups": groups, "size": size})
    if content["shows_premise"]:
        yield ProseSentence(_("Raters see what the stories of a group were written to."))
    else:
        yield ProseSentence(_("Raters do not see what the stories of a group were written to."))


def _steps(content: Mapping[str, Any]) -> Iterator[ProseSentence]:
    groups = [s["position"] for s in content["steps"] if s["kind"] == StepKind.RATING and s["scope"] != StepScope.ONCE]
    for step in content["steps"]:
        sentence = _sentence_of_step(step, content["instruments"])
        is_before = step["scope"] == StepScope.ONCE and step["position"] < min(groups, default=step["position"] + 1)
        if (
            is_before
            and step["kind"] == StepKind.RATING
            and _has_right_answers(content["instruments"][step["instrument"]])
        ):
            check = _sentence_of_check(CheckOptions.read(step["options"]))
            sentence = ProseSentence(f"{sentence.text} {check}", sentence.words)
        if step["kind"] == StepKind.RATING and (scores := _scores(content["instruments"][step["instrument"]])):
            made = _("Scores are made of the answers: %(scores)s.") % {"scores": "; ".join(scores)}
            sentence = ProseSentence(f"{sentence.text} {made}", sentence.words)
        yield sentence


def _scores(instrument: Mapping[str, Any]) -> list[str]:
    """Each score that the instrument declares, with what it is made of."""
    title_by_item = {item["key"]: item["title"] or item["key"] for item in instrument["items"]}
    scores = [parse_score(table) for table in instrument.get("scores", [])]
    return [f"“{score.title}”, {score_words(score, title_by_item)}" for score in scores]


def _has_right_answers(instrument: Mapping[str, Any]) -> bool:
    return any("correct" in item["settings"] for item in instrument["items"])


def _sentence_of_check(options: CheckOptions) -> str:
    if options.ends:
        sentence = ngettext(
            "It is a comprehension check: people who do not answer all of it correctly in one attempt cannot continue.",
            "It is a comprehension check: people who do not answer all of it correctly in %(n)d attempts cannot "
            "continue.",
            options.attempts,
        )
    else:
        sentence = ngettext(
            "It is a comprehension check: people who do not answer all of it correctly in one attempt continue, "
            "and that is recorded.",
            "It is a comprehension check: people who do not answer all of it correctly in %(n)d attempts "
            "continue, and that is recorded.",
            options.attempts,
        )
    return sentence % {"n": options.attempts}


def _sentence_of_step(step: Mapping[str, Any], instruments: Mapping[str, Any]) -> ProseSentence:
    asked = instruments.get(step.get("instrument") or "", {})
    title = step["title"] or asked.get("title") or str(StepKind(step["kind"]).label)
    if step["kind"] == StepKind.CONSENT:
        return ProseSentence(_("They agree to “%(title)s”.") % {"title": title}, step["text"])
    if step["kind"] == StepKind.BRIEFING:
        return ProseSentence(_("They read “%(title)s”.") % {"title": title}, step["text"])
    instrument = instruments[step["instrument"]]
    if step["kind"] == StepKind.PRACTICE:
        sentence = _("“%(title)s”: they practise on a story that is not counted.")
        return ProseSentence(sentence % {"title": title}, step["story"])
    n = len(instrument["items"])
    names = {"title": title, "n": n, "instrument": instrument["title"], "version": instrument["version"]}
    if step["scope"] == StepScope.ONCE:
        sentence = ngettext(
            "“%(title)s”: they answer the question of “%(instrument)s”, version %(version)s, once.",
            "“%(title)s”: they answer the %(n)d questions of “%(instrument)s”, version %(version)s, once.",
            n,
        )
    else:
        sentence = ngettext(
            "“%(title)s”: %(about)s they answer the question of “%(instrument)s”, version %(version)s.",
            "“%(title)s”: %(about)s they answer the %(n)d questions of “%(instrument)s”, version %(version)s.",
            n,
        )
        names["about"] = {
            StepScope.STORY: _("about each story"),
            StepScope.STORIES: _("about each story, all on one page"),
            StepScope.GROUP: _("about the group as a whole"),
        }[StepScope(step["scope"])]
    text = sentence % names
    if step["locks"]:
        text += " " + _("From then on their earlier answers are locked.")
    return ProseSentence(text, step["text"])


def _layout(content: Mapping[str, Any]) -> Iterator[ProseSentence]:
    k, n_groups = content["seats_per_group"], len(content["groups"])
    sentence = ngettext(
        "%(k)d person reads each group: %(n)d places.",
        "%(k)d people read each group: %(n)d places.",
        k,
    )
    yield ProseSentence(sentence % {"k": k, "n": k * n_groups})
    orders = {
        OrderPolicy.BALANCED: _("Orders of stories and of groups are counterbalanced by Williams squares."),
        OrderPolicy.RANDOM: _("Orders of stories and groups are drawn at random for each person."),
        OrderPolicy.FIXED: _("Stories and groups come in the same order for everyone."),
    }
    yield ProseSentence(orders[OrderPolicy(content["order_policy"])])
    if content["groups_per_sitting"] > 1:
        yield ProseSentence(_("A sitting has %(n)d groups and one receipt.") % {"n": content["groups_per_sitting"]})
    if n := content.get("n_repeats"):
        sentence = ngettext(
            "%(n)d of the groups that a person reads comes a second time at the end, unannounced; the "
            "repeat only shows how far they agree with themselves.",
            "%(n)d of the groups that a person reads come a second time at the end, unannounced; the "
            "repeats only show how far they agree with themselves.",
            n,
        )
        yield ProseSentence(sentence % {"n": n})
    if hours := content.get("hours_per_group"):
        sentence = ngettext(
            "A group is taken back if it is not submitted within %(n)d hour; its place then goes to someone else.",
            "A group is taken back if it is not submitted within %(n)d hours; its place then goes to someone else.",
            hours,
        )
        yield ProseSentence(sentence % {"n": hours})
    if content["asks_recognition"]:
        yield ProseSentence(
            _("Before a group they say whether they know one of its stories; those who do are given another group.")
        )
