"""The language layer and its catalogue: choice of a language, completeness, placeholders."""

import ast
import io
import pickle
import re
import string
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po

from thegame_app.language import LANGUAGES, N_, NAMES, Refusal, language, negotiate
from thegame_app.refusals import spoken
from thegame_env.errors import BadInput
from thegame_env.rules import PILES

ROOT = Path(__file__).parents[2]
APP = ROOT / "thegame_app"
TRANSLATED = [code for code in LANGUAGES if code != "en"]


def catalogue(code):
    path = APP / "locale" / code / "LC_MESSAGES" / "thegame.po"
    with path.open("rb") as file:
        return read_po(file, locale=code)


def keywords():
    """What `make messages` looks for, as Babel's extraction takes it."""
    words = re.search(r"^KEYWORDS := (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
    found = {"_": None, "gettext": None, "ngettext": (1, 2)}
    for word in words:
        name, _, places = word.partition(":")
        found[name] = tuple(map(int, places.split(","))) if places else None
    return found


def messages():
    """Every message of the application: a text, or (one, many)."""
    with (ROOT / "babel.cfg").open() as file:
        methods, options = parse_mapping_cfg(file)
    return {message if isinstance(message, str) else tuple(message[:2])
            for folder in (APP, ROOT / "thegame_env")
            for _, _, message, _, _ in extract_from_dir(folder, methods, options, keywords())
            }  # fmt: skip


def texts(message):
    return tuple(message) if isinstance(message, tuple | list) else (message,)


def names(text):
    """The placeholders of a text, such as {"n", "first:.2f"}."""
    parts = string.Formatter().parse(text)
    return {f"{name}:{spec}".rstrip(":") for _, name, spec, _ in parts if name is not None}


# --- the catalogue -------------------------------------------------------------------------------


def test_the_extraction_finds_messages_of_every_kind():
    found = messages()
    assert "up1" in found
    assert "cards left" in found
    assert any(isinstance(message, tuple) for message in found)


def trees():
    """The syntax trees of all modules that talk to people."""
    paths = [*APP.rglob("*.py"), *(ROOT / "thegame_env").glob("*.py")]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def refusals():
    """Names of the classes whose instances are sentences: Refusal, BadInput and their kinds."""
    bases = {"Refusal", "BadInput"}
    return bases | {
        node.name
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and bases & {base.id for base in node.bases if isinstance(base, ast.Name)}
    }


def test_every_sentence_in_the_code_is_found_for_translation():
    """A new kind of refusal, or another name for a language, needs its keyword in the Makefile."""
    speakers = refusals() | {"lang", "_lang", "words", "N_"}
    calls = [
        node
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in speakers
        and node.args
    ]
    assert not [ast.unparse(call) for call in calls if isinstance(call.args[0], ast.JoinedStr)]
    said = {
        call.args[0].value
        for call in calls
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    }
    assert {"It is not the turn of an agent.", "There is no such seat."} <= said
    assert said <= {texts(message)[0] for message in messages()}


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_message_is_translated(code):
    known = catalogue(code)
    missing = []
    for message in messages():
        entry = known.get(texts(message)[0])
        if entry is None or entry.fuzzy or not all(texts(entry.string)):
            missing.append(message)
    assert not missing


@pytest.mark.parametrize("code", TRANSLATED)
def test_the_catalogue_holds_nothing_else(code):
    used = {texts(message)[0] for message in messages()}
    assert {texts(entry.id)[0] for entry in catalogue(code) if entry.id} == used


@pytest.mark.parametrize("code", TRANSLATED)
def test_placeholders_agree(code):
    """Every form names the values of the message; a form for one number may leave out {n}."""
    for entry in catalogue(code):
        if not entry.id:
            continue
        wanted = set().union(*(names(text) for text in texts(entry.id)))
        for text in texts(entry.string):
            assert wanted - {"n"} <= names(text) <= wanted, (entry.id, text)


@pytest.mark.parametrize("code", TRANSLATED)
def test_the_compiled_catalogue_is_that_of_the_text(code):
    buffer = io.BytesIO()
    write_mo(buffer, catalogue(code))
    buffer.seek(0)
    with (APP / "locale" / code / "LC_MESSAGES" / "thegame.mo").open("rb") as file:
        compiled = read_mo(file)
    assert {texts(e.id): texts(e.string) for e in compiled if e.id} == {
        texts(e.id): texts(e.string) for e in read_mo(buffer) if e.id
    }


# --- a language ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", LANGUAGES)
def test_piles_have_four_names(code):
    lang = language(code)
    assert len({lang.pile(pile) for pile in range(4)}) == 4
    assert lang("Look at {pile} first.", pile=2) == lang("Look at {pile} first.", pile=lang.pile(2))


def test_english_is_the_message_itself():
    lang = language("en")
    assert [lang.pile(pile) for pile in range(4)] == list(PILES)
    assert lang("card {card}", card=12) == "card 12"
    assert lang.plural("{n} card", "{n} cards", 1) == "1 card"
    assert lang.plural("{n} card", "{n} cards", 2) == "2 cards"


@pytest.mark.parametrize(("code", "text"), [("en", "+0.50"), ("de", "+0,50"), ("pl", "+0,50")])
def test_numbers_are_written_as_in_the_language(code, text):
    lang = language(code)
    assert lang.number(0.5, "+.2f") == text
    assert lang("{left:+.2f} {n} {card:>3}", left=0.5, n=1000, card=7) == f"{text} 1000   7"


def test_polish_has_three_forms():
    lang = language("pl")
    one, many = "The game was lost with {n} card left.", "The game was lost with {n} cards left."
    forms = [lang.plural(one, many, n).replace(str(n), "N") for n in (1, 2, 5, 12, 22)]
    assert len(set(forms)) == 3
    assert forms[1] == forms[4]
    assert forms[2] == forms[3]


def test_what_is_not_translated_stays_english():
    assert language("pl")("No such {thing} anywhere.", thing="x") == "No such x anywhere."


def test_every_language_has_a_name():
    assert set(NAMES) == set(LANGUAGES)


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(ValueError, match='unknown language "fr"; known: en, de, pl'):
        language("fr")


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "pl_PL"}, "pl"),
        ({"LANGUAGE": "fr:pl:de", "LANG": "de_DE"}, "pl"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_the_system_chooses_by_default(monkeypatch, variables, code):
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language().code == code


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("fr, pl;q=0.7, de;q=0.9", "de"),
        ("en;q=0.5,pl;q=0.6", "pl"),
        ("de;q=0", "en"),
        ("", "en"),
        ("*", "en"),
        (";;q=,,de;q=x", "en"),
        ("PL", "pl"),
    ],
)
def test_a_browser_chooses_by_its_header(header, code):
    assert negotiate(header) == code


# --- refusals ------------------------------------------------------------------------------------


def test_a_refusal_is_a_sentence_in_every_language():
    refusal = Refusal(N_("It is another player's turn."))
    assert str(refusal) == "It is another player's turn."
    assert len({refusal.text(language(code)) for code in LANGUAGES}) == 3


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_is_refused_inside_is_said_in_a_language(code):
    lang, said = language(code), []
    for error in (
        Refusal("There is no such pile."),
        BadInput("card {card} lies on two piles", card=7),
    ):
        with pytest.raises(ValueError, match=r"(?i)pile|stap|stos") as told, spoken(lang):
            raise error
        assert type(told.value) is ValueError
        said.append(str(told.value))
    assert said == [lang("There is no such pile."), lang("card {card} lies on two piles", card=7)]


def test_bad_input_survives_pickling():
    error = pickle.loads(pickle.dumps(BadInput("card {card} lies on two piles", card=7)))
    assert str(error) == "card 7 lies on two piles"


def test_a_refusal_survives_pickling():
    refusal = pickle.loads(pickle.dumps(Refusal("no card {card} on {pile}", card=4, pile=3)))
    assert str(refusal) == "no card 4 on down2"
    assert refusal.values == {"card": 4, "pile": 3}
