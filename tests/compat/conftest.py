"""Documents for the tests of adapters."""

from __future__ import annotations

import pytest


@pytest.fixture
def documents(sources: list[str]) -> list[str]:
    """Code, repetitions whose parts are found at many places, other scripts, and the text of a special token."""
    return [
        sources[0][:4000],
        "na " * 200,
        "mañana 🦊 日本語の文章。中文，标点！\n\n" * 20,
        "before <|end|> after. " * 20,
    ]
