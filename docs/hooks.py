"""Changes to a page by `make docs`: names and places that the theme leaves out."""

from __future__ import annotations

import re
from typing import Any


def on_post_page(output: str, **_: Any) -> str:
    """Gives names to the search and to lists of sections; lists within the contents of a page are no landmarks."""
    output = re.sub(r'<nav class="md-nav" aria-label="[^"]*"', '<nav class="md-nav" role="presentation"', output)
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    title = r'([^>]*>\s*<label class="md-nav__title" for="__nav[^>]*>.*?</span>)\s*(.*?)\s*</label>'
    return re.sub(f'aria-labelledby="[^"]*"{title}', r'aria-label="\2"\1\2</label>', output, flags=re.DOTALL)
