"""Pictures of real texts by real tokenizers, and of texts made to break them."""

from __future__ import annotations

import lzma
import random
import unicodedata
from typing import TYPE_CHECKING

import pytest
from fuzz.hostile import hostile_text

import bytepair as bp
from bytepair.drawing.layout import columns
from bytepair.view import notebook, terminal
from bytepair.view.pictures import picture
from bytepair.view.terminal import TerminalOptions
from tests.conftest import WHOLE
from tests.test_data import texts
from tests.view.test_pictures import restored
from tests.view.test_terminal import COLOUR

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.data

FAMILIES = {
    "gpt2": "gpt2/tokenizer.json",
    "bert": "bert-base-uncased/vocab.txt",
    "llama2": "llama2/tokenizer.json",
    "t5": "t5-small/tokenizer.json",
    "llama3": "llama3/tokenizer.json.xz",
    "clip": "clip/tokenizer.json",
}

CHARACTERS = 1_000_000 if WHOLE else 2_000


def load(data: Path, name: str, folder: Path) -> bp.Tokenizer:
    file = data / "vocabs" / FAMILIES[name]
    if file.suffix == ".xz":
        (folder / "tokenizer.json").write_bytes(lzma.decompress(file.read_bytes()))
        file = folder / "tokenizer.json"
    return bp.Tokenizer.from_file(file)


@pytest.mark.parametrize("name", FAMILIES)
def test_each_text_is_shown_whole_and_readable(data: Path, tmp_path: Path, name: str) -> None:
    tok = load(data, name, tmp_path)
    contents = [token.content for token in tok.spec.added_tokens]
    chance = random.Random(name)
    samples = [text[:CHARACTERS] for text in texts(data).values()]
    samples += [hostile_text(chance, size, contents) for size in (1, 3, 30) * 10]
    byte_level = bp.train({"a": 1}, 256)
    for number, text in enumerate(samples):
        seen = picture([(name, tok), ("bytes", byte_level)], text)
        assert list(seen.sources[0].ids) == tok.encode(text, special="allow")
        assert all(restored(seen, source) == text for source in seen.sources)
        settings = TerminalOptions(width=80, ids=number % 2 == 0, colour=number % 3 == 0, by_line=number % 5 == 0)
        for line in terminal.lines(seen, settings):
            plain = COLOUR.sub("", line)
            assert columns(plain) <= 80
            assert not {unicodedata.category(one) for one in set(plain)} & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
        found = tok.encoding(text, special="allow")
        html = notebook.html(found)
        assert "\u202e" not in html
        if tok.spec.is_byte_level and not tok.spec.normalizers and len(found) <= notebook.MOST:
            cells = [cell for cell in notebook._cells(found) if cell.kind == "token"]
            assert "".join(cell.shown for cell in cells) == text
