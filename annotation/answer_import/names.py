"""What a file of answers or scores calls stories, groups and raters, and which of the study is meant."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.utils.translation import gettext as _

from annotation.answer_import.times import TimeReader
from studies.documents import reader
from studies.documents.errors import InvalidValue, quote
from studies.models import Provenance, Study
from studies.story_groups import code_groups

CODE, TITLE = "code", "title"  # by what stories can be named, beside their factors
# Over letters of Latin, Greek and Cyrillic alone: elsewhere a mark makes another letter, as in が and か.
_ACCENTS = re.compile("([\x00-\u02ff\u0370-\u0482\u048a-\u052f])[\u0300-\u036f]+")
WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
LONGEST_NAME = 300  # characters of what a file calls a rater


def story_names(study: Study, by: str) -> dict[str, list[str]]:
    """The codes of the stories by what somebody else calls them: their code, their title or a factor."""
    names: dict[str, list[str]] = defaultdict(list)
    if by == CODE:
        return {code: [code] for code in study.stories.values_list("code", flat=True)}
    rows = Provenance.objects.filter(story__study=study).values_list("story__code", "title", "factors")
    for code, title, factors in rows:
        name = title if by == TITLE else str(factors.get(by, ""))
        if name.strip():
            names[name.strip()].append(code)
    return dict(names)


def factor_names(study: Study) -> list[str]:
    """The factors of the stories, in alphabetical order. One query."""
    rows = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for factors in rows for name in factors})


def list_story_names(study: Study) -> list[tuple[str, str]]:
    """By what a file may name stories, as choices of a form. One query."""
    factors = [(name, name) for name in factor_names(study)]
    return [(CODE, _("our code")), (TITLE, _("their original title")), *factors]


def fold(name: str) -> str:
    """The beginning of the name without what people write now so, now so: case, accents, blanks, wide letters."""
    parted = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name[:LONGEST_NAME]).casefold())
    return unicodedata.normalize("NFC", " ".join(_ACCENTS.sub(r"\1", parted).split()))


def _fold_signs(name: str) -> str:
    """The same, and without its signs: a code is made of a name by writing hyphens for what codes cannot have."""
    return re.sub(r"[\W_]+", " ", fold(name)).strip()


class StoryNames:
    """The stories and groups of a study, by what a file calls them. Two queries.

    by : how it names stories, as `story_names` has it; names : codes of stories that it calls otherwise
    stories_by_group : codes in order; groups_by_stories : those made of just these stories
    """

    def __init__(self, study: Study, by: str, names: Mapping[str, str] | None = None) -> None:
        self.codes_by_name = story_names(study, by)
        self.codes_by_signless_name: dict[str, list[str]] = defaultdict(list)
        for name, codes in self.codes_by_name.items():
            self.codes_by_signless_name[_fold_signs(name)] += codes
        self.codes_by_name |= {name: [code] for name, code in (names or {}).items()}
        self.code_by_name = {name: codes[0] for name, codes in self.codes_by_name.items() if len(codes) == 1}
        self.stories_by_group: dict[str, list[str]] = defaultdict(list)
        self.groups_by_story: dict[str, list[str]] = defaultdict(list)
        self.groups_by_stories: dict[frozenset[str], list[str]] = defaultdict(list)
        for group, story in sorted(study.groups.values_list("code", "stories__code")):
            self.stories_by_group[group].append(story)
            self.groups_by_story[story].append(group)
        for group, stories in self.stories_by_group.items():
            self.groups_by_stories[frozenset(stories)].append(group)

    def find_story(self, name: str) -> str:
        """The code of the story that is called so. Raises InvalidValue."""
        codes = self.codes_by_name.get(name) or self.codes_by_signless_name.get(_fold_signs(name), [])
        if len(codes) == 1:
            return codes[0]
        reason = (
            _("%(n)d stories of the study are called %(name)s; name them by code")
            if codes
            else _("%(name)s is no story of the study; take the row out, or say how the file names stories")
        )
        raise InvalidValue(reason % {"n": len(codes), "name": quote(name)})

    def knows(self, name: str) -> bool:
        """Whether just one story is called so."""
        return bool(self.code_of(name))

    def code_of(self, name: str) -> str:
        """The code of the story that is called so; "" if none is, or several."""
        try:
            return self.find_story(name)
        except InvalidValue:
            return ""

    def find_group(self, name: str) -> str:
        """The code of the group that a file calls so: the name, or what was made of it when its stories came in."""
        if name and name not in self.stories_by_group:
            [code] = code_groups([name]).values()
            # Where names such as “Group 1” and “Group/1” came to one code, nothing tells which of the two is meant.
            if code in self.stories_by_group and f"{code}-2" not in self.stories_by_group:
                return code
        return name


class AnswerNames(StoryNames):
    """The same, and the codes of raters by what a file calls them. One query more.

    prefix, digits, is_numbered : as the mapping says of the column of raters
    times : reads the file's times
    """

    def __init__(
        self,
        study: Study,
        by: str,
        names: Mapping[str, str] | None = None,
        *,
        prefix: str,
        digits: int,
        is_numbered: bool,
        times: TimeReader,
    ) -> None:
        super().__init__(study, by, names)
        self.prefix, self.digits, self.is_numbered, self.times = prefix, digits, is_numbered, times
        self.rater_by_name: dict[str, str] = {}
        self.name_by_person: dict[str, str] = {}  # as first written, by the name in small letters
        self.spellings: dict[str, str] = {}  # other ones of the same person, with that first one
        self.code_by_folded_code = {fold(code): code for code in study.raters.values_list("code", flat=True)}
        numbered = re.compile(re.escape(fold(prefix)) + "0*([0-9]{1,9})")
        numbers = [int(match[1]) for code in self.code_by_folded_code if (match := numbered.fullmatch(code))]
        self.n_before = max(numbers, default=0)  # the number after which those of this file begin

    def read_time(self, cell: str) -> datetime:
        """The time that a cell says. Raises InvalidValue."""
        return self.times.read(cell)

    def find_rater(self, name: str) -> str:
        """The code of the rater who is called so. Raises InvalidValue."""
        if len(name) > LONGEST_NAME:
            reason = _("it has %(n)d characters; at most %(most)d name a rater")
            raise InvalidValue(reason % {"n": len(name), "most": LONGEST_NAME})
        first = self.name_by_person.setdefault(fold(name), name)
        if first != name and not self.is_numbered:
            raise InvalidValue(_alike(name, first))
        if first != name:
            self.spellings[name] = first
        if first not in self.rater_by_name:
            self.rater_by_name[first] = self._code(first)
        return self.rater_by_name[first]

    def _code(self, name: str) -> str:
        """The code of a rater who is called so for the first time. Raises InvalidValue."""
        number = WHOLE.fullmatch(name)
        code = str(self.n_before + len(self.rater_by_name) + 1) if self.is_numbered else number[1] if number else name
        try:
            code = str(reader.code(self.prefix + code.zfill(self.digits)))
        except InvalidValue as error:
            raise InvalidValue(_("%(why)s; or let raters be numbered") % {"why": error}) from None
        if (earlier := self.code_by_folded_code.setdefault(fold(code), code)) != code:
            raise InvalidValue(_alike(code, earlier))
        return code


def _alike(name: str, other: str) -> str:
    reason = _("%(name)s and %(other)s differ only in small and capital letters; write each rater in one way")
    return reason % {"name": quote(name), "other": quote(other)}


def guess_by_number(names: Iterable[str], codes: Iterable[str]) -> dict[str, str]:
    """The code of each name that has the one number that just one of the codes has: “Story 3” is s3. Others have none.

    Two names that would be one story are none.
    """
    codes_by_number = _by_number(codes)
    names_by_number = _by_number(names)
    return {
        alike[0]: codes_by_number[number][0]
        for number, alike in names_by_number.items()
        if len(alike) == 1 and len(codes_by_number.get(number, [])) == 1
    }


def _by_number(names: Iterable[str]) -> dict[int, list[str]]:
    numbered = defaultdict[int, list[str]](list)
    for name in names:
        numbers = re.findall(r"[0-9]{1,9}", name[:LONGEST_NAME])
        if len(numbers) == 1:
            numbered[int(numbers[0])].append(name)
    return numbered
