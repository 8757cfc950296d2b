"""The pages of payments: for stewards alone, entered once, corrected by a further entry."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from annotation.models import Identity, Payment, PayRate, Rater
from annotation.participation import people
from annotation.participation.invitations import ensure_rater
from studies.models import Study
from tests import factories
from tests.annotation.participation.test_payments import pay, rate, work
from tests.annotation.views.test_people_pages import at, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=2, n_stories=2, n_items=1, comparative=False)


def test_a_steward_says_the_rate_enters_a_payment_and_corrects_it(study: Study) -> None:
    steward, rater = client_of(study, "steward"), work(study)
    page = at(study, "payments")
    seen = re.search(r'name="seen" value="(\w+)"', steward.get(page).content.decode())
    assert seen is not None
    amounts = {"currency": "€", "per_group": "45", "part": "fixed", "seen": seen[1]}
    account = at(study, "account", rater.code)

    assert steward.post(page, amounts).status_code == 400, "a part without its amount"
    steward.post(page, amounts | {"part_amount": "10"})
    form = {"amount": "54", "paid_on": "2026-03-02", "reference": "T1", "once": "a" * 32}
    for _ in range(2):
        steward.post(account, form)
    entry = Payment.objects.get()
    steward.post(account, {"corrects": entry.pk, "amount": "45", "reason": "digits swapped"})
    assert steward.post(account, {"corrects": "", "amount": "45", "reason": "x"}).status_code == 400

    assert PayRate.objects.get().part_amount == Decimal(10)
    content = " ".join(steward.get(page).content.decode().split())
    assert "€ 55.00" in content
    assert "€ 45.00" in content
    assert "€ 10.00" in content
    assert list(Payment.objects.values_list("amount", "by")) == [(54, "a steward"), (-9, "a steward")]
    assert "payment corrected" in LogEntry.objects.values_list("change_message", flat=True)


def test_the_total_of_pay_stands_on_the_overview_of_whoever_plans_the_study(study: Study) -> None:
    lead, coordinator = client_of(study, "lead"), client_of(study, "coordinator")
    page = at(study, "payments").replace("payments/", "")
    without = lead.get(page).content.decode()
    PayRate.objects.create(study=study, currency="€", per_group=Decimal("22.50"))

    content = " ".join(lead.get(page).content.decode().split())

    assert "pay if every place" not in without
    assert "pay if every place is submitted, € 22.50 a group </dt> <dd>€ 135</dd>" in content, "six places"
    assert "pay if every place" not in coordinator.get(page).content.decode()


def test_nobody_else_sees_who_is_paid_and_the_page_shows_no_answer(study: Study) -> None:
    mine = factories.assignment(study)
    factories.answer(mine, why="canary words")
    Rater.objects.update(identity=Identity.objects.create(name="Ada Byron"))

    for role in ("lead", "coordinator", "researcher"):
        client = client_of(study, role)
        for page in ("payments", "ledger_file", "prolific_file"):
            assert client.get(at(study, page)).status_code == 403
        assert client.get(at(study, "account", mine.rater.code)).status_code == 403
    steward = client_of(study, "steward")
    for address in (at(study, "payments"), at(study, "account", mine.rater.code), at(study, "ledger_file")):
        content = steward.get(address).content.decode()
        assert "Ada Byron" in content
        assert not re.search(r"canary|Source \d", content)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(("page", "n_queries"), [("payments", 13), ("ledger_file", 12)])
def test_pages_take_a_fixed_number_of_queries(
    study: Study, django_assert_num_queries: Callable[..., Any], page: str, n_queries: int, n: int
) -> None:
    steward = client_of(study, "steward")
    rate(study)
    for invitation in people.note(study, [people.Person(i, f"A{i}", "", f"a{i}@example.org") for i in range(n)]):
        pay(ensure_rater(invitation), "5")
    steward.get(at(study, page))

    with django_assert_num_queries(n_queries):
        assert steward.get(at(study, page)).status_code == 200
