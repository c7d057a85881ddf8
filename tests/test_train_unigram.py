"""Unigram vocabularies: against the trainer of `sentencepiece`, equal results from equal counts, and refused input."""

from __future__ import annotations

import io
import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import sentencepiece

import bytepair as bp
from bytepair.model.models import Unigram
from bytepair.training.unigram import learn_unigram

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SPLIT = r"\S+"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Words of stems and endings, with different frequencies."""
    choose = random.Random(5)
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprst", "aeiou")]
    stems = ["".join(choose.choices(syllables, k=choose.randint(1, 3))) for _ in range(300)]
    endings = ["", "s", "ing", "ed", "er", "est", "ly", "ness"]
    weights = [1 / rank for rank in range(1, 301)]
    words = [stem + choose.choice(endings) for stem in choose.choices(stems, weights, k=12_000)]
    return [" ".join(words[at : at + 12]) + choose.choice(".,!?") for at in range(0, len(words), 12)]


def peer(lines: list[str], size: int, **options: Any) -> dict[str, float]:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="unigram",
        vocab_size=size,
        normalization_rule_name="identity",
        minloglevel=2,
        **options,
    )
    loaded = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return {loaded.id_to_piece(id): loaded.get_score(id) for id in range(3, loaded.get_piece_size())}


def log_likelihood(tokens: Mapping[str, float], lines: list[str]) -> float:
    """The log-likelihood of the best segmentation, per character."""
    unknown = min(tokens.values()) - 10
    longest = max(map(len, tokens))
    total, characters = 0.0, 0
    for word, count in Counter("\u2581" + word for line in lines for word in line.split()).items():
        best = [0.0]
        for end in range(1, len(word) + 1):
            starts = range(max(0, end - longest), end)
            reached = [best[start] + tokens[word[start:end]] for start in starts if word[start:end] in tokens]
            best.append(max([*reached, best[end - 1] + unknown]))
        total += count * best[-1]
        characters += count * len(word)
    return total / characters


def shared_substrings(lines: list[str]) -> dict[str, int]:
    """Substrings of words that occur twice and are not always followed by the same character."""
    counts: Counter[str] = Counter()
    follows: dict[str, set[str]] = {}
    for word, count in Counter("\u2581" + word for line in lines for word in line.split()).items():
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + 16) + 1):
                counts[word[start:end]] += count
                # The end of a word is different from all that follows, another end of a word included.
                follows.setdefault(word[start:end], set()).update(["1", "2"] if end == len(word) else [word[end] + "#"])
    return {text: count for text, count in counts.items() if count >= 2 and len(follows[text]) > 1}


def test_the_same_seeds_give_the_estimates_of_sentencepiece(lines: list[str], tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text("".join(f"{text}\t{count}\n" for text, count in sorted(shared_substrings(lines).items())), "utf-8")
    # So large a vocabulary that nothing is pruned.
    theirs = peer(lines, 3000, seed_sentencepieces_file=str(seeds), num_sub_iterations=3, hard_vocab_limit=False)
    ours = dict(learn_unigram(bp.Counts.of(iter(lines), split=SPLIT), 3000, reserved=3, sub_iterations=3))
    assert ours.keys() == theirs.keys()
    # It sums up in single precision.
    assert max(abs(ours[token] - theirs[token]) for token in ours) < 1e-4


def test_the_text_is_as_likely_as_under_sentencepiece(lines: list[str]) -> None:
    theirs = peer(lines, 300)
    ours = dict(learn_unigram(bp.Counts.of(iter(lines), split=SPLIT), 300, reserved=3))
    assert len(ours) == len(theirs) == 297
    assert len(ours.keys() & theirs.keys()) >= 0.7 * len(theirs)
    assert log_likelihood(ours, lines) >= 1.005 * log_likelihood(theirs, lines)


@pytest.mark.data
def test_the_vocabulary_of_a_play_is_much_like_that_of_sentencepiece(data: Path) -> None:
    path = data / "corpora" / "tinyshakespeare.txt"
    lines = path.read_text("utf-8").splitlines()
    theirs = peer(lines, 2000)
    ours = dict(learn_unigram(bp.Counts.of(path, split=SPLIT), 2000, reserved=3))
    assert len(ours.keys() & theirs.keys()) >= 0.88 * len(theirs)
    assert log_likelihood(ours, lines) >= 1.005 * log_likelihood(theirs, lines)


def test_threads_parts_and_order_change_nothing(lines: list[str]) -> None:
    whole = bp.Counts.of(iter(lines), split=SPLIT, digest=False)
    parts = bp.Counts.of(iter(lines[500:]), split=SPLIT, digest=False) + bp.Counts.of(
        iter(lines[:500]), split=SPLIT, digest=False
    )
    groups = bp.Counts.of({"a": iter(lines[:300]), "b": iter(lines[300:])}, split=SPLIT, digest=False)
    expected = learn_unigram(whole, 250, threads=1)
    for counts, threads in itertools.product([whole, parts, groups], [1, 2, 5]):
        assert learn_unigram(counts, 250, threads=threads) == expected


def test_options_are_those_of_sentencepiece(lines: list[str]) -> None:
    more = [f"{1900 + at % 5} x{at % 90} \u3042\u30a2\u4e00{'zk'[at % 2]}" for at in range(len(lines))]
    lines = [f"{line} {tail}" for line, tail in zip(lines, more, strict=True)]
    counts = bp.Counts.of(iter([*lines, "\u00e8"]), split=SPLIT, digest=False)

    def tokens(**options: Any) -> set[str]:
        return {token for token, _ in learn_unigram(counts, 300, **options)}

    def digits(token: str) -> int:
        return sum(character.isdigit() for character in token)

    usual = tokens()
    assert any(digits(token) > 1 for token in usual)
    assert not any(digits(token) and any(map(str.isalpha, token)) for token in usual)
    assert not any("z" in token and "\u4e00" in token for token in usual)
    assert any("\u3042\u30a2\u4e00" in token for token in usual)
    assert all(len(token.removeprefix("\u2581")) == 1 for token in tokens(split_digits=True) if digits(token))
    assert any("z" in token and "\u4e00" in token for token in tokens(split_by_unicode_script=False))
    assert any(digits(token) and "x" in token for token in tokens(split_by_number=False))
    assert max(map(len, tokens(max_piece_length=3))) == 3
    assert {"@", "\u00e9"} <= tokens(required_chars="@\u00e9")
    assert not {"@", "\u00e9"} & usual
    assert "\u00e8" not in usual
    assert "\u00e8" in tokens(character_coverage=1.0)
    assert not any("\u2581" in token for token in tokens(add_dummy_prefix=False))
    assert tokens(seed_size=40) != usual
    assert tokens(shrinking_factor=0.5) != usual


def test_the_tokenizer_says_how_it_was_made(lines: list[str]) -> None:
    tok = bp.train_unigram(iter(lines), 200, special_tokens=["<pad>", "<unk>"])
    spec = tok.spec
    assert isinstance(spec.model, Unigram)
    assert (spec.model.tokens[0], spec.model.ids[0], spec.model.unk_id) == (b"<unk>", 1, 1)
    assert len(spec.model.tokens) == len(spec.model.scores) == 199
    assert tok.vocab_size == len(tok) == 200
    assert list(spec.model.scores[1:]) == sorted(spec.model.scores[1:], reverse=True)
    assert spec.normalizers == ("NFKC",)
    assert spec.special_tokens == {"<pad>": 0, "<unk>": 1}
    spec.check()
    assert tok.decode(tok.encode("  ".join(lines[0].split()))) == lines[0]
    assert tok.encode("\u4e2d")[-1] == 1
    assert tok == bp.train_unigram(
        bp.Counts.of(iter(lines), split=SPLIT, normalizers=["NFKC"]), 200, special_tokens=["<pad>", "<unk>"]
    )


def test_what_cannot_be_trained_is_refused() -> None:
    counts = bp.Counts.of({"abc": 3}, digest=False)
    with pytest.raises(bp.TrainingError, match=r"use vocab_size=6 or more, or a lower character_coverage"):
        learn_unigram(counts, 5, reserved=2)
    for options in (
        {"character_coverage": 0.0},
        {"character_coverage": float("nan")},
        {"shrinking_factor": 0.99},
        {"max_piece_length": 0},
        {"sub_iterations": 0},
    ):
        (name,) = options
        with pytest.raises(bp.TrainingError, match=f"{name}=.* is out of range"):
            learn_unigram(counts, 50, **options)
    with pytest.raises(bp.TrainingError, match="add '<unk>' to special_tokens"):
        bp.train_unigram({"abc": 3}, 20, special_tokens=[])
    with pytest.raises(bp.TrainingError, match="is not UTF-8"):
        learn_unigram(bp.Counts.of({b"a\xff": 3}, digest=False), 20)
    with pytest.raises(bp.TrainingError, match="no text to train on"):
        bp.train_unigram(iter(["  \n"]), 20)
    with pytest.raises(bp.TrainingError, match="normalizers"):
        bp.train_unigram(counts, 20)
    with pytest.raises(bp.TrainingError, match=r"more than 2\^64"):
        learn_unigram(bp.Counts.of({"ab": 2**63}, digest=False), 20)
    with pytest.warns(bp.TokenizerWarning, match="instead of 50"):
        bp.train_unigram({"abc": 3}, 50)
