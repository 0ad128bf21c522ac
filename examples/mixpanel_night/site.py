"""How the people and machines of the night reach the site: forms over HTTP, the API with a token, commands."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent.parent
Fields = list[tuple[str, str]]


class Stuck(Exception):
    """The night cannot go on: what was awaited, what was seen instead, and the log of the site that says more."""

    def __init__(self, awaited: str, seen: str, log: str = "web.log") -> None:
        super().__init__(f"{awaited} was awaited; seen: {seen}")
        self.awaited, self.seen, self.log = awaited, seen, log


class Site:
    """One running installation: its address, its data folder, its agent's token."""

    def __init__(self, address: str, data: Path) -> None:
        self.address, self.data = address, data
        self.environment = {
            **os.environ,
            "SPELLBOOK_DATA_DIR": str(data),
            "DATABASE_URL": f"sqlite:///{data / 'spellbook.sqlite3'}",
            "SPELLBOOK_ENVIRONMENT": "demo",
        }
        self.token = ""

    def command(self, *arguments: str, text: str | None = None) -> str:
        """What one management command printed; Stuck, with its own sentence, when it fails."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT, env=self.environment, input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise Stuck(f"manage.py {arguments[0]}", last_line(done.stderr or done.stdout), "")
        return done.stdout

    def api(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """One call of the API as the orchestrator's agent."""
        with httpx.Client(base_url=self.address, timeout=60) as client:
            headers = {"Authorization": f"Bearer {self.token}"}
            answer = asked(client, method, f"/api/v1{path}", headers=headers, **options)
        return dict(answer.json())

    def announce(self, **fields: Any) -> dict[str, Any]:
        """Announce a build: keyword values are form fields, `files` maps an artifact to its path."""
        files = {name: path.read_bytes() for name, path in fields.pop("files", {}).items()}
        for name in ("outputs", "facts"):
            if name in fields:
                fields[name] = json.dumps(fields[name])
        sent = {name: (f"{name}.json", data) for name, data in files.items()} or None
        return self.api("POST", "/builds", data=fields, files=sent)

    def record(self, asset: str, metric: str, value: int, build: str | None = None) -> dict[str, Any]:
        """Record one value as the orchestrator's agent."""
        return self.api("POST", "/values", json={"asset": asset, "metric": metric, "value": value, "build": build})

    def wait(
        self, what: str, ready: Callable[[], Any], seen: Callable[[], str], *, log: str, seconds: float = 120
    ) -> Any:
        """Ask until the answer is true; Stuck, with what is seen by then, when it never is."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            answer = ready()
            if answer:
                return answer
            time.sleep(0.3)
        raise Stuck(f"{what} (for {seconds:.0f} s)", seen(), log)

    def sign_in(self, email: str, password: str) -> Person:
        """Sign in as a person, as a browser does."""
        return Person(self, email, password)


class Person:
    """Somebody signed in: reads pages and posts the forms that stand on them."""

    def __init__(self, site: Site, email: str, password: str) -> None:
        self.client = httpx.Client(base_url=site.address, timeout=30, follow_redirects=True)
        self.post("/sign-in", "/sign-in", [("email", email), ("password", password)])

    def read(self, path: str) -> str:
        """The text of a page."""
        return asked(self.client, "GET", path).text

    def post(self, page: str, action: str, fields: Fields) -> httpx.Response:
        """Post one form of a page with its hidden fields, the CSRF token among them."""
        form = next((form for form in forms(self.read(page)) if form.action in (action, "")), None)
        if form is None:
            raise Stuck(f"a form for {action} on the page {page}", "there is none")
        given = {name for name, _ in fields}
        hidden = [(name, value) for name, value in form.hidden if name not in given]
        body: dict[str, list[str]] = {}
        for name, value in [*hidden, *fields]:
            body.setdefault(name, []).append(value)
        return asked(self.client, "POST", action, data=body, headers={"Referer": str(self.client.base_url)})


def asked(client: httpx.Client, method: str, path: str, **options: Any) -> httpx.Response:
    """The answer to one request; Stuck, with the sentence of the refusal, for one that is no success."""
    try:
        answer = client.request(method, path, **options)
    except httpx.HTTPError as error:
        raise Stuck(f"{method} {path}", f"no answer ({type(error).__name__})") from None
    if answer.is_error:
        raise Stuck(f"{method} {path}", f"{answer.status_code}, {refusal(answer)}")
    return answer


def refusal(answer: httpx.Response) -> str:
    """The one sentence with which the API or a page refuses; of a page that has none its title."""
    if answer.headers.get("content-type", "").startswith("application/json"):
        return str(answer.json().get("message") or "no reason was given")
    for pattern in (r'<p class="lead">(.*?)</p>', r'class="note bad".*?<p>(.*?)</p>', r"<title>(.*?)</title>"):
        found = re.search(pattern, answer.text, re.DOTALL)
        if found:
            return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", found[1]).split()))[:300]
    return "no reason was given"


def last_line(text: str) -> str:
    """The last line that says something, as a command says it."""
    found = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "nothing was said")
    return found.removeprefix("CommandError: ")[:300]


class Form:
    """A form of a page: where it posts to, and its hidden fields."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.hidden: Fields = []


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.open = Form(given.get("action", ""))
            self.found.append(self.open)
        if tag == "input" and self.open and given.get("type") == "hidden":
            self.open.hidden.append((given.get("name", ""), given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.open = None


def forms(page: str) -> list[Form]:
    """The forms of an HTML page in their order."""
    parser = _Forms()
    parser.feed(page)
    return parser.found
