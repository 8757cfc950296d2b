"""A browser without JavaScript: it reads the forms of a page, fills in whatever they ask, and sends them.

It knows HTML and nothing of studies, so that it goes through a new kind of question unasked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import resolve

WORDS = "It holds, as far as I can see, on the first page and on the last."
# Elements that have no end tag, so that nothing stands in them.
VOID = {"input", "br", "img", "link", "meta", "hr", "source"}


@dataclass
class Control:
    """A field or a button. values : what may be chosen, of a select"""

    kind: str
    name: str
    value: str
    attributes: dict[str, str | None]
    values: list[str] = field(default_factory=list)


@dataclass
class Form:
    attributes: dict[str, str | None]
    controls: list[Control] = field(default_factory=list)

    @property
    def is_item(self) -> bool:
        return "item" in (self.attributes.get("class") or "").split()

    @property
    def principal(self) -> Control | None:
        """The button that a page wants pressed."""
        buttons = [c for c in self.controls if c.kind == "submit" and "disabled" not in c.attributes]
        return next((b for b in buttons if "principal" in (b.attributes.get("class") or "").split()), None)

    @property
    def first_answer(self) -> Control | None:
        """The first of several buttons that answer one question, of which the page wants none in particular."""
        buttons = [c for c in self.controls if c.kind == "submit" and c.name]
        return buttons[0] if len(buttons) > 1 and len({b.name for b in buttons}) == 1 else None

    def filled(self, turn: int, right: Mapping[str, str]) -> dict[str, Any]:
        """What is sent once every field has an answer; of several options another one each turn."""
        sent: dict[str, Any] = {}
        named: dict[tuple[str, str], list[Control]] = {}
        for control in self.controls:
            if control.name and control.kind != "submit":
                named.setdefault((control.kind, control.name), []).append(control)
        n_selects = 0
        for (kind, name), same in named.items():
            options = [control.value for control in same if control.value]
            if kind == "hidden":
                sent[name] = same[0].value
            elif kind == "radio":
                sent[name] = right.get(name, options[turn % len(options)])
            elif kind == "checkbox":
                sent[name] = [options[turn % len(options)]]
            elif kind == "select":
                # Selects side by side are places in an order: each takes another one.
                values = [value for value in same[0].values if value]
                sent[name] = values[n_selects % len(values)]
                n_selects += 1
            elif kind == "textarea":
                sent[name] = WORDS
            else:
                is_number = same[0].attributes.get("inputmode") in ("numeric", "decimal")
                sent[name] = "3" if is_number else "lantern"
        return sent


class Sheet(HTMLParser):
    """The forms of a page, with their controls wherever they stand."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._elsewhere: list[tuple[str, Control]] = []
        self._open: list[tuple[str, bool]] = []  # elements that are open, and whether they switch their fields off
        self._form: Form | None = None
        self._select: Control | None = None
        self.feed(html)
        form_by_id = {form.attributes.get("id"): form for form in self.forms}
        for owner, control in self._elsewhere:
            form_by_id[owner].controls.append(control)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in VOID:
            self._open.append((tag, tag == "template" or (tag == "fieldset" and "disabled" in attributes)))
        if any(is_off for _, is_off in self._open):
            return
        if tag == "form":
            self._form = Form(attributes)
            self.forms.append(self._form)
        elif tag == "option" and self._select:
            self._select.values.append(attributes.get("value") or "")
        elif tag in ("input", "textarea", "select", "button"):
            self._control(tag, attributes)

    def _control(self, tag: str, attributes: dict[str, str | None]) -> None:
        kind = tag
        if tag in ("input", "button"):
            kind = attributes.get("type") or ("text" if tag == "input" else "submit")
        if kind == "button" or (tag != "button" and "disabled" in attributes):
            return
        control = Control(kind, attributes.get("name") or "", attributes.get("value") or "", attributes)
        self._select = control if tag == "select" else self._select
        owner = attributes.get("form")
        if owner:
            self._elsewhere.append((owner, control))
        elif self._form:
            self._form.controls.append(control)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1][0] != tag:
            self._open.pop()
        if self._open:
            self._open.pop()
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = None


@dataclass
class Visitor:
    """Somebody with a browser.

    n_groups : after so many they have had enough
    right : by the name of the field, what they know to be right
    seen : the names of the pages that they have been on, in order
    """

    client: Client
    path: str
    n_groups: int = 99
    turn: int = 0
    right: Mapping[str, str] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def walk(self, until: str, *, most: int = 3000) -> list[str]:
        """From page to page by the principal button, every question answered, until the page of that name."""
        response = self.client.get(self.path)
        for _ in range(most):
            assert response.status_code == 200, (self.path, response.status_code, response.content.decode()[:2000])
            self.path = response.request["PATH_INFO"]
            self.seen.append(resolve(self.path).url_name or "")
            if self.seen[-1] == until:
                return self.seen
            response = self._through(Sheet(response.content.decode()))
        raise AssertionError(f"not at “{until}” after {most} pages, but at {self.path}")

    def _through(self, sheet: Sheet) -> Any:
        """Every question of the page answered, and the next page."""
        for form in sheet.forms:
            if form.is_item and not form.principal:
                kept = self.send(form, follow=False)
                assert kept.status_code == 302, (self.path, kept.status_code, kept.content.decode()[:2000])
        if self.seen[-1] == "begin" and self.seen.count("begin") > self.n_groups:
            return self.send(next(form for form in sheet.forms if "done" in (form.attributes["action"] or "")))
        onwards = [(form, form.principal or form.first_answer) for form in sheet.forms]
        onwards = [way for way in onwards if way[0].principal] or [way for way in onwards if way[1]]
        assert len(onwards) == 1, f"{self.path} has {len(onwards)} ways on"
        return self.send(*onwards[0])

    def send(self, form: Form, button: Control | None = None, *, follow: bool = True) -> Any:
        sent = form.filled(self.turn, self.right)
        self.turn += 1
        button = button or form.principal
        if button and button.name:
            sent[button.name] = button.value
        method = self.client.post if form.attributes.get("method") == "post" else self.client.get
        return method(form.attributes.get("action") or self.path, sent, follow=follow)
