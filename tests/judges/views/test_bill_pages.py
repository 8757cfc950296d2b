"""Forecasts and bills on the pages of runs and endpoints."""

import html
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError
from django.test import Client

from judges import runs
from judges.models import Attempt, Bill, Judge, Run
from judges.settlement import bills, budgets
from studies.incoming_tables.errors import UnreadableFile
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn
from tests.judges.views.pages import act, page, words

pytestmark = pytest.mark.django_db

# As Anthropic's and OpenAI's exports have them, more or less.
USAGE = b"usage_date,model,cost_usd\n2026-03-02,standin,0.75\n2026-03-01,standin,$1.50\n"


@pytest.fixture
def priced(standin: StandIn) -> Judge:
    judge = judge_at(standin, n_at_once=1, timeout_seconds=1)
    Judge.objects.update(parameters={"max_tokens": 100_000})
    judge.refresh_from_db()
    price(judge, "0", "10")
    return judge


def read_run_page(client: Client, run: Run) -> str:
    text = html.unescape(words(page(client, "researcher", f"/studies/plums/runs/{run.pk}/")))
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_after_the_probes_the_page_says_what_the_run_is_on_course_for(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    body = told.YES.body.replace('"completion_tokens": 3', '"completion_tokens": 100000')
    standin.reply = lambda hit: replace(told.YES, body=body)
    run = runs.start(sendable(study), priced, by="tests", budget=Decimal("3.5"))
    assert "On course" not in read_run_page(client, run)

    run = runs.drain(run)

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 3)
    text = read_run_page(client, run)
    assert "On course for $ 8.00; budget $ 3.50" in text  # 3 of 8 calls took a dollar each
    assert "for the calls left (5) the mean cost of those whose cost is known (3)" in text

    runs.set_budget(run, None)
    runs.drain(runs.resume(run))

    assert "On course" not in read_run_page(client, run), "nothing is left"


def test_a_bill_stands_beside_the_ledger_and_says_what_requests_of_unknown_cost_did_cost(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    silent = replace(told.YES, body=told.YES.body.replace('"usage"', '"unused"'))
    standin.script = [told.YES, silent, silent]
    run = runs.drain(runs.start(sendable(study), priced, by="tests", budget=Decimal("2.5")))
    assert (run.state, budgets.sum_costs(run)) == (Run.State.WAITING, Decimal("2.00003"))
    assert "cost unknown 2 requests" in read_run_page(client, run)
    assert "They count at most: $ 2.00, until a bill is entered" in read_run_page(client, run)

    act(client, run, "bill", amount="0.25")

    bill = Bill.objects.get()
    assert (bill.amount, bill.entered_by, bill.run_id) == (Decimal("0.25"), "researcher", run.pk)
    assert budgets.sum_costs(run) == Decimal("0.25")
    text = read_run_page(client, run)
    assert "cost unknown" not in text.partition("Bill and ledger")[0]
    assert "researcher all sent by then $ 0.25 $ 0.0001 and 2 requests of unknown cost, at most $ 2.00 +$ 0.25" in text

    run = runs.drain(runs.resume(run))

    assert (run.state, budgets.sum_costs(run)) == (Run.State.FINISHED, Decimal("0.25015")), "five more of 3 tokens"


def test_a_bill_below_what_was_counted_frees_no_money(study: Study, standin: StandIn, priced: Judge) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests", budget=Decimal(2)))
    counted = budgets.sum_costs(run)

    bills.enter_for_run(run, Decimal(0), by="ann")

    assert budgets.sum_costs(run) == counted == Decimal("0.00024")
    (row,) = bills.compare_run(run)
    assert (row.counted, row.difference, row.is_higher) == (counted, counted, False)


def test_no_bill_is_entered_while_requests_are_under_way(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests", budget=Decimal(2)))
    call = run.calls.first()
    assert call is not None
    call.attempts.update(outcome="", lease_until=run.created_at, cost=None)

    text = act(client, run, "bill", amount="1")

    assert "Requests are under way" in text
    assert not Bill.objects.exists()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "Enter an amount, or choose a file."),
        ({"amount": "-1"}, "greater than or equal to 0"),
        ({"amount": "a lot"}, "Enter a number."),
    ],
)
def test_a_bill_without_an_amount_is_refused(
    client: Client, study: Study, standin: StandIn, priced: Judge, values: dict[str, str], sentence: str
) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests"))

    text = act(client, run, "bill", **values)

    assert sentence in text
    assert not Bill.objects.exists()


def test_nothing_is_billed_before_anything_is_sent(client: Client, study: Study, priced: Judge) -> None:
    run = runs.plan(sendable(study), priced, by="tests")

    text = act(client, run, "bill", amount="1")

    assert "Nothing has been sent yet" in text
    assert not Bill.objects.exists()


def test_a_second_click_enters_no_second_bill(client: Client, study: Study, standin: StandIn, priced: Judge) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests"))
    address = f"/studies/plums/runs/{run.pk}/"
    token = re.findall(r'name="once" value="(\w+)"', page(client, "researcher", address))[-1]

    for _ in range(2):
        client.post(f"{address}bill/", {"amount": "1", "once": token})

    assert Bill.objects.count() == 1


def test_a_bill_covers_what_was_sent_before_it_whatever_the_clocks_say(
    study: Study, standin: StandIn, priced: Judge
) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests", budget=Decimal(2)))
    bills.enter_for_run(run, Decimal("0.5"), by="ann")
    call = run.calls.first()
    assert call is not None
    old = call.attempts.get()
    at = old.sent_at - timedelta(hours=1)  # by the clock of a worker that is behind
    Attempt.objects.create(
        call=call, number=2, sent_at=at, outcome="answered", cost=Decimal("0.25"), reserved=1, lease_until=at
    )

    (row,) = bills.compare_run(run)

    assert row.counted == Decimal("0.00024")
    assert budgets.sum_costs(run) == Decimal("0.75")


@pytest.mark.parametrize(
    "days", [{}, {"first_day": "2026-03-02"}, {"first_day": "2026-03-02", "last_day": "2026-03-01"}]
)
def test_the_database_takes_no_bill_of_an_endpoint_without_its_days(priced: Judge, days: dict[str, str]) -> None:
    with pytest.raises(IntegrityError):
        Bill.objects.create(endpoint=priced.endpoint, amount=1, entered_by="ann", **days)


def test_the_forecast_is_the_mean_of_the_calls_whose_cost_is_known(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    body = told.YES.body.replace('"completion_tokens": 3', '"completion_tokens": 10000')
    paid, silent = replace(told.YES, body=body), replace(told.YES, body=told.YES.body.replace('"usage"', '"unused"'))
    standin.script = [paid, silent, paid, silent, paid]
    run = runs.drain(runs.start(sendable(study), priced, by="tests", budget=Decimal("3.25")))
    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"ok": 5, "budget_stopped": 3})

    text = read_run_page(client, run)

    assert "On course for $ 0.60; budget $ 3.25" in text  # three at 0.10, and three calls left
    assert "for the calls left (3) the mean cost of those whose cost is known (3)" in text

    bills.enter_for_run(run, Decimal("0.50"), by="ann")

    text = read_run_page(client, run)
    assert "On course for $ 0.80; budget $ 3.25" in text  # five at 0.10
    assert "whose cost is known (5)" in text


def test_what_a_bill_says_was_spent_is_shown_where_no_tokens_were_counted(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    silent = replace(told.YES, body=told.YES.body.replace('"usage"', '"unused"'))
    standin.reply = lambda hit: silent
    run = runs.drain(runs.start(sendable(study), priced, by="tests"))
    assert " spent $" not in read_run_page(client, run)

    bills.enter_for_run(run, Decimal("0.5"), by="ann")

    assert " spent $ 0.50" in read_run_page(client, run)


def test_an_endpoints_bill_is_added_up_from_a_file_and_compared_with_the_same_days(
    client: Client, study: Study, standin: StandIn, priced: Judge
) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests"))
    call = run.calls.first()
    assert call is not None
    call.attempts.update(sent_at="2026-03-02T12:00:00Z")
    client.force_login(factories.staff("administrator"))
    address = f"/endpoints/{priced.endpoint_id}/"

    client.post(f"{address}bill/", {"file": SimpleUploadedFile("usage.csv", USAGE)})

    bill = Bill.objects.get()
    assert (bill.amount, str(bill.first_day), str(bill.last_day)) == (Decimal("2.25"), "2026-03-01", "2026-03-02")
    assert (bill.source, bill.entered_by) == ("usage.csv", "administrator")
    (row,) = bills.compare_endpoint(priced.required_endpoint)
    assert (row.counted, row.difference) == (Decimal("0.00003"), Decimal("2.24997"))
    assert "usage.csv" in page(client, "administrator", address)
    assert "usage.csv" in page(client, "researcher", address)


def test_a_bill_of_an_endpoint_says_which_days_it_is_for(client: Client, priced: Judge) -> None:
    client.force_login(factories.staff("administrator"))

    response = client.post(f"/endpoints/{priced.endpoint_id}/bill/", {"amount": "3"}, follow=True)

    assert "Enter the first and the last day that it is for." in response.content.decode()
    assert not Bill.objects.exists()


def test_columns_are_those_that_a_person_names() -> None:
    content = b"when;what;billed;cost center\n2026-03-01;x;1,200.50;7\n1772496000;y;0.1;7\n"

    sheet = bills.read_costs("u.csv", content, cost_column="Billed", date_column="when")

    assert (sheet.amount, str(sheet.first_day), str(sheet.last_day)) == (Decimal("1200.60"), "2026-03-01", "2026-03-03")


@pytest.mark.parametrize(
    ("content", "column", "sentence"),
    [
        pytest.param("a,b\n1,2\n", "", "Which column has the costs", id="none"),
        pytest.param("a,cost\n1,2\n", "price", "no column price", id="no such column"),
        pytest.param("Cost,CostUSD\n1,2\n", "", "Several columns may be meant: Cost, CostUSD. Name", id="two"),
        pytest.param(
            "start_time,end_time,cost\n1,2,3\n",
            "",
            "Several columns may be meant: start_time, end_time.",
            id="two of days",
        ),
        pytest.param("a,cost\n1,much\n", "", "no amount in US dollars", id="words"),
        pytest.param("a,cost\n1,1e999999\n", "", "no amount in US dollars", id="beyond numbers"),
        pytest.param("a,cost\n1,12345678901\n", "", "no amount in US dollars", id="tokens of a year"),
        pytest.param("a,amount\n" + "1,999999999\n" * 3, "", "Is amount the column of costs?", id="tokens"),
        pytest.param("a;cost\n1;0,500\n", "", "“0,500” is no amount in US dollars", id="decimal comma"),
        pytest.param("a;cost\n1;1,234\n", "", "“1,234” is no amount in US dollars", id="either comma"),
        pytest.param("a,cost\n1,2\nTotal,2\n", "", "Row 3 seems to be the sum", id="total by name"),
        pytest.param("a,cost\n1,2\n2,3.5\n,5.50\n", "", "Row 4 seems to be the sum", id="total without a name"),
        pytest.param("date,cost\nsoon,2\n", "", "is no date", id="no day"),
        pytest.param("date,cost\n", "", "no rows of costs", id="no rows"),
    ],
)
def test_a_file_that_says_no_costs_is_refused_in_a_sentence(content: str, column: str, sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=re.escape(sentence)):
        bills.read_costs("u.csv", content.encode(), cost_column=column, date_column="")


def test_costs_are_read_as_tables_write_them() -> None:
    content = b'a,cost\n1,"$1,200.50"\n2,1.5e-05\n3,-0.5 USD\n4,\n5,0.5\n6,0.5\n'

    assert bills.read_costs("u.csv", content).amount == Decimal("1201.000015")


def test_a_bill_whose_days_are_entered_needs_none_in_the_file(client: Client, priced: Judge) -> None:
    client.force_login(factories.staff("administrator"))
    file = SimpleUploadedFile("u.csv", b"generation_time_ms,cost\n812,0.5\n")

    client.post(
        f"/endpoints/{priced.endpoint_id}/bill/", {"file": file, "first_day": "2026-03-01", "last_day": "2026-03-02"}
    )

    bill = Bill.objects.get()
    assert (bill.amount, str(bill.first_day), str(bill.last_day)) == (Decimal("0.5"), "2026-03-01", "2026-03-02")


def test_the_file_of_a_runs_bill_needs_no_days(study: Study, standin: StandIn, priced: Judge, client: Client) -> None:
    run = runs.drain(runs.start(sendable(study), priced, by="tests"))
    client.force_login(factories.staff("researcher"))
    file = SimpleUploadedFile("u.csv", b"timezone,cost\nUTC,0.5\n")

    client.post(f"/studies/plums/runs/{run.pk}/bill/", {"file": file})

    assert Bill.objects.get().amount == Decimal("0.5")


def test_sentences_about_a_file_are_short() -> None:
    with pytest.raises(UnreadableFile) as refusal:
        bills.read_costs("u.csv", b"cost\n" + b"x" * 5000)
    with pytest.raises(UnreadableFile) as other:
        bills.read_costs("u.csv", ",".join(f"{'x' * 400}{n}" for n in range(150)).encode() + b"\n1\n")

    assert len(str(refusal.value)) < 200
    assert len(str(other.value)) < 500
