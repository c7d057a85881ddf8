"""Every call and command that takes texts takes every kind of source, with equal results for equal documents.

A table of kinds against a table of calls: a kind is a way to name the same documents, a call what it makes of them.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair.cli import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXTS = [
    "low lower lowest",
    "new newer newest, the newest of all",
    "the widest café in 東京 🦊",
    "a",
    *(f"line {number} of the lower part" for number in range(20)),
]
DATA = "\n".join(TEXTS).encode()
LINES = "".join(json.dumps({"n": 1, "text": text}) + "\n" for text in TEXTS).encode()
BODIES = LINES.replace(b'"text"', b'"body"')

Named = tuple[Any, dict[str, Any]]
"""A source, and the options that locate its texts."""


def put(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def table(name: str = "text") -> Any:
    return pa.table({"n": range(len(TEXTS)), name: TEXTS})


def parquet(path: Path, name: str = "text") -> str:
    pq.write_table(table(name), path, row_group_size=5)
    return str(path)


def arrow(path: Path, *, stream: bool = False, rows: Any = None) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = table() if rows is None else rows
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=7)
    return str(path)


def tar(extension: str, contents: list[bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number, content in enumerate(contents):
            member = tarfile.TarInfo(f"deep/{number:04d}.{extension}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def saved_data_set(folder: Path) -> str:
    """The folder that save_to_disk of ``datasets`` writes."""
    for part in range(2):
        rows = table().slice(part * 10, 10 if part == 0 else None)
        arrow(folder / f"data-{part:05d}-of-00002.arrow", stream=True, rows=rows)
    names = [{"filename": f"data-{part:05d}-of-00002.arrow"} for part in range(2)]
    put(folder / "state.json", json.dumps({"_data_files": names}).encode())
    put(folder / "dataset_info.json", b"{}")
    return str(folder)


class Dataset:
    """The methods of a data set of ``datasets`` that are called; tests/cluster reads a real one."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        raise AssertionError("rows are asked for as Arrow")

    def with_format(self, name: str) -> Dataset:
        assert name == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[Any]:
        return (self._rows.slice(start, batch_size) for start in range(0, len(self._rows), batch_size))


Dataset.__module__ = "datasets.arrow_dataset"

TAR = tar("txt", [text.encode() for text in TEXTS])
TAR_OF_JSON = tar("json", [json.dumps({"caption": text}).encode() for text in TEXTS])


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def halves(folder: Path) -> list[str]:
    middle = len("\n".join(TEXTS[:9]).encode()) + 1
    return [put(folder / "a.txt", DATA[:middle]), put(folder / "b.txt", DATA[middle:])]


CUT = {"delimiter": "\n"}

FILES: dict[str, Callable[[Path], Named]] = {
    "text": lambda folder: (put(folder / "a.txt", DATA), CUT),
    "path object": lambda folder: (Path(put(folder / "a.txt", DATA)), CUT),
    "list": lambda folder: (halves(folder), CUT),
    "glob": lambda folder: (str(Path(halves(folder)[0]).parent / "*.txt"), CUT),
    "URL": lambda folder: ("file://" + put(folder / "a.txt", DATA), CUT),
    "pattern in a URL": lambda folder: ("file://" + str(Path(halves(folder)[0]).parent / "*.txt"), CUT),
    "gzip": lambda folder: (put(folder / "a.txt.gz", gzip.compress(DATA)), CUT),
    "zstd": lambda folder: (put(folder / "a.txt.zst", zstd(DATA)), CUT),
    "JSON lines": lambda folder: (put(folder / "a.jsonl", LINES), {}),
    "field": lambda folder: (put(folder / "a.ndjson", BODIES), {"field": "body"}),
    "compressed lines": lambda folder: (put(folder / "a.jsonl.gz", gzip.compress(BODIES)), {"field": "body"}),
    "lines behind a URL": lambda folder: ("file://" + put(folder / "a.jsonl", LINES), {}),
    "Parquet": lambda folder: (parquet(folder / "a.parquet"), {}),
    "column": lambda folder: (parquet(folder / "a.parquet", "body"), {"field": "body"}),
    "Parquet behind a URL": lambda folder: ("file://" + parquet(folder / "a.parquet"), {}),
    "Arrow": lambda folder: (arrow(folder / "a.arrow"), {}),
    "Arrow stream": lambda folder: (arrow(folder / "a.arrows", stream=True), {}),
    "Feather": lambda folder: (arrow(folder / "a.feather"), {}),
    "tar": lambda folder: (put(folder / "a.tar", TAR), {}),
    "compressed tar": lambda folder: (put(folder / "a.tgz", gzip.compress(TAR)), {}),
    "tar of JSON": lambda folder: (put(folder / "a.tar", TAR_OF_JSON), {"field": "json:caption"}),
    "folder of a data set": lambda folder: (saved_data_set(folder / "set"), {}),
    "mixed files": lambda folder: (
        [
            put(folder / "a.txt", "\n".join(TEXTS[:9]).encode()),
            put(folder / "b.jsonl", b"".join(BODIES.splitlines(keepends=True)[9:])),
        ],
        {"delimiter": "\n", "field": "body"},
    ),
}
GIVEN: dict[str, Callable[[Path], Named]] = {
    "iterator": lambda _: (iter(TEXTS), {}),
    "iterator of bytes": lambda _: ((text.encode() for text in TEXTS), {}),
    "list of bytes": lambda _: ([text.encode() for text in TEXTS], {}),
    "data set": lambda _: (Dataset(table()), {}),
    "column of a data set": lambda _: (Dataset(table("body")), {"field": "body"}),
}
KINDS = FILES | GIVEN

SMALL = bp.train(iter(TEXTS), vocab_size=265, split="gpt2", special_tokens=["<|end|>"])


def counts_of(counts: bp.Counts) -> list[tuple[bytes, int]]:
    """The rows in order of first occurrence; positions are bytes of the files, which differ."""
    return [(row.piece, row.count) for row in counts]


def sharded(source: Any, options: dict[str, Any], folder: Path) -> list[int]:
    bp.shard(source, SMALL, folder / "shards", **options, eos="<|end|>", join=True, dtype="uint32")
    return np.fromfile(folder / "shards/train.bin", np.uint32).tolist()  # type: ignore[no-any-return]


def counted(source: Any, options: dict[str, Any], folder: Path) -> list[tuple[bytes, int]]:
    return counts_of(bp.count_corpus(source, folder / "counting", split="gpt2", task_size=400, **options))


CALLS: dict[str, Callable[[Any, dict[str, Any], Path], Any]] = {
    "train": lambda source, how, _: bp.train(source, 270, split="gpt2", **how),
    "train_wordpiece": lambda source, how, _: bp.train_wordpiece(source, 70, **how),
    "train_unigram": lambda source, how, _: bp.train_unigram(source, 46, **how),
    "Counts.of": lambda source, how, _: counts_of(bp.Counts.of(source, split="gpt2", **how)),
    "extend": lambda source, how, _: bp.extend(SMALL, source, 275, **how),
    "prune": lambda source, how, _: bp.prune(SMALL, 262, source, **how).tokenizer,
    "report": lambda source, how, _: bp.report({"mine": SMALL}, {"x": source}, **how),
    "compare": lambda source, how, _: bp.compare(SMALL, bp.train({"low": 5}, 258), source, **how).total.as_dict(),
}
RUNS = {"count_corpus": counted, "shard": sharded}


@cache
def expected(call: str) -> Any:
    """The result of a call on the texts themselves."""
    if call == "shard":
        return [id for text in TEXTS for id in [*SMALL.encode(text), SMALL.token_id("<|end|>")]]
    return CALLS["Counts.of" if call == "count_corpus" else call](iter(TEXTS), {}, Path())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_every_call_takes_every_kind(call: str, kind: str, tmp_path: Path) -> None:
    if "URL" in kind:
        pytest.importorskip("fsspec")
    source, options = KINDS[kind](tmp_path)
    assert CALLS[call](source, options, tmp_path) == expected(call)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("call", RUNS)
def test_every_run_takes_every_kind_of_file(call: str, kind: str, tmp_path: Path) -> None:
    if "URL" in kind:
        pytest.importorskip("fsspec")
    source, options = FILES[kind](tmp_path)
    assert RUNS[call](source, options, tmp_path) == expected(call)


@pytest.mark.parametrize("call", [*CALLS, *RUNS])
def test_groups_are_of_every_kind(call: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    source = {"one": FILES["Parquet"](tmp_path / "one")[0], "other": FILES["tar"](tmp_path / "other")[0]}
    plain = {**CALLS, **RUNS}[call]
    twice = plain([*source.values()], {}, tmp_path / "twice")
    if call == "count_corpus":
        first = bp.count_corpus(source, tmp_path / "groups", split="gpt2")
        assert {row.group for row in first} == {"one", "other"}
        assert sum(row.count for row in first) == sum(count for _, count in twice)
    elif call == "Counts.of":
        first = bp.Counts.of(source, split="gpt2")
        assert {row.group for row in first} == {"one", "other"}
        weighted = bp.train(source, 270, split="gpt2", weights={"one": "0.5"})
        assert weighted == bp.train(first.weighted({"one": "0.5"}), 270)
    else:
        assert plain(source, {}, tmp_path / "groups") == twice


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("call", RUNS)
def test_runs_that_can_be_killed_name_what_they_refuse(call: str, kind: str, tmp_path: Path) -> None:
    source, options = GIVEN[kind](tmp_path)
    what, remedy = (
        ("data set in memory", r"save_to_disk\(folder\)")
        if "data set" in kind
        else ("iterable of texts", r"write the texts to a file, .*\.jsonl")
    )
    for given, group in ((source, ""), ({"web": source}, r" \(group 'web'\)")):
        with pytest.raises(
            bp.SourceError, match=rf"^{call} takes no {what}{group}: a run that was killed .*; .*{remedy}"
        ):
            RUNS[call](given, options, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", [*CALLS, *RUNS])
@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("tar", {"delimiter": "x"}, r"the delimiter 'x' has no effect on tar files \(file .*a\.tar\); leave it out"),
        ("text", {"field": "body"}, r"the field 'body' has no effect on text files \(file .*a\.txt\); leave it out"),
        ("iterator", {"field": "body"}, "the field 'body' has no effect on an iterable of texts; leave it out"),
        ("data set", {"delimiter": "x"}, "the delimiter 'x' has no effect on a data set in memory; leave it out"),
    ],
)
def test_an_option_without_effect_is_refused(
    call: str, kind: str, options: dict[str, str], says: str, tmp_path: Path
) -> None:
    if call in RUNS and kind in GIVEN:
        pytest.skip("refused already")
    source, _ = KINDS[kind](tmp_path)
    with pytest.raises(bp.SourceError, match=says):
        {**CALLS, **RUNS}[call](source, options, tmp_path)


@pytest.mark.parametrize("call", [*CALLS, *RUNS])
def test_what_is_wrong_in_a_source_is_named(call: str, tmp_path: Path) -> None:
    run = {**CALLS, **RUNS}[call]
    (tmp_path / "folder").mkdir()
    for source, error, says in (
        (str(tmp_path / "none*.txt"), bp.SourceError, r"no file matches '.*'; check the path"),
        (str(tmp_path / "folder"), bp.SourceError, r"is a folder; name the files in it, such as '.*\*\.txt'"),
        (put(tmp_path / "a.zip", b"x"), bp.SourceError, r"^\.zip files cannot be read \(file .*a\.zip\); decompress"),
        ({"a": {"b": "c"}}, TypeError, "the group 'a' is a mapping"),
        (3.5, TypeError, "a source is float, not paths, URLs, or an iterable of texts"),
        ({1.5, 2.5}, TypeError, "a source is a set"),
    ):
        with pytest.raises(error, match=says):
            run(source, {}, tmp_path / "out")


@pytest.mark.parametrize("call", [*CALLS, *RUNS])
@pytest.mark.parametrize(
    "fault",
    [
        (
            "a.jsonl",
            lambda path: put(path, b'{"text": "low"}\n{"text": 5}\n'),
            (bp.TrainingError, {"line": 2}),
            (bp.FormatError, {"byte": 16}),
            "integer `5`, expected a text.*; write one JSON object a line",
            {},
        ),
        (
            "a.parquet",
            lambda path: pq.write_table(pa.table({"text": ["low", None]}), path),
            (bp.TrainingError, {}),
            (bp.EncodeError, {}),
            "'text' is null .*; leave out the rows without text",
            {"row": 1},
        ),
        (
            "a.tar",
            lambda path: put(path, tar("md", [b"low"])),
            (bp.EncodeError, {}),
            (bp.EncodeError, {}),
            "the sample 'deep/0000' has no member .txt .*; pass field=",
            {"row": 0},
        ),
        (
            "b.txt",
            lambda path: put(path, b"low\nl\xffw"),
            (bp.EncodeError, {}),
            (bp.EncodeError, {}),
            "not UTF-8",
            {"byte": 5, "row": None},
        ),
        (
            "b.parquet",
            lambda path: pq.write_table(pa.table({"text": [b"low", b"l\xffw"]}), path),
            (bp.EncodeError, {}),
            (bp.EncodeError, {}),
            "not UTF-8",
            {"row": 1, "byte": 1},
        ),
    ],
)
def test_a_document_at_fault_is_named(call: str, fault: Any, tmp_path: Path) -> None:
    name, make, counting, encoding, says, place = fault
    make(tmp_path / name)
    options = {"delimiter": "\n"} if name == "b.txt" else {}
    kind, more = encoding if call in {"report", "compare", "shard"} else counting
    with pytest.raises(kind, match=says) as caught:
        {**CALLS, **RUNS}[call](str(tmp_path / name), options, tmp_path)
    assert type(caught.value) is kind
    found = {where: getattr(caught.value, where) for where in ("file", *place, *more)}
    assert found == {"file": str(tmp_path / name), **place, **more}
    assert caught.value.remedy


# The commands


@pytest.fixture
def call(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> Callable[..., bytes]:
    SMALL.save(tmp_path / "model")

    def run(*arguments: str) -> bytes:
        assert main(arguments) == 0, capsysbinary.readouterr().err
        return capsysbinary.readouterr().out

    return run


COMMANDS = [kind for kind in FILES if kind != "path object"]


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_command_takes_every_kind(kind: str, call: Callable[..., bytes], tmp_path: Path) -> None:
    if "URL" in kind:
        pytest.importorskip("fsspec")
    source, options = FILES[kind](tmp_path)
    names = source if isinstance(source, list) else [source]
    field = ["--field", options["field"]] if "field" in options else []
    cut = [*field, *(["--delimiter", r"\n"] if "delimiter" in options else [])]
    model, small = str(tmp_path / "model"), ["-m", str(tmp_path / "model")]

    call("train", *names, *cut, "--vocab-size", "270", "--split", "gpt2", "-o", str(tmp_path / "trained"))
    assert bp.Tokenizer.from_file(tmp_path / "trained") == expected("train")

    rows = call("counts", *names, *cut, "--split", "gpt2", "--top", "1000", "--json").splitlines()
    found = {row["piece"].encode(): row["count"] for row in map(json.loads, rows)}
    assert found == dict(expected("Counts.of"))

    call("shard", *names, *cut, *small, "--eos", "<|end|>", "--join", "--dtype", "uint32", "-o", str(tmp_path / "out"))
    assert np.fromfile(tmp_path / "out/train.bin", np.uint32).tolist() == expected("shard")

    said = json.loads(call("report", *small, "--corpus", *(f"x={name}" for name in names), *cut, "--format", "json"))
    wanted = json.loads(json.dumps(expected("report").as_dict()))
    assert said["corpora"] == wanted["corpora"]
    assert [cost["tokens"] for cost in said["costs"]] == [cost["tokens"] for cost in wanted["costs"]]

    bp.train({"low": 5}, 258).save(tmp_path / "other")
    corpus = ["--corpus", *(f"x={name}" for name in names)]
    said = json.loads(call("compare", model, str(tmp_path / "other"), *corpus, *cut, "--format", "json"))
    assert said["total"] == json.loads(json.dumps(expected("compare")))

    # A plain file is one text for these; any other has its documents.
    plain = "delimiter" in options
    texts = [Path(name).read_bytes().decode() for name in sorted(tmp_path.glob("[ab].txt"))] if plain else TEXTS
    if kind in {"gzip", "zstd"}:
        texts = [DATA.decode()]
    elif kind == "mixed files":
        texts = ["\n".join(TEXTS[:9]), *TEXTS[9:]]
    rows = call("encode", *names, *field, *small, "--format", "jsonl").splitlines()
    assert [json.loads(row)["ids"] for row in rows] == [SMALL.encode(text) for text in texts]

    rows = call("count", *names, *field, *small, "--format", "jsonl").splitlines()
    assert sum(json.loads(row)["tokens"] for row in rows) == sum(map(SMALL.count, texts))

    rows = call("chunk", *names, *field, *small, "--limit", "1000").splitlines()
    assert [json.loads(row)["text"] for row in rows] == texts
    documents = [json.loads(row).get("document") for row in rows]
    if not plain and kind != "folder of a data set":
        assert documents == [*range(len(TEXTS))]


def test_commands_name_options_without_effect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SMALL.save(tmp_path / "model")
    rows, model = put(tmp_path / "a.jsonl", LINES), str(tmp_path / "model")
    plain = put(tmp_path / "a.txt", DATA)
    for command in (["count"], ["encode"], ["chunk", "--limit", "9"]):
        assert main([*command, plain, "-m", model, "--field", "body"]) == 1
        assert "the field 'body' has no effect on text files" in capsys.readouterr().err
        assert main([*command, rows, "-m", model, "--field", "body"]) == 1
        assert 'there is no field "body"' in capsys.readouterr().err
    assert main(["encode", rows, "-m", model, "--lines"]) == 1
    assert "has no effect on jsonl files" in capsys.readouterr().err
    assert main(["encode", rows, "-m", model, "--format", "npy"]) == 1
    assert "npy holds one text, and these are several; use --format jsonl" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["encode", "--text", "low", "-m", model, "--field", "body"])
    assert "--field is for files, not for --text" in capsys.readouterr().err
