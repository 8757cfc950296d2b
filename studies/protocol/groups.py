"""The groups of a study without a row for each of their stories: what findings and estimates of time need of them."""

from dataclasses import dataclass, field

from studies.models import Study


@dataclass(frozen=True)
class GroupShape:
    """A group with what there is of each of its stories. hashes : of the texts as they are shown"""

    code: str
    n_words: list[int] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)

    @property
    def n_stories(self) -> int:
        return len(self.n_words)


def read_group_shapes(study: Study) -> list[GroupShape]:
    """The groups by code. One query, which reads no text."""
    shapes: dict[str, GroupShape] = {}
    rows = study.groups.order_by("code", "stories__code").values_list("code", "stories__n_words", "stories__sha256")
    for code, n_words, sha256 in rows:
        shape = shapes.setdefault(code, GroupShape(code))
        if n_words is not None:
            shape.n_words.append(n_words)
            shape.hashes.append(sha256)
    return list(shapes.values())


def words_of_a_group(study: Study) -> list[int]:
    """The words of each story of the longest group; empty if there is none. One query."""
    return max((shape.n_words for shape in read_group_shapes(study)), key=sum, default=[])


def read_story_codes(study: Study) -> dict[int, list[str]]:
    """The codes of each group's stories, sorted, by the group's primary key; empty groups are not there. One query."""
    codes_by_group: dict[int, list[str]] = {}
    for group, code in study.groups.filter(stories__isnull=False).values_list("pk", "stories__code"):
        codes_by_group.setdefault(group, []).append(code)
    return {group: sorted(codes) for group, codes in codes_by_group.items()}
