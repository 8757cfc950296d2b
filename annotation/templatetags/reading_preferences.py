"""How a person likes to read, for `<html>`: set by the server, so that no page flashes in another colour first."""

from django import template
from django.conf import settings
from django.utils.formats import get_format
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from annotation.progress import languages

register = template.Library()

COOKIE = "reading"
BROWSER = "BROWSER"  # what formats of a language call it, see config/formats
CHOICES = {
    "theme": {
        "system": gettext_noop("As the device"),
        "light": gettext_noop("Light"),
        "sepia": gettext_noop("Sepia"),
        "dark": gettext_noop("Dark"),
    },
    "size": {"2": "19", "1": "18", "3": "20", "4": "23"},  # the first is what we set; in pixels, as readers know them
    "numbers": {"off": "", "on": ""},  # boxes to tick, whose words stand on the page
    "keys": {"on": "", "off": ""},
}


@register.simple_tag(takes_context=True)
def reading_settings(context: template.Context) -> dict[str, str]:
    """Theme, size, paragraph numbers and letter keys by cookie; the first choice where it makes no sense.

    So a page is as dark as its device until somebody chooses.
    """
    request = context.get("request")  # error pages may be rendered without one
    return parse_cookie(request.COOKIES.get(COOKIE, "") if request else "")


@register.simple_tag
def reading_choices(name: str) -> list[tuple[str, str]]:
    """What can be chosen, in an order for eyes, as value and label."""
    choices = sorted(CHOICES[name].items()) if name == "size" else CHOICES[name].items()
    return [(value, _(label)) for value, label in choices]


@register.simple_tag
def browsers_locale() -> str:
    """The locale by which scripts write times, so that they look as those that the server wrote."""
    name = str(get_format(BROWSER))
    return get_language() or settings.LANGUAGE_CODE if name == BROWSER else name


@register.simple_tag(takes_context=True)
def language_choices(context: template.Context) -> list[tuple[str, str, bool]]:
    """The languages of the interface, each by its own name: code, name, and whether the visitor has chosen it."""
    request = context.get("request")
    chosen = languages.chosen_language(request) if request else ""
    return [(code, name, code == chosen) for code, name in settings.LANGUAGES]


def parse_cookie(cookie: str) -> dict[str, str]:
    """`dark.3.on.off` as theme, size, numbers and keys."""
    values = dict(zip(CHOICES, cookie.split("."), strict=False))
    return {name: _one_of(allowed, values.get(name, "")) for name, allowed in CHOICES.items()}


def _one_of(allowed: dict[str, str], value: str) -> str:
    return value if value in allowed else next(iter(allowed))
