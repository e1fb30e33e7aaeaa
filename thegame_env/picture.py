"""The table drawn as an image, with Pillow; see `render`."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from thegame_env.render import Frame, action_words, next_words, places, talk_words
from thegame_env.rules import N_PILES, PILES

SIZE = (960, 600)
SCALE = 2
"""Drawn this many times larger and then reduced, so that slanted and round edges are smooth."""

FELT, FELT_DARK, LINE = (22, 82, 66), (15, 60, 49), (44, 112, 92)
PAPER, INK, FADED = (250, 247, 238), (34, 38, 44), (178, 180, 178)
LIGHT, DIM = (240, 244, 240), (166, 199, 186)
RISING, FALLING = (226, 149, 45), (78, 133, 214)
BACK, BACK_LINE = (112, 44, 58), (168, 96, 106)
GOOD, BAD = (66, 150, 84), (178, 58, 52)

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]


class Canvas:
    """A drawing surface in the units of the finished image."""

    def __init__(self) -> None:
        size = (SIZE[0] * SCALE, SIZE[1] * SCALE)
        self.image = Image.new("RGB", size, FELT)
        self._draw = ImageDraw.Draw(self.image)

    def box(
        self, box: Box, fill: Colour, radius: float, line: Colour | None = None, width: float = 1
    ) -> None:
        """A rounded rectangle (left, top, right, bottom)."""
        scaled = tuple(SCALE * x for x in box)
        wide = round(SCALE * width) if line else 0
        self._draw.rounded_rectangle(scaled, SCALE * radius, fill, line, wide)

    def polygon(self, points: list[tuple[float, float]], fill: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon([(SCALE * x, SCALE * y) for x, y in points], fill)

    def text(
        self, x: float, y: float, text: str, size: int, fill: Colour = LIGHT, anchor: str = "lm"
    ) -> None:
        """A line of text; the anchor is Pillow's (l, m, r and then m for the middle)."""
        self._draw.text((SCALE * x, SCALE * y), text, fill, _font(SCALE * size), anchor)

    def width(self, text: str, size: int) -> float:
        """How wide a line of text is."""
        return self._draw.textlength(text, _font(SCALE * size)) / SCALE


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def paint(frame: Frame) -> npt.NDArray[np.uint8]:
    """The frame as an image, uint8[600, 960, 3]."""
    canvas = Canvas()
    _heading(canvas, frame)
    for pile in range(N_PILES):
        _pile(canvas, frame, pile)
    _deck(canvas, frame)
    _others(canvas, frame)
    _last(canvas, frame)
    _hand(canvas, frame)
    _footer(canvas, frame)
    return np.asarray(canvas.image.resize(SIZE, Image.Resampling.LANCZOS))


def _heading(canvas: Canvas, frame: Frame) -> None:
    canvas.box((0, 0, SIZE[0], 44), FELT_DARK, 0)
    canvas.text(24, 22, "The Game", 22)
    text = _short(canvas, "   ".join(frame.title), 15, 760)
    canvas.text(SIZE[0] - 24, 22, text, 15, DIM, "rm")


def _short(canvas: Canvas, text: str, size: int, room: float) -> str:
    """The text, cut with dots where it is wider than the room."""
    if canvas.width(text, size) <= room:
        return text
    while text and canvas.width(text + "...", size) > room:
        text = text[:-1]
    return text + "..."


def _arrow(canvas: Canvas, x: float, y: float, up: bool, size: float, fill: Colour) -> None:
    """A thick arrow, its middle at (x, y)."""
    way = -1 if up else 1
    head = [(x - size, y), (x + size, y), (x, y + way * size * 1.1)]
    canvas.polygon(head, fill)
    end = y - way * size
    stem = size * 0.42
    canvas.polygon([(x - stem, y), (x + stem, y), (x + stem, end), (x - stem, end)], fill)


def _pile(canvas: Canvas, frame: Frame, pile: int) -> None:
    view, rising = frame.view, pile < 2
    left, top, wide, high = 40 + 150 * pile + (24 if pile > 1 else 0), 96, 124, 172
    colour = RISING if rising else FALLING
    start = view.tops[pile] == view.rules.starts[pile]
    middle = left + wide / 2
    canvas.text(middle, top - 18, PILES[pile], 17, LIGHT, "mm")
    for depth in () if start else (6, 3):
        x, y = left + depth, top + depth
        canvas.box((x, y, x + wide, y + high), FADED, 12, FELT_DARK)
    canvas.box((left, top, left + wide, top + high), PAPER, 12, FELT_DARK)
    canvas.box((left + 7, top + 7, left + wide - 7, top + high - 7), PAPER, 8, colour, 3)
    size = 62 if view.tops[pile] < 100 else 48
    canvas.text(middle, top + 74, str(view.tops[pile]), size, FADED if start else INK, "mm")
    _arrow(canvas, middle, top + 136, rising, 15, colour)
    canvas.text(middle, top + high + 26, next_words(view, pile), 14, DIM, "mm")


def _back(canvas: Canvas, left: float, top: float, wide: float, high: float) -> None:
    """A face-down card."""
    canvas.box((left, top, left + wide, top + high), BACK, wide / 10, PAPER, max(wide / 45, 1))
    inset = wide / 8
    inner = (left + inset, top + inset, left + wide - inset, top + high - inset)
    canvas.box(inner, BACK, wide / 14, BACK_LINE, max(wide / 60, 1))


def _deck(canvas: Canvas, frame: Frame) -> None:
    left, top, deck = 700, 96, frame.view.deck
    canvas.text(left + 50, top - 18, "deck", 17, LIGHT, "mm")
    layers = min(-(-deck // 16), 6)
    for layer in range(layers):
        _back(canvas, left + 3 * layer, top - 2 * layer + 8, 96, 132)
    if not deck:
        canvas.box((left, top + 8, left + 96, top + 140), FELT, 10, LINE, 2)
    text = str(deck) if deck else "empty"
    size = 38 if deck else 18
    lift = max(layers - 1, 0)
    canvas.text(left + 48 + 3 * lift, top + 74 - 2 * lift, text, size, LIGHT if deck else DIM, "mm")
    canvas.text(left + 50, top + 166, f"{frame.view.cards_left} left in all", 15, DIM, "mm")


def _others(canvas: Canvas, frame: Frame) -> None:
    room = 138
    for i, (seat, size, said) in enumerate(frame.offsets):
        left, top = 40 + (room + 84) * i, 326
        acting = " *" if seat == frame.acting else ""
        canvas.text(left, top, f"seat {seat}{acting}", 16)
        canvas.text(left + 62, top, f"{size} cards", 15, DIM)
        step = min(17, (room - 24) / max(size, 1))
        for card in range(size):
            _back(canvas, left + step * card, top + 14, 24, 34)
        words = talk_words(frame.view, said).split("; ")
        for row, line in enumerate(words if said is not None else []):
            canvas.text(left, top + 60 + 16 * row, _short(canvas, line, 14, 212), 14, LIGHT)
    if not frame.offsets:
        canvas.text(40, 350, "a game for one", 15, DIM)


def _last(canvas: Canvas, frame: Frame) -> None:
    left, top = 828, 78
    canvas.text(left, top, "last", 17)
    words = [action_words(frame.view, action) for action in frame.last]
    for row, line in enumerate(words[::-1]):
        canvas.text(left, top + 28 + 22 * row, line, 15, LIGHT if row == 0 else DIM)
    if not words:
        canvas.text(left, top + 28, "nothing yet", 15, DIM)


def _hand(canvas: Canvas, frame: Frame) -> None:
    cards, view = sorted(frame.view.hand), frame.view
    canvas.text(40, 438, f"seat {frame.seat}, own hand", 16)
    wide, high, top = 72, 92, 450
    step = min(wide + 14, (SIZE[0] - 80 - wide) / max(len(cards) - 1, 1))
    for i, card in enumerate(cards):
        fits = places(view, card)
        left = 40 + step * i
        canvas.box((left, top, left + wide, top + high), PAPER, 9, FELT_DARK)
        canvas.text(left + wide / 2, top + 36, str(card), 34, INK if fits else FADED, "mm")
        for k, pile in enumerate(fits):
            x = left + wide / 2 + 15 * (k - (len(fits) - 1) / 2)
            _arrow(canvas, x, top + 74, pile < 2, 6, RISING if pile < 2 else FALLING)
        if not fits:
            canvas.text(left + wide / 2, top + 74, "no pile", 13, FADED, "mm")
    if not cards:
        canvas.text(40, 490, "no cards", 18, DIM)


def _footer(canvas: Canvas, frame: Frame) -> None:
    colour = FELT_DARK
    if frame.outcome is not None:
        colour = GOOD if frame.outcome.won else BAD
    canvas.box((0, SIZE[1] - 46, SIZE[0], SIZE[1]), colour, 0)
    canvas.text(24, SIZE[1] - 23, frame.turn, 20)
