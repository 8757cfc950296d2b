"""What is read in a reply that proposes another prompt."""

import pytest

from judges.laboratory import recipes
from judges.laboratory.recipes import Brief, Finished, GaveUp
from judges.laboratory.recipes.alignment_proposal import read_proposal

RECIPE = recipes.find_recipe("alignment-proposal")


@pytest.mark.parametrize(
    "reply",
    [
        "I would make it stricter.",
        '{"changes": "none"}',
        '{"template": ""}',
        '{"template": 3}',
        '{"template": "{{ stories }}',
        '{"template": "a", "template": "b"}',
        "",
    ],
)
def test_without_one_template_it_gives_up(reply: str) -> None:
    assert isinstance(RECIPE.next_step(Brief(), [reply]), GaveUp)


def test_the_last_object_with_a_template_counts_whatever_stands_around_it() -> None:
    template = '{{ stories }}\n and {\\"answer\\": …}'
    reply = f'So {{"changes": "x"}} or:\n```json\n{{"changes": "stricter", "template": "{template}"}}\n```'

    assert isinstance(RECIPE.next_step(Brief(), [reply]), Finished)
    assert read_proposal(reply) == {
        "changes": "stricter",
        "system": "",
        "template": '{{ stories }}\n and {"answer": …}',
    }
