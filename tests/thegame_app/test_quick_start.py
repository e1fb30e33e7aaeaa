"""The fast start of `thegame hint`: what it leaves out is not missed."""

import subprocess
import sys

from thegame_app.cli import run

POSITION = "up=23,40 down=77,60 hand=12,30,44,67,88,54 others=6,6 deck=20"
ARGUMENTS = ["hint", POSITION, "--strength", "instant", "--json"]
WITHOUT_SCIPY = f"""
import atexit, gc, sys
from thegame_app.cli import main
atexit.register(lambda: print("scipy.linalg" in sys.modules, gc.isenabled(), file=sys.stderr))
main({ARGUMENTS!r})
"""
SCIPY_AFTERWARDS = """
from thegame_app.quick_start import without_linear_algebra
without_linear_algebra()
import scipy.linalg
print(scipy.linalg.det([[2.0]]))
"""


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_command_says_the_same_without_the_linear_algebra(capsys):
    assert run(ARGUMENTS) == 0
    done = python(WITHOUT_SCIPY)
    assert done.returncode == 0
    assert done.stdout == capsys.readouterr().out
    assert done.stderr.splitlines()[-1] == "False False"


def test_scipy_can_be_imported_afterwards():
    assert float(python(SCIPY_AFTERWARDS).stdout) == 2.0
