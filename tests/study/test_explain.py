"""Explanations have the ids of `encode`, for every model, stage and text; and their statements are true."""

from __future__ import annotations

import json
import lzma
import random
import unicodedata
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.errors import EncodeError, SpecialTokenError
from bytepair.model.models import BytePair, Characters, Unigram, WordLevel, WordPiece
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import split_pattern
from bytepair.model.steps import spell_step
from bytepair.study.explain import Explanation, LongestMatch, MergeStep, explain
from tests.conftest import HOSTILE, share

ADDED = (
    AddedToken("<|end|>", 100_000),
    AddedToken("<b>", 100_001, special=False, lstrip=True, rstrip=True),
    AddedToken("WORD", 100_002, special=False, single_word=True, normalized=True),
)

METASPACE = spell_step({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True})
STRIP = spell_step({"type": "Strip", "strip_left": True, "strip_right": True})
LETTERS = [chr(letter) for letter in range(97, 123)]


def explained(tok: bp.Tokenizer, text: str, **said: Any) -> Explanation:
    """A checked explanation."""
    found = explain(tok, text, **said)
    assert found.ids == tok.encode(text, **said)
    reached = 0
    for piece in found.pieces:
        assert 0 <= piece.start <= piece.end <= len(text)
        assert piece.start >= reached
        reached = piece.start
        if piece.kind == "merged":
            assert apply(piece.symbols, [step for step in piece.steps if isinstance(step, MergeStep)]) == list(
                piece.ids
            )
        for way, worse in pairwise(piece.segmentations):
            assert way.score >= worse.score
            assert way.tokens != worse.tokens
        for way in piece.segmentations:
            assert [token.at for token in way.tokens] == [0, *(token.end for token in way.tokens[:-1])]
            assert way.tokens[-1].end == len(piece.text)
    assert all(tok.token_bytes(id) == token for id, token in found.tokens.items())
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["ids"] == found.ids
    return found


def apply(symbols: tuple[int, ...], steps: list[MergeStep]) -> list[int]:
    """Applies steps to symbols: each joins the token that begins at a place with the next one."""
    there: dict[int, int] = dict(enumerate(symbols))
    for step in steps:
        gone = min(place for place in there if place > step.at)
        assert (there[step.at], there[gone]) == (step.left, step.right)
        del there[gone]
        there[step.at] = step.result
    return [there[place] for place in sorted(there)]


@cache
def hostile(seed: str) -> list[str]:
    """Texts that have caused bugs, and random ones of all classes of characters."""
    draw = random.Random(seed)
    ranges = [
        (32, 127),
        (32, 127),
        (97, 100),
        (0, 0x300),
        (0x300, 0x370),
        (0x400, 0x3100),
        (0x4E00, 0xA000),
        (0x10000, 0x110000),
    ]
    texts = []
    for _ in range(60):
        low, high = draw.choice(ranges)
        text = "".join(chr(draw.randrange(low, high)) for _ in range(draw.randrange(1, 30)))
        words = draw.choices(["<|end|>", "<b>", "WORD", " ", "the", "abab", "  \n", text], k=draw.randrange(1, 6))
        texts.append("".join(words).encode("utf-8", "ignore").decode())
    classes: dict[str, str] = {}
    for number in range(0, 0x110000, 7):
        kind = unicodedata.category(chr(number))
        if kind != "Cs" and len(classes.setdefault(kind, "")) < 24:
            classes[kind] += chr(number)
    return [*(text for text in HOSTILE if len(text) <= 1000), *texts, *classes.values()]


def test_trained_on_bytes(tok: bp.Tokenizer) -> None:
    for text in hostile("bytes"):
        found = explained(tok, text, special="allow")
        assert not found.spelled
        assert {piece.kind for piece in found.pieces} <= {"merged", "added"}


@pytest.mark.parametrize("prefix_space", [False, True])
@pytest.mark.parametrize("normalizers", [(), ("NFC", "Lowercase"), ("NFKD", STRIP)])
def test_stages(tok: bp.Tokenizer, normalizers: tuple[str, ...], prefix_space: bool) -> None:
    spec = TokenizerSpec(
        tok.spec.model,
        split=(split_pattern("cl100k"), "[a-z]+|[^a-z]"),
        added_tokens=ADDED,
        normalizers=normalizers,
        prefix_space=prefix_space,
    )
    other = bp.Tokenizer(spec)
    for text in hostile("stages"):
        for said in ({"special": "allow"}, {"special": "text"}, {"special": {"<|end|>"}, "added": "text"}):
            found = explained(other, text, **said)
            assert found.normalizers == normalizers
            for stretch in found.normalized:
                assert stretch.changes[0].before == text[stretch.start : stretch.end]
                assert all(change.before != change.after for change in stretch.changes)


def test_what_normalizers_did() -> None:
    model = BytePair((b"a", b"b", b"<"), (0, 1, 2), partial_alphabet=True)
    tok = bp.Tokenizer(TokenizerSpec(model, normalizers=("NFC", "Lowercase"), added_tokens=(AddedToken("<X>", 9),)))
    found = explained(tok, "AB<X>bB", special="allow")
    assert [(one.start, one.end, [change.after for change in one.changes]) for one in found.normalized] == [
        (0, 2, ["ab"]),
        (5, 7, ["bb"]),
    ]
    assert [(piece.start, piece.end, piece.text, piece.kind) for piece in found.pieces] == [
        (0, 2, "ab", "merged"),
        (2, 5, "<X>", "added"),
        (5, 7, "bb", "merged"),
    ]


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize(("prefix", "suffix"), [(None, None), (None, "</w>"), ("##", None), ("##", "</w>")])
@pytest.mark.parametrize("unk", [None, "<unk>"])
def test_characters(unk: str | None, prefix: str | None, suffix: str | None, fallback: bool, fuse: bool) -> None:
    how = Characters(unk, fuse, fallback, prefix, suffix)
    before, behind = prefix or "", suffix or ""
    singles = {b + letter + e for letter in "abc▁" for b in {"", before} for e in {"", behind}}
    draw = random.Random(repr(how))
    for ignore in (False, True):
        tokens = [*([unk] if unk else []), *(f"<0x{byte:02X}>" for byte in range(250)), *sorted(singles)]
        pairs = []
        for _ in range(25):
            left, right = draw.randrange(251, len(tokens)), draw.randrange(251, len(tokens))
            bare = tokens[right][len(before) :]
            if not tokens[right].startswith(before) or not bare:
                continue
            pairs.append((left, right))
            if tokens[left] + bare not in tokens:
                tokens.append(tokens[left] + bare)
        draw.shuffle(pairs)
        columns = tuple(token.encode() for token in tokens), tuple(range(len(tokens)))
        model = BytePair(*columns, tuple(pairs), ignore_merges=ignore, alphabet=how)
        tok = bp.Tokenizer(TokenizerSpec(model, pre_tokenizers=("WhitespaceSplit",)))
        for text in hostile("characters"):
            explained(tok, text)
        for _ in range(40):
            explained(tok, "".join(draw.choices("abcabc▁ébd🦊 \U0010ffff", k=draw.randrange(40))))


@pytest.mark.parametrize("prefix", ["##", ""])
def test_word_piece(prefix: str) -> None:
    draw = random.Random(prefix)
    tokens = {"[UNK]", *LETTERS, *(prefix + letter for letter in LETTERS[:20])}
    tokens |= {"".join(draw.choices("abcde", k=draw.randrange(2, 6))) for _ in range(60)}
    tokens |= {prefix + "".join(draw.choices("abcde", k=draw.randrange(2, 6))) for _ in range(60)}
    known = sorted(tokens)
    model = WordPiece(tuple(t.encode() for t in known), tuple(range(len(known))), "[UNK]", prefix, 30)
    tok = bp.Tokenizer(TokenizerSpec(model, normalizers=("Lowercase",), pre_tokenizers=("BertPreTokenizer",)))
    kinds = set()
    texts = ["".join(draw.choices("abcdeabcde y", k=draw.randrange(1, 60))) for _ in range(80)]
    for text in [*hostile("word pieces"), *texts]:
        kinds |= {piece.kind for piece in explained(tok, text).pieces}
    assert kinds == {"longest match", "unknown"}


def test_what_word_piece_tried() -> None:
    model = WordPiece((b"[UNK]", b"un", b"##able", b"##a", b"##b"), (0, 1, 2, 3, 4))
    tok = bp.Tokenizer(TokenizerSpec(model, pre_tokenizers=("WhitespaceSplit",)))
    found = explained(tok, "unab unx " + "u" * 101)
    assert found.pieces[0].steps == (LongestMatch(0, 2, 2, 1), LongestMatch(2, 3, 1, 3), LongestMatch(3, 4, 0, 4))
    assert found.pieces[1].steps == (LongestMatch(0, 2, 1, 1), LongestMatch(2, 2, 1, None))
    assert found.pieces[1].note == "no token matches at character 2, so the whole piece is unknown"
    assert found.pieces[2].note == "it is longer than 100 characters"


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("unk", [0, None])
def test_unigram(unk: int | None, fallback: bool, from_end: bool) -> None:
    draw = random.Random(f"{unk} {fallback}")
    for number in range(12):
        tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "a", "b", "c", "▁"]
        more = {"".join(draw.choices("abc▁", k=draw.randrange(2, 5))) for _ in range(25)}
        tokens += sorted(more)
        # Few values, so that sums are often equal.
        scores = tuple(draw.choice([-1.0, -2.0, -1.5, -3.25]) for _ in tokens)
        columns = tuple(token.encode() for token in tokens), tuple(range(len(tokens)))
        model = Unigram(*columns, scores, unk, fallback, from_end=from_end)
        tok = bp.Tokenizer(TokenizerSpec(model, pre_tokenizers=(METASPACE,)))
        for _ in range(30):
            letters = "abcabc " + ("" if unk is None else "éx<🦊")
            explained(tok, "".join(draw.choices(letters, k=draw.randrange(30))))
        for text in hostile("unigram") if unk is not None and number == 0 else []:
            explained(tok, text)


def sums(text: str, scores: dict[str, float]) -> list[float]:
    """The scores of all segmentations of a text."""
    begin = [(token, score) for token, score in scores.items() if text.startswith(token)]
    rest = [(score, more) for token, score in begin for more in sums(text[len(token) :], scores)]
    return [score + more for score, more in rest] if text else [0.0]


@pytest.mark.parametrize("from_end", [False, True])
def test_the_runner_up_is_the_second_of_all_ways(from_end: bool) -> None:
    draw = random.Random(5)
    for _ in range(40):
        tokens = ["a", "b", *sorted({"".join(draw.choices("ab", k=draw.randrange(2, 5))) for _ in range(6)})]
        scores = tuple(round(-draw.random() * 3, 4) for _ in tokens)
        columns = tuple(token.encode() for token in tokens), tuple(range(len(tokens)))
        tok = bp.Tokenizer(TokenizerSpec(Unigram(*columns, scores, from_end=from_end)))
        text = "".join(draw.choices("ab", k=9))
        known = sorted(sums(text, dict(zip(tokens, scores, strict=True))), reverse=True)[:2]
        found = explained(tok, text).pieces[0].segmentations
        assert [way.score for way in found] == pytest.approx(known)


def test_word_level() -> None:
    model = WordLevel((b"<unk>", b"the", b"end"), (0, 1, 2))
    tok = bp.Tokenizer(TokenizerSpec(model, pre_tokenizers=("Whitespace",)))
    found = explained(tok, "the fox, the end")
    assert [piece.kind for piece in found.pieces] == ["word", "unknown", "unknown", "word", "word"]
    for text in hostile("words"):
        explained(tok, text)


def test_a_piece_that_no_merges_give() -> None:
    model = BytePair((b"a", b"b", b"abab"), (0, 1, 2), partial_alphabet=True)
    found = explained(bp.Tokenizer(TokenizerSpec(model)), "abab")
    assert (found.pieces[0].kind, found.pieces[0].ids) == ("whole", (2,))
    assert found.pieces[0].note == "it is a token, and taken whole; merging would end in 4 tokens"
    # A token whose bytes are no tokens.
    model = BytePair((b"a", b"xy"), (0, 1), partial_alphabet=True)
    found = explained(bp.Tokenizer(TokenizerSpec(model)), "xy")
    assert (found.pieces[0].kind, found.pieces[0].note) == ("whole", "it is a token, and taken whole")


def test_errors_are_those_of_encoding(tok: bp.Tokenizer) -> None:
    with pytest.raises(SpecialTokenError):
        explain(tok, "a<|end|>")
    with pytest.raises(EncodeError):
        explain(tok, "\ud800")
    with pytest.raises(TypeError, match="a str, not bytes"):
        explain(tok, b"a")  # type: ignore[arg-type]


def test_a_giant_piece(tok: bp.Tokenizer) -> None:
    other = bp.Tokenizer(TokenizerSpec(tok.spec.model))
    text = "".join(random.Random(3).choices("the print self.\n", k=30_000)) + "a" * 30_000
    found = explain(other, text)
    assert found.ids == other.encode(text)
    assert len(found.pieces) == 1


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    share(
        [
            "gpt2",
            "phi-2",
            "llama2",
            "clip",
            "t5-small",
            "bert-base-uncased/vocab.txt",
            "roberta-base",
            "gpt-neox",
            "mistral/tokenizer.model.v1",
            "llama3/tokenizer.json.xz",
            "gemma3/tokenizer.json.xz",
            "qwen3/tokenizer.json.xz",
            "deepseek/tokenizer.json.xz",
            "gguf/ggml-vocab-llama-spm.gguf",
        ]
    ),
)
def test_real_tokenizers(data: Path, name: str, tmp_path: Path) -> None:
    place = data / "vocabs" / name
    if name.endswith(".xz"):
        place = tmp_path / "tokenizer.json"
        place.write_bytes(lzma.decompress((data / "vocabs" / name).read_bytes()))
    tok = bp.Tokenizer.from_file(place)
    english = (data / "corpora" / "en_1mb.txt").read_text("utf-8")
    mixed = (data / "corpora" / "multi_1mb.txt").read_text("utf-8")
    special = "".join(list(tok.special_tokens)[:3])
    for text in [english[:1500], mixed[5000:6500], "a " + special + " b", *hostile("real")]:
        explained(tok, text, special="allow")
    explained(tok, "a " + special + " b", special="text")


@pytest.mark.data
def test_real_encodings(data: Path) -> None:
    mixed = (data / "corpora" / "multi_1mb.txt").read_text("utf-8")
    for name in ("cl100k_base", "o200k_base", "gpt2"):
        tok = bp.get_encoding(name, folder=data / "vocabs" / "openai")
        for text in [mixed[:6000], *hostile("real")]:
            explained(tok, text, special="allow")
