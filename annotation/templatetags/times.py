"""Durations, times and small numbers in words."""

from datetime import datetime

from django import template
from django.utils.formats import date_format
from django.utils.translation import gettext as _

register = template.Library()


# What belongs together does not stand on two lines.
_NO_BREAK = "\N{NO-BREAK SPACE}"


@register.filter
def in_words(minutes: int) -> str:
    """95 as “1 h 35 min”; 0, since only whole minutes are counted, as “less than a minute”."""
    return describe_minutes(minutes) if minutes else _("less than a minute")


def describe_minutes(minutes: int) -> str:
    """95 as “1 h 35 min”, and 0 as “0 min”; on one line."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        words = _("%(minutes)d min") % {"minutes": rest}
    elif not rest:
        words = _("%(hours)d h") % {"hours": hours}
    else:
        words = _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": rest}
    return words.replace(" ", _NO_BREAK)


@register.filter
def day_and_time(at: datetime) -> str:
    """“2 March 2026, 12:00 UTC”, the day in the format of the language."""
    return f"{date_format(at)}, {time_of_day(at)}"


@register.filter
def time_of_day(at: datetime) -> str:
    """“12:00 UTC”; always with the zone, which Django's own formats leave out."""
    return date_format(at, "H:i e")


@register.filter(expects_localtime=True)
def to_the_second(at: datetime | None) -> str:
    """“2 March 2026, 12:00:07 UTC”, where many times fall into one minute and their order matters; "" for none."""
    return f"{date_format(at)}, {date_format(at, 'H:i:s e')}" if at else ""
