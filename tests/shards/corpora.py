"""A small corpus of files of several kinds, and the expected documents: the oracle of runs."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import bytepair as bp

DELIMITER = "\n%%\n"
WORDS = ["low", "lower", "newest ", "wide\n", "def f(x):", " return", "mañana ", "日本語", "🦊", "12345 ", "  ", "'ll"]


class Document(NamedTuple):
    """The expected document; its text is None if it cannot be read, and a text may still fail to encode."""

    input: str
    position: int
    id: str | None
    text: bytes | None


class Corpus(NamedTuple):
    """Files, and the documents that are in them, in order."""

    source: dict[str, Any]
    documents: list[Document]

    def reading(self) -> dict[str, Any]:
        return {"delimiter": DELIMITER, "id_field": "name"}

    def ids(self, tok: bp.Tokenizer, prefix: list[int], suffix: list[int], **policy: Any) -> list[list[int] | None]:
        """The ids of each document, framed; None for omitted ones."""
        found: list[list[int] | None] = []
        for document in self.documents:
            found.append(None)
            with suppress(bp.BytepairError):
                if document.text:
                    found[-1] = [*prefix, *tok.encode(document.text, **policy), *suffix]
        return found


def corpus(folder: Path, random: Random, count: int = 120, *, bad: bool = True, longest: int = 60) -> Corpus:
    """Writes a corpus: text with a delimiter, lines of JSON, and Parquet, in two groups.

    Args:
        folder: Where.
        random: What draws.
        count: How many documents each file has.
        bad: Whether some of them cannot be used.
        longest: The most words of a document; one in fifty has a hundred times as many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    documents: list[Document] = []
    paths = [folder / name for name in ("a.txt", "b.jsonl", "c.parquet", "d.txt")]
    for path in paths:
        texts = [_text(random, longest) for _ in range(count)]
        if bad:
            for text in (b"no \xff UTF-8", b"a <|end|> inside", b""):
                texts[random.randrange(count)] = text
        if path.suffix == ".txt":
            documents += _plain(path, texts)
        else:
            documents += (_lines if path.suffix == ".jsonl" else _rows)(path, texts, random, bad)
    return Corpus({"web": [str(path) for path in paths[:3]], "books": str(paths[3])}, documents)


def _text(random: Random, longest: int) -> bytes:
    many = random.randrange(1, longest) * (100 if random.random() < 0.02 else 1)
    return "".join(random.choices(WORDS, k=many)).encode()


def _plain(path: Path, texts: list[bytes]) -> list[Document]:
    documents = []
    data = b""
    for text in texts:
        documents.append(Document(str(path), len(data), None, text))
        data += text + DELIMITER.encode()
    path.write_bytes(data)
    return documents


def _lines(path: Path, texts: list[bytes], random: Random, bad: bool) -> list[Document]:
    documents = []
    data = b""
    for number, text in enumerate(texts):
        document: str | bytes | None = text.decode("utf-8", "replace")
        line = json.dumps({"name": f"№{number}", "text": document}, ensure_ascii=random.random() < 0.5)
        if bad and random.random() < 0.03:
            document, line = None, random.choice(['{"name": 1}', "no JSON", '{"text": 5}'])
        known = None if document is None else str(document).encode()
        documents.append(Document(str(path), len(data), f"№{number}", known))
        data += line.encode() + b"\n"
    path.write_bytes(data)
    return documents


def _rows(path: Path, texts: list[bytes], random: Random, bad: bool) -> list[Document]:
    values = [None if bad and random.random() < 0.03 else text.decode("utf-8", "replace") for text in texts]
    names = [None if random.random() < 0.1 else number for number in range(len(texts))]
    pq.write_table(pa.table({"text": values, "name": names}), path, row_group_size=max(len(texts) // 5, 1))
    return [
        Document(str(path), row, None if name is None else str(name), None if value is None else value.encode())
        for row, (value, name) in enumerate(zip(values, names, strict=True))
    ]


def digests(folder: Path) -> dict[str, str]:
    """The hash of each file below a folder, by its name; folders end in a slash."""
    return {
        path.relative_to(folder).as_posix() + ("/" if path.is_dir() else ""): ""
        if path.is_dir()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
    }
