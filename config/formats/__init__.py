"""How dates and times are written, one way for each language, on every page: raters', reports, the admin.

`formats.py` of a language says it to Django and, by the name of a locale whose `Intl` formats look the same, to the
browser, which writes times in the reader's own zone.
"""

from django.utils.translation import gettext_noop

# In our own catalogue, since Django's writes them with capitals in languages that do not.
MONTHS = [
    gettext_noop("January"),
    gettext_noop("February"),
    gettext_noop("March"),
    gettext_noop("April"),
    gettext_noop("May"),
    gettext_noop("June"),
    gettext_noop("July"),
    gettext_noop("August"),
    gettext_noop("September"),
    gettext_noop("October"),
    gettext_noop("November"),
    gettext_noop("December"),
]
