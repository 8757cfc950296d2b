"""The stories of a group in order, best first."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.items.base import InvalidAnswer, ItemDefinition, ItemType, Setting, StoryLabel, Value, is_empty, join_words
from studies.items.scale import read_whole_number


class Ranking(ItemType):
    """Stores a list of ranks, best first, each a list of the stories on it: one, unless ties are allowed.

    A form posts a position for every story (`name_A=2`) or the names in order; a model returns the names in order; a
    file may say "B > A = D > C", which is also the label.

    settings : ties, true if stories may share a rank; best and worst, the words at the ends of the list
    """

    name = "ranking"
    title = gettext_lazy("Ranking")
    summary = gettext_lazy("stories in order")
    seconds = 60
    level = "none"
    gives_order = True
    template = "items/ranking.html"
    settings = {
        "ties": Setting(bool, gettext_lazy("Stories may share a rank")),
        "best": Setting(str, gettext_lazy("Word at the top")),
        "worst": Setting(str, gettext_lazy("Word at the bottom")),
    }
    about_stories = True
    example = {
        "item": {
            "key": "order",
            "question": "Put them in order.",
            "settings": {"best": "Valued most", "worst": "Valued least"},
        },
        "stories": ["A", "B", "C"],
        "valid": [
            (["B", "A", "C"], [["B"], ["A"], ["C"]]),
            ([["C"], ["b"], [" A "]], [["C"], ["B"], ["A"]]),
            ({"A": "2", "B": "1", "C": "3"}, [["B"], ["A"], ["C"]]),
            ("C > B > A", [["C"], ["B"], ["A"]]),
        ],
        "model": [["B", "A", "C"], ["C", "B", "A"]],
        "invalid": [
            ["A", "B"],
            ["A", "B", "B"],
            ["A", "B", "C", "C"],
            ["A", "B", "D"],
            [["A", "B"], ["C"]],
            ["A", [], "B", "C"],
            [["A"], ["B"], ["C"], 3],
            {"A": 1, "B": 1, "C": 2},
            {"A": 1, "B": 2, "C": ""},
            {"A": 1, "B": 2, "C": 4},
            {"A": 1, "B": 2, "D": 3},
            "A > B",
            "A",
            1,
            True,
        ],
    }

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        letters = [story.letter for story in stories]
        ranks = _by_position(raw, letters) if isinstance(raw, Mapping) else _in_order(raw, letters)
        ranked = [letter for rank in ranks for letter in rank]
        if doubled := [letter for letter in letters if ranked.count(letter) > 1]:
            raise InvalidAnswer(_("%(names)s is in the order twice; please name each once.") % _names(doubled))
        if missing := [letter for letter in letters if letter not in ranked]:
            raise InvalidAnswer(_("Still without a position: %(names)s. Please give each its own.") % _names(missing))
        shared = [rank for rank in ranks if len(rank) > 1]
        if shared and not item.settings.get("ties"):
            raise InvalidAnswer(_("%(names)s share a position; please give each its own.") % _names(shared[0]))
        return [sorted(rank, key=letters.index) for rank in ranks]

    def from_form(self, data: Mapping[str, Any], name: str, *, stories: Sequence[StoryLabel] = ()) -> Any:
        positions = {story.letter: data.get(f"{name}_{story.letter}", "") for story in stories}
        if not all(map(is_empty, positions.values())):
            return positions
        return data.getlist(name) if hasattr(data, "getlist") else data.get(name)

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        position = _positions(value)
        # Sorting is stable: what has no position yet comes last, in reading order.
        in_order = sorted(stories, key=lambda story: position.get(story.letter) or len(stories) + 1)
        return {
            **super().context(item, name=name, value=value, stories=stories),
            "rows": [{"story": story, "position": position.get(story.letter)} for story in in_order],
            "options": [{"value": place, "label": str(place)} for place in range(1, len(stories) + 1)],
            "best": item.settings.get("best", ""),
            "worst": item.settings.get("worst", ""),
        }

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        letters = join_words([f'"{story.letter}"' for story in stories], "and")
        names = f"Name {letters} once each"
        if item.settings.get("ties"):
            return (
                f"Answer with a list of ranks, best first; each rank is a list of the stories that share it. {names}."
            )
        return f"Answer with a list of the stories in order, best first. {names}; there are no ties."

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        story = {"type": "string", "enum": [story.letter for story in stories]}
        if item.settings.get("ties"):
            rank = {"type": "array", "items": story, "minItems": 1, "uniqueItems": True}
            return {"type": "array", "items": rank, "minItems": 1, "maxItems": len(stories), "uniqueItems": True}
        return {
            "type": "array",
            "items": story,
            "minItems": len(stories),
            "maxItems": len(stories),
            "uniqueItems": True,
        }

    def label(self, item: ItemDefinition, value: Value) -> str:
        return " > ".join(" = ".join(rank) for rank in value)

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        return [[names[story] for story in rank] for rank in value]


def match_letter(raw: Any, letters: Sequence[str]) -> str:
    """The letter that `raw` names, whatever its case and the blanks around it. Raises InvalidAnswer if none."""
    if isinstance(raw, str):
        word = raw.strip()
        matches = [letter for letter in letters if letter == word] or [
            x for x in letters if x.casefold() == word.casefold()
        ]
        if len(matches) == 1:
            return matches[0]
    names = join_words(letters, _("or"))
    if isinstance(raw, str):
        raise InvalidAnswer(
            _("“%(given)s” is not one of the stories; please name %(known)s.") % {"given": raw[:40], "known": names}
        )
    raise InvalidAnswer(_("Please name the stories by their letters: %(known)s.") % {"known": names})


def _in_order(raw: Any, letters: Sequence[str]) -> list[list[str]]:
    if isinstance(raw, str):
        raw = [rank.split("=") for rank in raw.split(">")]
    if not isinstance(raw, list | tuple):
        raise InvalidAnswer(_("Please name the stories in order, best first."))
    ranks = [
        [match_letter(name, letters) for name in (rank if isinstance(rank, list | tuple) else [rank])] for rank in raw
    ]
    if not all(ranks):
        raise InvalidAnswer(_("Every rank needs a story; please leave out empty ranks."))
    return ranks


def _by_position(raw: Mapping[Any, Any], letters: Sequence[str]) -> list[list[str]]:
    places: dict[int, list[str]] = {}
    for name, position in raw.items():
        letter = match_letter(name, letters)
        if is_empty(position):
            raise InvalidAnswer(_("Still without a position: %(names)s. Please give each its own.") % _names([letter]))
        place = read_whole_number(position)
        if place is None or not 1 <= place <= len(letters):
            raise InvalidAnswer(
                _("Positions go from 1 to %(last)d; please correct that of %(names)s.")
                % {"last": len(letters), "names": letter}
            )
        places.setdefault(place, []).append(letter)
    return [places[place] for place in sorted(places)]


def _positions(value: Any) -> dict[str, int | None]:
    """Position by story, of a stored ranking or of what a form posted; whatever cannot be read has none."""
    if isinstance(value, Mapping):
        return {letter: read_whole_number(position) for letter, position in value.items()}
    ranks = [rank if isinstance(rank, list) else [rank] for rank in value] if isinstance(value, list) else []
    first = [1 + sum(map(len, ranks[:i])) for i in range(len(ranks))]
    return {
        letter: place for place, rank in zip(first, ranks, strict=True) for letter in rank if isinstance(letter, str)
    }


def _names(letters: Sequence[str]) -> dict[str, str]:
    return {"names": join_words(letters, _("and"))}
