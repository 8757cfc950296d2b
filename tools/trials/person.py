"""A rater before a real server, over plain HTTP, saving as the pages' script does."""

import gzip
import http.client
import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
REVISION = re.compile(r'id="base-[^"]*" value="(\d+)"')
TIMEOUT = 20


class Failed(Exception):
    """No answer came, or one that says that nothing was saved."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str
    n_bytes: int


@dataclass
class Person:
    """One browser: its cookies, its connection, its page's name, and how many saves that page has made."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    token: str = ""
    page: str = field(default_factory=lambda: secrets.token_hex(8))
    n_saves: int = 0
    compresses: bool = False
    connection: http.client.HTTPConnection | None = None

    def come_in(self, link: str) -> str:
        """By the link to the first question: its address."""
        path = urlsplit(link).path
        self.get(path)
        self.follow(self.post(path, {}))
        self.get("/consent/")
        self.post("/consent/", {"agrees": "yes"})
        self.get("/group/")
        return self.follow(self.post("/group/", {}))

    def get(self, path: str) -> Answer:
        answer = self.request("GET", path)
        if match := TOKEN.search(answer.text):
            self.token = match[1]
        return answer

    def post(self, path: str, fields: dict[str, object], *, htmx: bool = False) -> Answer:
        return self.request("POST", path, {"csrfmiddlewaretoken": self.token} | fields, htmx=htmx)

    def follow(self, answer: Answer) -> str:
        """Where redirects end."""
        path = ""
        while answer.status == 302:
            path = answer.headers["location"]
            answer = self.get(path)
        return path

    def request(self, method: str, path: str, fields: dict[str, object] | None = None, *, htmx: bool = False) -> Answer:
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
        headers |= {"HX-Request": "true"} if htmx else {}
        headers |= {"Accept-Encoding": "gzip"} if self.compresses else {}
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            self.connection.request(method, path, urlencode(fields or {}) or None, headers)
            response = self.connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.hang_up()
            raise Failed(str(error)) from error
        for name, value in response.getheaders():
            if name.lower() == "set-cookie":
                cookie, _, content = value.partition(";")[0].partition("=")
                self.cookies[cookie] = content
        headers = {k.lower(): v for k, v in response.getheaders()}
        text = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        return Answer(response.status, headers, text.decode(), len(body))

    def hang_up(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None

    def next_key(self) -> str:
        self.n_saves += 1
        return f"{self.page}-{self.n_saves}"

    def save(self, path: str, *, name: str, value: str, why: str, base: int, key: str) -> int:
        """The revision after the save is committed. Raises Failed if that is not known."""
        answer = self.post(path, {name: value, "rationale": why, "base": base, "key": key}, htmx=True)
        if answer.status != 200:
            raise Failed(str(answer.status))
        match = REVISION.search(answer.text)
        if match is None:
            raise Failed("the answer names no revision")
        return int(match[1])
