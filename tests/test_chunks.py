"""Chunks: against the slow oracle, as streams and in batches; and the definitions of boundaries."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import kinds, made
from fuzz.chunks import check_chunks, chunking, text_with_places
from fuzz.counted import of_every_stage
from fuzz.variants import tokenizer

import bytepair as bp
from bytepair._core import places
from bytepair.chunk.chunks import KINDS
from bytepair.formats import hf_json
from bytepair.model.steps import spell_step
from bytepair.reference import chunking as slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bytepair.chunk.chunks import Kind

ORACLES: list[tuple[str, Callable[[str], list[int]]]] = [
    ("line", slow.line_places),
    ("paragraph", slow.paragraph_places),
    ("markdown", slow.markdown_places),
]


@pytest.mark.parametrize("split", bp.SPLIT_PATTERNS)
@pytest.mark.parametrize("boundary", [*KINDS, "given"])
def test_chunks_are_those_of_the_oracle(split: str, boundary: str) -> None:
    random = Random(f"{split} {boundary}")
    for _ in range(12):
        text, limit = text_with_places(random), random.randint(2, 30)
        given = [place for place in range(len(text) + 1) if random.random() < 0.1]
        check_chunks(
            tokenizer(split), text, random, limit=limit, overlap=random.randrange(limit), boundary=boundary, given=given
        )


def test_text_behind_an_added_token_begins_anew() -> None:
    spec = tokenizer("gpt2").spec
    prepend = spell_step({"type": "Prepend", "prepend": "_"})
    tok, text = bp.Tokenizer(spec.replace(normalizers=(prepend,), split=())), "word <|end|>\nand more. " * 40
    for limit in (7, 30):
        check_chunks(tok, text, Random(1), limit=limit, overlap=0, boundary="sentence", given=[])


def test_what_looks_further_is_cut_as_well() -> None:
    spec, random = tokenizer("gpt2").spec, Random(3)
    for changed in (
        spec.replace(normalizers=("NFC",)),
        spec.replace(prefix_space=True),
        spec.replace(split=(r"(?:(?=a)a|\w)+|\s|.",)),
        spec.replace(added_tokens=(spec.added_tokens[0]._replace(rstrip=True), *spec.added_tokens[1:])),
        spec.replace(split=()),
    ):
        tok = bp.Tokenizer(changed)
        for _ in range(8):
            text = text_with_places(random) + "e\u0301 <|end|>  a"
            check_chunks(
                tok,
                text,
                random,
                limit=random.randint(6, 20),
                overlap=random.randint(0, 5),
                boundary="sentence",
                given=[],
            )


@pytest.mark.parametrize("model", made.MODELS)
def test_every_model_and_stage_is_cut_as_the_oracle_cuts(model: str) -> None:
    for seed in range(2):
        for counted in of_every_stage(model, seed):
            chunking(Random(f"{counted.said} {seed}"), counted)


@pytest.mark.parametrize(("boundary", "oracle"), ORACLES)
def test_lines_are_as_the_slow_definitions_have_them(boundary: str, oracle: Callable[[str], list[int]]) -> None:
    for text in ("a\n\x1c\nb\n\u3000\nc", *(text_with_places(Random(seed)) for seed in range(400))):
        # The core's kinds include the stronger ones.
        stronger = {place for kind, stronger in ORACLES for place in stronger(text) if kind == "markdown"}
        found = set(places(text, boundary)) if boundary != "markdown" else set(places(text, boundary)) & stronger
        assert found == set(oracle(text)), text
        if boundary == "markdown":
            assert places(text, "markdown") == oracle(text), text


@pytest.mark.parametrize(
    ("boundary", "text"),
    [
        ("sentence", "One. |Two?  |No 3.14 of e.g. these! |(Four.) \n|五。|六。"),
        ("word", "it's| 3.14| of|,| a|-|b|\n|   next|,| né| 日|本|\n"),
        ("line", "a\n|b\r\n|c\r|d\u2028|e\n|\n|f"),
        ("paragraph", "a\nb\n\n|c\n \n|\n|d"),
        ("markdown", "a\n|# b\n```\n# c\n````\n|### d\n#e\n    # f\n|#\n~~~ x\n# y\n~~~x\n# z"),
    ],
)
def test_places(boundary: str, text: str) -> None:
    parts = text.split("|")
    ends = [len("".join(parts[: number + 1])) for number in range(len(parts) - 1)]
    assert places("".join(parts), boundary) == [end for end in ends if end < len("".join(parts))]
    data = "".join(parts).encode()
    assert places(data, boundary) == [size for end in ends if (size := len("".join(parts)[:end].encode())) < len(data)]


def long_line(random: Random, words: int) -> str:
    """A line of many sentences, or of few, without an end."""
    rare = random.choice([0.1, 0.001])
    ends = (". Then " if random.random() < rare else " " for _ in range(words))
    return "".join("".join(random.choices("abcdé日", k=random.randint(1, 9))) + end for end in ends)


def test_long_lines_are_read_in_parts_and_streams_agree() -> None:
    tok = tokenizer("cl100k")
    for seed in range(6):
        random = Random(seed)
        text = random.choice(["a", ".) ", "\u0301", "。", " ", "1"]) * random.randint(0, 5000)
        text = text.join([long_line(random, 900), long_line(random, 900)])
        for boundary, limit in (("sentence", 300), ("word", 3000), ("markdown", 40)):
            whole = tok.chunks(text, limit, boundary=boundary, overlap=limit // 9)  # type: ignore[arg-type]
            check_covers(tok, text, limit, limit // 9, whole)
            size = random.choice([7, 1000, 9000])
            parts = [text[start : start + size] for start in range(0, len(text), size)]
            stream = tok.chunk_parts(parts, limit, boundary=boundary, overlap=limit // 9)  # type: ignore[arg-type]
            assert [chunk for chunk, _ in stream] == whole


def check_covers(tok: bp.Tokenizer, text: str, limit: int, overlap: int, chunks: list[bp.Chunk]) -> None:
    """Checks the contract, without the oracle."""
    end = before = 0
    for chunk in chunks:
        assert before <= chunk.start <= end < chunk.end
        assert tok.count(text[chunk.start : end], special="text") <= overlap
        assert tok.count(text[chunk.start : chunk.end], special="text") == chunk.tokens <= limit
        before, end = chunk.start + 1, chunk.end
    assert end == len(text)


def test_a_sentence_in_a_long_line_is_found_wherever_it_ends() -> None:
    for length in range(3800, 4200, 7):
        text = "x " * (length // 2) + "end. Start " + "y " * 4000
        assert length // 2 * 2 + 5 in places(text, "sentence"), length


def test_a_stream_holds_little() -> None:
    tok, most, read = tokenizer("cl100k"), 0, 0

    def parts() -> Iterator[str]:
        nonlocal read
        for number in range(400):
            part = f"Sentence {number} of many, which goes on for some time. " * 20
            read += len(part)
            yield part

    for chunk, _ in tok.chunk_parts(parts(), 100):
        most = max(most, read - chunk.end)
    assert read > 400_000
    assert most < 30_000


def test_special_tokens_are_as_the_call_says_in_every_way() -> None:
    tok = tokenizer("cl100k")
    text = "some words, né. " * 900 + "<|end|>" + " and more" * 2000
    place = text.index("<|end|>")
    for call in (
        lambda **options: tok.chunks(text, 50, **options),
        lambda **options: tok.chunks_batch(["", text], 50, **options),
        lambda **options: [
            *tok.chunk_parts([text[start : start + 5] for start in range(0, len(text), 5)], 50, **options)
        ],
        lambda **options: [*tok.chunk_parts([text.encode()], 50, **options)],
    ):
        for special in ("raise", {"<|end|>>"}):
            with pytest.raises(bp.SpecialTokenError) as raised:
                call(special=special)
            assert (raised.value.character, raised.value.byte) == (place, len(text[:place].encode()))
        assert call(special="text")
        assert call(special={"<|end|>", "<|"})
    with pytest.raises(bp.SpecialTokenError):
        tok.chunks("<|end|>", 1, added="raise")
    assert tok.chunks("a <|end|>", 3, special="allow") == [(0, 9, 3)]


def test_errors_say_where() -> None:
    tok = tokenizer("gpt2")
    text = "é and more, " * 2000 + "\U00050505!"
    place = text.index("\U00050505")
    calls: list[Callable[[], Any]] = [
        partial(tok.chunks, text, 3),
        partial(tok.chunks_batch, ["a", text], 3),
        lambda: [*tok.chunk_parts([text[:100], text[100:]], 3)],
    ]
    for call in calls:
        with pytest.raises(bp.LimitError, match=r"alone has 4 tokens, more than the limit of 3.*at least 4") as raised:
            call()
        assert (raised.value.character, raised.value.byte) == (place, len(text[:place].encode()))
    with pytest.raises(bp.LimitError) as raised:
        tok.chunks_batch(["a", text, text], 3, threads=2)
    assert raised.value.row == 1
    for limit, overlap in [(0, 0), (3, 3), (3, 9)]:
        for call in (
            partial(tok.chunks, "", limit, overlap=overlap),
            partial(tok.chunk_parts, [], limit, overlap=overlap),
        ):
            with pytest.raises(bp.LimitError, match="leaves no room"):
                call()
    with pytest.raises(ValueError, match='boundary="page" is unknown; use "markdown"'):
        tok.chunks("", 3, boundary="page")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        tok.chunks("", -1)


def test_text_that_is_none_is_placed() -> None:
    tok = tokenizer("gpt2")
    for data, byte in [(b"abc\xff", 3), (b"ab\xc3", 2), ("né".encode() + b"\xe6\x97 ", 3)]:
        with pytest.raises(bp.EncodeError) as raised:
            tok.chunks(data, 3)
        expected = (raised.value.byte, raised.value.character)
        assert expected[0] == byte
        for size in (1, 2, 9):
            with pytest.raises(bp.EncodeError) as raised:
                list(tok.chunk_parts([data[start : start + size] for start in range(0, len(data), size)], 3))
            assert (raised.value.byte, raised.value.character) == expected
    with pytest.raises(bp.EncodeError) as raised:
        list(tok.chunk_parts(["né", "a\ud800"], 3))
    assert (raised.value.byte, raised.value.character) == (4, 3)
    with pytest.raises(bp.EncodeError) as raised:
        tok.chunks_batch(["a", b"\xff"], 3)
    assert raised.value.row == 1
    for wrong in (lambda: tok.chunks(["a"], 3), lambda: list(tok.chunk_parts(["a", b"b"], 3))):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="str or"):
            wrong()
    with pytest.raises(TypeError, match="call chunks"):
        tok.chunks_batch("a", 3)
    with pytest.raises(TypeError, match="call chunks"):
        tok.chunk_parts("a", 3)


def test_a_callable_gives_places() -> None:
    tok = tokenizer("gpt2")
    text = "日本 one two three four five"

    def before_t(text: str) -> list[int]:
        return [0, 0, len(text), text.index(" t")]

    assert tok.chunks(text, 12, boundary=before_t)[0].end == text.index(" t")
    assert tok.chunks_batch([text, text], 12, boundary=before_t) == [tok.chunks(text, 12, boundary=before_t)] * 2
    for places_, said in [([99], "99 is not in the text"), ([-1], "-1 is not in the text")]:
        with pytest.raises(ValueError, match=said):
            tok.chunks(text, 12, boundary=lambda _, found=places_: found)  # type: ignore[misc]
    with pytest.raises(ValueError, match="boundary 1 is not a place between two characters"):
        tok.chunks(text.encode(), 12, boundary=lambda _: [1])
    with pytest.raises(ValueError, match="a callable boundary needs the whole text"):
        tok.chunk_parts([text], 12, boundary=before_t)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        tok.chunks(text, 12, boundary=lambda _: [1 // 0])


@pytest.mark.data
@pytest.mark.parametrize("name", ["en_1mb.txt", "multi_1mb.txt", "code_1mb.txt"])
def test_real_texts(data: Path, name: str) -> None:
    tok = bp.get_encoding("o200k_base", folder=data / "vocabs" / "openai")
    text = (data / "corpora" / name).read_bytes()[:300_000].decode(errors="ignore")
    kind: Kind
    for kind in KINDS:
        chunks = tok.chunks(text, 256, boundary=kind, overlap=40, special="text")
        check_covers(tok, text, 256, 40, chunks)
        stream = tok.chunk_parts(
            [text[:1000], text[1000:100_000], text[100_000:]], 256, boundary=kind, overlap=40, special="text"
        )
        assert list(stream) == [(chunk, text[chunk.start : chunk.end]) for chunk in chunks]


def test_characters_that_a_table_drops_at_the_start_of_a_text_move_no_place() -> None:
    # `tokenizers` counts them nowhere, so that all places in the text are too near to its start.
    table = {
        "version": "1.0",
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": kinds.charsmap(b"\0")},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁"}],
        },
        "model": kinds.unigram(),
    }
    tok = bp.Tokenizer(hf_json.read(table))
    text = "Al l\nl  low l A l l\n\nlo lowlow A l l\n" * 4
    counts = [tok.count(text[:end]) for end in range(len(text) + 1)]
    index = tok.index(text)
    for limit in range(max(counts) + 1):
        longest = max(end for end, count in enumerate(counts) if count <= limit)
        assert tok.fit(text, limit) == text[:longest]
        if limit > 2:
            first = tok.chunks(text, limit, boundary="character")[0]
            assert (first.end, first.tokens) == (longest, counts[longest])
    assert [index.count(0, end) for end in range(len(text) + 1)] == counts
