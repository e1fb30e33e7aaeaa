"""How long a start takes: the import, the first compilation of the kernels, and later starts.

Each is measured in a fresh interpreter, as wall time from its launch; what the child itself took in
CPU time stands beside it. The first compilation works in an empty cache folder (THEGAME_CACHE_DIR),
so that the caches in use stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

_IMPORT = "import time; t = time.perf_counter(); import thegame_env; print(time.perf_counter() - t)"
_FIRST_USE = "from benchmarks.start_speed import first_use; first_use()"


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a fresh interpreter.

    Attributes:
        seconds: Wall time from the launch to the end.
        cpu_s: CPU time of the child.
        message: What it said on stderr.
    """

    seconds: float
    cpu_s: float
    message: str


def import_seconds(tries: int = 3) -> float:
    """Wall seconds that `import thegame_env` takes in a fresh interpreter, the best of a few."""
    return min(float(_python(_IMPORT, {}).stdout) for _ in range(tries))


def cold_and_warm_start(code: str = _FIRST_USE) -> tuple[Start, Start]:
    """The first start with an empty kernel cache, and the second one.

    Args:
        code: What the child runs: by default `first_use`.
    """
    with tempfile.TemporaryDirectory() as folder:
        cold = _start(code, {"THEGAME_CACHE_DIR": folder})
        return cold, _start(code, {"THEGAME_CACHE_DIR": folder})


def _start(code: str, extra: dict[str, str]) -> Start:
    started = time.perf_counter()
    done = _python(code + "; import time; print(time.process_time())", extra)
    seconds = time.perf_counter() - started
    return Start(seconds, float(done.stdout.splitlines()[-1]), done.stderr)


def _python(code: str, extra: dict[str, str]) -> subprocess.CompletedProcess[str]:
    # sys.path goes along, so that a child finds the packages wherever this process found them.
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, **extra}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )


def first_use() -> None:
    """Run every kernel of `thegame_env` once, through the interfaces that use them."""
    import gymnasium
    import numpy as np

    from thegame_env.aec_env import env as make_aec
    from thegame_env.engine import Engine, random_steps
    from thegame_env.observation import observe
    from thegame_env.perft import perft_fast
    from thegame_env.rules import Table
    from thegame_env.view import View

    single = gymnasium.make("TheGame-v0")
    info = single.reset(seed=0)[1]
    single.step(int(info["action_mask"].argmax()))
    vector = gymnasium.make_vec("TheGame-v0", num_envs=2)
    infos = vector.reset(seed=0)[1]
    vector.step(infos["action_mask"].argmax(axis=1))
    aec = make_aec()
    aec.reset(seed=0)
    aec.observe("seat_1")
    engine = Engine(Table(), 1)
    engine.deal(0)
    perft_fast(engine, 2)
    observe(View.of(engine.game(0), Table()))
    engine.views()
    engine.step(int(infos["action_mask"][0].argmax()))
    random_steps(engine.games, engine.decks, engine.p, np.zeros(1, np.uint64), 10)
