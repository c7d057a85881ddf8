"""The core's readers of vocabularies in characters, against slow readers."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from bytepair._core import Pieces, read_pieces, read_spelled
from bytepair.errors import FormatError
from bytepair.formats import hf_spelled, protobuf, sentencepiece
from bytepair.model.models import Characters


def slow_merges(ranked: Mapping[str, tuple[int, float]]) -> tuple[list[tuple[int, int]], int]:
    """All cuts of all tokens by score; of overlapping cuts, first the one that comes first in a text."""
    listed: list[tuple[int, int]] = []
    equal, last = 0, None
    for token, (_, score) in sorted(ranked.items(), key=lambda item: (-item[1][1], item[1][0])):
        cuts = [cut for cut in range(1, len(token)) if token[:cut] in ranked and token[cut:] in ranked]
        if not cuts:
            continue
        equal += score == last and len(set(token)) > 1
        last = score
        overlap = [
            cut
            for cut in cuts
            if 2 * cut != len(token) and len(token) - cut in cuts and token[cut:] == token[: len(token) - cut]
        ]
        ordered = overlap + [cut for cut in cuts if cut not in overlap]
        listed += [(ranked[token[:cut]][0], ranked[token[cut:]][0]) for cut in ordered]
    return listed, equal


def merges_of(ranked: Mapping[str, tuple[int, float]]) -> tuple[list[tuple[int, int]], int]:
    """Those of the core, for tokens whose ids count up."""
    rows = [(token, score, sentencepiece.NORMAL) for token, (_, score) in ranked.items()]
    columns, equal, *_ = Pieces(rows).merged([sentencepiece.NORMAL], True)
    return list(columns.merges() or ()), equal


def test_merges_of_scores_are_all_cuts_in_order() -> None:
    chance = random.Random(1)
    for _ in range(300):
        letters = chance.choice(["a", "ab", "aé", "▁ab日"])
        tokens = {"".join(chance.choices(letters, k=chance.randint(1, 6))) for _ in range(chance.randint(0, 40))}
        ranked = {token: (id, chance.choice([-1.5, 0.0, -0.0, float(-id)])) for id, token in enumerate(sorted(tokens))}
        assert merges_of(ranked) == slow_merges(ranked)


def test_pieces_are_read_as_fields_one_by_one() -> None:
    chance = random.Random(2)
    for _ in range(500):
        message = b""
        for _ in range(chance.randint(0, 5)):
            piece = protobuf.write(
                (1, chance.choice(["a", "▁the", "é"])),
                (2, chance.choice([None, -3.25])),
                (3, chance.choice([None, 2, 6, 1])),
            )
            fields: list[tuple[int, bytes | int]] = [
                (1, piece),
                (1, piece),
                (2, b"\x18\x02"),
                (3, b""),
                (300, b"x"),
                (4, 7),
            ]
            message += protobuf.write(chance.choice(fields))
        if chance.random() < 0.5 and message:
            damaged = bytearray(message)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            message = bytes(damaged)
        found = read_pieces(message)
        if found is None:
            continue
        pieces, others = found
        expected = list(protobuf.fields(message))
        assert pieces.rows() == [
            tuple(sentencepiece._read_piece(protobuf.raw(value, at), at))
            for number, value, at in expected
            if number == 1
        ]
        assert [field for start, end in others for field in protobuf.fields(message, start, end)] == [
            field for field in expected if field[0] != 1
        ]


def test_a_vocabulary_in_characters_is_read_as_the_slow_reader_does() -> None:
    chance = random.Random(3)
    for _ in range(500):
        prefix, suffix = chance.choice(["", "##"]), chance.choice(["", "</w>"])
        tokens = ["a", "b", "é", "ab", prefix + "a", prefix + "b" + suffix, "ab" + "a", "<s>", "<unk>", "éa" + suffix]
        vocab = {token: id for id, token in enumerate(dict.fromkeys(chance.sample(tokens, 8)))}
        names = [*vocab, "none"] if chance.random() < 0.3 else list(vocab)
        merges: list[Any] = [[chance.choice(names), chance.choice(names)] for _ in range(chance.randint(0, 2))]
        merges = [" ".join(merge) for merge in merges] if chance.random() < 0.5 else merges
        special = {"<s>", "<unk>", "ab", "a", prefix + "a", prefix + "b" + suffix, "éa" + suffix}
        unk = chance.choice([None, "<unk>"])
        alphabet = Characters(unk, continuing_subword_prefix=prefix or None, end_of_word_suffix=suffix or None)
        fast = read_spelled(vocab, merges, list(special), alphabet.unk_token, prefix, suffix)
        if fast is None:
            with pytest.raises(FormatError):
                hf_spelled._read_carefully(vocab, merges, special, alphabet)
            continue
        slow = hf_spelled._read_carefully(vocab, merges, special, alphabet)
        assert (fast.tokens(), fast.ids(), fast.merges()) == (slow.tokens(), slow.ids(), slow.merges())
