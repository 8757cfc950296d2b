"""The README names every command and every setting, and nothing that is not there."""

import re
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands

BASE = Path(settings.BASE_DIR)
README = (BASE / "README.md").read_text()
OURS = {"studies", "annotation", "judges", "judges.laboratory", "reports"}


def test_every_command_of_ours_is_in_the_readme_and_no_other() -> None:
    ours = {name for name, app in get_commands().items() if app in OURS}

    assert set(re.findall(r"`manage\.py (\w+)", README)) == ours


def test_every_setting_that_is_read_from_the_environment_is_in_the_readme() -> None:
    read = set(re.findall(r'(?:env\.\w+|switch)\("(\w+)"', (BASE / "config" / "settings.py").read_text()))
    said = {
        name for row in re.findall(r"^\| (`[A-Z].*?) \|", README, flags=re.M) for name in re.findall(r"`(\w+)`", row)
    }

    of_compose = set(re.findall(r"\$\{(\w+)", (BASE / "docker-compose.yml").read_text()))
    assert of_compose
    assert read | of_compose == said - {"QUIRE_DATA"}


def test_every_setting_of_the_example_is_in_the_readme() -> None:
    names = re.findall(r"^(\w+)=", (BASE / ".env.example").read_text(), flags=re.M)

    assert len(names) > 5
    assert [name for name in names if f"`{name}`" not in README] == []


def test_every_make_target_is_in_the_readme_and_no_other() -> None:
    targets = set(re.findall(r"^(\w+):.*##", (BASE / "Makefile").read_text(), flags=re.M))

    assert set(re.findall(r"(?:`|^)make (\w+)", README, flags=re.M)) == targets


def test_every_link_of_the_readme_leads_to_a_file() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]

    assert links
    assert [link for link in links if not (BASE / link).exists()] == []
