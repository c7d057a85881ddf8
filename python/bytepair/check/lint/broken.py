"""Findings about a file that does not load, from its content.

A loader stops at the first fault. This module counts all faults of each kind without a tokenizer, as far as the file
can be read: ``tokenizer.json`` and ``vocab.json``, rank files, and lists of tokens.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.check.lint import patterns, post
from bytepair.check.lint.findings import MOST_EXAMPLES, Finding, of_error, quoted, some
from bytepair.drawing.wording import agree, counted, plural
from bytepair.errors import BytepairError
from bytepair.formats import hf_json, tiktoken
from bytepair.formats.hf_common import pointer_to, shown
from bytepair.model import byte_alphabet
from bytepair.model.checks import BYTES_IN_TEXT, MOST_IDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_KNOWN_NOWHERE = "Two tokens with one id cannot be distinguished: decoding returns the text of only one of them."
_FETCH = "is the file whole and unedited? Fetch it again"


class Table(dict[str, Any]):
    """A JSON object that records its duplicate keys."""

    twice: tuple[str, ...] = ()


def not_loaded(error: BytepairError, file: str) -> Finding:
    """The loader's error as a finding."""
    said = of_error(error)
    return Finding(
        "does-not-load",
        "error",
        said["what"],
        "The tokenizer cannot be used. Other findings come from the content of the file.",
        said["remedy"],
        file=said["file"] or file,
        pointer=said["pointer"],
        cli_remedy=said["cli_remedy"],
    )


def findings(path: Path) -> Iterator[Finding]:
    """All faults found in the file of a tokenizer.

    Args:
        path: The file itself.
    """
    try:
        data = files.read(path)
    except BytepairError:
        return
    file = str(path)
    if data.lstrip()[:1] == b"{":
        yield from _json(data, path)
    elif tiktoken.looks_like(data):
        yield from _ranks(data, file)
    elif path.name.startswith("vocab") and path.suffix == ".txt":
        yield from _lines(data, file)


def _json(data: bytes, path: Path) -> Iterator[Finding]:
    file = str(path)
    try:
        table = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_table)
    except (ValueError, RecursionError):
        # The loader's error names the place.
        return
    yield from _keys(table, file)
    if hf_json.looks_like(table):
        yield from patterns.literal_patterns(table, file)
        yield from _tokenizer_json(table, file)
    elif all(type(id) is int for id in table.values()):
        yield from _ids(table, {}, file, "")


def _table(pairs: list[tuple[str, Any]]) -> Table:
    table = Table(pairs)
    if len(table) < len(pairs):
        table.twice = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return table


def _keys(table: Table, file: str) -> Iterator[Finding]:
    found = list(_twice(table, "", 0))
    if found:
        yield Finding(
            "duplicate-key",
            "error",
            f"{plural(len(found), 'key')} of JSON {agree(len(found), 'occurs', 'occur')} twice in one object",
            "Libraries take the first or the last value of them, so that one file is several tokenizers.",
            "keep one of each",
            file=file,
            pointer=found[0],
            **some(found),
        )


def _twice(value: Any, pointer: str, depth: int) -> Iterator[str]:
    if isinstance(value, Table):
        yield from (pointer_to(pointer, key) for key in value.twice)
        inner = ((key, each) for key, each in value.items() if isinstance(each, dict | list))
        for key, each in inner:
            yield from _twice(each, pointer_to(pointer, key), depth + 1) if depth < 64 else ()
    elif isinstance(value, list):
        for row, each in enumerate(value):
            if isinstance(each, dict):
                yield from _twice(each, f"{pointer}/{row}", depth + 1)


def _tokenizer_json(table: Mapping[str, Any], file: str) -> Iterator[Finding]:
    model = table["model"]
    vocab = model.get("vocab")
    listed = table.get("added_tokens")
    added = {
        row["id"]: row["content"]
        for row in (listed if isinstance(listed, list) else ())
        if isinstance(row, dict) and type(row.get("id")) is int and isinstance(row.get("content"), str)
    }
    if isinstance(vocab, list):
        rows = [row[0] for row in vocab if isinstance(row, list) and row and isinstance(row[0], str)]
        yield from _tokens_twice(Counter(rows), file, "/model/vocab")
        ids = {token: id for id, token in enumerate(rows)}
    elif isinstance(vocab, dict):
        ids = {token: id for token, id in vocab.items() if type(id) is int}
        yield from _ids(vocab, added, file, "/model/vocab")
        yield from _added_twice(listed, file)
    else:
        return
    unk = model.get("unk_token")
    known = {*ids, *added.values()}
    if isinstance(unk, str) and unk not in known:
        yield Finding(
            "unknown-missing",
            "error",
            f"unk_token is {quoted(unk)}, which is not in the vocabulary",
            "Unknown text has no id.",
            "add the token, or name one that is there",
            file=file,
            pointer="/model/unk_token",
            examples=(quoted(unk),),
        )
    merges = model.get("merges")
    if isinstance(merges, list):
        prefix = model.get("continuing_subword_prefix")
        cut = len(prefix) if isinstance(prefix, str) else 0
        yield from _absent(merges, ids, cut, file)
    decoder = table.get("decoder")
    if isinstance(decoder, dict) and decoder.get("type") == "ByteLevel" and unk is None:
        yield from _bytes(ids, file)
    spelled = {id: token for token, id in ids.items()} | added
    yield from post.wrong_ids(table.get("post_processor"), spelled, file)


def _ids(vocab: Mapping[str, Any], added: Mapping[int, str], file: str, pointer: str) -> Iterator[Finding]:
    tokens: dict[int, list[str]] = defaultdict(list)
    for token, id in vocab.items():
        if type(id) is int and 0 <= id < MOST_IDS:
            tokens[id].append(token)
    odd = [token for token, id in vocab.items() if type(id) is not int or not 0 <= id < MOST_IDS]
    if odd:
        yield Finding(
            "wrong-id",
            "error",
            f"{counted(len(odd), 'token', 'has', 'have')} an invalid id",
            f"An id is a whole number from 0 to {MOST_IDS - 1:,}.",
            _FETCH,
            file=file,
            pointer=pointer_to(pointer, odd[0]),
            **some(f"{quoted(token)}: {shown(vocab[token])[:40]}" for token in odd),
        )
    for id, content in added.items():
        if id in tokens and content not in tokens[id]:
            tokens[id].append(content)
    twice = sorted(id for id, listed in tokens.items() if len(listed) > 1)
    if twice:
        yield _same_id({id: tokens[id] for id in twice}, file, pointer_to(pointer, tokens[twice[0]][0]))


def _same_id(tokens: Mapping[int, Sequence[str]], file: str, pointer: str) -> Finding:
    first = list(tokens)[:MOST_EXAMPLES]
    return Finding(
        "duplicate-id",
        "error",
        f"{counted(len(tokens), 'id', 'is', 'are')} that of more than one token",
        _KNOWN_NOWHERE,
        "give each token its own id: the one that the model was trained with",
        file=file,
        pointer=pointer,
        count=len(tokens),
        examples=tuple(f"{id}: {' and '.join(map(quoted, tokens[id][:3]))}" for id in first),
        ids=tuple(first),
    )


def _added_twice(listed: Any, file: str) -> Iterator[Finding]:
    rows = [row for row in (listed if isinstance(listed, list) else ()) if isinstance(row, dict)]
    by_id: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        if type(row.get("id")) is int and isinstance(row.get("content"), str):
            by_id[row["id"]].append(row["content"])
    twice = {id: contents for id, contents in sorted(by_id.items()) if len(contents) > 1}
    if twice:
        yield _same_id(twice, file, "/added_tokens")
    contents = Counter(content for listed in by_id.values() for content in listed)
    yield from _tokens_twice(contents, file, "/added_tokens")


def _tokens_twice(counts: Counter[str], file: str, pointer: str) -> Iterator[Finding]:
    twice = [token for token, times in counts.items() if times > 1]
    if twice:
        yield _same_token(list(map(quoted, twice)), file, pointer)


def _same_token(twice: list[str], file: str, pointer: str) -> Finding:
    return Finding(
        "duplicate-token",
        "error",
        f"{counted(len(twice), 'token', 'occurs', 'occur')} in it more than once",
        "The id that text gets depends on the library; the other is never used.",
        "keep the id that the model was trained with",
        file=file,
        pointer=pointer,
        **some(twice),
    )


def _absent(merges: list[Any], ids: Mapping[str, int], cut: int, file: str) -> Iterator[Finding]:
    """Merges of, or into, tokens that the vocabulary does not have."""
    rows: list[tuple[int, str]] = []
    for row, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            rows.append((row, f"merge {row}: {shown(merge)[:40]} is no pair"))
            continue
        left, right = parts
        lacking = next((token for token in (left, right, left + right[cut:]) if token not in ids), None)
        if lacking is not None:
            rows.append((row, f"merge {row}: {quoted(left)} + {quoted(right)} needs {quoted(lacking)}"))
    if rows:
        yield Finding(
            "merge-of-absent-token",
            "error",
            f"{counted(len(rows), 'merge', 'needs', 'need')} a token that the vocabulary does not have",
            "Vocabulary and merges belong to different tokenizers, or one of them is truncated.",
            _FETCH,
            file=file,
            pointer=f"/model/merges/{rows[0][0]}",
            **some(text for _, text in rows),
        )


def _bytes(ids: Mapping[str, int], file: str) -> Iterator[Finding]:
    missing = [byte for byte in sorted(BYTES_IN_TEXT) if byte_alphabet.to_characters(bytes([byte])) not in ids]
    if missing:
        yield Finding(
            "missing-bytes",
            "error",
            f"{plural(len(missing), 'byte')} of UTF-8 {agree(len(missing), 'has', 'have')} no token",
            "Text that needs one of them cannot be encoded.",
            _FETCH,
            file=file,
            pointer="/model/vocab",
            **some(f"0x{byte:02X}" for byte in missing),
        )


def _ranks(data: bytes, file: str) -> Iterator[Finding]:
    """Findings about a rank file, line by line."""
    tokens: dict[str, list[int]] = defaultdict(list)
    ranks: dict[int, list[str]] = defaultdict(list)
    for number, line in enumerate(data.splitlines(), 1):
        token, _, rank = line.partition(b" ")
        if rank.strip().isdigit():
            ranks[int(rank)].append(token.decode("ascii", "replace"))
            tokens[token.decode("ascii", "replace")].append(number)
    same = {rank: listed for rank, listed in sorted(ranks.items()) if len(listed) > 1}
    if same:
        yield _same_id(same, file, "")
    twice = [f"{quoted(token)} in lines {lines[0]} and {lines[1]}" for token, lines in tokens.items() if len(lines) > 1]
    if twice:
        yield _same_token(twice, file, "")


def _lines(data: bytes, file: str) -> Iterator[Finding]:
    """Findings about a list of tokens, one per line."""
    lines: dict[bytes, list[int]] = defaultdict(list)
    for number, line in enumerate(data.splitlines(), 1):
        lines[line].append(number)
    lines.pop(b"", None)
    twice = [
        f"{quoted(line)} in lines {numbers[0]} and {numbers[1]}" for line, numbers in lines.items() if len(numbers) > 1
    ]
    if twice:
        yield _same_token(twice, file, "")
