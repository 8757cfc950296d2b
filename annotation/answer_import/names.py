"""What a file of answers or scores calls stories, groups and raters, and which of the study is meant."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict

from django.utils.translation import gettext as _

from studies.documents import reader
from studies.documents.errors import InvalidValue, quote
from studies.models import Provenance, Study
from studies.story_groups import code_groups

CODE, TITLE = "code", "title"  # by what stories can be named, beside their factors
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


class StoryNames:
    """The stories and groups of a study, by what a file calls them. Two queries.

    by : how it names stories, as `story_names` has it
    stories_by_group : codes in order; groups_by_stories : those made of just these stories
    """

    def __init__(self, study: Study, by: str) -> None:
        self.codes_by_name = story_names(study, by)
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
        codes = self.codes_by_name.get(name, [])
        if len(codes) == 1:
            return codes[0]
        reason = (
            _("%(n)d stories of the study are called %(name)s; name them by code")
            if codes
            else _("%(name)s is no story of the study; take the row out, or say how the file names stories")
        )
        raise InvalidValue(reason % {"n": len(codes), "name": quote(name)})

    def find_group(self, name: str) -> str:
        """The code of the group that a file calls so: the name, or what was made of it when its stories came in."""
        if name and name not in self.stories_by_group:
            [code] = code_groups([name]).values()
            # Where names such as “Group 1” and “Group/1” came to one code, nothing tells which of the two is meant.
            if code in self.stories_by_group and f"{code}-2" not in self.stories_by_group:
                return code
        return name


class AnswerNames(StoryNames):
    """The same, and the codes of raters by what a file calls them.

    prefix, digits, is_numbered : as the mapping says of the column of raters
    """

    def __init__(self, study: Study, by: str, *, prefix: str, digits: int, is_numbered: bool) -> None:
        super().__init__(study, by)
        self.prefix, self.digits, self.is_numbered = prefix, digits, is_numbered
        self.rater_by_name: dict[str, str] = {}
        self.name_by_person: dict[str, str] = {}  # as first written, by the name in small letters

    def find_rater(self, name: str) -> str:
        """The code of the rater who is called so. Raises InvalidValue."""
        if len(name) > LONGEST_NAME:
            reason = _("it has %(n)d characters; at most %(most)d name a rater")
            raise InvalidValue(reason % {"n": len(name), "most": LONGEST_NAME})
        first = self.name_by_person.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        if first != name and not self.is_numbered:
            reason = _("%(name)s and %(other)s differ only in small and capital letters; write each rater in one way")
            raise InvalidValue(reason % {"name": quote(name), "other": quote(first)})
        if first not in self.rater_by_name:
            number = WHOLE.fullmatch(first)
            code = str(len(self.rater_by_name) + 1) if self.is_numbered else number[1] if number else first
            try:
                self.rater_by_name[first] = reader.code(self.prefix + code.zfill(self.digits))
            except InvalidValue as error:
                raise InvalidValue(_("%(why)s; or let raters be numbered") % {"why": error}) from None
        return self.rater_by_name[first]
