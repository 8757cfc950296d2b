"""The cookie of the reading settings."""

import pytest

from annotation.templatetags import reading_preferences


@pytest.mark.parametrize(
    ("cookie", "chosen"),
    [
        ("", ("system", "2", "off", "on")),
        ("dark.3.on.off", ("dark", "3", "on", "off")),
        ("sepia.1.on", ("sepia", "1", "on", "on")),
        ("dark.9.on<b>.maybe.more", ("dark", "2", "off", "on")),
    ],
)
def test_a_cookie_says_what_it_can_and_the_rest_is_as_we_set_it(cookie, chosen):
    assert tuple(reading_preferences.parse_cookie(cookie).values()) == chosen


def test_the_settings_are_kept_without_a_script_too(client, db):
    client.post("/reading/", {"theme": "dark", "size": "4", "keys": "off", "back": "/"})

    assert client.cookies["reading"].value == "dark.4.off.off"
    assert 'data-keys="off"' in client.get("/").text
