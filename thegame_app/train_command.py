"""`thegame train`: learn weights as a configuration file says."""

from __future__ import annotations

import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from thegame_app.cli import INTERRUPTED, JsonOption, print_json, say

LIBRARIES = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard")
"""What training needs beyond the plain install."""
SAVED = ("checkpoint.*", "policy.*", "weights.*")
"""What a run has saved in its folder: what it goes on from, and the weights of either kind."""
CHANGES_HELP = "Replace a value of the file, such as network.pile=32; may be given several times."


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("train")(train)


def train(
    config: Annotated[Path, typer.Argument(help="Configuration, such as configs/demo.yaml.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in the run's folder.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Replace the seed of the configuration.")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help=CHANGES_HELP)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; by default runs/NAME of the file.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start anew where an earlier run lies.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Train a player; checkpoints, TensorBoard logs and the weights go to runs/NAME."""
    _need_libraries()
    settings = _load(config, changes or [], seed)
    folder = out or Path("runs") / config.stem
    if folder.exists() and not folder.is_dir():
        raise ValueError(
            f"{folder} is a file, where the folder of the run should be: another --out"
        )
    if resume and overwrite:
        raise ValueError("either --resume or --overwrite, not both")
    begun = any(any(folder.glob(pattern)) for pattern in SAVED)
    if resume and not any(folder.glob(SAVED[0])):
        raise ValueError(f"nothing to resume: {folder} holds no checkpoint")
    if begun and not (resume or overwrite):
        raise ValueError(f"{folder} holds a run already: --resume, --overwrite, or another --out")
    if begun and overwrite:
        _check_sources(settings)
        _remove_run(folder)
    say(f"thegame train: {config} into {folder}; tensorboard --logdir {folder}/tensorboard")
    try:
        weights = _run(settings, folder, resume)
    except KeyboardInterrupt:
        saved = any(folder.glob(SAVED[0]))
        again = f"go on with: {_again(config, changes or [], seed, out)}"
        say(f"thegame train: stopped; {again if saved else 'nothing was saved yet'}")
        raise typer.Exit(INTERRUPTED) from None
    _tell(settings.kind, weights, json)


def _need_libraries() -> None:
    """ValueError with the remedy where the plain install lacks what training needs."""
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise ValueError(f'training needs {library}: pip install "thegame-env[train]"')


def _remove_run(folder: Path) -> None:
    """Remove what an earlier run wrote into the folder, and nothing else."""
    for pattern in SAVED:
        for file in folder.glob(pattern):
            file.unlink()
    shutil.rmtree(folder / "tensorboard", ignore_errors=True)


def _load(config: Path, changes: list[str], seed: int | None) -> Any:
    from train.config import load_config

    return load_config(config, changes, seed)


def _check_sources(settings: Any) -> None:
    """ValueError where the weights that a run begins with or imitates cannot be had."""
    from train import afterstate, ppo

    check = afterstate.check_sources if settings.kind == "afterstate" else ppo.check_sources
    check(settings)


def _run(settings: Any, folder: Path, resume: bool) -> Path:
    """Run the kind of training that the configuration names; returns the weights file."""
    if settings.kind == "afterstate":
        from train.afterstate import train as train_afterstate

        return train_afterstate(settings, folder, resume, say)
    from train.ppo import train as train_ppo

    return train_ppo(settings, folder, resume, say)


def _tell(kind: str, weights: Path, json: bool) -> None:
    """Print where the weights are and what they reached."""
    from agents.weight_files import read_metadata

    metadata = read_metadata(weights)
    reached = metadata["development"]
    if json:
        print_json({"weights": str(weights), "agent": f"{kind}:{weights}", **metadata})
        return
    print(
        f"{weights}: {100 * reached['win_rate']:.1f} % of {reached['games']} development deals "
        f"won, {reached['cards_left_mean']:.2f} cards left on average"
    )
    print(f"Play with it: --agents {kind}:{weights}")


def _again(config: Path, changes: list[str], seed: int | None, out: Path | None) -> str:
    """The command line that goes on."""
    words = ["thegame", "train", str(config), "--resume"]
    words += ["--seed", str(seed)] if seed is not None else []
    for change in changes:
        words += ["--set", change]
    return shlex.join(words + (["--out", str(out)] if out else []))
