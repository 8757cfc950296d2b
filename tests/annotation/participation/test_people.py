"""People noted from lines: all or none, names and addresses where stewards alone see them."""

import pytest
from django.test import override_settings

from annotation.models import Identity, Invitation
from annotation.participation import invitations, people, withdrawal
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def note(study, *lines: str) -> list[Invitation]:
    return people.note(study, people.read_people("\n".join(lines)))


def test_lines_hold_a_label_an_address_and_a_name_in_several_ways() -> None:
    lines = [
        "Novelist 1, ada@example.org",
        "",
        '"Teacher, Leeds"',
        "Editor; Ben Byrd; ben@example.org",
        "Poet\tCy <cy@example.org>",
    ]

    read = [(p.line, p.label, p.name, p.email) for p in people.read_people("\n".join(lines))]

    assert read == [
        (1, "Novelist 1", "", "ada@example.org"),
        (3, "Teacher, Leeds", "", ""),
        (4, "Editor", "Ben Byrd", "ben@example.org"),
        (5, "Poet", "Cy", "cy@example.org"),
    ]


def test_a_table_may_name_its_columns_in_any_order() -> None:
    [person] = people.read_people("e-mail,label,name\nada@example.org,Novelist,Ada")

    assert (person.label, person.name, person.email) == ("Novelist", "Ada", "ada@example.org")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["A, x@example.org", "B, X@example.org"], "Line 2: the same address is in line 1."),
        (["A", "a"], "Line 2: “a” is also in line 1."),
        (["A, b, c, d@example.org"], "Line 1: it has more than a label"),
        (["A, not@an@address"], "Line 1: “not@an@address” is not an e-mail address."),
        (["A, a@example.org, b@example.org"], "Line 1: it has two addresses"),
        ([""], "No people found. Enter one person per line."),
        (["New, old@example.org"], "Line 1: this address belongs to “Old”"),
        (["Fine, fine@example.org", "old"], "Line 2: there is a “old” in this study already."),
    ],
)
def test_a_line_that_is_not_right_is_named_and_nobody_is_noted(lines: list[str], words: str) -> None:
    study = factories.study()
    note(study, "Old, old@example.org")

    with pytest.raises(people.CannotNote) as refusal:
        note(study, *lines)

    assert words in str(refusal.value)
    assert (study.invitations.count(), Identity.objects.count()) == (1, 1)


def test_somebody_who_takes_part_elsewhere_stays_one_identity() -> None:
    plums, pears = factories.study(), factories.study("pears")
    [first], [second] = note(plums, "A, Ada, ada@example.org"), note(pears, "B, ADA@example.org")

    assert first.identity == second.identity


def test_whoever_comes_in_by_a_link_is_who_it_was_for() -> None:
    [invitation] = note(factories.study(), "A, Ada, ada@example.org")

    assert invitations.ensure_rater(invitation).identity == invitation.identity


def test_withdrawing_forgets_the_address_even_if_it_was_filled_in_later() -> None:
    [invitation] = note(factories.study(), "A")
    rater = invitations.ensure_rater(invitation)
    people.change_address(invitation, name="Ada", email="ada@example.org")

    withdrawal.withdraw(rater, at=NOON)

    assert not Identity.objects.exists()


def test_an_invitation_taken_back_before_anybody_came_forgets_who_it_was_for() -> None:
    [invitation] = note(factories.study(), "A, Ada, ada@example.org")

    people.take_back(invitation, at=NOON)

    assert not Identity.objects.exists()
    assert Invitation.objects.get().revoked_at == NOON


def test_a_link_can_be_written_again_and_outlives_a_new_key_of_the_server() -> None:
    [invitation] = note(factories.study(), "A")
    token = invitations.hand_over(invitation, at=NOON)

    assert invitations.hand_over(Invitation.objects.get(), at=NOON) == token
    with override_settings(SECRET_KEY="another " * 8):
        assert invitations.find_by_token(token, at=NOON) == invitation
        other = invitations.hand_over(Invitation.objects.get(), at=NOON)
    assert other != token
    assert invitations.find_by_token(token, at=NOON) is None
    assert invitations.find_replaced(token) == invitation


def test_no_row_holds_a_link() -> None:
    [invitation] = note(factories.study(), "A")
    token = invitations.hand_over(invitation, at=NOON)

    row = Invitation.objects.values().get()
    assert token not in str(row)
    assert len(row["nonce"]) == 32, "128 random bits"
