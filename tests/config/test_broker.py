"""The broker of files: a message is there whole or not at all, and a bad one ends nothing."""

from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from django.conf import settings
from kombu import Connection

from config import broker

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
