"""Training in stages: merges within words, then across them, are those of two naive stages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

import bytepair as bp
from bytepair.cli import main
from bytepair.reference import Pair, merge_pair, train_staged
from bytepair.training.learning import Ties

pytestmark = pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")

SPLITS = ("gpt2", "superwords", "none", r"\S+", r"[^a]+|a")


def merges_of(tok: bp.Tokenizer) -> list[Pair]:
    return [(tok.token_bytes(left), tok.token_bytes(right)) for left, right in tok.spec.byte_pair.merges or ()]


def pieces_of(texts: list[str], split: str, special: list[str]) -> dict[bytes, int]:
    """The pieces of some texts without special tokens, in order."""
    tok = bp.train({"a": 1}, 256 + len(special), split=split, special_tokens=special)
    plain = bp.Tokenizer(tok.spec.replace(added_tokens=()))
    parts = [part for text in texts for part in (text.split(special[0]) if special else [text])]
    return dict(Counter(piece.encode() for part in parts for piece in plain.pieces(part)))


def random_texts(random: Random) -> list[str]:
    letters = random.choice(["ab ", "aab  :1", "abé \n1"])
    return ["".join(random.choices(letters, k=random.randint(1, 40))) for _ in range(random.randint(1, 4))]


def test_stages_are_two_naive_stages() -> None:
    random = Random(1)
    for case in range(150):
        texts = random_texts(random)
        special = random.choice([[], ["b:"]])
        ends = [random.randint(0, 8), random.randint(0, 8), random.randint(1, 8)][random.choice([0, 1]) :]
        splits = random.choices(SPLITS, k=len(ends))
        options: dict[str, Any] = {
            "ties": random.choice(get_args(Ties)),
            "min_frequency": random.randint(1, 2),
            "max_words": random.choice([None, 1, 2, 3]),
            "max_token_length": random.choice([None, 4]),
        }
        first = 256 + len(special)
        begins = [first + sum(ends[:number]) for number in range(len(ends) + 1)]
        tok = bp.train(
            texts_of(texts),
            begins[-1],
            split=splits[0],
            stages=list(zip(begins[1:-1], splits[1:], strict=True)),
            special_tokens=special,
            special_ids=random.choice(["first", "last"]),
            **options,
        )
        learned: list[Pair] = []
        stages: list[tuple[dict[bytes, int], int]] = []
        for end, split in zip(begins[1:], splits, strict=True):
            # A stage that ran out of pairs leaves its merges to the next one.
            stages.append((pieces_of(texts, split, special), end - first - len(learned)))
            learned = train_staged(stages, **options).pairs
        assert merges_of(tok) == learned, (case, texts, splits, options)
        for piece in stages[-1][0]:
            symbols = [bytes([byte]) for byte in piece]
            for pair in learned:
                symbols = merge_pair(symbols, pair)
            assert [tok.token_bytes(id) for id in tok.encoder("heap").encode_piece(piece)] == symbols


class Texts(list[bytes]):
    """Texts that can be read again, and are no paths."""


def texts_of(texts: list[str]) -> Any:
    return Texts(text.encode() for text in texts)


TEXT = "by the way: by the way, 12345 of the way\nof the way: 1\n" * 4


def test_a_stage_is_an_extension_with_another_split() -> None:
    tok = bp.train(texts_of([TEXT]), 290, split="gpt2", stages=[(270, "superwords")], max_words=2)
    first = bp.train(texts_of([TEXT]), 270, split="gpt2", max_words=2)
    assert bp.extend(first, texts_of([TEXT]), 290, split="superwords", max_words=2) == tok
    assert tok.spec.split == (bp.SPLIT_PATTERNS["superwords"],)
    new = tok.spec.byte_pair.tokens[270:]
    assert b" the way" in new
    # Words at most, not across a colon, and digits apart.
    assert all(len(token.split()) <= 2 and b": " not in token for token in new)
    assert b"".join(tok.tokens(TEXT)) == TEXT.encode()
    assert tok.pieces("in 12345: of\n\nthe") == ["in ", "123", "45", ":", " of\n\n", "the"]


def test_peers_read_the_same_ids(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers").Tokenizer
    tok = bp.train(texts_of([TEXT]), 300, split="gpt2", stages=[(270, "superwords")])
    tok.save(tmp_path)
    assert bp.load(tmp_path) == tok
    theirs = library.from_file(str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "of the way by the way", "a: b 12 34567\r\n\r\n c", ""):
        assert theirs.encode(text).ids == tok.encode(text)


@pytest.mark.parametrize(
    ("source", "stages", "says"),
    [
        (iter(["a b"]), [(260, "none")], "an iterator can be read once"),
        ({"x": iter(["a b"])}, [(260, "none")], "an iterator can be read once"),
        ({"a b": 2}, [(260, "none")], "cannot be split again"),
        (bp.Counts.of(iter(["a b"])), [(260, "none")], "cannot be split again"),
        (texts_of(["a b"]), [(280, "none")], "begins at 280 tokens, which is not between 256 and 269"),
        (texts_of(["a b"]), [(260, "none"), (259, "gpt2")], "begins at 259 tokens, which is not between 260"),
        (texts_of(["a b"]), [(260, "gpt-2")], "there is no split pattern"),
    ],
)
def test_stages_that_cannot_be_are_refused(source: Any, stages: Any, says: str) -> None:
    with pytest.raises(bp.BytepairError, match=says):
        bp.train(source, 270, stages=stages)


def test_a_checkpoint_is_for_one_stage(tmp_path: Path) -> None:
    with pytest.raises(bp.TrainingError, match="a checkpoint keeps the counts of one stage"):
        bp.train(texts_of(["a b"]), 270, stages=[(260, "none")], checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_the_log_has_the_merges_of_all_stages(tmp_path: Path) -> None:
    log = tmp_path / "merges.jsonl"
    tok = bp.train(texts_of([TEXT]), 290, split="gpt2", stages=[(270, "superwords")], log=log)
    assert len(log.read_text().splitlines()) == len(merges_of(tok)) > 14


def test_the_command_line_has_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    train = ["train", str(file), "--split", "gpt2", "--max-words", "2", "--vocab-size"]
    assert main([*train, "290", "--stage", "270:superwords", "-o", str(tmp_path / "both")]) == 0
    assert main([*train, "270", "-o", str(tmp_path / "first")]) == 0
    extend = ["extend", "-m", str(tmp_path / "first"), str(file), "--vocab-size", "290", "--stage", "superwords"]
    assert main([*extend, "--max-words", "2", "-o", str(tmp_path / "then")]) == 0
    assert bp.load(tmp_path / "both") == bp.load(tmp_path / "then")
    for wrong in (["--stage", "270"], ["--stage", "x:none"], ["--stage", "270:none", "--engine", "local"]):
        with pytest.raises(SystemExit):
            main([*train, "290", *wrong, "-o", str(tmp_path / "none")])
    assert "--stage" in capsys.readouterr().err
