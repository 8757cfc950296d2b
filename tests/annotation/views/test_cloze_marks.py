"""Punctuation around a blank stays in its line."""

import pytest
from django.urls import reverse

from tests.annotation import clozes, walk
from tests.studies.cloze.documents import SHOES

pytestmark = pytest.mark.django_db


def test_marks_that_touch_a_blank_stay_with_it(client):
    toml = SHOES.replace("the officer turned them over. “{{5}},” she said.", "it was quiet. “{{5}}”")
    work = walk.begin(client, clozes.study(toml=toml))
    page = client.get(reverse("annotation:part", args=[work.code, "fill"])).text

    field = page.split('id="item-fill-blank-05"')[1].split("</p>")[0]
    assert "<span>“</span><textarea" in field
    assert "</textarea><span>”</span>" in field
