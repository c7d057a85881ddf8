"""Sweep over the forms of a corpus: texts in parts, in one buffer, in JSON lines; against each text by itself."""

from __future__ import annotations

import json
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from bytepair import lowlevel
from bytepair._core import json_fields
from bytepair.sources.flat_rows import FlatTexts
from fuzz.case import case, equal
from fuzz.hostile import hostile_text
from fuzz.pipelines import random_table
from fuzz.variants import growing_text, random_variant

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from numpy.typing import NDArray

Outcome = list[int] | tuple[str, str, int | None, int | None]

NOT_UTF8 = (b"\xff", b"\xc3", b"\x80", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80")
SURROGATES = ("\ud83d", "\ude00", "\ud83d\ude00")


def outcome(call: Callable[[], list[int]]) -> Outcome:
    """The ids, or the facts of the error."""
    try:
        return call()
    except bp.BytepairError as error:
        return error_of(error)


def error_of(error: bp.BytepairError) -> tuple[str, str, int | None, int | None]:
    """The facts of an error, except its row."""
    return type(error).__name__, error.what, error.byte, error.character


def streamed(tok: bp.Tokenizer, parts: list[Any], options: dict[str, Any]) -> list[int]:
    """The ids of a text that arrives in these parts."""
    return [id for ids in tok.encode_parts(parts, **options) for id in ids.tolist()]


def cut(random: random.Random, text: Any) -> list[Any]:
    """A text in parts, short and long ones."""
    longest = random.choice([1, 3, 50, 3000, 20_000])
    # A long text in single characters would take its time for nothing.
    longest = max(longest, len(text) // 2000)
    parts = []
    while text:
        length = random.randint(0, longest)
        parts.append(text[:length])
        text = text[length:]
    return parts


def any_tokenizer(random: random.Random) -> tuple[bp.Tokenizer, str]:
    """A tokenizer of any kind, and a text for it."""
    if random.random() < 0.8:
        return random_variant(random)[0], "".join(growing_text(random) for _ in range(random.choice([1, 3, 30])))
    table = random_table(random)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        path = Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(table, ensure_ascii=False), "utf-8")
        try:
            tok = bp.Tokenizer.from_file(path)
        except bp.FormatError:  # which files are refused is another sweep's
            return any_tokenizer(random)
    contents = [token["content"] for token in table["added_tokens"]]
    return tok, hostile_text(random, random.choice([2, 40, 400]), contents)


def options_of(random: random.Random, tok: bp.Tokenizer) -> dict[str, Any]:
    """The options of a call for added tokens and for invalid text."""
    specials = sorted(tok.special_tokens)
    some = set(random.sample(specials, random.randint(0, len(specials))))
    options = {"special": random.choice(["raise", "text", "allow", "allow", "allow", some])}
    return options | {"added": random.choice(["match", "match", "text", "raise"]), "errors": "replace"}


def check_stream(random: random.Random, tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> None:
    """The ids of a text in parts are those of the whole, and so are errors."""
    whole: Any = text.encode() if random.random() < 0.6 else text
    for _ in range(random.choice([0, 0, 1, 3])):
        at = random.randint(0, len(whole))
        whole = whole[:at] + random.choice(NOT_UTF8 if isinstance(whole, bytes) else SURROGATES) + whole[at:]
    strict = options | {"errors": random.choice(["strict", "replace"])}
    expected = outcome(lambda: tok.encode(whole, **strict))
    # With its first part a stream looks for a cut, however short it is.
    halves = [[whole[:at], whole[at:]] for at in (random.randint(0, len(whole)) for _ in range(6))]
    for parts in (cut(random, whole), *halves):
        with case(parts=parts, **strict):
            got, wanted = outcome(lambda: streamed(tok, parts, strict)), expected  # noqa: B023  # called at once
            if strict["errors"] == "strict" and isinstance(wanted, tuple) and wanted[0] == "EncodeError":
                # The text before the invalid part can have an error, which a stream meets first.
                valid = whole[: wanted[3 if isinstance(whole, str) else 2] or 0]
                before = outcome(lambda: tok.encode(valid, **strict))  # noqa: B023  # called at once
                wanted = before if isinstance(got, tuple) and got[:2] == before[:2] else wanted
            if isinstance(got, tuple) and isinstance(wanted, tuple) and wanted[2] is None:
                # A place in text that was changed is none; of a stream only a part may have been.
                equal("the error", got[:2], wanted[:2])
            else:
                equal("the stream", got, wanted)


def check_buffer(random: random.Random, tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> None:
    """Each text of a buffer has the ids that it has alone, or its own error."""
    options = options | {"errors": random.choice(["strict", "replace"])}
    data = text.encode()[:5000]
    offsets = sorted(random.choices(range(len(data) + 1), k=random.choice([1, 2, 10, 200])))
    ids = list(dict.fromkeys(tok.encode(text, special="text", errors="replace")))[:3]
    frame: dict[str, Any] = {"prefix": ids[: random.randint(0, 2)], "suffix": ids[random.randint(0, 3) :]}
    with case(data=data, offsets=offsets, frame=frame, **options):
        found, starts, faults = lowlevel.encode_buffer(
            tok, np.frombuffer(data, np.uint8), np.array(offsets, np.int64), **frame, **options
        )
        errors = dict(faults)
        for row, (start, end) in enumerate(pairwise(offsets)):
            alone = outcome(lambda: tok.encode(data[start:end], **options))  # noqa: B023  # called at once
            if isinstance(alone, list):
                equal("a row", found[starts[row] : starts[row + 1]].tolist(), frame["prefix"] + alone + frame["suffix"])
            else:
                equal("a fault", error_of(errors.pop(row)), alone)
                equal("the ids of a fault", starts[row], starts[row + 1])
        equal("faults that are left", errors, {})
        equal("the rows", all(error.row == row for row, error in faults), True)


def random_value(random: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    strings = ["", "low", 'é"\\/\n\t', "\U0001f600\u2028\x7f", "\ud800", "\udc00a", "text"]
    kinds = [None, True, 0, 7, -3, 2**63, -(2**63), 2**64 - 1, 2**64, 1.5, *strings, *strings]
    if depth < 2 and random.random() < 0.2:
        values = [random_value(random, depth + 1) for _ in range(random.randint(0, 3))]
        return values if random.random() < 0.5 else {random.choice(["text", "id", "x"]): value for value in values}
    return random.choice(kinds)


def spelled(random: random.Random, value: Any) -> bytes:
    """A value as JSON; halves of surrogate pairs are always escaped."""
    try:
        return json.dumps(value, ensure_ascii=random.random() < 0.5).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def random_line(random: random.Random) -> bytes:
    """A line: an object, which may repeat a field, or something else; perhaps damaged."""
    items = [(random.choice(["id", "n", "t\u00e9", ""]), random_value(random)) for _ in range(random.randint(0, 3))]
    if random.random() < 0.9:
        texts = [*["low", "a\nb", "日本", "\U0001f600", ""] * 4, random_value(random)]
        items.insert(random.randint(0, len(items)), ("text", random.choice(texts)))
    before, after = random.choice([(b"", b""), (b" ", b" "), (b"\t ", b"")])
    pairs = (spelled(random, name) + before + b":" + after + spelled(random, value) for name, value in items)
    line = before + b"{" + b", ".join(pairs) + b"}" + after
    if random.random() < 0.05:
        line = random.choice([b"", b" ", b"[]", b"1"])
    if random.random() < 0.2 and line:
        at = random.randrange(len(line))
        damage = random.choice([b"", b"\xff", b'"', b"\xe4\xb8", b"}", b"\x01"])
        line = line[:at] + damage + line[at + random.randint(0, 1) :]
    return line + random.choice([b"", b"", b"\r"])


def line_of(line: bytes, errors: str) -> tuple[str, str] | None:
    """The text and the id of a line; None if the line is bad."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        return {"": items}

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        read = json.loads(line.decode("utf-8", errors), object_pairs_hook=pairs, parse_constant=refuse)
        items = read[""] if isinstance(read, dict) else None
        texts, ids = ([value for key, value in items or [] if key == name] for name in ("text", "id"))
        if items is None or len(texts) != 1 or not isinstance(texts[0], str) or len(ids) > 1:
            return None
        id = ids[0] if ids else None
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id) if -(2**63) <= id < 2**64 else 0
        id = "" if id is None else id
        if not isinstance(id, str):
            return None
        both = (text.encode("utf-16", "surrogatepass").decode("utf-16", errors) for text in (texts[0], id))
        return next(both), next(both)
    except ValueError:
        return None


def rows(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[str]:
    """The texts of a buffer."""
    return [text.decode() for text in FlatTexts(data, offsets).to_list()]


def check_lines(random: random.Random) -> None:
    """Lines are read as `json` reads them, and the error of one line is not reported for another."""
    lines, errors = [random_line(random) for _ in range(random.randint(0, 12))], random.choice(["strict", "replace"])
    data = random.choice([b"", b"\xef\xbb\xbf"]) + b"\n".join(lines) + random.choice([b"", b"\n"])
    with case(data=data, errors=errors):
        texts, offsets, starts, ids, id_offsets, faults = json_fields(data, "text", "id", errors=errors, first=True)
        assert ids is not None
        assert id_offsets is not None
        expected, wrong, at = [], [], 0
        for line in data.split(b"\n"):
            bare = line.removeprefix(b"\xef\xbb\xbf") if at == 0 else line
            if bare.strip():
                read = line_of(bare, errors)
                if read is None:
                    wrong.append((at, at + len(line)))
                else:
                    expected.append((at, *read))
            at += len(line) + 1
        got = zip(starts.tolist(), rows(texts, offsets), rows(ids, id_offsets), strict=True)
        equal("the lines", list(got), expected)
        equal("the faults", [(start, end) for start, end, _ in faults], wrong)
        equal("their kinds", {type(error) for *_, error in faults} <= {bp.FormatError, bp.EncodeError}, True)


def sweep_streams(random: random.Random) -> None:
    """A text in parts, texts in a buffer, and lines of JSON."""
    tok, text = any_tokenizer(random)
    options = options_of(random, tok)
    with case(added=tok.spec.added_tokens, split=tok.spec.split):
        check_stream(random, tok, text, options)
        check_buffer(random, tok, text, options)
    check_lines(random)
