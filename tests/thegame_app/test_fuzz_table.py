"""Random requests to the table assistant: no fault, no traceback, nothing lost.

Requests are built from a seed and are half sensible, so that games go on; the others bend names,
numbers, bodies and headers. After every request each table still replays from the data file.
"""

import random

import pytest
from table_phones import begin, guest, phone

from thegame_app.store import Store
from thegame_app.table_store import TableStore
from thegame_app.web.app import create_app

COMMANDS = ("lay", "end", "undo", "stuck", "confirm", "hand", "hand/forget", "delete", "board")
PILES = ("up1", "up2", "down1", "down2")
ODD = ("", "-1", "0", "7", "99", "100", "1e9", "٣", "9" * 30, "NaN", "up3", "{x}", "%00", "é",
       "null", "' OR 1=1", "<b>", "\x00", "١٢", "up1\n", "True")  # fmt: skip
FORM = "application/x-www-form-urlencoded"
TYPES = (
    FORM,
    "application/json",
    "text/plain",
    "multipart/form-data",
    "",
    f"{FORM}; charset=utf-16",
)


class Monkey:
    """Sends random requests from the phones of an app."""

    def __init__(self, app, seed):
        self.rng = random.Random(seed)
        self.app, self.owner = app, phone(app)
        self.names, self.phones = [], []
        self.add_table()

    @property
    def tables(self):
        return self.app.state.tables

    def add_table(self):
        players = self.rng.sample(("Anna", "Ben", "Cleo", "Dan", "Eve"), self.rng.randint(2, 5))
        rules = self.rng.choice(("official", "profi", "small-hands", "two-to-the-end"))
        memory = self.rng.choice(("yes", "no"))
        name = begin(self.owner, *players, rules=rules, memory=memory)
        self.names = [*self.names[-2:], name]
        self.phones = [self.owner, guest(self.app, name), guest(self.app, name)]

    def sensible(self, name):
        """A form that the page would send, more or less."""
        state, version = self.tables.game(name).state, self.tables.game(name).version
        pile = self.rng.randrange(4)
        fitting = sorted(state.fitting(pile)) or [50]
        ranked = fitting if pile < 2 else fitting[::-1]
        form = {
            "seen": max(version - self.rng.choice((0,) * 19 + (1,)), 0),
            "seat": state.seat,
            "pile": PILES[pile],
            "card": self.rng.choice(ranked[:8]),
            "drawn": state.to_draw,
            "cards_left": state.cards_left,
            "own": self.rng.randrange(state.setup.players),
            "cards": " ".join(map(str, self.rng.sample(range(2, 100), 6))),
        }
        if self.rng.random() < 0.1:
            form["unknown"] = self.rng.choice(("ask", "confirmed"))
        if self.rng.random() < 0.2:
            form["passes"] = "yes"
        return form

    def bend(self, form):
        """Change, drop or add a few fields."""
        for _ in range(self.rng.randint(1, 3)):
            key = self.rng.choice([*form, "sure", "ask", "strength", "number", "x", "c12", "c1"])
            if self.rng.random() < 0.3:
                form.pop(key, None)
            else:
                form[key] = self.rng.choice(ODD)
        return form

    def command(self, state):
        """What is likely to bring the game on."""
        if self.rng.random() < 0.35:
            return self.rng.choice(COMMANDS)
        if state.reported:
            return self.rng.choice(("undo", "undo", "confirm"))
        if state.plays >= state.owed and self.rng.random() < 0.5:
            return "end"
        return "lay" if self.rng.random() < 0.98 else "stuck"

    def post(self):
        name = self.rng.choice(self.names)
        state = self.tables.game(name).state
        what, form = self.command(state), self.sensible(name)
        if self.rng.random() < 0.4:
            form = self.bend(form)
        headers = self.rng.choice(({}, {"hx-request": "true"}, {"accept": "application/json"}))
        client = self.rng.choice(self.phones)
        if self.rng.random() < 0.05:
            headers = {**headers, "content-type": self.rng.choice(TYPES)}
            body = self.rng.randbytes(self.rng.choice((0, 10, 400, 20_000)))
            return client.post(f"/table/{name}/{what}", content=body, headers=headers)
        return client.post(f"/table/{name}/{what}", data=form, headers=headers)

    def get(self):
        places = ("", "/board", "/hand", "/delete", "/lay", "/x", "/hand?own=")
        name = self.rng.choice(
            (*self.names, *self.names, "nowhere", "history", "history.csv", "%00")
        )
        query = f"?pile={self.rng.choice(PILES)}&ask={self.rng.choice(('end', 'unknown', 'x'))}"
        address = f"/table/{name}{self.rng.choice(places)}" + self.rng.choice(("", query))
        return self.rng.choice(self.phones).get(address + self.rng.choice(("", "", "9")))

    def setup(self):
        form = {f"name{n}": self.rng.choice((*ODD, "Anna", "Ben")) for n in range(1, 6)}
        form |= {"rules": self.rng.choice(("official", "profi", *ODD)), "starter": "1"}
        return self.owner.post("/table", data=self.bend(form))

    def request(self):
        """One random request; the answer."""
        if self.rng.random() < 0.003:
            self.add_table()
        kind = self.rng.random()
        return self.post() if kind < 0.8 else self.get() if kind < 0.97 else self.setup()

    def drop_deleted(self):
        there = {game.id for game in (*self.tables.running(), *self.tables.past())}
        self.names = [name for name in self.names if name in there]
        if not self.names:
            self.add_table()


def let_loose(tmp_path, seed, requests):
    store = Store(tmp_path)
    monkey = Monkey(create_app(store, lan=True, lang="en"), seed)
    done, entries = set(), 0
    for number in range(requests):
        before = {name: monkey.tables.game(name) for name in monkey.names}
        answer = monkey.request()
        assert answer.status_code < 500, f"request {number}: {answer.request.url}"
        assert "Traceback" not in answer.text
        done.add(answer.status_code)
        monkey.drop_deleted()
        for name, game in before.items():
            if name in monkey.names:
                after = monkey.tables.game(name)
                assert after.log[: game.version] == game.log
                entries += after.version - game.version
                if answer.status_code >= 400:
                    assert after.version == game.version
    again = TableStore(store)
    for name in monkey.names:
        assert again.game(name) == monkey.tables.game(name)
    store.close()
    return done, entries


def test_a_thousand_random_requests(tmp_path):
    done, entries = let_loose(tmp_path, 1, 1000)
    assert {200, 303, 404, 405, 409, 415, 422} <= done
    assert entries > 150


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_fifty_thousand_random_requests(tmp_path, seed):
    let_loose(tmp_path, 100 + seed, 5000)
