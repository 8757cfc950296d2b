"""Which story and which items of a study each reply of a log is about: by name, or by the words that were asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.responses import letters
from judges import parsing
from judges.foreign_logs.base import ForeignLog, LogSample
from studies import protocol as protocols
from studies.documents.errors import quote
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.roles import plain_name
from studies.items import StoryLabel
from studies.models import Item, Step, Story, Study

STORY_KEYS = ("story", "story_code", "story_id", "code")
ITEM_KEYS = ("item", "item_key", "test", "criterion")
# Letters that a stretch of a story has by which it is found where the whole is not there, and the fewest of a question.
STRETCH, SHORTEST_QUESTION = 200, 12


@dataclass(frozen=True)
class LogChoices:
    """What the importing account says of a log.

    model : of which replies come in; judge : the name of the judge that they become; protocol : how they are read
    story_key, item_key : what of the log names them; "" for what seems to, and else the words that were asked
    may_be_left_out : whether replies that fit nothing are left out, in place of a refusal
    """

    model: str
    judge: str
    protocol: str = "reasoning_first"
    story_key: str = ""
    item_key: str = ""
    may_be_left_out: bool = False


@dataclass(frozen=True)
class MatchedReply:
    """A reply that has its place. items : more than one where they were asked at once; repeat : from 1

    reason : why it cannot be read as it stands, "" if it can
    """

    sample: LogSample
    story: Story
    step: Step
    items: tuple[Item, ...]
    repeat: int
    reason: str = ""


@dataclass(frozen=True)
class LogMatches:
    """The replies of one model that have their place, and what is wrong with the others."""

    replies: tuple[MatchedReply, ...]
    problems: tuple[InvalidRow, ...]

    @property
    def n_unread(self) -> int:
        return sum(bool(reply.reason) for reply in self.replies)

    @property
    def n_stories(self) -> int:
        return len({reply.story.pk for reply in self.replies})

    @property
    def n_items(self) -> int:
        return len({item.pk for reply in self.replies for item in reply.items})

    @property
    def n_repeats(self) -> int:
        return max((reply.repeat for reply in self.replies), default=0)


def match(study: Study, log: ForeignLog, choices: LogChoices) -> LogMatches:
    """Where the replies of the chosen model belong. A few queries. Raises NotPlannable if nothing is frozen yet."""
    places = ReplyPlaces(study)
    n_by_place: Counter[tuple[int, int]] = Counter()
    replies, problems = [], []
    for n, sample in enumerate(log.samples, start=1):
        if sample.model != choices.model:
            continue
        location = _("Reply %(n)d") % {"n": n}
        try:
            story = places.find_story(sample, choices, location)
            step, items = places.find_items(sample, choices, location)
        except InvalidRow as problem:
            problems.append(problem)
            continue
        repeat = max(n_by_place[story.pk, item.pk] for item in items) + 1
        n_by_place.update({(story.pk, item.pk): repeat - n_by_place[story.pk, item.pk] for item in items})
        reason = _find_reason(sample, items, choices.protocol)
        replies.append(MatchedReply(sample, story, step, items, repeat, reason))
    return LogMatches(tuple(replies), tuple(problems))


def _find_reason(sample: LogSample, items: Sequence[Item], protocol: str) -> str:
    """Why the reply cannot be read as it stands; "" if it can."""
    verdicts = parsing.parse_reply(
        sample.reply,
        finish_reason=sample.ended,
        protocol=protocol,
        items=list(items),
        stories=[StoryLabel(letter) for letter in letters(["A"])],
        canary="",
        by_key=len(items) > 1,
    )
    if isinstance(verdicts, parsing.Failure):
        return verdicts.reason
    return next((failure.reason for failure in verdicts.failures.values()), "")


class ReplyPlaces:
    """The stories of a study, and the items that are asked about each. Raises NotPlannable if nothing is frozen."""

    def __init__(self, study: Study) -> None:
        frozen = protocols.load_protocol(protocols.current(study))
        self.story_by_code = {story.code: story for story in study.stories.filter(groups__isnull=False).distinct()}
        scopes = (Step.Scope.STORY, Step.Scope.STORIES)
        self.steps = [s for s in frozen.ratings if s.scope in scopes and not s.layout_type.answers_at_once]
        self.places_by_key: dict[str, list[tuple[Step, Item]]] = defaultdict(list)
        for step in self.steps:
            for item in protocols.items_of(step):
                self.places_by_key[item.key].append((step, item))

    def find_story(self, sample: LogSample, choices: LogChoices, location: str) -> Story:
        """The story that the reply is about. Raises InvalidRow."""
        if sample.failure or sample.ended == "error" or (not sample.reply.strip() and sample.ended == "stop"):
            reason = _("the log holds no reply: %(why)s") % {"why": quote(sample.failure or sample.ended)}
            raise InvalidRow(location, _("reply"), reason)
        name = _find_named(sample, choices.story_key, STORY_KEYS, self.story_by_code)
        if name:
            story = self.story_by_code[name]
            if story.is_withheld:
                reason = _("%(story)s is withheld, and nothing about it comes in; leave it out") % {"story": story.code}
                raise InvalidRow(location, _("story"), reason)
            self._refuse_others(sample, story, location)
            return story
        if choices.story_key and (unknown_name := sample.keys.get(choices.story_key)):
            reason = _("%(name)s is no story of the study’s groups; choose what else names the story")
            raise InvalidRow(location, choices.story_key, reason % {"name": quote(unknown_name)})
        codes = self._find_by_words(" ".join(sample.words.split()))
        if len(codes) == 1:
            story = self.story_by_code[codes[0]]
            self._refuse_others(sample, story, location)
            return story
        if codes:
            reason = _("the words of %(n)d stories stand in what was asked (%(codes)s); choose what names the story")
            values = {"n": len(codes), "codes": ", ".join(codes[:5])}
            raise InvalidRow(location, _("story"), reason % values)
        reason = _("no story of the study stands in what was asked; choose what names the story, or leave it out")
        raise InvalidRow(location, _("story"), reason)

    def _refuse_others(self, sample: LogSample, story: Story, location: str) -> None:
        """Raise InvalidRow if words of other stories stand in what was asked: they could not be erased with theirs."""
        own_text = " ".join(story.text.split())
        asked = " ".join(sample.words.split())
        codes = [
            code
            for code, text, stretch in self._find_near(asked)
            if stretch not in own_text or (text in asked and text not in own_text)
        ]
        if codes:
            reason = _("words of other stories (%(codes)s) stand in what was asked about %(story)s; leave it out")
            raise InvalidRow(location, _("story"), reason % {"codes": ", ".join(codes[:5]), "story": story.code})

    def find_items(self, sample: LogSample, choices: LogChoices, location: str) -> tuple[Step, tuple[Item, ...]]:
        """The items that the reply answers, and their step. Raises InvalidRow."""
        name = _find_named(sample, choices.item_key, ITEM_KEYS, self.places_by_key)
        if choices.item_key and not name and (unknown_name := sample.keys.get(choices.item_key)):
            reason = _("%(name)s is no item about stories; choose what else names the item")
            raise InvalidRow(location, choices.item_key, reason % {"name": quote(unknown_name)})
        all_places = [place for places in self.places_by_key.values() for place in places]
        places = self.places_by_key[name] if name else self._find_asked(sample.words) or all_places
        by_step: dict[int, list[tuple[Step, Item]]] = defaultdict(list)
        for step, item in places:
            by_step[step.pk].append((step, item))
        if len(places) == 1 or (not name and len(by_step) == 1 and places is not all_places):
            return places[0][0], tuple(item for _step, item in places)
        reason = ngettext(
            "nothing says which of the study’s items it answers; choose what names the item",
            "%(n)d items could be meant; choose what names the item",
            len(places) or 1,
        )
        raise InvalidRow(location, _("item"), reason % {"n": len(places)})

    def _find_asked(self, words: str) -> list[tuple[Step, Item]]:
        """The items whose question stands in what was asked."""
        words = " ".join(words.split())
        return [place for question, place in self._questions if question in words]

    @cached_property
    def _questions(self) -> list[tuple[str, tuple[Step, Item]]]:
        all_places = [place for places in self.places_by_key.values() for place in places]
        questions = [(" ".join(item.question.split()), (step, item)) for step, item in all_places]
        return [(question, place) for question, place in questions if len(question) >= SHORTEST_QUESTION]

    @cached_property
    def _texts(self) -> list[tuple[str, str, str]]:
        """The code of each story, its words in one line, and a stretch from their middle."""
        texts = []
        for code, story in self.story_by_code.items():
            text = " ".join(story.text.split())
            start = max(len(text) // 2 - STRETCH // 2, 0)
            if text:
                texts.append((code, text, text[start : start + STRETCH]))
        return texts

    @lru_cache(maxsize=1024)  # noqa: B019 - it lives as long as one import
    def _find_by_words(self, asked: str) -> list[str]:
        """The codes of the stories that stand in what was asked as a whole, or else with a stretch."""
        near = self._find_near(asked)
        return [code for code, text, _stretch in near if text in asked] or [code for code, _text, _stretch in near]

    @lru_cache(maxsize=1024)  # noqa: B019 - as above
    def _find_near(self, asked: str) -> list[tuple[str, str, str]]:
        """Those of `_texts` of which a stretch stands in what was asked."""
        return [row for row in self._texts if row[2] in asked]


def _find_named(sample: LogSample, key: str, usual: Iterable[str], known: Iterable[str]) -> str:
    """The name that the sample says by that key, or by one that is usual, or within its own name; "" for none."""
    known_names = set(known)
    names = [sample.keys.get(key, "")] if key else []
    if not key:
        names = [words for name, words in sample.keys.items() if plain_name(name) in usual]
        # “p1s1/wording”, “p1s1:wording”
        names += sample.sample.removesuffix(")").rpartition(" (")[0].replace(":", "/").split("/")
        names += sample.sample.replace(":", "/").split("/")
    return next((words.strip() for words in names if words.strip() in known_names), "")
