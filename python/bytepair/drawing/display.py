"""Display of values: each names a function of `bytepair.view`, which is imported when something is drawn.

Plain data is below `bytepair.view` in the order of rooms and does not import it. But a notebook looks for
``_repr_html_`` on the value itself, so the value names the function.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def draw(value: Any, function: str) -> str:
    """Draw a value as text or HTML with a function of `bytepair.view`, such as ``"pipeline.card"``.

    Example:
        >>> import bytepair as bp
        >>> draw(bp.train({"low": 5}, vocab_size=257, split="gpt2"), "pipeline.text").splitlines()[0]
        'text'
    """
    module, _, name = function.rpartition(".")
    drawn: str = getattr(import_module(f"bytepair.view.{module}"), name)(value)
    return drawn
