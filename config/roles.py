"""Who of the staff may see and do what: five roles for all studies, four in one study, from two tables.

A role for all studies is a group of Django's own permissions; a role in one study is a row of `studies.Membership`, and
`studies.access` asks both. `docs/roles.md` publishes the tables. No role sees identities, provenance and answers
together, and neither the admin (`config.admin`) nor a study's page gives one account roles that would. Whoever is an
administrator without a group (`is_superuser`) stands outside the tables and sees everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.apps import apps as installed
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db.models import Q
from django.utils.translation import gettext_lazy, pgettext_lazy

VIEW_REPORT = "reports.view_report"
BY_SOURCE = "reports.see_by_source"
VIEW_RESPONSES = "annotation.view_response"

ROLES = {
    "designer": "makes studies: instruments, steps, stories with their sources, judges",
    "coordinator": "runs studies, blind: links, places, progress, answers without sources",
    "researcher": "reads what studies amount to, by source once they are closed",
    "steward": "keeps who the raters are: names, e-mail, platform ids, payment",
    "administrator": "keeps accounts, the endpoints that may be called, and the schedule",
}
# The names are stored; these are for those who look at them.
TITLES = {
    "lead": pgettext_lazy("role", "lead"),
    "designer": pgettext_lazy("role", "designer"),
    "coordinator": pgettext_lazy("role", "coordinator"),
    "researcher": pgettext_lazy("role", "researcher"),
    "steward": pgettext_lazy("role", "steward"),
    "administrator": pgettext_lazy("role", "administrator"),
}


def title(name: str) -> str:
    """The role's name in the reader's language; of any other group its own."""
    return str(TITLES.get(name, name))


@dataclass(frozen=True)
class Data:
    """One kind of data. see, change : the permissions for it; people who may change it may see it as well"""

    title: str
    see: tuple[str, ...]
    change: tuple[str, ...] = ()


def _to_view(app: str, *models: str) -> tuple[str, ...]:
    """The permissions to see the rows of these models."""
    return tuple(f"{app}.view_{model}" for model in models)


def _to_change(app: str, *models: str) -> tuple[str, ...]:
    """The permissions to add, change and delete the rows of these models."""
    return tuple(f"{app}.{action}_{model}" for model in models for action in ("add", "change", "delete"))


_PROTOCOL = ("study", "protocolversion", "step", "instrument", "item", "cloze")
_SCHEDULE = ("periodictask", "crontabschedule", "intervalschedule", "solarschedule", "clockedschedule")
DATA = {
    "protocol": Data(
        "Studies, their steps, instruments", _to_view("studies", *_PROTOCOL), _to_change("studies", *_PROTOCOL)
    ),
    "stories": Data(
        "Stories: text and code; groups",
        _to_view("studies", "story", "storygroup"),
        _to_change("studies", "story", "storygroup"),
    ),
    "provenance": Data(
        "Provenance: sources, titles, addresses, licences, factors, texts as they came, formatting by source",
        _to_view("studies", "provenance", "source"),
        _to_change("studies", "provenance", "source"),
    ),
    "raters": Data(
        "Raters by code, consents, withdrawals; withdrawing a rater at their request",
        _to_view("annotation", "rater", "consent", "withdrawal"),
        ("annotation.add_withdrawal",),
    ),
    "places": Data(
        "Links, places, assignments",
        _to_view("annotation", "invitation", "seat", "assignment"),
        ("annotation.add_invitation", "annotation.change_invitation", "annotation.change_assignment"),
    ),
    "answers": Data(
        "Answers, rationales and their history; the long file, packages and the read API, without sources",
        _to_view("annotation", "response", "responseevent"),
    ),
    "fills": Data(
        "Filled clozes: what was written and by whom, shortlisting, the stories they became",
        _to_view("annotation", "fill"),
        ("annotation.change_fill",),
    ),
    "imports": Data(
        "Answers and scores from elsewhere: bringing them in, how their files were read",
        ("annotation.view_answerimport", "judges.view_scorecard"),
        ("annotation.add_answerimport", "judges.add_scorecard"),
    ),
    "results": Data("Reports over all sources", (VIEW_REPORT,)),
    "by_source": Data("Reports, the long file and packages by source, once the study is closed", (BY_SOURCE,)),
    "identities": Data(
        "Identities: names, e-mail, platform ids, payment",
        _to_view("annotation", "identity"),
        _to_change("annotation", "identity"),
    ),
    "judges": Data(
        "Prompts, judges, their runs",
        _to_view("judges", "prompt", "judge", "run"),
        (*_to_change("judges", "prompt", "judge"), "judges.add_run", "judges.change_run"),
    ),
    "endpoints": Data(
        "Endpoints, which of them may be called, and what models cost there",
        _to_view("judges", "endpoint", "price"),
        (*_to_change("judges", "endpoint", "price"), "judges.allow_endpoint"),
    ),
    "members": Data(
        "Members of a study and their roles in it",
        _to_view("studies", "membership"),
        _to_change("studies", "membership"),
    ),
    "accounts": Data(
        "Accounts and their roles; the schedule",
        (*_to_view("auth", "user", "group"), *_to_view("django_celery_beat", *_SCHEDULE)),
        (*_to_change("auth", "user"), *_to_change("django_celery_beat", *_SCHEDULE)),
    ),
}

# Never seen together by one account: who answered, who wrote, and what was answered.
APART = {
    "identities": {*DATA["identities"].see, *DATA["identities"].change},
    "provenance": {
        *(*DATA["provenance"].see, *DATA["provenance"].change, *DATA["by_source"].see),
        *(*DATA["fills"].see, *DATA["imports"].see, *DATA["imports"].change),
    },
    "answers": {*DATA["answers"].see, *DATA["fills"].see, *DATA["imports"].see, *DATA["imports"].change},
}

SEE, CHANGE = "sees", "changes"
TABLE: dict[str, dict[str, str]] = {
    "designer": {
        "protocol": CHANGE,
        "stories": CHANGE,
        "provenance": CHANGE,
        "places": SEE,
        "results": SEE,
        "judges": CHANGE,
        "endpoints": SEE,
        "members": SEE,
    },
    "coordinator": {
        "protocol": SEE,
        "stories": SEE,
        "raters": SEE,
        "places": CHANGE,
        "answers": SEE,
        "results": SEE,
        "judges": SEE,
        "members": SEE,
    },
    "researcher": {
        "protocol": SEE,
        "stories": SEE,
        "provenance": SEE,
        "raters": SEE,
        "places": SEE,
        "answers": SEE,
        "fills": CHANGE,
        "imports": CHANGE,
        "results": SEE,
        "by_source": SEE,
        "judges": CHANGE,
        "endpoints": SEE,
        "members": SEE,
    },
    "steward": {"raters": CHANGE, "identities": CHANGE},
    "administrator": {"endpoints": CHANGE, "members": CHANGE, "accounts": CHANGE},
}

MEMBER_ROLES = {
    "lead": gettext_lazy("designs and runs this study, reads its results, and decides who has access"),
    "coordinator": gettext_lazy("runs this study, blind: places, progress, answers without sources"),
    "researcher": gettext_lazy("reads the results of this study, by source once it is closed, and runs judges"),
    "steward": gettext_lazy("keeps who its raters are: names, e-mail, platform ids, payment"),
}
# In one study the three keep what they may do in all. Its lead has everything that is of the study but its raters'
# identities: the maker of a study knows its sources, so a lead is never blind.
MEMBER_TABLE: dict[str, dict[str, str]] = {
    "lead": {
        "protocol": CHANGE,
        "stories": CHANGE,
        "provenance": CHANGE,
        "raters": CHANGE,
        "places": CHANGE,
        "answers": SEE,
        "fills": CHANGE,
        "imports": CHANGE,
        "results": SEE,
        "by_source": SEE,
        "judges": CHANGE,
        "endpoints": SEE,
        "members": CHANGE,
    },
    "coordinator": TABLE["coordinator"],
    "researcher": TABLE["researcher"],
    "steward": TABLE["steward"] | {"members": SEE},
}


def permissions(role: str) -> set[str]:
    """The permissions of a role for all studies, as Django names them: `annotation.view_response`."""
    return _permissions(TABLE[role])


def member_permissions(role: str) -> set[str]:
    """The permissions that a role in one study gives there."""
    return _permissions(MEMBER_TABLE[role])


def _permissions(row: dict[str, str]) -> set[str]:
    return {
        name for data, may in row.items() for name in (*DATA[data].see, *(DATA[data].change if may == CHANGE else ()))
    }


def sees_all_apart(permitted: Iterable[str]) -> bool:
    """Whether somebody with these permissions would see identities, provenance and answers together."""
    return len(data_seen(permitted)) == len(APART)


def data_seen(permitted: Iterable[str]) -> list[str]:
    """Which of the data that are kept apart can be seen, at least in part, with these permissions."""
    permissions_held = set(permitted)
    return [data for data, required in APART.items() if permissions_held & required]


def create(using: str = "default", apps: Any = installed, **_: Any) -> None:
    """The five groups, each with exactly what the table says. Safe to call again, and called after every migration.

    For another set of permissions make a group of another name: this one would be put back.
    """
    try:
        apps.get_model("auth", "Permission")
    except LookupError:
        return  # a migration of some apps only, before there are groups
    for app in {name.partition(".")[0] for role in ROLES for name in permissions(role)}:
        # Django makes permissions app by app as well, but of some only after us.
        create_permissions(installed.get_app_config(app), verbosity=0, using=using)
    for role in ROLES:
        group, _created = Group.objects.using(using).get_or_create(name=role)
        group.permissions.set(_rows(permissions(role), using=using))


def _rows(names: set[str], *, using: str) -> list[Permission]:
    condition = Q()
    for name in names:
        app, _, codename = name.partition(".")
        condition |= Q(content_type__app_label=app, codename=codename)
    rows = list(Permission.objects.using(using).filter(condition))
    if len(rows) != len(names):
        raise LookupError(f"of {len(names)} permissions there are {len(rows)}: {sorted(names)}")
    return rows
