"""The made inputs that fuzzing with coverage begins from: ``python -m fuzz.seeds`` writes ``crates/fuzz/corpus``."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from fuzz import kinds
from fuzz.coverage import CRATE, TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = ("", "It's  low 1234!\r\n", "日本 é😀\u0301a", "  \n a'LL\tABCdef", "ﬁ²İß\u200d")


def _steps(table: Any, names: tuple[str, ...]) -> Iterator[str]:
    """The steps of a stage, one by one."""
    if isinstance(table, dict):
        inner = next((table[name] for name in names if name in table), None)
        if inner is None:
            yield json.dumps(table, ensure_ascii=False, separators=(",", ":"))
        else:
            for step in inner:
                yield from _steps(step, names)


def _stage(name: str, inner: str) -> set[str]:
    steps = (_steps(table.get(name), (inner,)) for table in kinds.TABLES.values())
    return {step for several in steps for step in several}


def _model() -> bytes:
    """A SentencePiece model of three pieces."""

    def piece(text: str, kind: int) -> bytes:
        fields = (
            b"\x0a" + bytes([len(text.encode())]) + text.encode() + b"\x15" + b"\0\0\x80\xbf" + b"\x18" + bytes([kind])
        )
        return b"\x0a" + bytes([len(fields)]) + fields

    return piece("<unk>", 2) + piece("▁lo", 1) + piece("w", 1) + b"\x12\x02\x18\x02"


def seeds() -> dict[str, list[bytes]]:
    """The inputs of each target, in order."""
    ranks = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate([b"l", b"o", b"lo"]))
    lines = b'{"text": "a\\u00e9\\ud83d\\ude00", "id": 7}\n{"id":"x","text":"b","text":null}\n\n[1]\n{"text":"\xff"}\n'
    patterns = (
        r"\p{L}+|\s+(?!\S)|\s+",
        r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
        r"(a+)\1|(?<=b)c|[[:alpha:]&&[^x]]",
    )
    vocabularies = ("lo low l o w ##w <0x6C> <0xC3>\nlowé", "a aa aaa ab\naaabaa")
    paired = {
        "normalizer": _stage("normalizer", "normalizers"),
        "pre_tokenizer": _stage("pre_tokenizer", "pretokenizers"),
        "decoder": _stage("decoder", "decoders"),
        "regex": set(patterns),
    }
    made = {
        "rank_file": [ranks.encode(), b"bG8= 2\r\nbA== 0\n"],
        "json_model": [kinds.FILES[name] for name in ("llama", "bytes", "bert", "t5")],
        "pieces": [_model()],
        "json_lines": [lines],
        "decimal": [b"-12.5e-3", b"0.1", b"1e308", b"123456789012345678901234567890"],
        "split": [bytes([number]) + text.encode() for number, text in enumerate(TEXTS)],
        "merging": [
            bytes([0, 4, 0, 1, 0, 2, 14, 15, 15, 15]) + bytes(range(40)),
            bytes([1, 2, 0, 0, 14, 14]) + bytes(60),
        ],
        "characters": [bytes([kind]) + text.encode() for kind in (0, 1, 2, 3, 8, 10) for text in vocabularies],
        "streams": [bytes([64, 3, 0, 1, 0, 2, 14, 15]) + bytes(range(50)), bytes([1, 0]) + bytes(range(30))],
    }
    for name, steps in paired.items():
        made[name] = [f"{step}\0{TEXTS[at % len(TEXTS)]}".encode() for at, step in enumerate(sorted(steps))]
    return {name: made[name] for name in TARGETS}


def main() -> None:
    """Write them anew."""
    for target, inputs in seeds().items():
        folder = CRATE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for number, data in enumerate(inputs):
            (folder / f"{number:02}").write_bytes(data)


if __name__ == "__main__":
    main()
