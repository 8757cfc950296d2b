"""Durations, times and small numbers in words."""

from datetime import datetime

from django import template
from django.utils.formats import date_format
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def in_words(minutes: int) -> str:
    """95 as “1 h 35 min”; 0, since only whole minutes are counted, as “less than a minute”."""
    if not minutes:
        return _("less than a minute")
    hours, rest = divmod(minutes, 60)
    if not hours:
        return _("%(minutes)d min") % {"minutes": rest}
    if not rest:
        return _("%(hours)d h") % {"hours": hours}
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": rest}


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
