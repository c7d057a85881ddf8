"""Random small corpora of every kind of file, and an independent plain-Python reader of their documents.

Long because each kind of file has a writer and a plain reader here.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

WORDS = ("low", "lower", "newest ", " wide", "é", "e\u0301", "日本", "\r", "\n", "\t", " ", "  ", "a" * 40, "aba",
         "\ufeff", "😀", "UPPER", "0123", "\x00", '"', "\\", "<|end|>", "<x>")  # fmt: skip
NAMES = (
    "a",
    "b c",
    "日",
    "e\u0301",
    "\u00e9",
    "new\nline",
    "[ab]",
    "*",
    "?",
    "{x}",
    "-",
    "#",
    "%41",
    "'",
    "\ufeff",
    ".h",
)
DELIMITERS = ("\n", "\n\n", "aba", "--", "é", "\r\n", "aa", "a", "<x>")


@dataclass(frozen=True)
class Expected:
    """A document as a plain reader returns it.

    Attributes:
        input: The name of its file.
        group: The group of the file.
        position: Its place in the file.
        text: Its bytes; None for a bad document.
        id: Its own id; empty if it has none.
        error: The kind of error of a bad document.
        data: Its data in the quarantine; None if it is too long.
    """

    input: str
    group: str
    position: int
    text: bytes | None
    id: str = ""
    error: str = ""
    data: bytes | None = None


@dataclass
class Corpus:
    """A source, its files in order, and how to read it.

    Attributes:
        source: The source for `bytepair.shard`.
        files: Name and group of each.
        reading: Options for reading it.
    """

    source: Any
    files: list[tuple[str, str]] = field(default_factory=list)
    reading: dict[str, Any] = field(default_factory=dict)


def random_corpus(random: random.Random) -> Corpus:
    """Write files below ``in/`` of the current folder."""
    number = random.choice([1, 1, 2, 3, 5])
    names = random.sample(NAMES, number)
    alone = random.choice([None, None, *_WRITERS])
    kinds = [alone or random.choice(list(_WRITERS)) for _ in range(number)]
    reading: dict[str, Any] = {}
    if any(kind in ("txt", "txt.gz", "txt.zst") for kind in kinds) and random.random() < 0.7:
        reading["delimiter"] = random.choice(DELIMITERS)
    if random.random() < 0.4:
        reading["longest"] = random.choice([1, 7, 30, 60])
    named = [kind for kind in kinds if kind.split(".")[0] not in ("txt", "tar")]
    if named and random.random() < 0.5:
        reading["id_field"] = random.choice(["id", "the key"])
    if named == kinds and random.random() < 0.3:
        reading["field"] = random.choice(["content", "é\n"])
    written = [_write(random, kind, f"in/{name}", reading) for kind, name in zip(kinds, names, strict=True)]
    items = [given for given, _ in written]
    files = [file for _, inside in written for file in inside]
    way = random.random()
    if way < 0.2 and len(set(kinds)) == 1 and not any(kind == "hf" for kind in kinds):
        matching = sorted(file for file in files if not Path(file).name.startswith("."))
        if matching:
            return Corpus("in/*", [(file, "") for file in matching], reading)
    if way < 0.4:
        return Corpus([*items, random.choice(items)], [(file, "") for file in files], reading)
    if way < 0.6 and len(items) > 1:
        cut = random.randint(1, len(items) - 1)
        groups = {"é\n": items[:cut], "b": [*items[cut:], *random.sample(items, random.randint(0, 1))]}
        inside = dict(written)
        rows = [
            (file, group) for group, given in groups.items() for item in dict.fromkeys(given) for file in inside[item]
        ]
        return Corpus(groups, rows, reading)
    return Corpus(items if len(items) > 1 or way < 0.8 else items[0], [(file, "") for file in files], reading)


def documents_of(corpus: Corpus, errors: str) -> Iterator[Expected]:
    """All documents of a corpus, in order; bad ones only if the fault is found before encoding."""
    for name, group in corpus.files:
        data = _unpacked(name)
        kind = name.removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
        longest = corpus.reading.get("longest")
        for expected in _READERS[kind](data, corpus.reading, errors):
            position, text, id, error, kept = expected
            size = len(kept if kind == "jsonl" and kept is not None else text or b"")
            if longest is not None and size > longest:
                text, error, kept = None, "LimitError", None
            yield Expected(name, group, position, text, id, error, kept)


def _text(random: random.Random) -> str:
    return "".join(random.choices(WORDS, k=random.choice([0, 0, 1, 2, 3, 8, 20])))


def _maybe_broken(random: random.Random, data: bytes) -> bytes:
    if random.random() < 0.15:
        at = random.randint(0, len(data))
        data = data[:at] + random.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe4\xb8", b"\xf0\x9f\x98"]) + data[at:]
    return data


def _write(random: random.Random, kind: str, stem: str, reading: dict[str, Any]) -> tuple[str, list[str]]:
    base, _, compression = kind.partition(".")
    path = f"{stem}.{kind}"
    Path("in").mkdir(exist_ok=True)
    if base == "hf":
        return _write_data_set(random, stem, reading)
    data = b"" if base in ("txt", "jsonl") and random.random() < 0.1 else _WRITERS[kind](random, reading)
    if compression == "gz":
        cut = random.randint(0, len(data))
        parts = [data] if random.random() < 0.7 else [data[:cut], data[cut:]]
        data = b"".join(gzip.compress(part, mtime=0) for part in parts)
    elif compression == "zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    Path(path).write_bytes(data)
    return path, [path]


def _plain(random: random.Random, reading: dict[str, Any]) -> bytes:
    delimiter: str = reading.get("delimiter", "\n")
    parts = [_text(random).encode() for _ in range(random.choice([0, 1, 3, 12, 40]))]
    if random.random() < 0.3:
        parts = [_maybe_broken(random, part) for part in parts]
    # Runs of a delimiter that overlaps itself, and a beginning of one at the end.
    data = delimiter.encode().join(parts)
    end: str = random.choice(["", delimiter, delimiter * 3, delimiter[:-1], delimiter + delimiter[:1]])
    return data + end.encode()


def _lines(random: random.Random, reading: dict[str, Any]) -> bytes:
    lines = [_line(random, reading) for _ in range(random.choice([0, 1, 3, 12, 40]))]
    head = b"\xef\xbb\xbf" if random.random() < 0.2 else b""
    return (
        head + random.choice([b"\n", b"\n", b"\r\n"]).join(lines) + random.choice([b"", b"\n", b"\n\n", b"\n ", b"\r"])
    )


def _line(random: random.Random, reading: dict[str, Any]) -> bytes:
    name, id_name = reading.get("field", "text"), reading.get("id_field", "id")
    odd = random.random()
    if odd < 0.08:
        return random.choice([b"", b" ", b"\t\r", b"  "])
    if odd < 0.14:
        return random.choice(
            [b"[]", b"{", b"nothing", b'"text"', b"3", b'{"text": "a"} x', b"\x00", b"{}", b"\xff", b"null"]
        )
    row: list[tuple[str, Any]] = [(name, _text(random))]
    if random.random() < 0.1:
        row = random.choice([[], [(name, None)], [(name, 3)], [(name, ["a"])], [(name, True)]])
    if random.random() < 0.1:
        row = [(name, random.choice(["\ud800", "a\ude00b", "\ud83d\ude00", "\udc00\ud800"]))]
    if random.random() < 0.7:
        ids = ["id7", 12, -3, "é", "", None, 2**63 - 1, "a\nb", '"', "\x00"]
        row.append((id_name, random.choice([*ids, *([1.5, True, [1], {}] if random.random() < 0.1 else [])])))
    if random.random() < 0.3:
        row.append(("other", random.choice([1, "x", None, {"text": "in", "id": [{"text": 3}]}, 1.5, -0.0, [[]]])))
    if random.random() < 0.03 and row:
        row.append(row[0])
    random.shuffle(row)
    is_ascii = random.random() < 0.5
    space = random.choice(["", " ", "\t"])

    def spelled(value: Any) -> str:
        plain = is_ascii or "\\ud" in json.dumps(value)
        return json.dumps(value, ensure_ascii=plain)

    data = "{" + ",".join(f"{space}{spelled(key)}{space}:{spelled(value)}" for key, value in row) + space + "}"
    return _maybe_broken(random, data.encode()) if random.random() < 0.2 else data.encode()


def _rows(random: random.Random, reading: dict[str, Any]) -> tuple[pa.Table, int]:
    number = random.choice([0, 1, 3, 12, 40])
    texts = [None if random.random() < 0.1 else _text(random) for _ in range(number)]
    whole = random.random() < 0.5
    ids: list[Any] = [None if random.random() < 0.2 else at if whole else f"é{at}" for at in range(number)]
    kind = random.choice([pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()])
    column: Any = pa.array(texts, pa.string())
    if kind == pa.binary():
        broken = [None if text is None else _maybe_broken(random, text.encode()) for text in texts]
        column = pa.array(broken, pa.binary())
    elif kind != pa.string():
        column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
    id_kind = (
        random.choice([pa.int64(), pa.int32(), pa.uint64()])
        if whole
        else random.choice([pa.string(), pa.large_string()])
    )
    columns = {reading.get("field", "text"): column, reading.get("id_field", "id"): pa.array(ids, id_kind)}
    columns["other"] = pa.array(range(number))
    items = list(columns.items())
    random.shuffle(items)
    return pa.table(dict(items)), random.choice([1, 2, 5, 100])


def _parquet(random: random.Random, reading: dict[str, Any]) -> bytes:
    table, size = _rows(random, reading)
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=size, compression=random.choice(["none", "snappy", "zstd"]))
    return file.getvalue()


def _arrow(random: random.Random, reading: dict[str, Any], stream: bool | None = None) -> bytes:
    table, size = _rows(random, reading)
    file = io.BytesIO()
    stream = random.random() < 0.5 if stream is None else stream
    options = pa.ipc.IpcWriteOptions(unify_dictionaries=True, compression=random.choice([None, "zstd", "lz4"]))
    opened = pa.ipc.new_stream if stream else pa.ipc.new_file
    with opened(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=size)
    return file.getvalue()


def _tar(random: random.Random, _reading: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(
        fileobj=file, mode="w", format=random.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    ) as archive:
        for number in range(random.choice([0, 1, 3, 12])):
            key = random.choice(["", "d/", "é/", "d.x/"]) + random.choice(
                [f"{number:04d}", f"s p{number}", "k" * 120 + str(number)]
            )
            members = [("txt", _maybe_broken(random, _text(random).encode())), ("cls", b"3"), ("seg.png", b"\x00")]
            for extension, data in random.sample(members, random.choice([1, 2, 3])):
                info = tarfile.TarInfo(f"{key}.{extension}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            if random.random() < 0.1:
                info = tarfile.TarInfo(random.choice(["d", "e"]))
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
    return file.getvalue()


def _write_data_set(random: random.Random, stem: str, reading: dict[str, Any]) -> tuple[str, list[str]]:
    folder = Path(stem)
    folder.mkdir(parents=True)
    number = random.randint(1, 3)
    names = [f"data-{at:05d}-of-{number:05d}.arrow" for at in range(number)]
    for name in names:
        (folder / name).write_bytes(_arrow(random, reading, stream=True))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text("{}")
    return stem, [f"{stem}/{name}" for name in names]


def _unpacked(name: str) -> bytes:
    data = Path(name).read_bytes()
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".zst"):
        return pa.CompressedInputStream(io.BytesIO(data), "zstd").read()  # type: ignore[no-any-return]  # pyarrow has no types
    return data


Row = tuple[int, "bytes | None", str, str, "bytes | None"]
"""Position, text, id, kind of error, and the quarantined data of a bad document."""


def _read_plain(data: bytes, reading: dict[str, Any], _errors: str) -> Iterator[Row]:
    if (delimiter := reading.get("delimiter")) is None:
        yield 0, data, "", "", data
        return
    position = 0
    parts = data.split(delimiter.encode())
    for number, part in enumerate(parts):
        if part or number < len(parts) - 1:
            yield position, part, "", "", part
        position += len(part) + len(delimiter.encode())


def _read_lines(data: bytes, reading: dict[str, Any], errors: str) -> Iterator[Row]:
    position = 0
    for number, whole in enumerate(data.split(b"\n")):
        line = whole.removeprefix(b"\xef\xbb\xbf") if number == 0 else whole
        # Nobody looks into a line that is too long.
        if line.strip(b" \t\r") or len(whole) > reading.get("longest", len(whole)):
            text, id, error = _parsed(line, reading, errors)
            yield position, text, id, error, whole
        position += len(whole) + 1


def _parsed(line: bytes, reading: dict[str, Any], errors: str) -> tuple[bytes | None, str, str]:
    try:
        content = line.decode("utf-8", errors)
    except UnicodeDecodeError:
        return None, "", "EncodeError"
    name, id_name = reading.get("field", "text"), reading.get("id_field")

    def constant(text: str) -> Any:
        raise ValueError(text)

    try:
        pairs = json.loads(content, object_pairs_hook=tuple, parse_constant=constant)
    except ValueError:
        return None, "", "FormatError"
    if not isinstance(pairs, tuple):
        return None, "", "FormatError"
    wanted = [(key, value) for key, value in pairs if key in (name, id_name)]
    row = dict(wanted)
    id = row.get(id_name)
    is_id = id is None or isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool))
    if len(row) != len(wanted) or not isinstance(row.get(name), str) or not is_id:
        return None, "", "FormatError"
    text, key = row[name], "" if id is None else str(id)
    try:
        return _encoded(text, errors), _encoded(key, errors).decode(), ""
    except UnicodeEncodeError:
        return None, "", "EncodeError"


def _encoded(text: str, errors: str) -> bytes:
    if errors == "replace":
        text = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    return text.encode()


def _read_table(rows: list[dict[str, Any]], reading: dict[str, Any]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        text = row[reading.get("field", "text")]
        id = row[reading["id_field"]] if "id_field" in reading else None
        key = "" if id is None else str(id)
        if text is None:
            yield number, None, key, "EncodeError", None
        else:
            data = text if isinstance(text, bytes) else text.encode()
            yield number, data, key, "", data


def _read_parquet(data: bytes, reading: dict[str, Any], _errors: str) -> Iterator[Row]:
    return _read_table(pq.read_table(io.BytesIO(data)).to_pylist(), reading)


def _read_arrow(data: bytes, reading: dict[str, Any], _errors: str) -> Iterator[Row]:
    opened = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
    return _read_table(opened(data).read_all().to_pylist(), reading)


def _read_tar(data: bytes, _reading: dict[str, Any], _errors: str) -> Iterator[Row]:
    samples: list[tuple[str, dict[str, bytes]]] = []
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if not member.isfile():
                continue
            folder, slash, base = member.name.rpartition("/")
            stem, _, extension = base.partition(".")
            key = folder + slash + stem
            if not samples or samples[-1][0] != key:
                samples.append((key, {}))
            content = archive.extractfile(member)
            assert content
            samples[-1][1][extension] = content.read()
    for number, (key, members) in enumerate(samples):
        if "txt" in members:
            yield number, members["txt"], key, "", members["txt"]
        else:
            yield number, None, key, "EncodeError", None


_WRITERS: dict[str, Any] = {
    "txt": _plain,
    "txt.gz": _plain,
    "txt.zst": _plain,
    "jsonl": _lines,
    "jsonl.gz": _lines,
    "jsonl.zst": _lines,
    "parquet": _parquet,
    "arrow": _arrow,
    "hf": None,
    "tar": _tar,
    "tar.gz": _tar,
}
_READERS: dict[str, Any] = {
    "txt": _read_plain,
    "jsonl": _read_lines,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "tar": _read_tar,
}
