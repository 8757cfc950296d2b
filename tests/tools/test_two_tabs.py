import pytest

from annotation import responses
from annotation.responses import recording
from tools.trials import two_tabs

pytestmark = pytest.mark.django_db


def test_two_windows_overwrite_nothing_silently() -> None:
    found = two_tabs.run(60)

    assert found["conflicts"] > 5, "the windows did not get into each other's way"
    assert found["silent overwrites"] == 0


def test_without_revisions_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    record = responses.record
    monkeypatch.setattr(responses, "record", lambda *a, base=None, **given: record(*a, base=None, **given))

    assert two_tabs.run(60)["silent overwrites"] > 5


def test_with_every_page_taken_for_the_same_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's name in the key is what tells one's own unheard save from somebody else's."""
    monkeypatch.setattr(recording, "_follows", lambda key, earlier: True)

    assert two_tabs.run(60)["silent overwrites"] > 5
