import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from eval.cells import Table
from eval.records import read_manifest
from eval.work import Order, evaluate

HERE = Path(__file__).parent
TABLE = Table(3, "official", "none", True, "seat0")
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="needs the library ray: pip install 'thegame-env[ray]'"
)


def rows_of(run_dir: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (run_dir / "rows").iterdir()}


@pytest.mark.long
@needs_ray
def test_a_node_that_dies_in_mid_run_changes_no_game(tmp_path: Path) -> None:
    local, spread, count = tmp_path / "local", tmp_path / "spread", tmp_path / "count"
    agents, games = "odd_agents:Slow,random", 640
    command = [sys.executable, "-m", "thegame_app", "eval", "--agents", agents]
    command += ["--players", "3", "--games", str(games), "--out"]
    paths = [str(HERE), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["ODD_PAUSE"] = "0.0005"
    subprocess.run([*command, str(local)], env=environment, check=True, capture_output=True)
    script = [sys.executable, str(HERE / "two_ray_nodes.py"), str(spread), str(count)]
    done = subprocess.run(
        [*script, *command, str(spread)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr
    stored, chunks = int(count.read_text()), len(list(read_manifest(spread).chunks()))
    assert stored < chunks == 40
    assert rows_of(spread) == rows_of(local)


@needs_ray
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nowhere", "an address is auto, local, or host:port"),
        ("127.0.0.1:1", 'no Ray cluster answers at "127.0.0.1:1"'),
    ],
)
def test_an_address_where_no_cluster_is(tmp_path: Path, address: str, message: str) -> None:
    order = Order(("random",), (TABLE,), games=10)
    with pytest.raises(ValueError, match=message):
        evaluate(order, tmp_path / "run", "thegame eval", ray=address)


def test_without_the_library_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    order = Order(("random",), (TABLE,), games=10)
    with pytest.raises(ValueError, match=r"pip install 'thegame-env\[ray\]'"):
        evaluate(order, tmp_path / "run", "thegame eval", ray="local")
