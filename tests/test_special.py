"""Text never becomes a control token unless the call allows it."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

import bytepair as bp
from bytepair import lowlevel

END = 1998


def test_the_four_policies(tok: bp.Tokenizer) -> None:
    text = "a<|end|>b<|user|>"
    with pytest.raises(bp.SpecialTokenError, match=r"holds the special token \"<\|end\|>\"") as caught:
        tok.encode(text)
    assert (caught.value.character, caught.value.byte) == (1, 1)
    assert 'special="text"' in caught.value.remedy
    assert "bp.Control" in caught.value.remedy
    allowed = tok.encode(text, special="allow")
    assert allowed == [97, END, 98, END + 1]
    as_text = tok.encode(text, special="text")
    assert not {END, END + 1} & set(as_text)
    assert tok.decode(as_text) == tok.decode(allowed) == text
    with pytest.raises(bp.SpecialTokenError, match="user") as caught:
        tok.encode(text, special={"<|end|>"})
    assert caught.value.byte == 9
    assert tok.encode("a<|end|>", special={"<|end|>"}) == [97, END]


def test_counts_and_budgets_take_special_tokens_as_text(tok: bp.Tokenizer) -> None:
    text = "a<|end|>b"
    ids = tok.encode(text, special="text")
    assert tok.count(text) == tok.count(text.encode()) == tok.count_until(text, 99) == len(ids) > 3
    assert tok.count_batch([text, "b"]) == [len(ids), 1]
    assert tok.fit(text, len(ids)) == tok.fit(text, len(ids), "right") == text
    assert tok.fit_batch([text], 1) == ["a"]
    assert tok.count(text, special="allow") == tok.count(text, special={"<|end|>"}) == 3
    for call in (tok.count, tok.encode, partial(tok.fit, limit=9), partial(tok.count_until, limit=9)):
        with pytest.raises(bp.SpecialTokenError):
            call(text, special="raise")


def test_positions_are_characters_and_bytes(tok: bp.Tokenizer) -> None:
    for call in (tok.encode, tok.encode_array, tok.pieces, tok.tokens, partial(tok.count, special="raise")):
        with pytest.raises(bp.SpecialTokenError) as caught:
            call("é🦊<|end|>")
        assert (caught.value.character, caught.value.byte) == (2, 6)
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok.encode_batch(["ok", "x<|end|>"])
    assert (caught.value.row, caught.value.byte) == (1, 1)


def test_unknown_policies_and_names_raise(tok: bp.Tokenizer) -> None:
    with pytest.raises(ValueError, match='special="alow" is unknown'):
        tok.encode("a", special="alow")
    with pytest.raises(ValueError, match='added="x" is unknown'):
        tok.encode("a", added="x")  # type: ignore[arg-type]
    with pytest.raises(bp.SpecialTokenError, match="not a special token"):
        tok.encode("a", special={"<|nope|>"})
    with pytest.raises(TypeError):
        tok.encode("a", allowed_special="all")  # type: ignore[call-arg]


def test_control_spans_are_one_text_with_one_split(tok: bp.Tokenizer) -> None:
    control = bp.Control("<|user|>")
    ids = tok.encode([control, "hel", "lo ", b"w\xc3\xa9rld", bp.Control("<|end|>"), "x"])
    assert ids == [END + 1, *tok.encode("hello wérld"), END, *tok.encode("x")]
    assert tok.count([control, "hello"]) == 1 + tok.count("hello")
    assert tok.encode_batch([[control, "a"], "b"]) == [[END + 1, 97], [98]]
    assert tok.encode([]) == []


def test_plain_spans_stay_plain(tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.SpecialTokenError) as caught:
        tok.encode(["é", bp.Control("<|user|>"), "a<|e", "nd|>"])
    assert (caught.value.character, caught.value.byte) == (10, 11)
    ids = tok.encode([bp.Control("<|user|>"), "<|end|>"], special="text")
    assert ids[0] == END + 1
    assert END not in ids
    with pytest.raises(bp.SpecialTokenError, match="not an added token"):
        tok.encode([bp.Control("hello")])


def test_added_tokens_that_are_not_special(tok: bp.Tokenizer) -> None:
    added = (bp.AddedToken("<|end|>", END), bp.AddedToken("</think>", 3000, special=False))
    own = bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, split=tok.spec.split, added_tokens=added))
    assert own.encode("a</think>") == [97, 3000]
    assert 3000 not in own.encode("a</think>", added="text")
    with pytest.raises(bp.SpecialTokenError, match="added token"):
        own.encode("a</think>", added="raise")
    assert own.encode("</think><|end|>", special="text")[0] == 3000
    assert own.special_tokens == {"<|end|>": END}


def test_strip_flags_hold_for_control_spans_too(tok: bp.Tokenizer) -> None:
    mask = bp.AddedToken("<mask>", 3000, lstrip=True, rstrip=True)
    own = bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, split=tok.spec.split, added_tokens=(mask,)))
    expected = [97, 3000, 98]
    assert own.encode("a  <mask> \n b", special="allow") == expected
    assert own.encode(["a  ", bp.Control("<mask>"), " \n b"]) == expected
    with pytest.raises(bp.SpecialTokenError) as caught:
        own.encode([bp.Control("<mask>"), "  é<mask>"])
    # The white space before the second one belongs to it, so that it starts after é.
    assert caught.value.character == 9


def test_decoding_leaves_special_tokens_out_on_request(tok: bp.Tokenizer) -> None:
    ids = tok.encode("a<|end|>b", special="allow")
    assert tok.decode(ids, skip_special_tokens=True) == "ab"
    assert tok.decode_bytes(ids, skip_special_tokens=True) == b"ab"
    stream = tok.decode_stream(skip_special_tokens=True)
    assert "".join(stream.push(id) for id in ids) == "ab"


def test_control_is_a_value() -> None:
    assert bp.Control("a") == bp.Control("a") != bp.Control("b")
    assert len({bp.Control("a"), bp.Control("a")}) == 1
    assert repr(bp.Control("<a>")) == "Control('<a>')"


def test_added_tokens_stand_only_where_text_is_trusted() -> None:
    names = ["<a>", "<a>b", "b<c", "<c>", "\n\n", "ab"]
    tok = bp.train({"ab": 3, "<a": 2, "\n": 9}, vocab_size=264, split="gpt2", special_tokens=names)
    random = Random(5)
    for _ in range(3000):
        text = "".join(random.choices(["<", "a", ">", "b", "c", "\n", "<a>", "<c>", "é"], k=random.randrange(14)))
        ends = sorted(random.sample(range(len(text) + 1), k=min((len(text) + 1) // 2 * 2, 2 * random.randrange(3))))
        trusted = list(zip(ends[::2], ends[1::2], strict=True))
        parts, at = [], 0
        while at < len(text):
            fits = [
                name
                for name in names
                if text.startswith(name, at)
                and (name.isspace() or any(start <= at and at + len(name) <= end for start, end in trusted))
            ]
            longest = max(fits, key=len, default=None)
            parts.append(text[at] if longest is None else bp.Control(longest))
            at += len(longest or "-")
        ids, places = lowlevel.locate_trusted(tok, text, trusted)
        assert ids.tolist() == tok.encode(parts, special="text", added="text"), (text, trusted)
        found = [(token.token if isinstance(token, bp.Control) else None) for token in parts]
        added = [(tok.special_tokens[name], name) for name in found if name]
        assert [(id, text[start:end]) for id, start, end in lowlevel.find_added(tok, text, trusted)] == added
        starts = [start for start, _ in places.reshape(-1, 2).tolist()]
        assert starts == sorted(starts)
        assert len(starts) == len(ids)


def test_normalized_tokens_stand_only_where_their_text_is_from_trusted_places() -> None:
    added = bp.AddedToken("[CLS]", 300, special=True, normalized=True)
    base = bp.train({"hi": 5}, vocab_size=257).spec
    lower = base.replace(normalizers=("Lowercase",), added_tokens=(added,))
    tok = bp.Tokenizer(lower)
    text = "[cls]é[CLS] [cLs]"
    assert [row[1:] for row in lowlevel.find_added(tok, text)] == [(0, 5), (6, 11), (12, 17)]
    assert [row[1:] for row in lowlevel.find_added(tok, text, [(1, 13)])] == [(6, 11)]
    ids, places = lowlevel.locate_trusted(tok, text, [(1, 13)])
    assert ids.tolist().count(300) == 1
    assert places.reshape(-1, 2)[ids == 300].tolist() == [[6, 11]]


@pytest.mark.parametrize("trusted", [[(3, 3)], [(0, 2), (2, 3)], [(0, 9)], [(2, 3), (0, 1)]])
def test_intervals_that_are_none_are_refused(tok: bp.Tokenizer, trusted: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="not in order"):
        lowlevel.locate_trusted(tok, "héllo", trusted)
