"""What people read, in their language: one gettext catalogue for the command, the page, the table.

The English text is the message itself. A message is looked up first and filled in afterwards, so a
translation may move its `{names}` about. Messages are found for translation (`make messages`) as
the literal first argument of `N_`, `lang`, `plural`, `Refusal` and its kinds, and of the `BadInput`
of thegame_env; templates call `_` and `ngettext`, which are a `Language` and its `plural`.
"""

from __future__ import annotations

import functools
import gettext
import locale
import os
import re
import string
from importlib.resources import as_file, files
from typing import Any

from thegame_env.rules import PILES, unknown

LANGUAGES = ("en", "de", "pl")
"""Codes of the languages; the first needs no catalogue."""
DECIMAL_POINT = ("en",)
"""Languages that write 0.5; the others write 0,5."""
DOMAIN = "thegame"
"""Name of the catalogue."""
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Where a system says which language its user reads, the strongest first."""


def N_(message: str) -> str:
    """Mark a message for translation where it is only stored."""
    return message


NAMES = {"en": "English", "de": "Deutsch", "pl": "Polski"}
"""Each language by its own name."""
PILE_NAMES = (N_("up1"), N_("up2"), N_("down1"), N_("down2"))


class Language:
    """One language: call it with an English message to get the text in that language.

    Attributes:
        code: "en", "de" or "pl".
    """

    def __init__(self, code: str, catalogue: gettext.NullTranslations) -> None:
        self.code, self._catalogue = code, catalogue

    def __call__(self, message: str, /, **values: Any) -> str:
        """The message in this language, with its `{names}` filled in.

        Numbers that are not whole are written as in `number`.

        A value called `pile` may be a pile, as its number 0..3 or as in PILES; its name in this
        language is put there.
        """
        return self._fill(self._catalogue.gettext(message), values)

    def plural(self, one: str, many: str, n: int, /, **values: Any) -> str:
        """The form for the number `n`, which the message may name as `{n}`."""
        return self._fill(self._catalogue.ngettext(one, many, n), {"n": n, **values})

    def number(self, value: float, spec: str) -> str:
        """A number as the language writes it: with a decimal comma in German and Polish.

        Args:
            value: The number.
            spec: How to format it, such as ".2f".
        """
        text = format(value, spec)
        return text if self.code in DECIMAL_POINT else text.replace(".", ",")

    def pile(self, pile: int) -> str:
        """The short name of pile 0..3."""
        return self._catalogue.gettext(PILE_NAMES[pile])

    def _fill(self, text: str, values: dict[str, Any]) -> str:
        pile = values.get("pile")
        if pile in PILES:
            pile = PILES.index(pile)
        if isinstance(pile, int) and 0 <= pile < len(PILES):
            values = {**values, "pile": self.pile(pile)}
        return _Filler(self).vformat(text, (), values)

    def __repr__(self) -> str:
        return f"Language({self.code!r})"


class _Filler(string.Formatter):
    """`str.format` with numbers that are not whole, and sentences, written as in a language."""

    def __init__(self, lang: Language) -> None:
        self._lang = lang

    def format_field(self, value: Any, format_spec: str) -> str:
        """See string.Formatter."""
        if isinstance(value, float):
            return self._lang.number(value, format_spec)
        if isinstance(value, Refusal):
            return value.text(self._lang)
        return str(super().format_field(value, format_spec))


@functools.cache
def _language(code: str) -> Language:
    if code == LANGUAGES[0]:
        return Language(code, gettext.NullTranslations())
    with as_file(files("thegame_app") / "locale") as folder:
        return Language(code, gettext.translation(DOMAIN, folder, [code], fallback=True))


def language(code: str | None = None) -> Language:
    """The language of a code; without one, that of the system, or else English.

    Raises:
        ValueError: An unknown code.
    """
    if code is None:
        return _language(_system_code())
    if code not in LANGUAGES:
        raise ValueError(unknown("language", code, LANGUAGES))
    return _language(code)


def _system_code() -> str:
    """The first known language that the system's settings name, else English."""
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    wanted = [locale.getlocale()[0] or ""] if named is None else named.split(":")
    codes = (re.split(r"[_.@-]", name)[0].lower() for name in wanted)
    return next((code for code in codes if code in LANGUAGES), LANGUAGES[0])


def negotiate(accept_language: str) -> str:
    """The code of the language that a browser's Accept-Language header likes best.

    A part that is not understood is passed over; without any known language it is English.
    """
    best, best_weight = LANGUAGES[0], 0.0
    for part in accept_language.split(","):
        found = re.fullmatch(r"\s*([A-Za-z]+)[-\w]*\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?", part)
        code = found[1].lower() if found else ""
        weight = float(found[2] or 1) if found else 0.0
        if code in LANGUAGES and weight > best_weight:
            best, best_weight = code, weight
    return best


class Refusal(ValueError):
    """Input that is refused: one sentence, which can be said in every language.

    Args:
        message: English sentence with `{names}`, see `Language`.
        values: What stands for the names; a Refusal is said in the language, too.
    """

    def __init__(self, message: str, /, **values: Any) -> None:
        super().__init__(message)
        self.message, self.values = message, values

    def text(self, lang: Language) -> str:
        """The sentence in a language."""
        return lang(self.message, **self.values)

    def __str__(self) -> str:
        return self.text(_language(LANGUAGES[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(Refusal, **self.values), (self.message,)
