"""Sweeps over saved files: for every truncation or flipped bit, loading raises on purpose or returns a working
tokenizer.

``python -m fuzz.saved`` runs every cut and every flip on the small files of all kinds: five minutes.
"""

from __future__ import annotations

import functools
import random as random_module
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.formats import FILES, loading, native
from fuzz import kinds
from fuzz.case import case, equal, trained

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

TEXTS = ("", "abba ab\n", "日本 é😀", "It's  x1234 <|end|>\r\n")
MANIFEST = "manifest.json"
# The formats of tokens that are bytes and of split patterns by name; the others have tests of their own (`kinds`).
OF_BYTES = ("native", "tokenizer.json", "tiktoken", "vocab+merges")
OPTIONS: dict[str, dict[str, Any]] = {"tiktoken": {"split": "o200k"}}


@functools.cache
def saved(format: str) -> tuple[bp.Tokenizer, dict[str, bytes]]:
    """The files of a small tokenizer in a format, and their tokenizer."""
    special = ["<|end|>"] if format in {"native", "tokenizer.json"} else []
    split = "gpt2" if format == "vocab+merges" else "o200k"
    drop = ("split",) if format == "tiktoken" else ()
    tok = trained(random_module.Random(format), "ab ", split=split, special_tokens=special)
    with tempfile.TemporaryDirectory() as folder:
        contents = {path.name: path.read_bytes() for path in tok.save(folder, format, drop=drop)}
        return bp.Tokenizer.from_file(folder, **OPTIONS.get(format, {})), contents


def damaged(random: random.Random, data: bytes) -> bytes:
    """The data cut short, or with one bit flipped."""
    if random.random() < 0.3:
        return data[: random.randrange(len(data))]
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def sweep_files(random: random.Random) -> None:
    """A damaged file is refused with an error of bytepair's own, or loads as a tokenizer that encodes and decodes."""
    format = random.choice(OF_BYTES)
    tok, contents = saved(format)
    names = list(contents) if random.random() < 0.5 else list(FILES[format])
    name = random.choice(names)
    data = damaged(random, contents[name])
    with tempfile.TemporaryDirectory() as folder, case(format=format, files=names, damaged=name, data=data):
        for each in names:
            Path(folder, each).write_bytes(data if each == name else contents[each])
        path = random.choice([Path(folder), Path(folder, FILES[format][0])])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bp.TokenizerWarning)
                other = bp.Tokenizer.from_file(path, **OPTIONS.get(format, {}))
        except bp.BytepairError:
            return
        # The native format and the manifest hold hashes; the manifest itself has none.
        if name == MANIFEST:
            equal("a tokenizer with a damaged manifest", other, tok)
        elif format == "native" or MANIFEST in names:
            raise AssertionError("the damage was not found")
        check_works(other)


def check_works(tok: bp.Tokenizer) -> None:
    """The ids of an encoding decode to the text, unless encoding is refused."""
    for text in TEXTS:
        try:
            ids = tok.encode(text, special="text", added="text")
        except (bp.EncodeError, bp.PatternError):
            continue
        equal("decode", tok.decode(ids), text)
        equal("count", tok.count(text, special="text", added="text"), len(ids))


HOSTILE = "low  lo\u0301w. A-x日\u200d\U0001f469 <x> <s>\r\n 12 \u0301[CLS]▁l\0"


@functools.cache
def small(kind: str) -> bytes:
    """The native file of the small ``tokenizer.json`` of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_bytes(kinds.FILES[kind])
        return native.write(loading.load(path, partial_alphabet=True))


def check_damaged(path: Path, data: bytes, *, hashed: bool = False) -> str:
    """Write damaged data and load it; return the error's name, or "loaded".

    Raises:
        AssertionError: The error names no file or is endless, or damage that a hash reveals was missed.
        BaseException: Any other error, including a panic of the core.
    """
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.TokenizerWarning)
            tok = bp.Tokenizer.from_file(path, partial_alphabet=True)
    except (bp.FormatError, bp.errors.PatternError) as error:
        if error.file != str(path):
            raise AssertionError("the error names no file") from error
        if len(str(error)) > 1000:
            raise AssertionError("the error is longer than who reads it") from error
        return type(error).__name__
    if hashed:
        raise AssertionError("the damage was not found")
    use(tok)
    return "loaded"


def use(tok: bp.Tokenizer, text: str = HOSTILE) -> None:
    """Use a tokenizer as a caller does; it works or raises an error of bytepair's own."""
    tok.spec.check()
    for each in ("", text, "<|end|>" + 2 * text):
        _try(lambda each=each: tok.encode(each, special="text"))
        _try(lambda each=each: tok(each))
        _try(lambda each=each: tok.offsets(each, special="text"))
        ids = _try(lambda each=each: tok.encode(each, special="text", added="text"))
        if ids is not None:
            _try(lambda ids=ids: tok.decode(ids))
            equal("count", tok.count(each, special="text", added="text"), len(ids))


def _try(call: Any) -> Any:
    try:
        return call()
    except bp.BytepairError:
        return None


def sweep_kinds(random: random.Random) -> None:
    """A damaged file of some kind of tokenizer is refused with its place, or loads as a working one."""
    kind, hashed = random.choice(list(kinds.FILES)), random.random() < 0.3
    data = damaged(random, small(kind) if hashed else kinds.FILES[kind])
    with tempfile.TemporaryDirectory() as folder, case(kind=kind, data=data):
        check_damaged(Path(folder, "tokenizer.json"), data, hashed=hashed)


def every_damage(data: bytes, step: int = 1) -> Iterator[bytes]:
    """The data cut at each place, and with each of its bits flipped; or only at each `step`-th."""
    yield from (data[:cut] for cut in range(0, len(data), step))
    for bit in range(0, 8 * len(data), step):
        at = bit // 8
        yield data[:at] + bytes([data[at] ^ 1 << bit % 8]) + data[at + 1 :]


def main() -> int:
    """Run every damage on all kinds."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, table in kinds.FILES.items():
            for data, hashed in ((table, False), (small(kind), True)):
                for number, each in enumerate(every_damage(data)):
                    with case(kind=kind, number=number, data=each):
                        check_damaged(Path(folder, "tokenizer.json"), each, hashed=hashed)
            print(f"{kind}: every cut and every flip of {len(table)} and {len(small(kind))} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
