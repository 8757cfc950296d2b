"""Two people at one form: the second sees what the first one saved before anything of theirs takes its place."""

from django import forms

from studies.views.edits import EditForm, ForeignChange


class PayForm(EditForm):
    pay = forms.CharField(label="Pay")
    minutes = forms.IntegerField(label="Minutes", required=False)


def opened() -> dict[str, str]:
    """What a page of the form posts that was opened before anybody saved."""
    form = PayForm(initial={"pay": "50", "minutes": None})
    return {"seen": form.seen_value, "pay": "60", "minutes": ""}


def test_a_form_is_saved_if_nobody_else_saved_since_it_was_opened() -> None:
    assert PayForm(opened(), initial={"pay": "50", "minutes": None}).is_valid()


def test_the_second_to_save_is_shown_what_the_first_saved_and_may_save_again() -> None:
    form = PayForm(opened(), initial={"pay": "55", "minutes": 90})

    assert not form.is_valid()
    assert form.changes == [ForeignChange("Pay", "55", "60"), ForeignChange("Minutes", "90", "")]
    assert PayForm({**opened(), "seen": form.seen_value}, initial={"pay": "55", "minutes": 90}).is_valid()


def test_a_form_without_what_its_reader_saw_is_not_saved() -> None:
    assert not PayForm({"pay": "60", "minutes": ""}, initial={"pay": "50", "minutes": None}).is_valid()


def test_what_both_saved_alike_is_no_change() -> None:
    assert PayForm(opened(), initial={"pay": "60", "minutes": None}).is_valid()
