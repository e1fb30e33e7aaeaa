"""The server as a process: it comes up, is killed, and comes up again with everything in it."""

import os
import re
import signal
import subprocess
import sys

import httpx2
import pytest
from session_games import new

from thegame_app.language import LANGUAGES, Refusal, language
from thegame_app.store import Store
from thegame_app.web.network import own_address
from thegame_app.web.serve import bound, seat_links


class Server:
    """`thegame play` as a process of its own."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "thegame_app", "play", "--no-browser", "--data"]
        self.process = subprocess.Popen(
            [*command, str(folder), "--lang", "en", *options], stderr=subprocess.PIPE, text=True
        )
        self.lines = []
        while not self.lines or "Ctrl-C" not in self.lines[-1]:
            line = self.process.stderr.readline()
            assert line, self.lines
            self.lines.append(line)

    @property
    def link(self):
        return re.search(r"http://\S+", next(line for line in self.lines if "enter" in line))[0]

    def kill(self, how=signal.SIGKILL):
        os.kill(self.process.pid, how)
        self.process.wait(20)
        self.rest = self.process.stderr.read()
        self.process.stderr.close()


@pytest.fixture
def servers():
    running = []
    yield running
    for server in running:
        if server.process.poll() is None:
            server.kill()


def test_kill_and_start_again(servers, tmp_path):
    servers.append(Server(tmp_path, "--players", "2", "--agents", "greedy", "--seed", "3"))
    with httpx2.Client(follow_redirects=True) as client:
        page = client.get(servers[0].link)
        assert "5" in page.text
        address = str(page.url)
        fields = {"card": "5", "pile": "up1", "seen": "0"}
        assert client.post(f"{address}/lay", data=fields).status_code == 200
        servers[0].kill()
        servers.append(Server(tmp_path))
        again = client.get(address, headers={"accept": "application/json"}).json()
        assert again["version"] == 1
        assert again["turn"]["plays"] == 1
        assert [card["card"] for card in again["hand"]] == [14, 30, 77, 79, 86, 91]
        assert str(client.get(servers[1].link).url) == address


def test_ctrl_c_ends_it_quietly(servers, tmp_path):
    servers.append(Server(tmp_path))
    assert httpx2.get(servers[0].link).status_code == 303
    servers[0].kill(signal.SIGINT)
    assert servers[0].process.returncode == 0
    assert servers[0].rest == ""


def test_a_link_for_every_other_person_on_the_network(servers, tmp_path):
    servers.append(Server(tmp_path, "--lan", "--players", "3", "--agents", "person,greedy"))
    links = [line for line in servers[0].lines if line.startswith("Player")]
    assert len(links) == 1
    link = re.sub(r"//[^:]+:", "//127.0.0.1:", re.search(r"http://\S+", links[0])[0])
    with httpx2.Client(follow_redirects=True) as client:
        page = client.get(link)
        assert page.status_code == 200
        assert str(page.url).endswith("/2")


def test_what_the_server_says_is_in_its_language(tmp_path):
    store = Store(tmp_path)
    stored = store.add_game(new(2), here=[0])
    said = {next(seat_links(store, stored, 1, language(code))).partition(":")[0]
            for code in LANGUAGES}  # fmt: skip
    assert len(said) == 3
    store.close()


def test_a_port_that_is_taken_is_a_sentence(tmp_path):
    class Settings:
        def setting(self, name):
            return None

    first = bound("127.0.0.1", 0, Settings())
    with first, pytest.raises(Refusal, match="is not free"):
        bound("127.0.0.1", first.getsockname()[1], Settings())


def test_the_own_address_is_a_number():
    assert re.fullmatch(r"[\d.]+", own_address())
