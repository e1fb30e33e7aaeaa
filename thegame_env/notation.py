"""Text <-> positions, actions and game records; parsing what was formatted gives it back.

A position is what one seat sees, in order-free `key=value` tokens:

    up=23,40 down=77,60 hand=12,34,45,67,88,90 deck=40 others=6,6 played=0 rules=official

`others` are the other seats' hand sizes from the next seat on, `played` the cards laid this turn,
`seen` the cards known to be played (`seen=unknown`: the seat does not remember, as where the key is
left out and some card has been played), `talk` one group of four levels a seat, "!" behind it for
"I cannot reach my minimum": `talk=open:0120,0000!`. Every other key left out takes its natural
default.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from thegame_env.deal import check_deck
from thegame_env.errors import BadInput
from thegame_env.reference import Game
from thegame_env.rules import PILES, IllegalAction, Rules, Table, Talk, unknown
from thegame_env.view import SeatTalk, View

UNKNOWN = "unknown"
POSITION_KEYS = ("up", "down", "hand", "deck", "others", "played", "rules", "seen", "talk")
RECORD_KEYS = ("rules", "players", "memory", "talk", "starter", "seed", "game", "deck", "actions")


def _tokens(text: str, what: str, known: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(text, str):
        raise ValueError(f"a {what} must be text, not {type(text).__name__}")
    values: dict[str, str] = {}
    for token in text.split():
        key, equals, value = token.partition("=")
        if not equals:
            raise BadInput('{what}: "{token}" is not of the form key=value', what=what, token=token)
        if key not in known:
            raise _unknown_key(what, key, known)
        if key in values:
            raise BadInput("{what}: {key} is given twice", what=what, key=key)
        values[key] = value
    return values


def _unknown_key(what: str, key: str, known: tuple[str, ...]) -> BadInput:
    names, near = ", ".join(known), difflib.get_close_matches(key, known, n=1)
    if not near:
        return BadInput(
            '{what}: unknown key "{key}"; known: {known}', what=what, key=key, known=names
        )
    return BadInput(
        '{what}: unknown key "{key}", did you mean "{near}"? known: {known}',
        what=what,
        key=key,
        near=near[0],
        known=names,
    )


def _numbers(values: dict[str, str], key: str) -> tuple[int, ...] | None:
    """The comma-separated whole numbers of a key; None where it is absent, () where empty."""
    if key not in values:
        return None
    text = values[key]
    if not text:
        return ()
    numbers = text.split(",")
    for number in numbers:
        if not re.fullmatch(r"[0-9]{1,20}", number):
            raise BadInput('{key}: "{number}" is not a whole number', key=key, number=number)
    return tuple(map(int, numbers))


def _number(values: dict[str, str], key: str, default: int) -> int:
    numbers = _numbers(values, key)
    if numbers is None:
        return default
    if len(numbers) != 1:
        raise BadInput('{key} must be one whole number, not "{got}"', key=key, got=values[key])
    return numbers[0]


# --- positions -----------------------------------------------------------------------------------


def parse_position(text: str) -> View:
    """The view that a position text describes; ValueError names what is wrong or clashes."""
    values = _tokens(text, "position", POSITION_KEYS)
    rules = Rules.parse(values.get("rules", "official"))
    if "hand" not in values:
        raise BadInput("position: the hand is missing, for example hand=12,34,45")
    hand = _cards(rules, "hand", _numbers(values, "hand") or ())
    tops = _tops(rules, values)
    others = _numbers(values, "others") or ()
    plays = _number(values, "played", 0)
    laid = frozenset(tops) - {rules.low, rules.high}
    known = _seen(rules, values, laid)
    _check_clashes(hand, tops, known)
    talk, said = _talk(values.get("talk"), len(others))
    table = Table(rules, len(others) + 1, talk=talk)
    _check_sizes(table, hand, others, plays)
    _check_played(plays, known, laid)
    deck = _deck(rules, values, len(hand) + sum(others), known, laid)
    table = Table(rules, len(others) + 1, memory=known is not None, talk=talk)
    return View(table, tops, frozenset(hand), deck, others, plays, known, said)


def _cards(rules: Rules, where: str, cards: tuple[int, ...]) -> tuple[int, ...]:
    for i, card in enumerate(cards):
        if not rules.low < card < rules.high:
            raise BadInput(
                "{where}: card {card} does not exist, cards are {low}-{high}",
                where=where,
                card=card,
                low=rules.low + 1,
                high=rules.high - 1,
            )
        if card in cards[:i]:
            raise BadInput("{where}: card {card} stands there twice", where=where, card=card)
    return cards


def _tops(rules: Rules, values: dict[str, str]) -> tuple[int, int, int, int]:
    tops: list[int] = []
    for key, start in (("up", rules.low), ("down", rules.high)):
        pair = _numbers(values, key)
        if pair is None:
            pair = (start, start)
        if len(pair) != 2:
            raise BadInput(
                '{key} must be two tops such as {key}=23,40, not "{got}"', key=key, got=values[key]
            )
        for top in pair:
            if top != start and not rules.low < top < rules.high:
                raise BadInput(
                    "{key}: a top is {start} or a card {low}-{high}, not {top}",
                    key=key,
                    start=start,
                    low=rules.low + 1,
                    high=rules.high - 1,
                    top=top,
                )
            if top != start and top in tops:
                raise BadInput("card {card} lies on two piles", card=top)
            tops.append(top)
    return (tops[0], tops[1], tops[2], tops[3])


def _seen(rules: Rules, values: dict[str, str], laid: frozenset[int]) -> frozenset[int] | None:
    """The cards known to be played (`laid` are the visible ones); None without memory."""
    if values.get("seen") == UNKNOWN or ("seen" not in values and laid):
        return None
    return frozenset(_cards(rules, "seen", _numbers(values, "seen") or ())) | laid


def _check_clashes(
    hand: tuple[int, ...], tops: tuple[int, ...], seen: frozenset[int] | None
) -> None:
    for card in hand:
        if card in tops:
            pile = PILES[tops.index(card)]
            raise BadInput("card {card} is in the hand and on {pile}", card=card, pile=pile)
        if seen is not None and card in seen:
            raise BadInput("card {card} is in the hand and among the seen cards", card=card)


def _check_sizes(table: Table, hand: tuple[int, ...], others: tuple[int, ...], plays: int) -> None:
    full = table.hand_size
    if len(hand) + plays > full:
        raise BadInput(
            "{cards} cards in hand and {plays} played this turn are more than a full hand of "
            "{full} ({rules}, {players} players)",
            cards=len(hand),
            plays=plays,
            full=full,
            rules=table.rules.spec(),
            players=table.players,
        )
    for size in others:
        if size > full:
            raise BadInput(
                "others: a hand of {size} is larger than a full hand of {full}",
                size=size,
                full=full,
            )


def _check_played(plays: int, seen: frozenset[int] | None, laid: frozenset[int]) -> None:
    """ValueError where cards have been played that lie nowhere."""
    if not laid and plays:
        raise BadInput("played={plays}, but no pile has been touched", plays=plays)
    if not laid and seen:
        raise BadInput("cards are seen, but no pile has been touched")
    if seen is not None and plays > len(seen):
        raise BadInput(
            "played={plays} is more than the cards seen ({seen})", plays=plays, seen=len(seen)
        )


def _deck(
    rules: Rules,
    values: dict[str, str],
    held: int,
    seen: frozenset[int] | None,
    laid: frozenset[int],
) -> int:
    """Cards in the deck; ValueError where the sizes do not add up."""
    rest = rules.cards - held - len(laid if seen is None else seen)
    deck = _number(values, "deck", max(rest, 0))
    if rest < 0 or deck > rest:
        sizes = {"sum": rules.cards - rest + deck, "cards": rules.cards}
        if seen is None:
            raise BadInput(
                "hand, others, deck and the tops add up to {sum} cards, more than the {cards} "
                "there are",
                **sizes,
            )
        raise BadInput(
            "hand, others, deck and the seen cards add up to {sum} cards, more than the {cards} "
            "there are",
            **sizes,
        )
    if deck < rest and (seen is not None or not laid):
        sizes = {"cards": rules.cards, "rest": rest - deck}
        if seen is None:
            raise BadInput(
                "the sizes do not add up to {cards}: neither in a hand nor in the deck and no pile "
                "touched: {rest}",
                **sizes,
            )
        raise BadInput(
            "the sizes do not add up to {cards}: neither in a hand nor in the deck nor seen: "
            "{rest}",
            **sizes,
        )
    return deck


def _talk(text: str | None, others: int) -> tuple[Talk, tuple[SeatTalk, ...]]:
    if text is None or text == "none":
        return "none", ()
    setting, colon, groups = text.rpartition(":")
    said = tuple(_seat_talk(group) for group in groups.split(",")) if groups else ()
    loud = any(group.stuck or 2 in group.levels for group in said)
    if not colon:
        setting = "open" if loud else "avoid"
    if setting not in ("avoid", "open"):
        raise BadInput(
            'talk: unknown setting "{setting}"; known: {known}',
            setting=setting,
            known="avoid, open",
        )
    if setting == "avoid" and loud:
        raise BadInput("talk: avoid knows only the levels 0 and 1, and no !")
    if len(said) != others:
        raise BadInput(
            "talk: {groups} groups for {others} other seats", groups=len(said), others=others
        )
    return ("open" if setting == "open" else "avoid"), said


def _seat_talk(group: str) -> SeatTalk:
    if not re.fullmatch(r"[012]{4}!?", group):
        raise BadInput(
            'talk: "{group}" is not four levels 0-2 such as 0120, with ! for stuck', group=group
        )
    a, b, c, d = (int(level) for level in group[:4])
    return SeatTalk((a, b, c, d), group.endswith("!"))


def format_position(view: View) -> str:
    """The position text of the acting seat's view; `parse_position` gives the view back.

    The starter is not part of a position: once the game has begun, it no longer matters.

    Raises:
        ValueError: The view of a seat that is not acting; a position is what the acting one sees.
    """
    if not view.acting:
        raise ValueError("only the view of the acting seat is a position")

    def listed(items: Iterable[object]) -> str:
        return ",".join(map(str, items))

    parts = [
        f"up={listed(view.tops[:2])}",
        f"down={listed(view.tops[2:])}",
        f"hand={listed(sorted(view.hand))}",
        f"deck={view.deck}",
        f"others={listed(view.others)}",
        f"played={view.plays}",
        f"rules={view.rules.spec()}",
    ]
    parts.append(f"seen={UNKNOWN if view.seen is None else listed(sorted(view.seen))}")
    if view.table.talk != "none":
        groups = ("".join(map(str, s.levels)) + "!" * s.stuck for s in view.talk)
        parts.append(f"talk={view.table.talk}:{listed(groups)}")
    return " ".join(parts)


# --- actions -------------------------------------------------------------------------------------


def format_action(rules: Rules, action: int) -> str:
    """An action as text: "54:up1", or "end"."""
    play = rules.decode(action)
    return "end" if play is None else f"{play[0]}:{PILES[play[1]]}"


def parse_action(rules: Rules, text: str) -> int:
    """The action of a text such as "54:up1" or "end"; ValueError where it is neither."""
    if text == "end":
        return rules.end_turn
    card, _, pile = text.partition(":")
    if not re.fullmatch(r"[0-9]{1,3}", card):
        raise BadInput('"{text}" is not an action such as 54:up1, or end', text=text)
    if pile not in PILES:
        raise ValueError(unknown("pile", pile, PILES))
    return rules.action(int(card), PILES.index(pile))


# --- game records --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that replays: the table, the deck as dealt, and the actions taken.

    Attributes:
        table: What was played.
        deck: The whole deck order; hands are dealt in blocks from its front.
        actions: Actions in the codec of the rules.
        seed: Seed of the deal, None where the deck was given.
        game: Index of the game under the seed.
    """

    table: Table
    deck: tuple[int, ...]
    actions: tuple[int, ...] = field(default=())
    seed: int | None = None
    game: int = 0

    def replay(self) -> Iterator[Game]:
        """Every position from the deal on; IllegalAction names the action that does not fit."""
        game = Game.start(self.table, self.deck)
        yield game
        for number, action in enumerate(self.actions, start=1):
            try:
                game = game.step(action)
            except IllegalAction as error:
                raise IllegalAction(f"action {number} of the record: {error}") from None
            yield game

    def __str__(self) -> str:
        """One line of key=value tokens."""
        table = self.table
        parts = [
            f"rules={table.rules.spec()}",
            f"players={table.players}",
            f"memory={'on' if table.memory else 'off'}",
            f"talk={table.talk}",
            f"starter={table.starter}",
        ]
        if self.seed is not None:
            parts += [f"seed={self.seed}", f"game={self.game}"]
        parts.append("deck=" + ",".join(map(str, self.deck)))
        parts.append("actions=" + ",".join(format_action(table.rules, a) for a in self.actions))
        return " ".join(parts)

    @staticmethod
    def parse(text: str) -> GameRecord:
        """The record of a text; ValueError names what is wrong."""
        values = _tokens(text, "record", RECORD_KEYS)
        if "deck" not in values:
            raise BadInput("record: the deck is missing")
        rules = Rules.parse(values.get("rules", "official"))
        if values.get("memory", "on") not in ("on", "off"):
            raise BadInput('record: memory is on or off, not "{got}"', got=values["memory"])
        table = Table(
            rules,
            _number(values, "players", 1),
            values.get("memory", "on") == "on",
            values.get("talk", "none"),  # type: ignore[arg-type]
            values.get("starter", "seat0"),  # type: ignore[arg-type]
        )
        actions = values.get("actions", "")
        taken = tuple(parse_action(rules, a) for a in actions.split(",")) if actions else ()
        seed = _number(values, "seed", 0) if "seed" in values else None
        deck = check_deck(rules, _numbers(values, "deck") or ())
        return GameRecord(table, deck, taken, seed, _number(values, "game", 0))
