"""A new instrument is found by its file's name, loaded by the command, and can be a step of a study."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from studies.documents.instrument import discover
from studies.models import Instrument
from tests.probes import given


@pytest.mark.django_db
def test_the_instrument_is_found_loaded_and_asked(client: Client, admin_client: Client) -> None:
    with pytest.raises(CommandError, match=r"the built-in instruments are .*\bfirst-line\b"):
        call_command("load_instrument", "nothing")
    out = io.StringIO()
    call_command("load_instrument", "first-line", stdout=out)
    instrument = Instrument.objects.get(slug="first-line")

    _, page = given.desk_of(instrument, client, item="hook")

    assert "first-line" in discover()
    assert "first-line@1: The first line, 1 item," in out.getvalue()
    assert "first-line" in admin_client.get(reverse("admin:studies_instrument_changelist")).text
    assert "Does the first line make you read on?" in page
