"""`align`: against the definition on made places, places against offsets, pairs, batches, vocabularies."""

from __future__ import annotations

import json
import random
import unicodedata
from typing import Any

import numpy as np
import pytest
from fuzz.alignments import check_ends

import bytepair as bp
from bytepair import _core
from bytepair.alignment.places import place
from bytepair.model import models
from bytepair.model.models import BytePair, Characters, WordPiece
from bytepair.model.packed import PackedModel
from bytepair.model.spec import TokenizerSpec
from bytepair.reference.aligning import align as by_definition
from tests.conftest import HOSTILE, share

PREFIX = '{"type": "Prepend", "prepend": "▁"}'
METASPACE = '{"type": "Metaspace", "prepend_scheme": "%s", "replacement": "▁", "split": %s}'
UNPACK = models.unpack
SPACES = '{"type": "Replace", "content": "▁", "pattern": {"String": " "}}'
VOCABULARIES = {
    "gpt2": "tokenizer.json",
    "gpt-neox": "tokenizer.json",
    "llama2": "tokenizer.json",
    "clip": "tokenizer.json",
    "t5-small": "tokenizer.json",
    "mistral": "tokenizer_v0.3.json",
}


def columns(places: list[tuple[int, int]]) -> tuple[Any, ...]:
    return (
        np.array([0, len(places)]),
        np.array([False]),
        np.zeros(len(places), np.uint8),
        np.array(places, np.int64).reshape(-1, 2),
    )


def drawn(random: random.Random) -> list[tuple[int, int]]:
    """Places in order: side by side, apart, the same ones again, and empty ones."""
    places, at = [], 0
    for _ in range(random.randrange(8)):
        at += random.choice([0, 0, 0, 1])
        end = at + random.choice([0, 1, 1, 2, 3])
        places += [(at, end)] * (random.choice([1, 1, 1, 2]) if end > at else 1)
        at = end
    return places


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_of_the_definition(seed: int) -> None:
    drawing = random.Random(seed)
    for _ in range(100):
        a, b = drawn(drawing), drawn(drawing)
        # Two empty tokens of one side at one place have no order that the definition could know.
        if any(len({*side}) < len([one for one in side if one[0] == one[1]] + [*{*side}]) - 1 for side in (a, b)):
            continue
        rows, groups_a, groups_b, places = _core.align_tokens(columns(a), columns(b))
        found = [
            ([*range(*groups_a[group : group + 2])], [*range(*groups_b[group : group + 2])])
            for group in range(len(groups_a) - 1)
        ]
        assert found == by_definition(a, b), (a, b)
        assert rows.tolist() == [0, len(found)]
        for (ours, theirs), (start, end) in zip(found, places.reshape(-1, 2).tolist(), strict=True):
            inside = [a[token] for token in ours] + [b[token] for token in theirs]
            assert (start, end) == (min(inside)[0], max(end for _, end in inside))


def with_marks(*normalizers: str, pre_tokenizers: tuple[str, ...] = ()) -> bp.Tokenizer:
    """A model of characters that spells spaces as marks and falls back to bytes."""
    tokens = [b"<unk>", *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    tokens += [one.encode() for one in ("▁", "l", "o", "w", "é", "lo", "low", "▁low")]
    of = {token.decode(): id for id, token in enumerate(tokens)}
    merges = tuple((of[left], of[right]) for left, right in (("l", "o"), ("lo", "w"), ("▁", "low")))
    alphabet = Characters(unk_token="<unk>", byte_fallback=True)
    model = BytePair(tuple(tokens), tuple(range(len(tokens))), merges, alphabet=alphabet)
    return bp.Tokenizer(TokenizerSpec(model, normalizers=normalizers, pre_tokenizers=pre_tokenizers))


def words() -> bp.Tokenizer:
    """A WordPiece that drops spaces and changes letters."""
    tokens = (b"[UNK]", b"low", b"##er", b"l", b"##o", b"##w", b"e")
    model = WordPiece(tokens, tuple(range(len(tokens))))
    return bp.Tokenizer(
        TokenizerSpec(model, normalizers=("NFD", "StripAccents", "Lowercase"), pre_tokenizers=("BertPreTokenizer",))
    )


@pytest.fixture(scope="module")
def several(tok: bp.Tokenizer) -> list[bp.Tokenizer]:
    forms = bp.Tokenizer(tok.spec.replace(normalizers=("NFC",)))
    prefixed = bp.Tokenizer(tok.spec.replace(prefix_space=True))
    other = bp.train({"low": 5, "lower": 4, "é": 3}, 262, split="gpt2", special_tokens=["<|end|>"])
    marks = [METASPACE % how for how in (("first", "false"), ("always", "true"), ("never", "false"))]
    marked = [with_marks(pre_tokenizers=(step,)) for step in marks]
    marked += [with_marks(PREFIX, SPACES), with_marks(SPACES)]
    added = marked[0].with_added_tokens(["<|end|>"], special=True)
    return [tok, forms, prefixed, other, *marked, added, words()]


TEXTS = [*HOSTILE, "low lower  low", " low", "▁low <0x6C> ▁", "lowé <|end|> low", "e\u0301\u0323 low", "LÖW low"]


def check_places(tok: bp.Tokenizer, text: str) -> None:
    """Places are those of `offsets`, once each end is moved to the end of its character."""
    data = text.encode()
    placed = place(tok, [data], special="text", added="match", threads=1)
    assert placed.ids.tolist() == tok.encode(text, special="text")
    found = placed.all_places()
    check_ends(tok, text, "text", placed, found)
    assert (found[:, 0] <= found[:, 1]).all()
    assert (np.diff(found[:, 0]) >= 0).all()
    if tok.spec.is_byte_level and placed.covers.all():
        assert [data[start:end] for start, end in found.tolist()] == [tok.token_bytes(id) for id in placed.ids.tolist()]


def test_places_are_those_of_offsets(several: list[bp.Tokenizer]) -> None:
    for tok in several:
        for text in TEXTS:
            check_places(tok, text)


def test_a_long_text_with_characters_left_out_has_the_places_of_a_short_one() -> None:
    # A BPE of characters counts places without what it leaves out, so that no block can begin within a piece.
    model = BytePair((b"a", b"b"), (0, 1), (), alphabet=Characters())
    tok = bp.Tokenizer(TokenizerSpec(model, normalizers=(SPACES,)))
    for times in (2, 300_000):
        _, flat = _core.locate_bytes(tok, "a-b" * times, special="raise", added="match")
        assert flat.tolist()[-2:] == [2 * times - 1, 2 * times]


def test_places_and_ids_that_are_remembered_are_those_found_first(several: list[bp.Tokenizer]) -> None:
    text = "".join(TEXTS).replace("<|end|>", "") * 2
    for tok in several:
        ids, located = tok.encode(text), _core.locate_bytes(tok, text, special="raise", added="match")
        other = bp.Tokenizer(tok.spec)
        for _ in range(2):
            again = _core.locate_bytes(other, text, special="raise", added="match")
            assert [column.tolist() for column in again] == [column.tolist() for column in located]
            assert other.encode(text) == ids == located[0].tolist()


def check(text: str, a: bp.Tokenizer, b: bp.Tokenizer) -> bp.Alignment:
    found = bp.align(text, a, b, special="text")
    sides = [place(one, [text.encode()], special="text", added="match", threads=1) for one in (a, b)]
    assert [side.ids.tolist() for side in (found.a, found.b)] == [side.ids.tolist() for side in sides]
    if len(text) < 200:
        expected = by_definition(*([(s, e) for s, e in side.all_places().tolist()] for side in sides))
        groups = zip(
            *(zip(side.offsets[:-1], side.offsets[1:], strict=True) for side in (found.a, found.b)), strict=True
        )
        assert [tuple([*range(*side)] for side in group) for group in groups] == expected
    return found


def test_alignments_are_those_of_the_definition(several: list[bp.Tokenizer]) -> None:
    for text in TEXTS:
        for a in several:
            for b in several:
                mirrored = check(text, b, a)
                found = check(text, a, b)
                assert found.a.offsets.tolist() == mirrored.b.offsets.tolist()
                assert found.places.tolist() == mirrored.places.tolist()


def test_a_tokenizer_is_aligned_with_itself_token_by_token(several: list[bp.Tokenizer]) -> None:
    # The others have a token in front, or parts of characters that only locating tells.
    for tok in (several[0], several[1], several[3]):
        found = bp.align("low lower e", tok, tok)
        assert found.is_one_to_one.all()
        assert len(found) == tok.count("low lower e")


def test_a_batch_is_its_texts(several: list[bp.Tokenizer]) -> None:
    for a in several:
        for b in several:
            batch = bp.align_batch(TEXTS, a, b, special="text")
            assert len(batch) == len(TEXTS)
            for text, found in zip(TEXTS, batch, strict=True):
                alone = bp.align(text, a, b, special="text")
                assert found.places.tolist() == alone.places.tolist()
                for side, expected in ((found.a, alone.a), (found.b, alone.b)):
                    assert side.ids.tolist() == expected.ids.tolist()
                    assert side.offsets.tolist() == expected.offsets.tolist()
    with pytest.raises(IndexError):
        batch[len(TEXTS)]


def test_special_tokens_are_paired() -> None:
    a = bp.train({"low": 5}, 260, special_tokens=["<|im_end|>", "<s>"])
    b = bp.train({"er": 5}, 258, special_tokens=["</s>"])
    pairs = {"<|im_end|>": "</s>"}
    texts = ["low<|im_end|>é<|im_end|>", "", "<|im_end|>", "er"]
    for text, found in zip(texts, bp.align_batch(texts, a, b, pairs=pairs), strict=True):
        data = text.encode()
        for of_a, of_b in ((found.a.ids, a), (found.b.ids, b)):
            assert of_b.decode(of_a, skip_special_tokens=True) == text.replace("<|im_end|>", "")
        for (mine, theirs), (start, end) in zip(found, found.places.tolist(), strict=True):
            if data[start:end] == b"<|im_end|>":
                assert (mine.tolist(), theirs.tolist()) == ([a.token_id("<|im_end|>")], [b.token_id("</s>")])
            else:
                assert a.decode_bytes(mine) == b.decode_bytes(theirs) == data[start:end]
    with pytest.raises(bp.SpecialTokenError, match="<s>"):
        bp.align("<s>low", a, b, pairs=pairs)
    assert len(bp.align("<s>low", a, b, pairs=pairs, special="allow")) == 2


@pytest.mark.parametrize(("pairs", "side"), [({"<x>": "</s>"}, "a"), ({"<s>": "<x>"}, "b")])
def test_pairs_that_are_no_tokens_are_refused(pairs: dict[str, str], side: str) -> None:
    a, b = (bp.train({"low": 5}, 258, special_tokens=[token]) for token in ("<s>", "</s>"))
    for call in (lambda: bp.align("low", a, b, pairs=pairs), lambda: bp.align_vocabularies(a, b, pairs=pairs)):
        with pytest.raises(bp.SpecialTokenError, match=f"no added token of {side}"):
            call()


def test_errors_name_the_row_and_the_place(tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.EncodeError) as caught:
        bp.align_batch(["low", "é\ud800"], tok, tok)
    assert (caught.value.row, caught.value.character, caught.value.byte) == (1, 1, 2)
    with pytest.raises(bp.EncodeError) as caught:
        bp.align(b"low\xff", tok, tok)
    assert (caught.value.row, caught.value.byte) == (None, 3)
    with pytest.raises(bp.SpecialTokenError):
        bp.align("<|end|>", tok, tok)
    with pytest.raises(ValueError, match="makes no tokens"):
        bp.align("low", tok, tok, pairs={"<|end|>": "<|end|>"}, special="text")
    with pytest.raises(TypeError):
        bp.align(3, tok, tok)  # type: ignore[arg-type]


def test_vocabularies_are_aligned_by_bytes(several: list[bp.Tokenizer]) -> None:
    tok, marks, pieces = several[0], with_marks(PREFIX, SPACES), words()
    found = bp.align_vocabularies(tok, marks)
    assert len(found) == tok.vocab_size
    for id, token in zip(tok.spec.model.ids, tok.spec.model.tokens, strict=True):
        spelled = [marks.spec.model.tokens[one] for one in found[id].tolist()]
        text = b"".join(bytes.fromhex(one[3:5].decode()) if one.startswith(b"<0x") else one for one in spelled)
        assert text.replace("▁".encode(), b" ") == token
    assert found[tok.token_id(b" lo")].tolist() == [marks.token_id("▁"), marks.token_id("lo")]
    assert found[tok.token_id("<|end|>")].tolist() == []
    back = bp.align_vocabularies(marks, tok, pairs=None)
    assert back[marks.token_id("▁low")].tolist() == tok.encoder("heap").encode_piece(b" low")
    assert back[0].tolist() == []
    # A token that continues a word means its letters, and spaces cannot be spelled.
    found = bp.align_vocabularies(pieces, tok)
    assert tok.decode(found[pieces.token_id("##er")]) == "er"
    found = bp.align_vocabularies(tok, pieces)
    assert found[ord("e")].tolist() == [pieces.token_id("e")]
    assert found[ord(" ")].tolist() == []


def test_a_template_may_add_the_last_tokens_of_a_vocabulary() -> None:
    tok = bp.train_wordpiece({"low": 5, "lower": 2}, 19)
    last = tok.with_added_tokens([bp.AddedToken("<last>", tok.vocab_size)])
    step = {
        "type": "BertProcessing",
        "cls": ["<last>", tok.vocab_size],
        "sep": ["<last>", tok.vocab_size],
    }
    framed = bp.Tokenizer(last.spec.replace(post_processor=json.dumps(step)))
    found, expected = (bp.align_vocabularies(tok, other) for other in (framed, last))
    assert [row.tolist() for row in found] == [row.tolist() for row in expected]


def test_vocabularies_pair_special_tokens() -> None:
    a, b = (bp.train({"low": 5}, 260, special_tokens=["<e>", token]) for token in ("<s>", "</s>"))
    found = bp.align_vocabularies(a, b, pairs={"<s>": "</s>"})
    assert [found[a.token_id(token)].tolist() for token in ("<e>", "<s>")] == [
        [b.token_id("<e>")],
        [b.token_id("</s>")],
    ]


@pytest.mark.parametrize("one", share(VOCABULARIES))
def test_published_tokenizers_are_aligned(data: Any, one: str) -> None:
    a = bp.Tokenizer.from_file(data / "vocabs" / one / VOCABULARIES[one])
    for text in TEXTS:
        check_places(a, text)
    for other in ("gpt2", "llama2"):
        b = bp.Tokenizer.from_file(data / "vocabs" / other / "tokenizer.json")
        for text in TEXTS:
            check(text, a, b)


def test_lengths_add_up_to_their_text() -> None:
    offsets, sizes, of = np.array([0, 2, 2, 3]), np.array([3, 0, 2]), np.array([1, 2, 255], np.uint8)
    ids, prefixed = np.array([0, 1, 1], np.uint32), np.array([False, False, True])
    lengths, covers = _core.token_lengths(ids, offsets, sizes, of, prefixed)
    assert (lengths.tolist(), covers.tolist()) == ([1, 2, 1], [True, True, False])
    for wrong in (2, 3):
        ids[2] = wrong  # without a length, and without a token
        assert _core.token_lengths(ids, offsets, sizes, of, prefixed)[1].tolist() == [True, True, False]
    for columns in ((offsets[:-1], sizes), (offsets[::-1].copy(), sizes), (offsets, sizes[:2])):
        with pytest.raises(ValueError, match="columns"):
            _core.token_lengths(ids, *columns, of, prefixed)


def test_tokens_longer_than_the_table_of_lengths_knows_are_aligned() -> None:
    long = "a" * 300
    a = bp.train({"aa": 2}, vocab_size=258, special_tokens=[long])
    b = bp.train({"a" * 4: 2}, vocab_size=258)
    text = f"b{long}b"
    check(text, a, b)
    assert bp.align(text, a, b, special="allow").places[:, 1].tolist() == [1, 301, 302]


def test_columns_that_do_not_fit_are_refused() -> None:
    good = columns([(0, 1)])
    for wrong in (
        (np.array([0, 2]), *good[1:]),
        (np.array([1, 0]), *good[1:]),
        (*good[:1], np.array([False, True]), *good[2:]),
        (*good[:3], np.zeros((0, 2), np.int64)),
    ):
        with pytest.raises(ValueError, match="columns"):
            _core.align_tokens(good, wrong)
        with pytest.raises(ValueError, match="columns"):
            _core.align_tokens(wrong, good)
    with pytest.raises(ValueError, match="same texts"):
        _core.align_tokens(good, (np.array([0, 1, 1]), np.array([False, False]), *good[2:]))


def test_an_alignment_is_shown_as_json(tok: bp.Tokenizer) -> None:
    found = bp.align("low é", tok, tok)
    assert json.loads(json.dumps(found.as_dict()))["places"] == found.places.tolist()


def lines_with_changes(rng: random.Random) -> list[str]:
    """Lines of ASCII, and rarely one that NFC changes: marks to be joined or sorted, jamo, a mark at the start."""
    changed = ["é", "e\u0301\u0323 low", "\u1112\u1161\u11ab", "\u0bc6\u0bbe low", "\u0301low", "lowe\u0301r"]
    lines = []
    for _ in range(rng.randrange(1, 80)):
        lines.append(" ".join(rng.choices(["low", "lower", "<|end|>", "a", " ", "x" * 30], k=rng.randrange(1, 12))))
        if rng.random() < 0.05:
            lines.append(rng.choice(changed))
    return lines


@pytest.mark.parametrize("seed", range(12))
def test_few_changes_are_placed_as_each_line_by_itself(seed: int) -> None:
    """Lines end where pieces do, so that a text is aligned as they are; changed lines are located whole."""
    rng, compared, by_lengths = random.Random(seed), 0, 0
    plain = bp.train({"low": 5, "lower": 3}, vocab_size=261, split="gpt2", special_tokens=["<|end|>"])
    formed = bp.Tokenizer(plain.spec.replace(normalizers=("NFC",)))
    for _ in range(20):
        lines = lines_with_changes(rng)
        text = "\n".join(lines)
        placed = place(formed, [text.encode()], special="allow", added="match", threads=1)
        by_lengths += bool(placed.covers.all()) and not unicodedata.is_normalized("NFC", text)
        for a, b in ((formed, plain), (plain, formed), (formed, formed)):
            found = bp.align(text, a, b, special="allow")
            expected: list[tuple[list[int], list[int]]] = []
            # Not the line feed: it may belong to white space in front of the next line.
            for groups in bp.align_batch([part for line in lines for part in (line, "\n")][:-1], a, b, special="allow"):
                expected += [(one.tolist(), other.tolist()) for one, other in groups]
            if found.a.ids.tolist() == [id for one, _ in expected for id in one]:
                assert [(one.tolist(), other.tolist()) for one, other in found] == expected
                compared += 1
    assert compared > 30, seed
    assert by_lengths > 3, seed


@pytest.mark.parametrize("alphabet", [None, Characters(unk_token="a")])
def test_merges_stay_in_the_core(monkeypatch: pytest.MonkeyPatch, alphabet: Characters | None) -> None:
    """To make them in Python takes longer than to align a page."""
    tokens = (*(bytes([byte]) for byte in range(128)), b"lo", b"low")
    merges = ((108, 111), (128, 119))
    model = BytePair(tokens, tuple(range(130)), merges, partial_alphabet=alphabet is None, alphabet=alphabet)
    tok = bp.Tokenizer(TokenizerSpec(models.pack(model)))
    asked = []

    def unpack(packed: PackedModel, *, merges: bool = True) -> models.Model:
        asked.append(merges)
        return UNPACK(packed, merges=merges)

    monkeypatch.setattr(models, "unpack", unpack)
    assert bp.align("a low", tok, tok).a.ids.tolist() == [97, 32, 129]
    assert asked
    assert not any(asked)
