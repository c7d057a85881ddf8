"""Self-contained pages: styles and the project's own scripts are inlined, and nothing is loaded."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.drawing.characters import escaped
from bytepair.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence


def page(
    title: str,
    body: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Any = None,
    talks: bool = False,
) -> str:
    """Build a page.

    Text in it cannot make a browser load or run anything: its content security policy names the hashes of the scripts.

    Args:
        title: Its title: any text.
        body: Its content: HTML, whose texts are escaped.
        styles: Files of ``assets/`` in addition to ``base.css``.
        scripts: Files of ``assets/`` that run in this order after the body.
        data: The data of the scripts, stored as JSON in the element ``data``.
        talks: Whether scripts may send requests to the page's server.

    Example:
        >>> "<title>a &lt; b</title>" in page("a < b", "<p>1</p>")
        True
    """
    code = [asset(name) for name in scripts]
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in code)
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {hashes}" * bool(code) + "; connect-src 'self'" * talks
    style = "".join(map(asset, ("base.css", *styles)))
    parts = [f"<main>\n{body}</main>\n"]
    if data is not None:
        parts.append(f'<script type="application/json" id="data">{_json(data)}</script>\n')
    parts += [f"<script>{script}</script>\n" for script in code]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{''.join(parts)}</body>\n</html>\n"
    )


def write_page(html: str, path: str | Path) -> None:
    """Write a page into a file atomically, replacing an existing one; ArtifactError if that fails."""
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(html.encode("utf-8", "replace"))


@cache
def asset(name: str) -> str:
    """The text of a file of ``assets/``."""
    return (files("bytepair.view") / "assets" / name).read_text("utf-8")


def _json(data: Any) -> str:
    """JSON that cannot end the HTML element around it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
