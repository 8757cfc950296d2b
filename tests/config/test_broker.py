"""The brokers: a message in a file is there whole or not at all; neither a bad one nor a lost Redis ends a worker."""

import shutil
import subprocess
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from kombu import Connection, Queue

from config import broker
from tests.redis import Redis
from tests.worker import until, working

MESSAGE = {"body": "work", "headers": {}}


@pytest.fixture
def channel(tmp_path: Path) -> Any:
    folders = dict.fromkeys(["data_folder_in", "data_folder_out"], str(tmp_path)) | {"control_folder": str(tmp_path)}
    return Connection(f"{broker.SCHEME}://", transport_options=folders).channel()


def test_a_message_cannot_be_taken_before_it_is_whole(channel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []

    def replace(source: Path, target: Path) -> Path:
        with pytest.raises(Empty):
            taken.append(channel._get("celery"))
        return source.rename(target)

    monkeypatch.setattr(broker.Path, "replace", replace)
    channel._put("celery", MESSAGE)

    assert taken == []
    assert channel._get("celery") == MESSAGE


@pytest.mark.parametrize("content", ["", '{"body": '])
def test_half_a_message_is_passed_over_and_the_next_one_is_taken(channel: Any, tmp_path: Path, content: str) -> None:
    (tmp_path / "0_half.celery.msg").write_text(content)
    channel._put("celery", MESSAGE)

    with pytest.raises(Empty):
        channel._get("celery")

    assert channel._get("celery") == MESSAGE
    assert list(tmp_path.glob("*.msg")) == []


def test_a_folder_has_no_host_to_warn_about(channel: Any, caplog: pytest.LogCaptureFixture) -> None:
    channel.connection.client.clone().as_uri()

    assert caplog.messages == []


@pytest.mark.embedded
def test_workers_use_it_where_there_is_no_redis() -> None:
    assert settings.CELERY_BROKER_URL == "files://"


@pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server")
def test_a_connection_is_closed_after_redis_has_gone_though_a_message_was_not_acknowledged() -> None:
    """A worker that closes it so after a restart of Redis must not end of it: all others of `make demo` would, too."""
    redis = Redis()
    redis.start()
    try:
        connection = Connection(redis.url)
        queue = Queue("judges")(connection.ensure_connection(max_retries=20, interval_start=0.1).default_channel)
        queue.declare()
        connection.Producer().publish("work", routing_key="judges")
        assert queue.get().payload == "work"
    finally:
        redis.stop()
    connection.default_channel._disconnect_pools()
    channel = connection.default_channel
    connection._do_close_transport()

    channel.close()

    assert channel.closed


def test_a_worker_waits_for_redis_however_long_it_is_away() -> None:
    assert current_app.conf.broker_connection_max_retries is None


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server")
def test_a_worker_outlives_a_redis_that_answers_with_errors_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that may not write, such as a replica whose first server is gone; or one that is still loading."""
    redis = Redis()
    monkeypatch.setenv("REDIS_URL", redis.url)
    redis.start()
    try:
        with Connection(redis.url) as connection, working("threads") as worker:
            connection.ensure_connection(max_retries=20, interval_start=0.1)
            client = connection.default_channel.client

            def send_and_wait() -> bool:
                current_app.send_task("celery.accumulate", args=[1], connection=connection)
                return until(lambda: client.llen("celery") == 0)

            assert send_and_wait()

            client.replicaof("127.0.0.1", 1)
            with pytest.raises(subprocess.TimeoutExpired):
                worker.wait(timeout=10)
            client.replicaof("NO", "ONE")

            assert send_and_wait()
            assert worker.poll() is None
    finally:
        redis.stop()
