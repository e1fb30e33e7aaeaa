"""The names that `thegame_env` itself offers."""

import inspect

import pytest

import thegame_env


@pytest.mark.parametrize("name", thegame_env.__all__)
def test_a_name_is_never_hidden_by_a_module_of_the_same_name(name: str) -> None:
    # A module that is imported becomes an attribute of its package, so ask twice.
    first, second = getattr(thegame_env, name), getattr(thegame_env, name)
    assert first is second
    assert not inspect.ismodule(second)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Gmae'"):
        thegame_env.Gmae  # noqa: B018
