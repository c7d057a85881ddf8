"""RWKV's vocabularies: ids by the definition, lines as Python writes them, GGUF, and refused files."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.formats import gguf, loading, rwkv
from bytepair.model.meanings import stands_for
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

BYTES = [bytes([byte]) for byte in range(256)]
MORE = [b" low", b" lo", b"low", b"lower", b"wer", b"  ", b" " * 7]
MORE += [b"\n\n", b"'\"", b"it's", "日本".encode(), b"\xe6\x97"]
TOKENS = [*BYTES, *MORE]


def text_of(tokens: list[bytes]) -> str:
    """The file: text where the bytes are some, as the published one has it."""

    def literal(token: bytes) -> str:
        try:
            return repr(token.decode())
        except UnicodeDecodeError:
            return repr(token)

    return "".join(f"{id} {literal(token)} {len(token)}\n" for id, token in enumerate(tokens, 1))


def longest_first(text: bytes) -> list[int]:
    ids = {token: id for id, token in enumerate(TOKENS, 1)}
    found = []
    while text:
        token = next(text[:size] for size in range(max(map(len, TOKENS)), 0, -1) if text[:size] in ids)
        found.append(ids[token])
        text = text[len(token) :]
    return found


def texts(seed: int) -> list[str]:
    chance = random.Random(seed)
    parts = [*(token.decode("utf-8", "ignore") for token in MORE), *"abé日x \n\0", "<|rwkv_tokenizer_end_of_text|>"]
    return ["".join(chance.choices(parts, k=chance.randint(0, 40))) for _ in range(200)]


def test_a_text_becomes_the_longest_tokens() -> None:
    tok = bp.Tokenizer(rwkv.read(text_of(TOKENS).encode()))
    for text in texts(22):
        ids = longest_first(text.encode())
        assert tok.encode(text, special="text") == ids
        assert tok.decode(ids) == text
    assert tok.encode("low<|rwkv_tokenizer_end_of_text|>", special="allow") == [259, 0]
    assert (tok.eos_token_id, tok.pad_token_id, stands_for(tok.spec)[257]) == (0, 0, b" low")


def test_a_text_without_an_end_is_cut_and_counted() -> None:
    tok = bp.Tokenizer(rwkv.read(text_of(TOKENS).encode()))
    for text in texts(26):
        chunks = tok.chunks(text, 3, special="text")
        assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
        assert all(chunk.tokens == len(longest_first(text[chunk.start : chunk.end].encode())) for chunk in chunks)
        index = tok.index(text, special="text")
        for start in range(0, len(text), 5):
            assert index.count(start, len(text)) == len(longest_first(text[start:].encode()))


def test_it_is_kept_by_the_formats_that_can(tmp_path: Path) -> None:
    path = tmp_path / "rwkv_vocab_v1.txt"
    path.write_text(text_of(TOKENS), "utf-8", newline="\r\n")
    tok = bp.load(tmp_path)
    for format in ("native", "tokenizer.json"):
        tok.save(tmp_path / format.partition(".")[0], format)
        assert bp.load(tmp_path / format.partition(".")[0]).spec == tok.spec
    peer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "tokenizer" / "tokenizer.json"))
    for text in texts(3):
        assert peer.encode(text).ids == tok.encode(text, special="allow")
    with pytest.raises(bp.FormatError, match="cannot hold a WordPiece"):
        tok.save(tmp_path / "ranks", "tiktoken")
    with pytest.raises(bp.FormatError, match="holds its own split"):
        loading.load(path, split="gpt2")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("257 low 3", "is not an id, a literal and its bytes"),
        ("257 'low 3", "is not an id, a literal and its bytes"),
        ("257 '' 0", "is not an id, a literal and its bytes"),
        ("257 b'é' 2", "is not an id, a literal and its bytes"),
        (r"257 '\ud800' 3", "is not an id, a literal and its bytes"),
        (r"257 '\U00110000' 3", "is not an id, a literal and its bytes"),
        (r"257 '\N{DIGIT ONE}' 1", "is not an id, a literal and its bytes"),
        ("257 '\0\\n' 2", "is not an id, a literal and its bytes"),
        ("٢ 'low' 3", "is not an id, a literal and its bytes"),
        ("257 ('low') 3", "is not an id, a literal and its bytes"),
        ("257 'low' 4", "'low' has 3 bytes, not 4"),
        ("4294967295 'low' 3", "the id 4294967295 is out of range"),
        ("256 'low' 3", "the id 256 occurs twice"),
    ],
)
def test_a_broken_line_is_named(line: str, message: str) -> None:
    with pytest.raises(bp.FormatError, match=message.replace("(", r"\(")) as caught:
        rwkv.read((text_of(BYTES) + line + "\n").encode())
    assert caught.value.line == 257


def test_what_is_no_vocabulary_is_refused() -> None:
    with pytest.raises(bp.FormatError, match="has the ids 98 and 257"):
        rwkv.read(text_of([*BYTES, b"a"]).encode())
    with pytest.raises(bp.FormatError, match="no token is the byte 0xFF"):
        rwkv.read(text_of(BYTES[:-1]).encode())
    with pytest.raises(bp.FormatError, match="not UTF-8") as caught:
        rwkv.read(text_of(BYTES).encode() + b"257 '\xff' 1\n")
    assert caught.value.line == 257
    assert not rwkv.looks_like(b"[UNK]\nlow\n")


def test_damage_is_refused_or_read(tmp_path: Path) -> None:
    data = text_of(TOKENS).encode()
    path = tmp_path / "rwkv_vocab_v1.txt"
    read = 0
    # The step has no factor in common with the bits of a byte.
    for bit in range(0, 8 * len(data), 37):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged[: len(data) - bit % 3])
        try:
            bp.load(path).encode("low")
            read += 1
        except bp.FormatError as error:
            assert error.file == str(path)  # noqa: PT017 (both ways are right)
    assert read > 10


def escaped(token: bytes) -> str:
    """A token as llama.cpp's converter writes it."""
    return repr(token)[2:-1]


def test_gguf_has_the_same_ids() -> None:
    tokens = ["<s>", *map(escaped, TOKENS), "[PAD269]"]
    table: dict[str, Any] = {"tokenizer.ggml.model": "rwkv", "tokenizer.ggml.tokens": tokens}
    table |= {"tokenizer.ggml.token_type": [3, *[1] * len(TOKENS), 5], "tokenizer.ggml.eos_token_id": 0}
    tok = bp.Tokenizer(gguf.read(models.gguf(table)))
    for text in texts(5):
        assert tok.encode(text, special="text") == longest_first(text.encode())
    assert (tok.encode("low<s>", special="allow"), tok.eos_token_id, len(tok)) == ([259, 0], 0, 1 + len(TOKENS))
    for wrong in (r"\x4", r"\xzz", "low\\", ""):
        table["tokenizer.ggml.tokens"] = [*tokens[:-2], wrong, tokens[-1]]
        with pytest.raises(bp.FormatError, match="is not escaped as RWKV's are") as caught:
            gguf.read(models.gguf(table))
        assert caught.value.pointer == f"tokenizer.ggml.tokens/{len(TOKENS)}"
    with pytest.raises(bp.FormatError, match="has no split pattern"):
        gguf.read(models.gguf(table), "gpt2")
