"""From what is asked for to a directory full of games: manifest, chunks, workers, going on."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from agents.registry import describe_agent
from eval.cells import Cell, Chunk, Table
from eval.crew import Crew
from eval.crossplay import cells_of
from eval.manifest import Hardware, Manifest, RunError
from eval.match import Care, table_of
from eval.records import open_run, read_manifest, write_chunk, write_manifest
from eval.worker import Facts, Play, Played, Probe, Result, Task
from thegame_env.ranges import deal_seed
from thegame_env.rules import Rules

EVALUATION_RANGES = ("development", "held-out")
"""Ranges of deals that agents are evaluated on."""
SMALLEST_CHUNK, LARGEST_CHUNK, CHUNKS_A_CELL = 32, 1000, 20
"""Large enough for agents that answer in batches, small enough to share work and lose little."""

Progress = Callable[[int, int], None]
"""Is told again and again: games played, games in all."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be evaluated.

    Attributes:
        agents: Specifications of agents, each once.
        tables: Where each of them plays.
        games: Deals a cell.
        seed: Number of the seed in its range.
        deals: One of EVALUATION_RANGES.
        crossplay: Whether every ordered pair of agents plays mixed teams, too.
        baseline: The agent that the others are compared with.
        limit: Seconds a decision may take.
        allow_pickle: Whether agents that need a pickle may be loaded.

    Raises:
        ValueError: Something in it cannot be played; the message says what.
    """

    agents: tuple[str, ...]
    tables: tuple[Table, ...]
    games: int
    seed: int = 1
    deals: str = "held-out"
    crossplay: bool = False
    baseline: str | None = None
    limit: float | None = 60.0
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be 1 or more, not {self.games}")
        if self.deals not in EVALUATION_RANGES:
            known = " or ".join(EVALUATION_RANGES)
            raise ValueError(f'deals are from the range {known}, not "{self.deals}"')
        if self.limit is not None and not self.limit > 0:
            raise ValueError(f"the limit of a decision must be above 0 s, not {self.limit:g}")
        if self.baseline is not None and self.baseline not in self.agents:
            raise ValueError(
                f'the baseline "{self.baseline}" is not one of the agents: '
                + ", ".join(self.agents)
            )
        deal_seed(self.deals, self.seed)
        for cell in self.cells:
            table_of(cell)

    @property
    def cells(self) -> list[Cell]:
        """What is to be played, in order."""
        return cells_of(self.agents, self.tables, self.crossplay)

    def manifest(self, command: str, weights: dict[str, str]) -> Manifest:
        """The manifest of a run of this order, begun now.

        Args:
            command: The command line.
            weights: Hash of the weights of each agent that has some.
        """
        described = {agent: describe_agent(agent) for agent in self.agents}
        return Manifest(
            command=command,
            version=version("thegame-env"),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            seed=self.seed,
            seed_range=self.deals,
            games=self.games,
            chunk_games=chunk_games(self.games),
            cells=tuple(self.cells),
            baseline=self.baseline,
            decision_limit_s=self.limit,
            rules_hash={table.rules: rules_hash(table.rules) for table in self.tables},
            weights_hash=weights,
            descriptions={agent: text for agent, text in described.items() if text},
            hardware=Hardware.here(),
        )


def chunk_games(games: int) -> int:
    """Games of a chunk of a cell of so many games."""
    return min(max(SMALLEST_CHUNK, -(-games // CHUNKS_A_CELL)), LARGEST_CHUNK)


def rules_hash(text: str) -> str:
    """A hash of what rules say, whatever they are called."""
    rules = asdict(Rules.parse(text))
    del rules["name"]
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


def evaluate(
    order: Order,
    run_dir: Path,
    command: str,
    workers: int = 1,
    ray: str | None = None,
    overwrite: bool = False,
    progress: Progress = lambda done, games: None,
) -> None:
    """Play what is ordered and still missing in a directory.

    Args:
        order: What to play.
        run_dir: Where to store it; made if it does not exist.
        command: The command line, for the manifest.
        workers: Processes on this machine.
        ray: Address of a Ray cluster to play on instead.
        overwrite: Whether an earlier run in the directory is removed first.
        progress: Is told how far it is.

    Raises:
        RunError: The directory holds something else, is in use, or cannot be written.
        ValueError: An agent cannot be made, or there is no such cluster.
    """
    _refuse_other_things(run_dir)
    with Crew(1 if ray else workers) as crew:
        manifest = order.manifest(command, _weights(crew, order))
        try:
            with _alone(run_dir, overwrite):
                chunks = _open(run_dir, manifest)
                meter = Meter(manifest, chunks, progress)
                tasks = [_task(order, chunk, None if ray else run_dir) for chunk in chunks]
                for task, result in _performed(crew, tasks, ray, meter.show):
                    assert isinstance(task, Play)
                    assert isinstance(result, Played)
                    if result.rows:
                        write_chunk(run_dir, task.chunk, result.rows, result.timing)
                    meter.store(task.chunk.count)
        except OSError as error:
            raise RunError(
                f"{run_dir} cannot be written: {error.strerror or error}; what has been stored is "
                "kept, and the same command goes on with it"
            ) from error


class Meter:
    """Counts the games that have been played.

    Args:
        manifest: Of the run.
        missing: What is still to be played.
        progress: Is told of every change.
    """

    def __init__(self, manifest: Manifest, missing: list[Chunk], progress: Progress) -> None:
        self._total = len(manifest.cells) * manifest.games
        self._stored = self._total - sum(chunk.count for chunk in missing)
        self._progress = progress
        self.show(0)

    def store(self, games: int) -> None:
        """So many more games are stored."""
        self._stored += games
        self.show(0)

    def show(self, running: int) -> None:
        """So many games of unfinished chunks are over."""
        self._progress(self._stored + running, self._total)


def _weights(crew: Crew, order: Order) -> dict[str, str]:
    """Make every agent at every table once, and return the hashes of their weights."""
    cells = cells_of(order.agents, order.tables)
    found: dict[Cell, str] = {}
    for task, facts in crew.perform(Probe(cell, order.allow_pickle) for cell in cells):
        assert isinstance(task, Probe)
        assert isinstance(facts, Facts)
        found[task.cell] = facts.weights_hash
    weights = {
        agent: " ".join(dict.fromkeys(found[cell] for cell in cells if cell.agent == agent))
        for agent in order.agents
    }
    return {agent: text for agent, text in weights.items() if text}


def _task(order: Order, chunk: Chunk, run_dir: Path | None) -> Play:
    seed = deal_seed(order.deals, order.seed)
    return Play(chunk, seed, order.allow_pickle, run_dir, Care(order.limit))


def _performed(
    crew: Crew, tasks: Iterable[Task], ray: str | None, tick: Callable[[int], None]
) -> Iterator[tuple[Task, Result]]:
    if ray is None:
        return crew.perform(tasks, tick)
    from eval.ray_cluster import perform

    return perform(tasks, ray)


def _open(run_dir: Path, manifest: Manifest) -> list[Chunk]:
    """See records.open_run; another baseline is no other run."""
    chunks = open_run(run_dir, manifest)
    stored = read_manifest(run_dir)
    if stored.baseline != manifest.baseline:
        write_manifest(run_dir, stored.model_copy(update={"baseline": manifest.baseline}))
    return chunks


def _refuse_other_things(run_dir: Path) -> None:
    """Raise RunError if a directory holds something, and that is no run."""
    if not run_dir.exists():
        return
    if not run_dir.is_dir():
        raise RunError(f"{run_dir} is a file, and a run is a directory: choose another name")
    names = {path.name for path in run_dir.iterdir() if not path.name.startswith(".")}
    if names and "manifest.json" not in names:
        raise RunError(f"{run_dir} is not empty, and it is no run: choose another directory")


@contextmanager
def _alone(run_dir: Path, overwrite: bool) -> Iterator[None]:
    """Keep a directory for one command at a time, and sweep up after one that was killed.

    Raises:
        RunError: Another command is playing into it.
    """
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / ".lock").open("wb") as lock:
        if not _locked(lock.fileno()):
            raise RunError(f"another command is playing into {run_dir} just now")
        for path in run_dir.rglob(".*.tmp"):
            path.unlink()
        if overwrite:
            _remove_run(run_dir)
        yield


def _locked(descriptor: int) -> bool:
    """Lock a file until this process ends; systems without such locks do without."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_run(run_dir: Path) -> None:
    """Remove the files of a run, its manifest last, so that half of it is still a run."""
    for name in ("rows", "timings", "plots"):
        shutil.rmtree(run_dir / name, ignore_errors=True)
    for name in ("summary.json", "summary.csv", "report.md", "report.html", "manifest.json"):
        (run_dir / name).unlink(missing_ok=True)
