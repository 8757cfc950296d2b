"""Somebody signed in to the admin, and where its pages are."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin"))
    return client


def url(model: str, page: str = "changelist", *args: object) -> str:
    return reverse(f"admin:{model}_{page}", args=args)
