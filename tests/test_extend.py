"""Extending resumes where training ended: old ids stay, and the new merges are those of a slow recount."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

import bytepair as bp
from bytepair.model.semantics import to_ranks
from bytepair.reference import Pair, count_pairs, encode_merges, encode_ranks, merge_pair, winner
from bytepair.training.learning import Ties

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")

BYTES = tuple(bytes([byte]) for byte in range(256))


def merges_of(tok: bp.Tokenizer) -> list[Pair]:
    return [(tok.token_bytes(left), tok.token_bytes(right)) for left, right in tok.spec.byte_pair.merges or ()]


def spell(tok: bp.Tokenizer, piece: bytes) -> list[bytes]:
    model = tok.spec.byte_pair
    if model.merges is None:
        return encode_ranks(piece, dict(zip(model.tokens, model.ids, strict=True)))
    return encode_merges(piece, merges_of(tok), whole=model.tokens if model.ignore_merges else None)


def extend_slowly(
    tok: bp.Tokenizer, counts: dict[str, int], merges: int, *, ties: str, min_frequency: int, longest: int | None
) -> list[Pair]:
    """The new merges by a full recount at every step; pairs that make an existing token are skipped."""
    pieces = [spell(tok, piece.encode()) for piece in counts]
    ids = dict(zip(tok.spec.byte_pair.tokens, tok.spec.byte_pair.ids, strict=True))
    taken = {*ids, *(token.content.encode() for token in tok.spec.added_tokens)}
    found: list[Pair] = []
    while len(found) < merges:
        table = {
            pair: count
            for pair, count in count_pairs(pieces, list(counts.values())).items()
            if count >= max(min_frequency, 1)
            and pair[0] + pair[1] not in taken
            and (longest is None or len(pair[0] + pair[1]) <= longest)
        }
        if not table:
            break
        pair = winner(table, ties, ids=ids, pieces=pieces)
        pieces = [merge_pair(symbols, pair) for symbols in pieces]
        ids[pair[0] + pair[1]] = tok.vocab_size + len(found)
        taken.add(pair[0] + pair[1])
        found.append(pair)
    return found


def random_counts(random: Random, pieces: int = 6) -> dict[str, int]:
    letters = "abc"[: random.randint(1, 3)]
    return {"".join(random.choices(letters, k=random.randint(1, 9))): random.randint(1, 4) for _ in range(pieces)}


def random_tokenizer(random: Random) -> bp.Tokenizer:
    """Trained, as ranks or merges; or assembled by hand, with tokens that its merges do not make."""
    if random.random() < 0.5:
        tok = bp.train(
            random_counts(random), 256 + random.randint(1, 9), min_frequency=1, special_tokens=["<|end|>"], split="none"
        )
        return bp.Tokenizer(tok.spec.replace(model=to_ranks(tok.spec.byte_pair))) if random.random() < 0.5 else tok
    tokens = list(BYTES)
    merges: list[tuple[int, int]] = []
    for _ in range(random.randint(1, 8)):
        pair = random.choices([97, 98, 99, *range(256, len(tokens))], k=2)
        token = tokens[pair[0]] + tokens[pair[1]]
        if token not in tokens:
            tokens.append(token)
            if random.random() < 0.7:
                merges.append((pair[0], pair[1]))
    random.shuffle(merges)
    model = bp.BytePair(tuple(tokens), tuple(range(len(tokens))), tuple(merges), ignore_merges=random.random() < 0.5)
    return bp.Tokenizer(bp.TokenizerSpec(model, added_tokens=(bp.AddedToken("acb", 300),)))


def test_random_extensions_are_those_of_a_slow_recount() -> None:
    random = Random(1)
    for _ in range(300):
        tok, counts = random_tokenizer(random), random_counts(random)
        ties, frequency = random.choice(get_args(Ties)), random.randint(1, 3)
        longest = random.choice([None, None, 3, 5])
        new = random.randint(0, 12)
        expected = extend_slowly(tok, counts, new, ties=ties, min_frequency=frequency, longest=longest)
        options: dict[str, Any] = {"ties": ties, "min_frequency": frequency, "max_token_length": longest}
        more = bp.extend(tok, counts, tok.vocab_size + new, **options)
        first = tok.vocab_size
        assert more.spec.byte_pair.ids == (*tok.spec.byte_pair.ids, *range(first, first + len(expected)))
        assert more.spec.byte_pair.tokens == (*tok.spec.byte_pair.tokens, *(left + right for left, right in expected))
        assert more.spec.added_tokens == tok.spec.added_tokens
        assert more.spec.byte_pair.semantics == tok.spec.byte_pair.semantics
        if tok.spec.byte_pair.merges is not None:
            assert merges_of(more) == [*merges_of(tok), *expected]
        # Encoding is encoding as before, and then the new merges in order.
        encoder = more.encoder("heap")
        for piece in (*counts, *random_counts(random)):
            symbols = spell(tok, piece.encode())
            for pair in expected:
                symbols = merge_pair(symbols, pair)
            assert [more.token_bytes(id) for id in encoder.encode_piece(piece.encode())] == symbols, (piece, counts)
            assert more.tokens(piece, added="text", special="text") == symbols


@pytest.mark.parametrize("ties", get_args(Ties))
def test_to_extend_is_to_train_on(sources: list[str], ties: Ties) -> None:
    options: dict[str, Any] = {"ties": ties, "min_frequency": 3, "max_token_length": 12}
    once = bp.train(iter(sources), 1500, **options)
    part = bp.train(iter(sources), 700, **options)
    assert bp.extend(part, iter(sources), 1500, **options) == once
    special = bp.train(iter(sources), 701, special_tokens=["<|end|>"], **options)
    more = bp.extend(special, iter(sources), 1501, **options)
    assert merges_of(more) == merges_of(once)
    assert (more.special_tokens, more.vocab_size) == (special.special_tokens, 1501)


def test_ranks_stay_ranks(sources: list[str], tmp_path: Path) -> None:
    merges = bp.train(iter(sources), 600, special_tokens=["<|end|>"])
    ranks = bp.Tokenizer(merges.spec.replace(model=to_ranks(merges.spec.byte_pair)))
    more = bp.extend(ranks, iter(sources), 900, threads=1)
    assert more.spec.byte_pair.semantics == "ranks"
    assert more == bp.Tokenizer(
        merges.spec.replace(model=to_ranks(bp.extend(merges, iter(sources), 900).spec.byte_pair))
    )
    assert more.encode(sources[0]) == bp.extend(merges, iter(sources), 900).encode(sources[0])
    for format in ("native", "tokenizer.json"):
        more.save(tmp_path / format, format)
        loaded = bp.Tokenizer.from_file(tmp_path / format)
        assert loaded.encode(sources[0]) == more.encode(sources[0])
    assert bp.Tokenizer.from_file(tmp_path / "native") == more


def test_ranks_without_proof_are_refused() -> None:
    # Below `abcd` its bytes are left in three.
    model = bp.BytePair((*BYTES, b"bc", b"abcd"), tuple(range(258)))
    tok = bp.Tokenizer(bp.TokenizerSpec(model))
    for change in (lambda: bp.extend(tok, {"abcd": 2}, 300), lambda: bp.prune(tok, 257)):
        with pytest.raises(bp.TrainingError, match="not proved to be merges") as raised:
            change()
        assert "merge list" in raised.value.remedy


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_a_pair_whose_bytes_are_a_token_never_merges(ignore_merges: bool) -> None:
    # No merge makes `abc` of its bytes, since (b, c) comes first: between other letters, `a` and `bc` stay neighbours.
    model = bp.BytePair((*BYTES, b"bc", b"abc"), tuple(range(258)), ((98, 99),), ignore_merges=ignore_merges)
    tok = bp.Tokenizer(bp.TokenizerSpec(model))
    more = bp.extend(tok, {"xabcy": 9, "abc": 5}, 300, min_frequency=1)
    assert more.spec.byte_pair.tokens[258:] == (b"xa", b"bcy", b"xabcy")
    assert len(set(more.spec.byte_pair.tokens)) == len(more.spec.byte_pair.tokens)
    assert more.tokens("abc") == ([b"abc"] if ignore_merges else [b"a", b"bc"])


def test_no_merge_makes_an_added_token() -> None:
    tok = bp.train({"ab": 2}, 257, special_tokens=["xy"], min_frequency=5)
    more = bp.extend(tok, {"xyz": 9}, 260, min_frequency=1)
    assert more.spec.byte_pair.tokens[256:] == (b"yz", b"xyz")


def test_text_is_counted_behind_the_tokenizers_own_stages(sources: list[str]) -> None:
    base = bp.train(iter(sources), 300, split="none")
    added = (
        bp.AddedToken("self", 1000, special=False, single_word=True, lstrip=True),
        bp.AddedToken("<|end|>", 1001),
        bp.AddedToken("é", 1002, special=False, normalized=True),
    )
    spec = base.spec.replace(
        split=(bp.SPLIT_PATTERNS["gpt2"], r"[a-z]+|[^a-z]"),
        added_tokens=added,
        normalizers=("NFKD",),
        prefix_space=True,
    )
    tok = bp.Tokenizer(spec)
    text = sources[0][:20_000] + "<|end|>café ﬁne é"
    contents = {"<|end|>", "e\u0301"}
    pieces = Counter(
        piece for piece in tok.pieces(text, special="allow") if piece not in contents and piece.strip() != "self"
    )
    assert bp.extend(tok, iter([text]), 1400) == bp.extend(tok, pieces, 1400)
    assert bp.extend(tok, [text.encode()], 1400, threads=3) == bp.extend(tok, pieces, 1400)


def test_a_peer_reads_the_same_ids(tok: bp.Tokenizer, sources: list[str], tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    more = bp.extend(tok, iter(sources), 2500)
    for changed in (more, bp.prune(more, 1200, iter(sources)).tokenizer):
        changed.save(tmp_path)
        peer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        for text in sources:
            assert peer.encode(text).ids == changed.encode(text)


def test_what_cannot_be_extended_is_said(tok: bp.Tokenizer) -> None:
    assert bp.extend(tok, {"a": 1}, tok.vocab_size) == tok
    for size in (tok.vocab_size - 1, 2**32):
        with pytest.raises(bp.TrainingError, match="cannot be extended to"):
            bp.extend(tok, {"a": 1}, size)
    with pytest.raises(bp.TrainingError, match="no text"):
        bp.extend(tok, iter([]), 3000)
    with pytest.raises(ValueError, match="ties"):
        bp.extend(tok, {"a": 1}, 3000, ties="none")  # type: ignore[arg-type]
    with pytest.raises(bp.EncodeError) as raised:
        bp.extend(tok, [b"fine", b"\xff"], 3000)
    assert raised.value.row == 1
    partial = bp.BytePair((b"a", b"b"), (0, 1), (), partial_alphabet=True)
    with pytest.raises(bp.EncodeError, match="has no token"):
        bp.extend(bp.Tokenizer(bp.TokenizerSpec(partial)), {"abc": 2}, 9)
    more = bp.extend(bp.Tokenizer(bp.TokenizerSpec(partial)), {"abab": 2}, 4)
    assert more.spec.byte_pair.tokens == (b"a", b"b", b"ab", b"abab")


def test_too_little_text_is_a_warning(tok: bp.Tokenizer) -> None:
    with pytest.warns(bp.TokenizerWarning, match="1 new tokens instead of 10"):
        bp.extend(tok, {"\x00\x01": 2}, tok.vocab_size + 10)


def test_an_encoding_that_is_real_is_extended(data: Path, sources: list[str]) -> None:
    if not (data / "vocabs/openai/cl100k_base.tiktoken").exists():
        pytest.skip("no cl100k_base")
    tok = bp.get_encoding("cl100k_base", folder=data / "vocabs/openai")
    more = bp.extend(tok, iter(sources), tok.vocab_size + 50)
    assert more.special_tokens == tok.special_tokens
    assert more.spec.byte_pair.semantics == "ranks"
    assert more.spec.byte_pair.tokens[: len(tok.spec.byte_pair.tokens)] == tok.spec.byte_pair.tokens
    naive = more.encoder("naive")
    for id in range(tok.vocab_size, more.vocab_size):
        assert naive.encode_piece(more.token_bytes(id)) == [id]
    assert more.count(sources[1]) < tok.count(sources[1])
    assert more.decode(more.encode(sources[1])) == sources[1]
