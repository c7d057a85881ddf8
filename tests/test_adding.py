"""Only the added tokens change; ids are valid if encoding their text returns them."""

from __future__ import annotations

import pickle
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bytepair as bp
from bytepair.formats import probes
from bytepair.model.models import Characters, WordPiece
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path


def test_only_the_added_tokens_change(tok: bp.Tokenizer, sources: list[str]) -> None:
    more = tok.with_added_tokens(
        ["<|a|>", bp.AddedToken("<m>", 2005, special=False, lstrip=True), "<|b|>"], special=True
    )
    assert tok.vocab_size == 2000
    assert more.vocab_size == 2008
    assert more.spec == tok.spec.replace(
        added_tokens=(
            *tok.spec.added_tokens,
            bp.AddedToken("<m>", 2005, special=False, lstrip=True),
            bp.AddedToken("<|a|>", 2006),
            bp.AddedToken("<|b|>", 2007),
        ),
    )
    for text in (*HOSTILE, *sources[:2]):
        assert more.encode(text) == tok.encode(text)
    assert more.encode("a <m>b<|b|>", special="allow") == [*tok.encode("a"), 2005, *tok.encode("b"), 2007]
    assert pickle.loads(pickle.dumps(more)) == more
    assert more.fingerprint != tok.fingerprint
    assert tok.with_added_tokens([]) == tok
    assert tok.with_added_tokens(["x y"]).special_tokens == tok.special_tokens
    assert tok.with_added_tokens(iter(["x y"])).encode("ax yb")[1:-1] == [2000]


def test_what_is_there_is_kept_or_refused(tok: bp.Tokenizer) -> None:
    end = tok.special_tokens["<|end|>"]
    assert tok.with_added_tokens(["<|end|>", "<|end|>"], special=True) == tok
    assert tok.with_added_tokens([bp.AddedToken("<|end|>", end)]) == tok
    twice = tok.with_added_tokens(["<q>", "<q>"])
    assert twice == tok.with_added_tokens([bp.AddedToken("<q>", 2000, special=False)])
    there: list[tuple[list[Any], str]] = [
        (["<|end|>"], "exists with other settings"),
        ([bp.AddedToken("<|end|>", end, rstrip=True)], "exists with other settings"),
        ([bp.AddedToken("<|end|>", 2000)], "exists with other settings"),
        (["self"], r"is a token of the vocabulary, with the id \d+; pass AddedToken\('self', \d+\) to match it"),
        ([bp.AddedToken("<q>", 97)], "which another token has"),
        ([bp.AddedToken("<q>", end)], "occurs twice"),
        ([bp.AddedToken("<q>", -1)], "out of range"),
        ([bp.AddedToken("<q>", 2**32)], "out of range"),
        ([bp.AddedToken("<q>", 2**32 - 2), "<r>"], "no id is left"),
        ([""], "is empty"),
        (["x" * 1025], "1025 bytes"),
        (["\ud800"], "lone surrogate"),
        ([bp.AddedToken("\ud800", 2000)], "lone surrogate"),
    ]
    for tokens, said in there:
        with pytest.raises(bp.FormatError, match=said):
            tok.with_added_tokens(tokens)
    for wrong in ("<q>", [5], [b"<q>"]):
        with pytest.raises(TypeError):
            tok.with_added_tokens(wrong)  # type: ignore[arg-type]


def test_a_token_of_the_vocabulary_becomes_an_added_one(tok: bp.Tokenizer) -> None:
    id = tok.token_id("self")
    found = tok.with_added_tokens([bp.AddedToken("self", id, special=False)])
    assert found.vocab_size == tok.vocab_size
    assert found.encode("himself") == [*tok.encode("him"), id]


def test_embedding_and_head_grow_to_match(tok: bp.Tokenizer) -> None:
    more = tok.with_added_tokens(["<|tool|>", bp.AddedToken("<m>", 2010)], special=True)
    random = np.random.default_rng(5)
    embedding, bias = random.standard_normal((2000, 8)), random.standard_normal(2000)
    head = random.standard_normal((2000, 8)).astype(np.float32)
    for matrix in (embedding, head, bias[:, None]):
        grown = bp.resize_embeddings(matrix, tok, more)
        assert grown.shape == (more.vocab_size, matrix.shape[1]) == (2012, matrix.shape[1])
        np.testing.assert_array_equal(grown[:2000], matrix)
        for token in ("<|tool|>", "<m>"):
            parts = matrix[tok.encode(token, special="text")]
            # A sum of n numbers, in any order, is within n units of rounding of the sum of their sizes; where they
            # cancel out, that is much of the mean, so the tolerance is of their size and not of the mean's.
            most = np.finfo(matrix.dtype).eps * np.abs(parts.astype(np.float64)).sum(axis=0).max()
            mean = parts.astype(np.float64).mean(axis=0)
            np.testing.assert_allclose(grown[more.token_id(token)], mean, rtol=0, atol=most)
        assert not grown[2000:2010].any()
    # A model's logits have a column for each id.
    assert (bp.resize_embeddings(head, tok, more) @ np.ones(8)).shape == (more.vocab_size,)


def slowly(tok: bp.Tokenizer, ids: list[int]) -> bool:
    """The definition, for tokens that are bytes: each stretch between special ids is the encoding of its text."""
    spans: list[Any] = [b""]
    specials = {id: token for token, id in tok.special_tokens.items()}
    for id in ids:
        if id in specials:
            spans += [bp.Control(specials[id]), b""]
        else:
            spans[-1] += tok.token_bytes(id)
    try:
        texts = [span.decode() if isinstance(span, bytes) else span for span in spans]
    except UnicodeDecodeError:
        return False
    return tok.encode([text for text in texts if text != ""], special="text") == ids


@pytest.mark.parametrize("kind", ["merges", "ranks", "prefix_space", "NFC", "added"])
def test_random_ids_and_encodings(tok: bp.Tokenizer, sources: list[str], kind: str) -> None:
    spec = tok.spec
    if kind == "ranks":
        from bytepair.model.semantics import to_ranks

        spec = spec.replace(model=to_ranks(spec.byte_pair))
    elif kind == "prefix_space":
        spec = spec.replace(prefix_space=True)
    elif kind == "NFC":
        spec = spec.replace(normalizers=("NFC",))
    elif kind == "added":
        spec = (
            bp.Tokenizer(spec)
            .with_added_tokens([bp.AddedToken("  ", tok.token_id("  "), special=False), "wörd", "<|e"])
            .spec
        )
    one = bp.Tokenizer(spec)
    random = Random(11)
    found = {True: 0, False: 0}
    for case in range(3000):
        # A few ids that combine often; and all ids.
        most = (300, 2000)[case % 2]
        ids = random.choices(range(most), k=random.choice((0, 1, 1, 2, 3, 5)))
        ids += random.choices(list(tok.special_tokens.values()), k=case % 3 == 0)
        random.shuffle(ids)
        valid = one.is_valid(ids)
        found[valid] += 1
        assert valid == slowly(one, ids)
        assert one.is_valid(np.array(ids, np.uint32)) == valid
    assert min(found.values()) > 300
    words = [*HOSTILE, *sources[0].split(" ")[:300], "<|end|>", "<|user|>", " ", "wörd"]
    for _ in range(300):
        text = " ".join(random.choices(words, k=random.randrange(8)))
        for special in ("text", "allow"):
            ids = one.encode(text, special=special)
            assert one.is_valid(ids)
            if len(ids) > 1:
                # Other ids of the same bytes are not their encoding.
                place = random.randrange(len(ids))
                token = one.token_bytes(ids[place])
                if ids[place] not in tok.special_tokens.values() and len(token) > 1 and kind != "added":
                    apart = [*ids[:place], *(one.token_id(bytes([byte])) for byte in token), *ids[place + 1 :]]
                    assert not one.is_valid(apart)


def test_what_stages_take_is_not_in_the_text(tok: bp.Tokenizer) -> None:
    mask = bp.AddedToken("<m>", 2000, lstrip=True, rstrip=True)
    more = tok.with_added_tokens([mask, bp.AddedToken("<w>", 2001, special=False, lstrip=True, single_word=True)])
    ids = more.encode("a <m> b", special="allow")
    assert ids == [*tok.encode("a"), 2000, *tok.encode("b")]
    assert more.is_valid(ids)
    assert more.is_valid(more.encode(["a ", bp.Control("<m>"), " b"]))
    # Not special, and its space is gone: in the text that comes back it is found all the same, unless it is a word.
    assert more.is_valid(more.encode("- <w>"))
    stripped = more.encode("a <w>")
    assert stripped == [*tok.encode("a"), 2001]
    assert not more.is_valid(stripped)


METASPACE = '{"type": "Metaspace", "prepend_scheme": "%s", "replacement": "▁", "split": true}'
LETTERS = [*"▁abcdé.", "ab", "▁a", "abc", "▁ab", "▁▁", "cd"]


def characters(first: str) -> bp.TokenizerSpec:
    """Merges of characters, with the leading space of sentencepiece's models, and bytes for the rest."""
    names = [*LETTERS, *(f"<0x{byte:02X}>" for byte in range(256))]
    place = {name: id for id, name in enumerate(names)}
    pairs = [("a", "b"), ("▁", "a"), ("ab", "c"), ("▁", "ab"), ("▁", "▁"), ("c", "d")]
    model = bp.BytePair(
        tuple(name.encode() for name in names),
        tuple(range(len(names))),
        tuple((place[left], place[right]) for left, right in pairs),
        alphabet=Characters(byte_fallback=True),
    )
    added = (bp.AddedToken("<s>", len(names)), bp.AddedToken("<m>", len(names) + 1, special=False))
    step = METASPACE % first
    return bp.TokenizerSpec(model, added_tokens=added, pre_tokenizers=(step,), decoders=("ByteFallback", step))


def pieces() -> bp.TokenizerSpec:
    """Words of the longest tokens that begin and continue them."""
    names = ("[UNK]", "<s>", *"abcdé.", "ab", *(f"##{letter}" for letter in "abcdé"), "##bc")
    model = WordPiece(tuple(name.encode() for name in names), tuple(range(len(names))))
    added = (bp.AddedToken("[UNK]", 0), bp.AddedToken("<s>", 1))
    return bp.TokenizerSpec(
        model,
        added_tokens=added,
        normalizers=("Lowercase",),
        pre_tokenizers=("BertPreTokenizer",),
        decoders=('{"type": "WordPiece", "cleanup": false, "prefix": "##"}',),
    )


@pytest.mark.parametrize("kind", ["first", "always", "never", "words"])
def test_other_models(kind: str) -> None:
    """Ids are valid if they encode some text; searched among all short ones."""
    one = bp.Tokenizer(pieces() if kind == "words" else characters(kind))
    end = one.special_tokens["<s>"]
    short = ["".join(letters) for size in range(6) for letters in product("abc ", repeat=size)]
    few = [text for text in short if len(text) < 4]
    known = {tuple(one.encode(text)) for text in short}
    known |= {tuple(one.encode([left, bp.Control("<s>"), right])) for left in few for right in few}
    used = [id for id in range(one.vocab_size) if id == end or set(name(one, id)) <= set("abc ")]
    tried = {True: 0, False: 0}
    for ids in (ids for size in range(5) for ids in product(used, repeat=size)):
        places = [place for place, id in enumerate(ids) if id == end]
        # Words need a space between them.
        sizes = [len(name(one, id)) + (kind == "words") if id != end else 0 for id in ids]
        if len(places) > 1 or sum(sizes) > 5:
            continue
        if places and max(sum(sizes[: places[0]]), sum(sizes[places[0] :])) > 3:
            continue
        tried[ids in known] += 1
        assert one.is_valid(list(ids)) == (ids in known), [name(one, id) for id in ids]
    assert min(tried.values()) > 50


def name(tok: bp.Tokenizer, id: int) -> str:
    return tok.token_bytes(id).decode("utf-8", "replace").replace("▁", " ").replace("##", "")


@pytest.mark.parametrize("kind", ["first", "always", "never", "words"])
def test_encodings_of_other_models(kind: str) -> None:
    one = bp.Tokenizer(pieces() if kind == "words" else characters(kind))
    random = Random(13)
    for _ in range(2000):
        letters = "abcdé. " if kind == "words" else "abcdé. x🦊"
        text = "".join(random.choices([*letters, " ", "<s>"], k=random.randrange(8)))
        assert one.is_valid(one.encode(text, special="allow")), text


@pytest.mark.data
@pytest.mark.parametrize("family", ["llama2/tokenizer", "mistral/tokenizer_v0.3", "clip/tokenizer", "gpt2/tokenizer"])
def test_encodings_of_real_tokenizers(data: Path, family: str) -> None:
    one = bp.Tokenizer.from_file(data / "vocabs" / f"{family}.json")
    for text in (*probes.TEXTS, *HOSTILE):
        for special in ("text", "allow"):
            assert one.is_valid(one.encode(text, special=special)), text


def test_what_is_no_id(tok: bp.Tokenizer) -> None:
    for ids in ([2000], [97, 5000, 97], [-1], [2**40]):
        with pytest.raises(bp.InvalidIdError):
            tok.is_valid(ids)
    with pytest.raises(TypeError):
        tok.is_valid(["a"])  # type: ignore[list-item]
    for wrong in ("5", b"5", [5.0], [True], np.array([5.0]), {5: 5}, {5}, 5, None, [None], ["5"]):
        with pytest.raises(TypeError, match=r"ids are|id 0 is"):
            tok.is_valid(wrong)  # type: ignore[arg-type]
    for kind in (np.uint8, np.int64, np.uint32):
        assert tok.is_valid(np.array([97], kind))
        assert tok.is_valid([kind(97)])  # type: ignore[list-item]  # numpy's ints are ints
    assert tok.is_valid((97,))
    assert tok.is_valid(range(97, 98))
    assert tok.is_valid([])
    assert tok.is_valid(tok.encode_array("low lower"))
    assert not tok.is_valid(tok.encode("é")[:1] if len(tok.encode("é")) > 1 else [0xE9])
    partial = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a", b"\xc3"), (0, 1), partial_alphabet=True)))
    assert partial.is_valid([0, 0])
    assert not partial.is_valid([0, 1])
    assert not partial.is_valid([1, 0])
