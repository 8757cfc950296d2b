"""What Quire writes into its own log, for the tests that look at it."""

import logging
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from config.logs import JsonLineFormatter


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What the handler of the settings writes."""
    (handler,) = [h for h in logging.getLogger().handlers if isinstance(h.formatter, JsonLineFormatter)]
    assert isinstance(handler, logging.StreamHandler)
    stream = StringIO()
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before or sys.stderr)
