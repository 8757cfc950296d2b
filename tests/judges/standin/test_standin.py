"""The stand-in does as it is told, and counts right: what benches and trials say rests on it."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx2
from django.conf import settings

from tests.judges import standin as told
from tests.judges.standin import Hit, Reply, StandIn, serving
from tests.judges.standin.__main__ import Faults, order

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Is it good?"}]}


def ask(standin: StandIn, *bodies: dict[str, Any], path: str = "/chat/completions") -> list[httpx2.Response]:
    """The replies to requests that are all sent at once."""

    async def send() -> list[httpx2.Response]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(base_url=standin.base_url, limits=limits, timeout=60) as client:
            return await asyncio.gather(*(client.post(path, json=body) for body in bodies))

    return asyncio.run(send())


def test_the_script_comes_first_and_then_the_rule() -> None:
    with serving() as standin:
        standin.script = [told.NO, told.BUSY]
        replies = [ask(standin, CHAT)[0] for _ in range(3)]

    assert [reply.status_code for reply in replies] == [200, 429, 200]
    assert [reply.text for reply in replies] == [told.NO.body, told.BUSY.body, told.YES.body]
    assert replies[1].headers["retry-after"] == "0.01"


def test_hundreds_at_once_are_served_and_counted() -> None:
    everybody_is_in = asyncio.Event()
    with serving() as standin:

        async def wait(hit: Hit) -> Reply:
            standin.hits.append(hit)
            if len(standin.hits) == 300:
                everybody_is_in.set()
            await everybody_is_in.wait()
            return told.YES

        standin.next = wait  # type: ignore[method-assign]
        replies = ask(standin, *(CHAT | {"seed": n} for n in range(300)))

        assert {reply.status_code for reply in replies} == {200}
        assert (standin.most_at_once, standin.n_at_once) == (300, 0)


def test_hits_are_counted_by_call() -> None:
    with serving() as standin:
        ask(standin, CHAT, CHAT, CHAT | {"seed": 1})

        assert sorted(standin.n_by_call.values()) == [1, 2]
        assert standin.seen()["most_hits_of_a_call"] == 2


def test_a_client_that_leaves_is_no_longer_in_flight() -> None:
    with serving() as standin:
        standin.script = [told.HANG, told.YES]

        async def leave() -> list[int]:
            async with httpx2.AsyncClient(base_url=standin.base_url) as client:
                call = asyncio.create_task(client.post("/chat/completions", json=CHAT))
                while not standin.n_at_once:
                    await asyncio.sleep(0)
                call.cancel()
                while standin.n_at_once:
                    await asyncio.sleep(0)
                return [(await client.post("/chat/completions", json=CHAT)).status_code, standin.most_at_once]

        assert asyncio.run(leave()) == [200, 1]


def test_a_large_reply_is_made_as_it_is_sent() -> None:
    with serving() as standin:
        standin.script = [Reply(told.YES.body, n_bytes=3_000_000)]
        (reply,) = ask(standin, CHAT)

    assert len(reply.content) == 3_000_000
    assert json.loads(reply.text) == json.loads(told.YES.body)


def test_anthropics_messages_are_made_from_the_same_replies() -> None:
    with serving() as standin:
        standin.script = [told.YES, told.TRUNCATED, told.REFUSED, told.OVERLOADED]
        documents = [ask(standin, CHAT, path="/messages")[0].json() for _ in range(4)]

    assert [document.get("stop_reason") for document in documents] == ["end_turn", "max_tokens", "refusal", None]
    assert documents[0]["content"] == [{"type": "text", "text": 'It is so, since it ends well.\n{"answer": "yes"}'}]
    assert documents[3]["error"] == {"type": "overloaded_error", "message": "overloaded"}


def test_embeddings_and_log_probabilities_depend_on_the_text_alone() -> None:
    with serving() as standin:
        (vectors,) = ask(standin, {"model": "e", "input": ["one", "two", "one"]}, path="/embeddings")
        (echo,) = ask(standin, {"model": "l", "prompt": "a bb ccc", "echo": True}, path="/completions")

    one, two, again = (row["embedding"] for row in vectors.json()["data"])
    assert one == again != two
    assert echo.json()["choices"][0]["logprobs"] == {
        "tokens": ["a", "bb", "ccc"],
        "token_logprobs": [None, -2.0, -3.0],
        "text_offset": [0, 2, 5],
    }


def test_faults_come_at_their_rates_and_alike_each_time() -> None:
    faults = Faults(errors=0.2, malformed=0.1, yes_rate=0.25, seed=7)
    hits = [Hit("/v1/chat/completions", "", CHAT | {"seed": n}) for n in range(2000)]

    replies = [faults.reply(hit, n_before=0, seconds=0) for hit in hits]

    assert replies == [faults.reply(hit, n_before=0, seconds=99) for hit in hits]
    assert replies != [faults.reply(hit, n_before=1, seconds=0) for hit in hits], "another try may fare better"
    bodies = [reply.body for reply in replies]
    rates = [bodies.count(reply.body) / 2000 for reply in (told.ERROR, told.GARBAGE)]
    assert [round(rate, 1) for rate in rates] == [0.2, 0.1]
    assert 0.2 < bodies.count(told.YES.body) / (bodies.count(told.YES.body) + bodies.count(told.NO.body)) < 0.3


def test_bursts_of_429_come_and_go() -> None:
    faults, hit = Faults(busy_seconds=5, busy_every=15), Hit("/v1/chat/completions", "", CHAT)

    statuses = [faults.reply(hit, n_before=0, seconds=seconds).status for seconds in (0, 4.9, 5, 14.9, 15, 20)]

    assert statuses == [429, 429, 200, 200, 429, 200]


def test_orders_are_dealt_out_by_the_server() -> None:
    with serving() as standin:
        order(standin, Faults(errors=1.0))

        assert ask(standin, CHAT)[0].status_code == 500


def test_it_runs_by_itself_and_is_told_and_asked_over_http() -> None:
    command = [sys.executable, "-m", "tests.judges.standin", "--yes-rate", "0"]
    with subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        standin = StandIn()
        standin.base_url = process.stdout.readline().strip()
        try:
            ask(standin, {"script": [{"body": "{}", "status": 503}]}, path="/tell")
            replies = [ask(standin, CHAT)[0] for _ in range(2)]
            seen = httpx2.get(f"{standin.base_url}/seen").json()
        finally:
            process.terminate()

    assert [reply.status_code for reply in replies] == [503, 200]
    assert replies[1].text == told.NO.body
    # The one that counts is itself in flight.
    assert seen == {"n_hits": 2, "n_calls": 1, "most_hits_of_a_call": 2, "n_at_once": 1, "most_at_once": 1}
    assert process.returncode == 0
