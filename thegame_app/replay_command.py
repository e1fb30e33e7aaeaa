"""`thegame replay`: a game of a run, turn by turn, everything open."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thegame_app.cli import JsonOption, print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from eval.records import GameRow
    from thegame_env.notation import GameRecord
    from thegame_env.reference import Game


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("replay")(replay)


def replay(
    run: Annotated[Path, typer.Argument(help="The directory of a run, as runs/NAME.")],
    game: Annotated[
        int | None, typer.Option(help="Number of the game within the run, if it holds several.")
    ] = None,
    turn: Annotated[int | None, typer.Option(help="Show this turn only, with every play.")] = None,
    json: JsonOption = False,
) -> None:
    """Show a game of a run turn by turn: tops, the acting hand, plays, and what was drawn."""
    from eval.records import find_game

    game = game_of(run, game)
    row = find_game(run, game)
    record = record_of(row)
    turns = turns_of(record)
    if turn is not None:
        if not 1 <= turn <= len(turns):
            raise ValueError(f"game {game} has no turn {turn}, its turns are 1-{len(turns)}")
        turns = turns[turn - 1 : turn]
    if json:
        print_json(_document(game, row, record, turns))
    else:
        _print(game, row, turns, every_play=turn is not None)


@dataclass(frozen=True, slots=True)
class Play:
    """One card on one pile.

    Attributes:
        card: The card.
        pile: Name of the pile.
        gap: How far the pile moved; the backwards trick is negative.
    """

    card: int
    pile: str
    gap: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn, as it began and what was done in it.

    Attributes:
        number: From 1 on.
        seat: Who acted, from 0 on; people read it as player 1, 2, ...
        tops: Tops of up1, up2, down1, down2.
        hand: The acting seat's cards, ascending.
        others: The other seats' cards, by seat.
        deck: Cards in the deck.
        owed: Plays owed.
        plays: What was played, in order.
        drawn: Cards drawn in the end, ascending.
        left: Cards in all hands and the deck afterwards.
    """

    number: int
    seat: int
    tops: tuple[int, ...]
    hand: list[int]
    others: dict[int, list[int]]
    deck: int
    owed: int
    plays: list[Play]
    drawn: list[int]
    left: int


def game_of(run: Path, number: int | None) -> int:
    """The number of a game of a run: as given, or that of the only one; a Refusal otherwise."""
    from eval.records import read_manifest
    from thegame_app.language import Refusal

    if number is not None:
        return number
    manifest = read_manifest(run)
    games = len(manifest.cells) * manifest.games
    if games > 1:
        raise Refusal("{path} holds {games} games: say which with --game", path=run, games=games)
    return 0


def record_of(row: GameRow) -> GameRecord:
    """The replayable record of a row; its deck follows from the deal seed."""
    from thegame_env.deal import deal
    from thegame_env.notation import GameRecord
    from thegame_env.rules import Rules, Table

    rules = Rules.parse(row.rules)
    table = Table(rules, row.players, row.memory, row.talk, row.starter)
    deck = deal(rules, row.seed, row.game)
    return GameRecord(table, deck, tuple(row.actions), row.seed, row.game)


def turns_of(record: GameRecord) -> list[Turn]:
    """The turns of a game; the last one is that in which it was won, lost or broken off."""
    positions = list(record.replay())
    turns: list[Turn] = []
    start, plays = positions[0], []
    for before, action, after in zip(positions, record.actions, positions[1:], strict=False):
        if action != record.table.rules.end_turn:
            plays.append(_play(before, action))
        if _ends_turn(before, action):
            turns.append(_turn(len(turns) + 1, start, plays, after))
            start, plays = after, []
    return [*turns, _turn(len(turns) + 1, start, plays, positions[-1])]


def _ends_turn(game: Game, action: int) -> bool:
    emptied = len(game.hands[game.seat]) == 1 and game.cards_left > 1
    return action == game.rules.end_turn or emptied


def _play(game: Game, action: int) -> Play:
    from thegame_env.rules import PILES

    decoded = game.rules.decode(action)
    assert decoded is not None
    card, pile = decoded
    gap = card - game.tops[pile]
    return Play(card, PILES[pile], gap if pile < 2 else -gap)


def _turn(number: int, start: Game, plays: list[Play], after: Game) -> Turn:
    hand = start.hands[start.seat]
    return Turn(
        number=number,
        seat=start.seat,
        tops=start.tops,
        hand=sorted(hand),
        others={s: sorted(h) for s, h in enumerate(start.hands) if s != start.seat},
        deck=len(start.deck),
        owed=start.owed,
        plays=plays,
        drawn=sorted(after.hands[start.seat] - hand),
        left=after.cards_left,
    )


def _document(number: int, row: GameRow, record: GameRecord, turns: list[Turn]) -> Any:
    facts = ("agent", "players", "rules", "talk", "memory", "starter", "seed", "game", "seats")
    result = ("ended", "reason", "won", "cards_left", "deck", "hands")
    return {
        "number": number,
        **{name: getattr(row, name) for name in (*facts, *result)},
        "record": str(record),
        "turns": [asdict(turn) for turn in turns],
    }


# --- in a terminal -------------------------------------------------------------------------------


def _print(number: int, row: GameRow, turns: list[Turn], every_play: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from thegame_env.ranges import range_of

    console = Console(highlight=False)
    memory = "on" if row.memory else "off"
    setting = f"{row.rules}, memory {memory}, talk {row.talk}, starter {row.starter}"
    players = "1 player" if row.players == 1 else f"{row.players} players"
    console.print(Text(f"Game {number}: {row.agent}, {players}, {setting}", style="bold"))
    if len(set(row.seats)) > 1:
        seats = ", ".join(f"player {n} {name}" for n, name in enumerate(row.seats, start=1))
        console.print(Text(seats))
    console.print(Text(f"Deal {row.game} of seed {row.seed} ({range_of(row.seed)})\n"))
    if every_play:
        _print_turn(console, turns[0], row)
        return
    console.print(_grid(turns))
    console.print(Text(f"\n{_ending(row)}", style="bold"))
    if row.cards_left:
        console.print(Text(_rest(row)))


def _grid(turns: list[Turn]) -> Grid:
    """One line a turn."""
    from rich.table import Table

    from thegame_env.rules import PILES

    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("turn", "player", *PILES):
        grid.add_column(name, justify="right", no_wrap=True)
    for name in ("hand", "plays", "draws"):
        grid.add_column(name, overflow="fold")
    for turn in turns:
        plays = " ".join(f"{play.card}:{play.pile}" for play in turn.plays)
        player = turn.seat + 1
        cells = [turn.number, player, *turn.tops, _listed(turn.hand), plays, _listed(turn.drawn)]
        grid.add_row(*map(str, cells))
    return grid


def _print_turn(console: Console, turn: Turn, row: GameRow) -> None:
    """One turn with every play, and the hands that the acting seat does not see."""
    from rich.text import Text

    from thegame_env.rules import PILES

    lines = [
        f"Turn {turn.number}, player {turn.seat + 1} ({row.seats[turn.seat]})",
        "  tops    " + "  ".join(map("{} {}".format, PILES, turn.tops)),
        f"  hand    {_listed(turn.hand)}",
        *(f"  player {seat + 1}  {_listed(hand)}" for seat, hand in turn.others.items()),
        f"  deck    {turn.deck} cards, {turn.owed} plays owed",
        *(f"  plays   {play.card} on {play.pile}, {_gap(play)}" for play in turn.plays),
    ]
    lines += [f"  draws   {_listed(turn.drawn)}"] if turn.drawn else []
    lines.append(f"  left    {turn.left} cards")
    if turn.number == row.turns:
        lines.append(_ending(row))
    console.print(Text("\n".join(lines)))


def _gap(play: Play) -> str:
    return f"gap {play.gap}" if play.gap > 0 else f"a trick, {-play.gap} back"


def _ending(row: GameRow) -> str:
    if row.won:
        return "Won: all cards are on the piles"
    if row.ended == "stuck":
        return f"Stuck with {row.cards_left} cards left"
    return f"Ended by a fault with {row.cards_left} cards left: {row.ended}, {row.reason}"


def _rest(row: GameRow) -> str:
    hands = "; ".join(f"player {n}: {_listed(hand)}" for n, hand in enumerate(row.hands, start=1))
    return f"Hands: {hands}\nDeck: {_listed(row.deck) if row.deck else 'empty'}"


def _listed(cards: list[int]) -> str:
    return " ".join(map(str, cards))
