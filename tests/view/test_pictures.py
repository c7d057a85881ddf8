"""A picture shows the tokenizers' results, loses nothing of the text, and finds exactly where they differ."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair as bp
from bytepair import lowlevel
from bytepair.errors import EncodeError, SpecialTokenError
from bytepair.model.models import BytePair, Unigram, WordLevel
from bytepair.model.spec import TokenizerSpec
from bytepair.view.looks import parts
from bytepair.view.pictures import Picture, PictureTokens, picture
from bytepair.view.spelling import cut_off
from tests.conftest import HOSTILE
from tests.view.models import WORDS, models

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = ("ranks", "merges")

_ALPHABET = [
    *WORDS,
    " ",
    "  ",
    "\n",
    "\t",
    "é",
    "e\u0301",
    "🦊",
    "ﬁ",
    "A",
    "!",
    "<|end|>",
    "<unk>",
    "\u200b",
    "\x00",
    "ö",
    "א",
]


def texts() -> Iterator[str]:
    """Hostile texts, and random ones."""
    yield from HOSTILE
    chance = random.Random(9)
    for length in range(60):
        yield "".join(chance.choices(_ALPHABET, k=length))


def test_the_plain_data_of_a_small_picture_is_what_its_readers_know() -> None:
    tok = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
    small = bp.train({"low": 5}, vocab_size=256)
    assert picture([("a", tok), ("b", small)], "low<|end|>").as_dict() == {
        "text": "low<|end|>",
        "tokenizers": [
            {
                "name": "a",
                "kind": "merges",
                "fingerprint": tok.fingerprint,
                "vocab_size": 259,
                "ids": [257, 258],
                "starts": [0, 3],
                "ends": [3, 10],
                "pieces": [0, 1],
                "differs": [[0, 3], [3, 10]],
                "vocabulary": {
                    "108": _byte("l"),
                    "111": _byte("o"),
                    "119": _byte("w"),
                    "256": _byte("lo") | {"rank": 0, "made": [108, 111]},
                    "257": _byte("low") | {"rank": 1, "made": [256, 119]},
                    "258": _byte("<|end|>") | {"special": True, "added": True},
                },
            },
            {
                "name": "b",
                "kind": "merges",
                "fingerprint": small.fingerprint,
                "vocab_size": 256,
                "ids": list(b"low<|end|>"),
                "starts": list(range(10)),
                "ends": list(range(1, 11)),
                "pieces": [0, 0, 0, 1, 1, 2, 2, 2, 3, 3],
                "differs": [[0, 3], [3, 10]],
                "vocabulary": {str(ord(letter)): _byte(letter) for letter in sorted("low<|end|>")},
            },
        ],
    }


def _byte(text: str) -> dict[str, object]:
    known = {"rank": None, "special": False, "added": False, "score": None, "made": None, "whole": False}
    return {"hex": text.encode().hex(), **known}


@pytest.mark.parametrize("name", models())
def test_ids_and_places_are_those_of_the_tokenizer(name: str) -> None:
    tok = models()[name]
    for text in texts():
        source = picture({name: tok}, text).sources[0]
        assert list(source.ids) == tok.encode(text, special="allow")
        assert list(zip(source.starts, source.ends, strict=True)) == tok.offsets(text, special="allow")
        assert list(source.pieces) == lowlevel.locate(tok, text, special="allow")[2]
        assert source.differs is None
        assert source.kind == tok.spec.semantics == name or name in {"characters"}


@pytest.mark.parametrize("name", models())
def test_a_vocabulary_has_all_that_its_tokens_are_made_of(name: str) -> None:
    tok = models()[name]
    special = set(tok.special_tokens.values())
    for text in texts():
        source = picture({name: tok}, text).sources[0]
        assert source.vocabulary.keys() >= set(source.ids)
        for id, entry in source.vocabulary.items():
            assert entry.token == tok.token_bytes(id)
            assert entry.special == (id in special)
            assert (entry.rank is None) == (entry.made is None)
            assert (entry.score is None) == (name != "Unigram")
            if entry.made:
                left, right = (source.vocabulary[part].token for part in entry.made)
                assert left + right == entry.token
        json.dumps(source.as_dict(), allow_nan=False)


def test_a_token_that_no_merges_lead_to_is_whole() -> None:
    spec = BytePair((b"a", b"b", b"abab"), (0, 1, 2), partial_alphabet=True)
    source = picture({"a": bp.Tokenizer(TokenizerSpec(spec))}, "abab").sources[0]
    assert source.ids == (2,)
    assert source.vocabulary[2].whole


def test_a_score_is_that_of_the_token() -> None:
    tok = models()["Unigram"]
    source = picture({"a": tok}, " low").sources[0]
    spec = tok.spec.model
    assert isinstance(spec, Unigram)
    assert [source.vocabulary[id].score for id in source.ids] == [spec.scores[id] for id in source.ids]


def test_a_token_that_is_never_found_has_no_score() -> None:
    tokens, scores = (b"<unk>", b"a", "\u00e9".encode()), (0.0, -1.0, -math.inf)
    tok = bp.Tokenizer(TokenizerSpec(Unigram(tokens, (0, 1, 2), scores, 0, unk_score=-20.0)))
    source = picture({"a": tok}, "a\u00e9").sources[0]
    assert {id: entry.score for id, entry in source.vocabulary.items()} == {1: -1.0, 2: None}


def _cut(source: PictureTokens, length: int) -> list[tuple[object, ...]]:
    """For each character, the cuts of the group of characters that share tokens with it; one by one and slowly."""
    joined = [False] * (length + 1)
    for start, end in zip(source.starts, source.ends, strict=True):
        for place in range(start, end - 1):
            joined[place] = True
    cuts: list[tuple[object, ...]] = []
    first = 0
    for place in range(length):
        if joined[place]:
            continue
        inside = [
            (start, end, 1 if token.startswith(b"<0x") and source.kind == "merges" else len(token))
            for id, start, end in zip(source.ids, source.starts, source.ends, strict=True)
            if first <= start < end <= place + 1
            for token in [source.vocabulary[id].token]
        ]
        cut = (bool(inside), first, place + 1, *(inside if len(inside) > 1 else []))
        cuts += [cut if inside else (False,)] * (place + 1 - first)
        first = place + 1
    return cuts


def test_where_tokenizers_differ_is_where_characters_are_cut_otherwise() -> None:
    every = models()
    chance = random.Random(3)
    for text in texts():
        if len(text) > 300:
            continue
        names = chance.sample(sorted(every), 3)
        seen = picture([(name, every[name]) for name in names], text)
        cuts = [_cut(source, len(text)) for source in seen.sources]
        others: set[int] = set()
        for source, cut in list(zip(seen.sources, cuts, strict=True))[1:]:
            wanted = {place for place in range(len(text)) if cut[place] != cuts[0][place]}
            assert _covered(source) == wanted, (names, text)
            others |= wanted
        assert _covered(seen.sources[0]) == others


def _covered(source: PictureTokens) -> set[int]:
    assert source.differs is not None
    flat = [place for interval in source.differs for place in interval]
    assert flat == sorted(flat)
    assert all(start < end for start, end in source.differs)
    return {place for start, end in source.differs for place in range(start, end)}


def test_a_tokenizer_does_not_differ_from_itself_nor_bytes_from_bytes_that_fall_back() -> None:
    every = models()
    for text in texts():
        assert picture([("a", every["ranks"]), ("b", every["ranks"])], text).sources[1].differs == ()
    byte = bp.train({"a": 1}, 256)
    seen = picture([("a", byte), ("b", every["characters"])], "é🦊")
    # The second puts a token in front that is from the first character as well.
    assert seen.sources[1].differs == ((0, 1),)


def test_tokens_across_characters_differ_where_they_hang_together() -> None:
    # The second half of an emoji and the first half of the next one are a token.
    tokens = [*(bytes([byte]) for byte in range(256)), b"\xa6\x8a", b"\xf0\x9f", b"\xa6\x8a\xf0\x9f"]
    merges = ((0xA6, 0x8A), (0xF0, 0x9F), (256, 257))
    across = bp.Tokenizer(TokenizerSpec(BytePair(tuple(tokens), tuple(range(259)), merges)))
    text = "🦊" * 20_000
    seen = picture([("a", across), ("b", bp.train({"a": 1}, 256))], f"{text} b")
    assert [source.differs for source in seen.sources] == [((0, 20_000),)] * 2
    assert restored(seen, seen.sources[0]) == f"{text} b"


@given(st.binary(max_size=40))
def test_bytes_that_are_not_utf8_are_told(data: bytes) -> None:
    _check_replaced(data)


@pytest.mark.parametrize(
    "data", [b"\xff" * 50, b"\xf0\x9f\xf0\x9f\xa6", b"\xed\xa0\x80", b"\xef\xbf\xbd\xff", b"a\xe2\x82"]
)
def test_bytes_that_are_cut_or_endless_are_told(data: bytes) -> None:
    _check_replaced(data)


def _check_replaced(data: bytes) -> None:
    tok = models()["ranks"]
    seen = picture({"a": tok}, data)
    assert seen.text == data.decode(errors="replace")
    assert list(seen.sources[0].ids) == tok.encode(data, errors="replace")
    wrong = dict(seen.replaced)
    assert b"".join(wrong.get(place, one.encode()) for place, one in enumerate(seen.text)) == data
    assert seen.size == len(data)
    assert seen.as_dict().get("replaced", []) == [[place, some.hex()] for place, some in wrong.items()]


def test_what_cannot_be_encoded_raises_what_encode_raises() -> None:
    tok = models()["ranks"]
    with pytest.raises(EncodeError, match="surrogate"):
        picture({"a": tok}, "a\ud800")
    with pytest.raises(SpecialTokenError):
        picture({"a": tok}, "<|end|>", special="raise")
    with pytest.raises(ValueError, match="at least one tokenizer"):
        picture({}, "a")
    as_text = picture({"a": tok}, "<|end|>", special="text").sources[0]
    assert not any(as_text.vocabulary[id].special for id in as_text.ids)
    alone = picture({"a": tok}, "<|end|>", special={"<|end|>"}).sources[0]
    assert [alone.vocabulary[id].special for id in alone.ids] == [True]


def restored(seen: Picture, source: PictureTokens) -> str:
    return "".join(shown.characters for part in parts(seen, source) for shown in part.look.shown())


@pytest.mark.parametrize("name", models())
def test_the_parts_of_a_text_are_the_text(name: str) -> None:
    for text in texts():
        seen = picture({name: models()[name]}, text)
        found = list(parts(seen, seen.sources[0]))
        assert restored(seen, seen.sources[0]) == text
        assert [part.token for part in found if part.token is not None] == list(range(len(seen.sources[0])))
        assert [part.start for part in found] == sorted(part.start for part in found)
        assert all("".join(shown.text for shown in part.look.shown()) for part in found)


@pytest.mark.parametrize("name", BYTES)
def test_what_is_said_of_the_bytes_of_a_token_is_all_of_them(name: str) -> None:
    for text in texts():
        seen = picture({name: models()[name]}, text)
        for part in parts(seen, seen.sources[0]):
            if part.token is None or part.look.mark:
                continue
            token = seen.sources[0].vocabulary[seen.sources[0].ids[part.token]].token
            whole = part.look.text[:-1] if part.look.after else part.look.text
            assert part.look.before + whole.encode() + part.look.after == token


def test_bytes_that_fall_back_are_shown_as_bytes_and_text_that_looks_so_is_text() -> None:
    seen = picture({"a": models()["characters"]}, " 🦊<0xF0>")
    notes = [(part.look.before, part.look.after) for part in parts(seen, seen.sources[0])]
    assert (b"", b"\xf0") in notes
    assert notes.count((b"\x9f", b"")) == 1
    level = WordLevel((b"<unk>", b"<0xF0>"), (0, 1))
    literal = picture({"a": bp.Tokenizer(TokenizerSpec(level))}, "<0xF0>")
    assert not any(part.look.before or part.look.after for part in parts(literal, literal.sources[0]))


@given(st.text(max_size=6), st.integers(0, 24), st.integers(0, 24))
def test_parts_of_characters_are_found_at_both_ends(text: str, start: int, end: int) -> None:
    data = text.encode()[start:end] if not any("\ud800" <= one < "\ue000" for one in text) else b""
    before, after = cut_off(data)
    if before == data:
        return
    assert data.removeprefix(before)[: len(data) - len(before) - len(after)].decode() in text
