"""`{% once %}` in a form whose view is `makes_once`."""

import uuid

from django import template
from django.utils.html import format_html

from studies.models import PostedForm

register = template.Library()


@register.simple_tag
def once() -> str:
    return format_html('<input type="hidden" name="{}" value="{}">', PostedForm.FIELD, uuid.uuid4().hex)
