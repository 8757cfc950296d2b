"""`{% once %}` in a form whose view is `makes_once`."""

from django import template
from django.utils.html import format_html

from studies.views.once import FIELD, new_page

register = template.Library()


@register.simple_tag
def once() -> str:
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, new_page())
