"""The world of secrets, built once for all tests of a module."""

import pytest

from tests.trust import world as worlds
from tests.trust.world import World


@pytest.fixture(scope="module")
def built(module_db: None) -> World:
    return worlds.build()


@pytest.fixture
def world(built: World, db: None) -> World:
    return worlds.copied(built)
