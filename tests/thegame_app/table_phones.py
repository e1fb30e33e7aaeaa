"""Phones for the tests of the table assistant: browsers with cookies of their own."""

import itertools
import re
from html.parser import HTMLParser

from fastapi.testclient import TestClient

from thegame_app.web.access import OWNER
from thegame_app.web.table_access import scope_of

BASE = "http://127.0.0.1"
JSON = {"accept": "application/json"}


def phone(app, scope=OWNER):
    """A browser that has come in through the link of a scope."""
    client = TestClient(app, base_url=BASE, follow_redirects=False, raise_server_exceptions=False)
    client.get(f"/enter/{app.state.store.token(scope)}")
    return client


def guest(app, name):
    """A browser that has come in through the link of a table."""
    return phone(app, scope_of(name))


def begin(client, *names, **fields):
    """Begin a game of these players; its identifier."""
    form = {f"name{number}": name for number, name in enumerate(names, start=1)}
    answer = client.post("/table", data={**form, **fields}, headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()["page"].removeprefix("/table/")


def error_of(answer, status):
    """The sentence of a refusal that has this status."""
    assert answer.status_code == status, answer.text
    return answer.json()["error"]


def look(client, name):
    """The table as JSON."""
    answer = client.get(f"/table/{name}", headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()


def send(client, name, what, table=None, headers=JSON, **fields):
    """Send a command as the page that shows `table` (by default the newest) would."""
    table = table or look(client, name)
    form = {"seen": table["version"], "seat": table["turn"]["seat"], **fields}
    return client.post(f"/table/{name}/{what}", data=form, headers=headers)


def done(client, name, what, **fields):
    """The same, which must be taken; the table as JSON."""
    answer = send(client, name, what, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lay(client, name, pile, *cards):
    """Lay cards on a pile, one after the other."""
    for card in cards:
        table = done(client, name, "lay", pile=pile, card=card)
    return table


class Ids(HTMLParser):
    """The ids on a page, to find those that stand there twice, and what refers to none."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.wanted = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("for", "aria-labelledby", "aria-describedby"):
            self.wanted.update((values.get(name) or "").split())


def check_page(text):
    """Assert what holds for every page: unique ids, labels that point somewhere, all filled in."""
    page = Ids(text)
    twice = [name for name, group in itertools.groupby(sorted(page.ids)) if len(list(group)) > 1]
    assert not twice
    assert page.wanted <= set(page.ids)
    assert not re.search(r"\{\{|\}\}|\{%|None<|Undefined", text)
