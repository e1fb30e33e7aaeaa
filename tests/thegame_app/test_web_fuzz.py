"""Random requests: no fault, no traceback, no state lost, and what is refused changes nothing."""

import random

import pytest
from session_games import new, played
from web_clients import HTMX, JSON, Page

from thegame_app.session import PERSON
from thegame_app.store import Store
from thegame_env.rules import PILES

ODD = (
    "", "0", "-1", "1", "54", "100", "99999999999999999999", "up1", "down2", "x" * 500, "ä", "\x00",
    "../../etc/passwd", "<script>", "person", "greedy", "{pile}", "{0.__class__}", "%s", "null",
    "1e9", "٣", "official", "open", "watch", "true", "2", "3",
)  # fmt: skip
FIELDS = ("card", "pile", "seen", "all", "strength", "step", "players", "rules", "seat1", "seat2",
          "talk", "starter", "seed", "lang", "theme", "pace", "back")  # fmt: skip
PATHS = ("/", "/new", "/games", "/preferences", "/play/{g}", "/play/{g}/{s}", "/play/{g}/{s}/board",
         "/play/{g}/{s}/lay", "/play/{g}/{s}/end", "/play/{g}/{s}/undo", "/play/{g}/{s}/advance",
         "/play/{g}/{s}/hint", "/replay/{g}", "/replay/{g}/what-if", "/replay/{g}/record",
         "/replay/{g}/review",
         "/enter/{g}", "/static/{s}", "/{s}")  # fmt: skip


class Fuzz:
    """Requests drawn by a seed, against a page with running and finished games."""

    def __init__(self, folder, seed):
        self.page, self.draw = Page(folder, lan=True), random.Random(seed)
        add = self.page.store.add_game
        self.games = [
            add(new(1, seed=seed)),
            add(new(2, seats=[PERSON, "greedy"], seed=seed)),
            add(new(3, seed=seed, talk="open"), here=[0]),
            add(played(new(2, seed=seed))),
        ]
        self.names = [stored.id for stored in self.games]
        self.clients = [
            self.page.owner(),
            self.page.guest(self.names[2], 1),
            self.page.client(),
        ]

    def value(self, field):
        """What is sent in a field: right half of the time, else anything."""
        if self.draw.random() < 0.5:
            return self.draw.choice(ODD)
        right = {
            "card": lambda: str(self.draw.randint(2, 99)),
            "pile": lambda: self.draw.choice(("up1", "up2", "down1", "down2")),
            "players": lambda: str(self.draw.randint(1, 5)),
            "seen": lambda: str(self.draw.randint(0, 12)),
        }
        return right.get(field, lambda: self.draw.choice(ODD))()

    def request(self):
        """One request; whose game, by whom, how and with what is drawn."""
        client = self.draw.choice(self.clients)
        place = self.draw.choice(("1", "2", "3", "watch", *ODD[:12]))
        game = self.draw.choice((*self.names, "nowhere"))
        path = self.draw.choice(PATHS).format(g=game, s=place.replace("/", "").replace("\x00", ""))
        headers = self.draw.choice(({}, HTMX, JSON))
        fields = {name: self.value(name) for name in self.draw.sample(FIELDS, 4)}
        if path.endswith("hint") and self.draw.random() < 0.9:
            fields["strength"] = "x"
        method = self.draw.choice(("GET", "POST", "POST"))
        if method == "GET":
            return client.get(path, params=fields, headers=headers, follow_redirects=False)
        if self.draw.random() < 0.05:
            junk = self.draw.randbytes(self.draw.randint(0, 300))
            return client.post(path, content=junk, headers=headers, follow_redirects=False)
        return client.post(path, data=fields, headers=headers, follow_redirects=False)

    def move(self):
        """A request that a player at turn would send, so that the games go on."""
        number = self.draw.randrange(3)
        stored = self.page.store.game(self.names[number])
        session, seat = stored.session, stored.session.game.seat
        client = self.clients[int(number == 2 and seat == 1)]
        command = self.draw.choice(("lay", "lay", "lay", "end", "undo", "advance"))
        fields = {"seen": str(session.version)}
        plays = session.game.plays_of(seat)
        if command == "lay" and plays:
            card, pile = self.draw.choice(plays)
            fields |= {"card": str(card), "pile": PILES[pile]}
        path = f"/play/{stored.id}/{seat + 1}/{command}"
        return client.post(path, data=fields, headers=HTMX)

    def logs(self):
        return [self.page.store.game(name).session.log for name in self.names]

    def run(self, count):
        before = self.logs()
        for number in range(count):
            answer = self.move() if self.draw.random() < 0.2 else self.request()
            assert answer.status_code < 500, (number, answer.request.url, answer.text)
            assert "Traceback" not in answer.text
            after = self.logs()
            for old, new_ in zip(before, after, strict=True):
                assert new_[: len(old)] == old
            if answer.status_code >= 400:
                assert after == before, answer.request.url
            before = after
        return before


def fuzz(folder, seed, count):
    fuzzing = Fuzz(folder, seed)
    logs = fuzzing.run(count)
    assert all(logs[:3])
    fuzzing.page.close()
    again = Store(folder)
    assert [again.game(name).session.log for name in fuzzing.names] == logs
    again.close()


def test_two_thousand_random_requests(tmp_path):
    fuzz(tmp_path, 1, 2000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_fifty_thousand_random_requests(tmp_path, seed):
    """With those of the table assistant they are a hundred thousand."""
    fuzz(tmp_path, seed, 5000)
