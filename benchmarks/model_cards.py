"""Model cards of the shipped weights, written from their metadata and the runs of `make results`.

A card says what the network is for, what it may know, how it was trained (its whole lineage), what
it reached on held-out deals, and what is known to be weak. A generalist's card shows the tables
that it played, and what it reached on development deals of all. Nothing in it is typed in by hand
but the sentences that every card of a kind shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from safetensors.numpy import load_file

from agents.weight_files import SHIPPED, serving, shipped, write_atomic
from thegame_env.rules import MAX_SEATS

HARDWARE = "one core of a two-core Intel Xeon server, no GPU"
KINDS = {
    "afterstate": (
        "Values the position that a turn leaves behind (the afterstate): a distribution of the "
        "cards that the game will leave. The agents `afterstate` and `expert` play by it, and "
        "hints are judged by it where partners plan as well.",
        "It was trained with copies of itself at every seat. With partners who play otherwise its "
        "figures are too hopeful; hints then play the game on instead. It does not use who played "
        "which card, only what is known of hands, piles and deck.",
    ),
    "ppo": (
        "A policy: it looks once and lays a card, without search. The agent `ppo` plays its "
        "likeliest action (`ppo:NAME` by its name).",
        "It sees one position at a time and has no plan, so a turn of several cards can go astray, "
        "most of all once the deck is empty. It was trained with copies of itself at every seat, "
        "and says of a move neither how likely it wins nor what it costs.",
    ),
}
"""Kind -> what it is for, what is known to be weak."""
AGENTS = {"afterstate": "afterstate", "expert": "afterstate", "ppo": "ppo"}
"""Agent -> kind of the weights that it plays by."""


def card(name: str, metadata: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> str:
    """The Markdown text of one card.

    Args:
        name: Of the weights.
        metadata: Their JSON.
        cells: Cells of evaluations, of which those that these weights played are shown.
    """
    purpose, weak = KINDS[metadata["kind"]]
    known = {**shipped(metadata["kind"]), name: metadata}
    lines = [f"# {name}", "", purpose, "", "## Table", "", *_tables(metadata), ""]
    training = _policy_training if metadata["kind"] == "ppo" else _training
    lines += ["## Training", "", *training(name, metadata), "", *_facts(name, metadata), ""]
    cells = list(cells)
    own = [cell for cell in cells if _player(cell, known) == name]
    lines += ["## Results on held-out deals", ""]
    lines += _results(own, metadata) if own else ["Not played on held-out deals yet."]
    lines += [*_beside(cells, own, metadata), *_measured(own, metadata)]
    if "tables" in metadata:
        lines += ["", "## Results on development deals", "", *_development(metadata)]
    return "\n".join([*lines, "", "## Known weaknesses", "", weak, ""])


def _tables(metadata: Mapping[str, Any]) -> list[str]:
    if "tables" in metadata:
        memory = "what is unseen where the table remembers"
    elif metadata["table"]["memory"]:
        memory = "what is unseen"
    else:
        memory = "nothing of what was played"
    return [
        f"- {_stage_table(metadata)}",
        f"- It knows its own hand, the tops, the sizes of hands and deck, and {memory}.",
    ]


def _training(name: str, metadata: Mapping[str, Any]) -> list[str]:
    lines = [
        f"Self-play on {HARDWARE}; every stage begins with the weights of the one before. A stage "
        "with a critic is taught by one that remembers what was played, which began with the "
        "weights named (the minutes are those up to the best evaluation); a mean is the decay of "
        "the running mean of the weights that was kept.",
        "",
        "| stage | table | critic | games | minutes | lambda | step | mean | seed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for number, stage in enumerate([*metadata.get("lineage", []), metadata], start=1):
        config = stage["config"]
        critic, mean = config.get("critic"), config.get("average")
        lines.append(
            f"| {number} | {_stage_table(stage)} | {f'`{critic}`' if critic else '-'} | "
            f"{stage['games']:,} | {stage['seconds'] / 60:.0f} | {config['decay']:g} | "
            f"{config['learning_rate']:g} | {f'{mean:g}' if mean else '-'} | {config['seed']} |"
        )
    return [*lines, "", f"The last stage: `thegame train configs/{name}.yaml`."]


def _policy_training(name: str, metadata: Mapping[str, Any]) -> list[str]:
    lines = [
        f"On {HARDWARE}; every stage begins with the weights of the one before as they then were, "
        "which may not be those that are shipped under their name now. A stage with teachers first "
        "imitates them (their own training is told on their cards), then PPO goes on. Kept is the "
        "policy that did best on development deals: the minutes of imitation and those under "
        '"kept at" are up to it, evaluations counted in; 0.0 of PPO where the imitation did best.',
        "",
        "| stage | table | teachers | imitation, minutes | positions | PPO, minutes | kept at | "
        "actions | seed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for number, stage in enumerate([*metadata.get("lineage", []), metadata], start=1):
        clone = stage.get("clone")
        imitated = "- | - | -"
        if clone:
            teachers = ", ".join(f"`{teacher}`" for teacher in clone["teachers"])
            imitated = f"{teachers} | {clone['minutes']:.1f} | {clone['positions']:,}"
        lines.append(
            f"| {number} | {_stage_table(stage)} | {imitated} | {_minutes(stage)} | "
            f"{stage['seconds'] / 60:.1f} | {stage['steps']:,} | {stage['seed']} |"
        )
    ended = metadata["development"]
    return [
        *lines,
        "",
        f"On {ended['games']:,} development deals it won {100 * ended['win_rate']:.1f} %, with "
        f"{ended['cards_left_mean']:.2f} cards left on average. The last stage: "
        f"`thegame train configs/{name}.yaml --seed {metadata['seed']}`.",
    ]


def _minutes(stage: Mapping[str, Any]) -> str:
    """Minutes of PPO that a stage was granted; "-" where its length was told in actions."""
    minutes = stage.get("config", {}).get("minutes")
    return "-" if minutes is None else f"{minutes:.1f}"


def _facts(name: str, metadata: Mapping[str, Any]) -> list[str]:
    """What the file tells of itself: size, version of its inputs, libraries."""
    kind = "observation `relative`" if metadata["kind"] == "ppo" else "afterstate features"
    used = metadata.get("libraries", {})
    told = ", ".join(f"{library} {version}" for library, version in used.items())
    libraries = f" Trained with {told}." if used else ""
    path = SHIPPED / f"{name}.safetensors"
    size = f"{sum(a.size for a in load_file(path).values()):,} numbers, " if path.is_file() else ""
    return [f"Network: {size}{kind} version {metadata['version']}.{libraries}"]


def _beside(
    cells: Iterable[Mapping[str, Any]],
    own: Iterable[Mapping[str, Any]],
    metadata: Mapping[str, Any],
) -> list[str]:
    """What others win at the table of specialist weights, to see what these lack."""
    if "tables" in metadata:
        return []
    mine, table = [cell["agent"] for cell in own], metadata["table"]
    others = [
        f"`{cell['agent']}` {100 * cell['win_rate']:.1f} %"
        for cell in sorted(cells, key=lambda cell: -cell["win_rate"])
        if all(cell[key] == table[key] for key in ("rules", "players", "memory", "talk"))
        and cell["agent"] not in mine
        and _starter(cell) == "seat0"
    ]
    return ["", f"Others at this table: {', '.join(others)}."] if others else []


def _measured(own: Iterable[Mapping[str, Any]], metadata: Mapping[str, Any]) -> list[str]:
    """How the figures were measured, and the time of a decision."""
    if "tables" in metadata:
        return ["", "Each by `thegame eval --agents AGENT --rules RULES --players N --talk TALK "
                "--memory MEMORY --games GAMES --deals held-out --seed 1`."]  # fmt: skip
    lines = [""]
    for cell in own:
        time = cell.get("ms_per_decision_p50")
        took = f"; a decision takes {time:.2g} ms (median, many games side by side)" if time else ""
        memory = "on" if cell["memory"] else "off"
        starter = f" --starter {_starter(cell)}" if _starter(cell) != "seat0" else ""
        lines += [
            f"`thegame eval --agents {cell['agent']} --rules {cell['rules']} --players "
            f"{cell['players']} --talk {cell['talk']} --memory {memory}{starter} --games "
            f"{cell['games']} --deals held-out --seed 1`{took}.",
            "",
        ]
    return lines[:-1]


def _starter(cell: Mapping[str, Any]) -> str:
    return str(cell.get("starter", "seat0"))


def _results(cells: Iterable[Mapping[str, Any]], metadata: Mapping[str, Any]) -> list[str]:
    """The figures of evaluations: of a specialist a row each, of a generalist a row a setting."""
    if "tables" in metadata:
        return _grid(cells)
    lines = ["| agent | games | win % (95 %) | cards left |", "|---|---|---|---|"]
    for cell in cells:
        agreed = ", starter agreed" if _starter(cell) == "agreed" else ""
        lines.append(
            f"| `{cell['agent']}`{agreed} | {cell['games']:,} | {_won(cell)} | "
            f"{cell['cards_left_mean']:.2f} |"
        )
    return lines


def _grid(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Figures with a number of players a column; in the order of settings as they come."""
    rows: dict[tuple[str, str, int], dict[int, str]] = {}
    for cell in cells:
        row = rows.setdefault((_setting(cell), cell["agent"], cell["games"]), {})
        row[cell["players"]] = f"{_won(cell)}, {cell['cards_left_mean']:.1f}"
    numbers = range(1, MAX_SEATS + 1)
    lines = ["Win % (95 %), mean cards left.", "",
             "| table | agent | games | " + " | ".join(f"{n} p" for n in numbers) + " |",
             "|---|---|---|" + "---|" * MAX_SEATS]  # fmt: skip
    for (setting, agent, games), row in rows.items():
        figures = " | ".join(row.get(n, "-") for n in numbers)
        lines.append(f"| {setting} | `{agent}` | {games:,} | {figures} |")
    return lines


def _won(cell: Mapping[str, Any]) -> str:
    rate, low, high = (100 * cell[key] for key in ("win_rate", "win_low", "win_high"))
    return f"{rate:.1f} ({low:.1f}-{high:.1f})"


def _development(metadata: Mapping[str, Any]) -> list[str]:
    """Win rates and cards left of all tables: a setting a row, a number of players a column."""
    rows: dict[str, dict[int, str]] = {}
    for cell in metadata["development"]["tables"]:
        text = f"{100 * cell['win_rate']:.1f}, {cell['cards_left_mean']:.1f}"
        rows.setdefault(_setting(cell), {})[cell["players"]] = text
    games = metadata["development"]["tables"][0]["games"]
    numbers = range(1, MAX_SEATS + 1)
    lines = [f"Win %, mean cards left, {games:,} deals each.", "",
             "| table | " + " | ".join(f"{n} p" for n in numbers) + " |",
             "|---|" + "---|" * MAX_SEATS]  # fmt: skip
    for setting, row in rows.items():
        lines.append(f"| {setting} | " + " | ".join(row.get(n, "-") for n in numbers) + " |")
    return lines


def _stage_table(stage: Mapping[str, Any]) -> str:
    if "tables" not in stage:
        return _table(stage["table"])
    rules = ", ".join(dict.fromkeys(f"`{table['rules']}`" for table in stage["tables"]))
    return f"{len(stage['tables'])} tables of {rules}"


def _table(table: Mapping[str, Any]) -> str:
    memory = "memory on" if table["memory"] else "memory off"
    seats = "1 player" if table["players"] == 1 else f"{table['players']} players"
    return f"`{table['rules']}`, {seats}, {memory}, talk {table['talk']}"


def _setting(cell: Mapping[str, Any]) -> str:
    memory = "memory on" if cell["memory"] else "memory off"
    agreed = ", starter agreed" if _starter(cell) == "agreed" else ""
    return f"`{cell['rules']}`, {memory}, talk {cell['talk']}{agreed}"


def _player(cell: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The weights that a cell's agent played by, None where it is another kind of agent."""
    kind, _, rest = str(cell["agent"]).partition(":")
    trained = AGENTS.get(kind)
    known = {name: data for name, data in known.items() if data["kind"] == trained}
    if trained is None:
        return None
    for option in filter(None, rest.split(",")):
        if option.startswith("weights=") or ("=" not in option and kind != "expert"):
            given = option.removeprefix("weights=")
            return given if given in known else None
    table = {key: cell[key] for key in ("rules", "players", "memory", "talk")}
    return serving(known, table)


def write_cards(cells: Iterable[Mapping[str, Any]]) -> None:
    """Write the card of every shipped network of a kind that has cards, beside its weights."""
    cells = list(cells)
    for kind in KINDS:
        for name, metadata in shipped(kind).items():
            write_atomic(SHIPPED / f"{name}.md", card(name, metadata, cells).encode())
