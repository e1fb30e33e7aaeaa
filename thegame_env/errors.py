"""Bad input as a sentence that can be told in other languages too."""

from __future__ import annotations

import functools
from typing import Any


class BadInput(ValueError):
    """Input that is not understood: one sentence, kept apart from what stands in it.

    Args:
        message: English sentence with `{names}`.
        values: What stands for the names.
    """

    def __init__(self, message: str, /, **values: Any) -> None:
        super().__init__(message)
        self.message, self.values = message, values

    def __str__(self) -> str:
        return self.message.format(**self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self.values), (self.message,)
