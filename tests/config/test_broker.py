"""The brokers: a message in a file is there whole or not at all; neither a bad one nor a lost Redis ends a worker."""

import shutil
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection, Queue

from config import broker
from tests.redis import Redis

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
