"""WordPiece vocabularies: against the trainer of `tokenizers`, the words of BERT, and refused input."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

import bytepair as bp
from bytepair.model.models import WordPiece
from bytepair.training.wordpiece import BertNormalizer, learn_wordpiece, wordpiece_spec
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

SPLIT = r"[^\t\n\r\p{Z}]+"


def counts_of(pieces: dict[str, int]) -> bp.Counts:
    return bp.Counts.of(pieces, digest=False)


def random_words(seed: int) -> dict[str, int]:
    """Enough words that few frequent pairs are equally frequent."""
    choose = random.Random(seed)
    words = {"".join(choose.choices("abcdef", k=choose.randint(2, 6))) for _ in range(400)}
    return {word: choose.randint(1, 300) for word in sorted(words)}


def apart(seed: int, tokens: int) -> tuple[dict[str, int], list[str]]:
    """Words, and their vocabulary if no tie of frequencies is ever decided by the ids of characters.

    The peer numbers the characters that continue words in the order of a hash table: the result must be the same for
    words spelled in other letters, which have these ids in other orders.
    """
    words = random_words(seed)
    expected = frequent(words, tokens)
    for _ in range(12):
        letters = random.Random(seed).sample("abcdef", 6)
        renamed = str.maketrans("abcdef", "".join(letters))
        back = str.maketrans("".join(letters), "abcdef")
        found = frequent({word.translate(renamed): count for word, count in words.items()}, tokens)
        if {token.translate(back) for token in found} != set(expected):
            return words, []
        seed += 1
    return words, expected


def frequent(words: dict[str, int], tokens: int) -> list[str]:
    return learn_wordpiece(
        counts_of(words), tokens, score="frequency", special_tokens=["[UNK]"], min_frequency=3, normalizer=None
    )


def test_frequency_gives_the_vocabulary_of_tokenizers() -> None:
    compared = 0
    for seed in range(30):
        words, ours = apart(seed, 45)
        if not ours:
            continue
        compared += 1
        peer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
        peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.WordPieceTrainer(
            vocab_size=45, min_frequency=3, special_tokens=["[UNK]"], show_progress=False
        )
        peer.train_from_iterator((" ".join([word] * count) for word, count in words.items()), trainer)
        assert sorted(ours) == sorted(peer.get_vocab())
    assert compared >= 10


def test_likelihood_is_that_of_counting_everything_again() -> None:
    # The largest of C(ab) / (C(a) C(b)): 2/(2*2), then 10/(14*10), then that of "ab" and "##c" is 3/(4*3).
    tokens = learn_wordpiece(counts_of({"xy": 2, "ab": 10, "ac": 4}), 9, special_tokens=[], normalizer=None)
    assert tokens == ["a", "b", "c", "x", "y", "##b", "##c", "##y", "xy"]
    tokens = learn_wordpiece(counts_of({"xy": 2, "ab": 10, "ac": 4}), 11, special_tokens=[], normalizer=None)
    # 10/(14*10) and 4/(14*4) are equal, so that the lowest ids merge; afterwards `a` is rarer.
    assert tokens[9:] == ["ab", "ac"]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("chinese", [True, False])
def test_words_are_those_of_bert(*, lowercase: bool, strip_accents: bool | None, chinese: bool) -> None:
    texts = [
        *HOSTILE,
        "Caf\u00e9 \u4e2d\u6587ab\u0301c, don't\x0bjoin\u200bed\u00a0no-break \ufffdx \u03a3\u039f\u03a3.",
    ]
    normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=chinese, strip_accents=strip_accents, lowercase=lowercase
    )
    cut = pre_tokenizers.BertPreTokenizer()
    words = Counter(
        word for text in texts for word, _ in cut.pre_tokenize_str(normalizer.normalize_str(text)) if word.strip()
    )
    expected = learn_wordpiece(counts_of(dict(words)), 10_000, score="frequency", min_frequency=1, normalizer=None)
    counted = bp.Counts.of(iter(texts), split=SPLIT, digest=False)
    assert expected == learn_wordpiece(
        counted,
        10_000,
        score="frequency",
        min_frequency=1,
        normalizer=BertNormalizer(lowercase=lowercase, strip_accents=strip_accents, handle_chinese_chars=chinese),
    )


def test_the_spec_says_how_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Low lower lowest newest widest\n" * 3)
    counts = bp.Counts.of(str(path), split=SPLIT)
    tokens = learn_wordpiece(counts, 38, score="frequency", normalizer=BertNormalizer(lowercase=False))
    spec = wordpiece_spec(tokens, normalizer=BertNormalizer(lowercase=False))
    spec.check()
    assert isinstance(spec.model, WordPiece)
    assert (spec.model.tokens[0], spec.model.ids[:2]) == (b"[UNK]", (1, 5))
    assert len(spec.model.tokens) == 38 - 4
    assert b"newest" in spec.model.tokens
    assert spec.special_tokens == {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    assert '"lowercase": false' in spec.normalizers[0]


def test_the_tokenizer_spells_what_it_learned() -> None:
    texts = ["Low lower lowest [MASK] newest widest"] * 3
    tok = bp.train_wordpiece(iter(texts), 36, score="frequency")
    tokens = dict(zip(tok.spec.model.ids, map(bytes.decode, tok.spec.model.tokens), strict=True))
    # Text cut out as a special token is not counted.
    assert not {"m", "##a", "["} & set(tokens.values())
    assert [tokens[id] for id in tok.encode("NEWEST lowest")] == ["newest", "lowest"]
    assert tok.encode("xyz") == [1]


def test_too_few_pairs_are_a_warning() -> None:
    with pytest.warns(bp.TokenizerWarning, match="9 tokens instead of 50"):
        bp.train_wordpiece({"ab": 2}, 50)


def test_weights_are_exact() -> None:
    texts = ["low lower lowest", "new newer newest"]
    one = bp.Counts.of({"a": iter(texts[:1]), "b": iter(texts[1:])}, split=SPLIT)
    two = bp.Counts.of({"a": iter(texts[:1] * 3), "b": iter(texts[1:] * 4)}, split=SPLIT)
    assert learn_wordpiece(one.weighted({"a": "1.5", "b": 2}), 30) == learn_wordpiece(two, 30, min_frequency=4)


def test_what_cannot_be_trained_is_refused() -> None:
    counts = counts_of({"abc": 3})
    with pytest.raises(bp.TrainingError, match=r"use vocab_size=10 or more, or a lower limit_alphabet"):
        learn_wordpiece(counts, 9)
    with pytest.raises(bp.TrainingError, match="add '<unk>' to special_tokens"):
        bp.train_wordpiece({"abc": 3}, 20, unk_token="<unk>")
    with pytest.raises(bp.TrainingError, match="listed twice"):
        bp.train_wordpiece({"abc": 3}, 20, special_tokens=["[UNK]", "[UNK]"])
    with pytest.raises(TypeError, match="list of str"):
        bp.train_wordpiece({"abc": 3}, 20, special_tokens="[UNK]")
    with pytest.raises(ValueError, match="score='best' is unknown"):
        learn_wordpiece(counts, 9, score="best")  # type: ignore[arg-type]
    with pytest.raises(bp.TrainingError, match=r"b\"a\\xff\" of the counts is not UTF-8") as error:
        learn_wordpiece(bp.Counts.of({b"a\xff": 3}, digest=False), 20)
    assert error.value.byte == 1
    with pytest.raises(bp.TrainingError, match="empty"):
        bp.train_wordpiece({}, 20)
    with pytest.raises(bp.TrainingError, match="a piece of the counts is empty"):
        bp.train_wordpiece({"": 2, "a": 1}, 20)
    with pytest.raises(bp.TrainingError, match=r"more than 2\^64"):
        learn_wordpiece(counts_of({"ab": 2**64 - 1, "a": 2**64 - 1}), 20)


def test_progress_tells_how_many_tokens_there_are() -> None:
    states: list[bp.Progress] = []
    learn_wordpiece(counts_of(random_words(1)), 80, progress=states.append)
    assert states[-1].ended
    assert states[-1].phase == "merge"
    assert 0 < states[-1].done < 80
