"""Celery's broker of files, for machines without Redis: Kombu's, with messages that appear whole or not at all.

Kombu's own opens a message under its final name and then writes it. A worker that looks in between takes an empty file,
and dies of it (https://github.com/celery/kombu/issues/1551); in `make demo` everything else ends with it.
"""

from pathlib import Path
from queue import Empty
from time import monotonic_ns
from typing import Any, ClassVar
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

SCHEME = "files"


class Channel(filesystem.Channel):
    """Messages in a folder, one file each, taken in the order of their names."""

    def _put(  # type: ignore[override]  # Kombu's own classes differ in the second name
        self, queue: str, payload: dict[str, Any], **kwargs: Any
    ) -> None:
        """Write the message beside the others, and give it its name once it is whole."""
        folder = Path(self.data_folder_out)
        name = f"{monotonic_ns() // 1_000_000}_{uuid4()}"
        unfinished = folder / f"{name}.unfinished"
        unfinished.write_text(dumps(payload))  # type: ignore[no-untyped-call]
        unfinished.replace(folder / f"{name}.{queue}.msg")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        """The next message. Raises Empty if there is none, or if it is broken, as when the machine went down meanwhile.

        A broken one may be dropped: the work itself stands in the database, and a periodic sweep queues it again.
        """
        try:
            return dict(super()._get(queue))  # type: ignore[no-untyped-call]
        except ValueError:
            raise Empty from None


class Transport(filesystem.Transport):
    """Kombu's transport for addresses that begin with `files://`."""

    Channel = Channel
    # A folder has no host. Kombu's has a default one, and warns that it took it at every command that queues work.
    default_connection_params: ClassVar[dict[str, Any]] = {}


def register_transports() -> None:
    """Make `files://` known to Kombu, and ours for Redis in place of its own, which is imported when it is used."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:{Transport.__name__}"
    TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "config.redis_broker:RedisTransport"
