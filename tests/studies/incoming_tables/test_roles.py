"""What holds of the roles of every importer, so that a new one is a line in its list."""

from dataclasses import fields

import pytest

from annotation.answer_import import roles
from annotation.responses import Answer
from annotation.responses.imports import Row
from judges import score_import
from studies.incoming_tables.roles import Role, plain_name, recognise
from studies.story_import import columns

ROLES = {"stories": columns.ROLES, "answers": roles.ROLES, "scores": score_import.ROLES}


@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_every_role_is_recognised_by_each_of_its_names_and_no_other_role_is(roles: tuple[Role, ...]) -> None:
    names = [name for role in roles for name in role.names.split()]

    assert len({role.key for role in roles}) == len(roles)
    assert len(set(names)) == len(names)
    assert [plain_name(name) for name in names] == names
    for role in roles:
        assert str(role.title)
        for name in role.names.split():
            assert recognise([f" {name.replace('_', '-').upper()}"], roles) == {
                f" {name.replace('_', '-').upper()}": role.key
            }


@pytest.mark.parametrize("listed", [roles.FACTS, score_import.ROLES], ids=["answers", "scores"])
def test_what_a_role_says_of_an_answer_is_a_field_of_its_row(listed: tuple[Role, ...]) -> None:
    names = [role.field or role.key for role in listed if role.key not in score_import.PLACES]

    assert names
    assert set(names) <= {field.name for field in (*fields(Row), *fields(Answer))}


def test_a_column_of_the_very_name_comes_before_one_that_is_like_it_and_a_role_is_given_once() -> None:
    columns_in_file = ["author", "model", "Source", "votes", "Likes"]

    assert recognise(columns_in_file, columns.ROLES) == {"Source": "source", "votes": "factor", "Likes": "factor"}
