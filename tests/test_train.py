"""Training equals the reference trainers, is a function of counts and settings, and reports faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

import bytepair as bp
from bytepair.reference import train_heap, train_naive
from bytepair.training.learning import TIES, Ties

RANDOM_CASES = 400


def pairs(merges: list[bp.Merge]) -> list[str]:
    return [f"{left.decode()} {right.decode()}" for left, right, _ in merges]


@pytest.mark.parametrize("ties", get_args(Ties))
def test_random_counts_give_the_merges_of_the_reference(ties: Ties) -> None:
    random = Random(TIES.index(ties))
    for _ in range(RANDOM_CASES):
        letters = "abc"[: random.randint(1, 3)]
        counts = {"".join(random.choices(letters, k=random.randint(1, 9))): random.randint(1, 4) for _ in range(5)}
        options: dict[str, Any] = {
            "ties": ties,
            "min_frequency": random.randint(0, 4),
            "max_token_length": random.choice([None, 2, 3, 5]),
            "alphabet": random.choice(["bytes", "characters"]),
        }
        if options["alphabet"] == "characters":
            options["end_of_word_suffix"] = random.choice([None, "</w>"])
        expected = train_naive(counts, 20, **options).merges
        assert list(map(tuple, bp.train_merges(counts, 20, **options))) == list(map(tuple, expected)), (counts, options)


@pytest.mark.parametrize("ties", get_args(Ties))
def test_real_text_gives_the_merges_of_the_reference(sources: list[str], ties: Ties) -> None:
    text = sources[0][:30_000]
    counts = Counter(bp.train({"a": 1}, 256, split="gpt2").pieces(text))
    expected = train_heap(counts, 500, ties=ties).merges
    assert list(map(tuple, bp.train_merges(iter([text]), 500, split="gpt2", ties=ties))) == list(map(tuple, expected))


def test_the_worked_examples_of_the_literature() -> None:
    work = bp.train_merges({"work": 2, "worked": 2, "works": 1}, 3, ties="smallest_bytes")
    assert pairs(work) == ["o r", "or k", "w ork"]
    unsplit = {"I work": 2, "I worked": 1, "he works": 1, "he worked": 1}
    assert pairs(bp.train_merges(unsplit, 4, ties="smallest_bytes")) == ["  w", " w o", " wo r", " wor k"]
    assert bp.train_merges(unsplit, 1, ties="smallest_bytes")[0].count == 5
    assert pairs(bp.train_merges({"aaabdaaabace": 1}, 3, ties="lowest_ids")) == ["a a", "a b", "aa ab"]
    hard = bp.train_merges(iter(["low lower hard harder"]), 6, split=r"\w+|\s+", ties="first_seen")
    assert pairs(hard) == ["l o", "lo w", "e r", "h a", "ha r", "har d"]
    sennrich = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    merges = bp.train_merges(sennrich, 10, ties="first_seen", alphabet="characters", end_of_word_suffix="</w>")
    expected = ["e s", "es t", "est </w>", "l o", "lo w", "n e", "ne w", "new est</w>", "low </w>", "w i"]
    assert pairs(merges) == expected


@pytest.mark.parametrize("length", range(1, 12))
def test_a_pair_next_to_itself(length: int) -> None:
    expected = train_naive({"a" * length: 1}, 5, ties="first_seen").merges
    assert list(map(tuple, bp.train_merges({"a" * length: 1}, 5, ties="first_seen"))) == list(map(tuple, expected))


@pytest.mark.parametrize("ties", get_args(Ties))
def test_threads_and_kinds_of_source_change_nothing(tmp_path: Path, sources: list[str], ties: Ties) -> None:
    # Long enough to be cut for several workers, and of lines that repeat.
    text = "\n".join(sources) * 12 + "  \n 1234567 \n\n"
    assert len(text) > 5_000_000
    (tmp_path / "a.txt").write_bytes(text.encode())
    (tmp_path / "b.txt").write_bytes(b"and more")
    options: dict[str, Any] = {"vocab_size": 700, "ties": ties, "special_tokens": ["<|end|>"]}
    one = bp.train(str(tmp_path / "*.txt"), threads=1, **options)
    for threads in (2, 7, 64):
        assert bp.train([tmp_path / "a.txt", tmp_path / "b.txt"], threads=threads, **options).spec == one.spec
    assert bp.train(iter([text, "and more"]), **options).spec == one.spec
    assert bp.train([text.encode(), b"and more"], **options).spec == one.spec


def test_counts_train_as_their_sources_do(tmp_path: Path, sources: list[str]) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(6)]
    for path, text in zip(paths, sources, strict=False):
        path.write_text(text)
    options: dict[str, Any] = {"split": "gpt2", "special_tokens": ["import", "def"], "normalizers": ["NFC"]}
    whole = bp.train_with_statistics(paths, 600, **options)
    halves = [bp.Counts.of(paths[:2], memory="1MB", **options)]
    halves.append(bp.Counts.of(paths[2:], start=halves[0].end, threads=7, **options))
    for counts in (bp.Counts.of(paths[::-1], **options), halves[0] + halves[1], halves[1] + halves[0]):
        trained = bp.train_with_statistics(counts, 600, normalizers=["NFC"], special_tokens=["import", "def"])
        assert trained.tokenizer.fingerprint == whole.tokenizer.fingerprint
        assert trained.merges == whole.merges
        for name in ("rows", "pieces", "text_bytes", "tokens"):
            assert getattr(trained.statistics, name) == getattr(whole.statistics, name)
    # The order of the sources counts where the first one wins, and there alone.
    first = bp.train_with_statistics(paths, 600, ties="first_seen", **options)
    options.pop("split")
    assert bp.train_with_statistics(halves[0] + halves[1], 600, ties="first_seen", **options).merges == first.merges


def test_counts_made_otherwise_are_refused() -> None:
    counts = bp.Counts.of(iter(["low lower"] * 3), split="gpt2", normalizers=["NFC"])
    with pytest.raises(bp.TrainingError, match="with the split gpt2, not 'o200k'"):
        bp.train(counts, 260, split="o200k", normalizers=["NFC"])
    with pytest.raises(bp.TrainingError, match=r"the normalizers \['NFC'\], not \[\]"):
        bp.train(counts, 260)
    with pytest.raises(bp.TrainingError, match="the field 'text' has no effect on counts"):
        bp.train(counts, 260, normalizers=["NFC"], field="text")
    tok = bp.train(counts, 260, split="gpt2", normalizers=["NFC"])
    assert tok.spec.split == bp.train(counts, 260, normalizers=["NFC"]).spec.split
    assert tok.pieces("low lower") == ["low", " lower"]


def test_weights_and_rare_pieces() -> None:
    source = {"en": iter(["ab ab ab"]), "fr": iter(["cd cd cd cd"])}
    counts = bp.Counts.of(source, split=r"\w+|\s+")
    for weights, winner, count in (
        (None, b"c", 4),
        ({"en": 2}, b"a", 6),
        ({"en": "0.5", "fr": "0.3"}, b"a", 15),
        ({"en": "0.5", "fr": "0.4"}, b"c", 16),
    ):
        merges = bp.train_with_statistics(counts, 257, weights=weights, min_frequency=0).merges
        assert (merges[0].left, merges[0].count) == (winner, count)
    with pytest.raises(bp.TrainingError, match="no group 'de'"):
        bp.train(counts, 257, weights={"de": 2})
    # min_frequency and min_count are in occurrences, for every denominator.
    for factor in (1, "0.5", "0.25"):
        scaled = counts.scale(factor)
        needed = 4 * float(factor)
        assert len(bp.train_with_statistics(scaled, 257, min_frequency=int(needed)).merges) == 1
        with pytest.warns(bp.TokenizerWarning):
            assert not bp.train_with_statistics(scaled, 257, min_frequency=int(needed) + 1).merges
    assert bp.train_with_statistics(counts, 257, min_count=4).merges[0].left == b"c"
    assert bp.train_with_statistics(counts, 257, min_count=4).statistics.rows == 1
    with pytest.raises(bp.TrainingError, match="no text"):
        bp.train(counts, 257, min_count=5)


def test_too_little_memory_is_said_before_merging() -> None:
    told: list[bp.Progress] = []
    texts = [f"word{number}" for number in range(50_000)]
    with pytest.raises(bp.TrainingError, match=r"50,000 distinct pieces needs up to .* min_count=2"):
        bp.train(iter(texts), 300, split="none", memory="1MB", progress=told.append)
    assert {state.phase for state in told} == {"count"}
    assert bp.train(iter(texts), 300, split="none", memory="1GB").vocab_size == 300


def test_one_hash_whatever_the_threads_shards_and_orders(tmp_path: Path, sources: list[str]) -> None:
    for number, text in enumerate(sources[:5]):
        (tmp_path / f"{number}.txt").write_text(text)
    script = (
        "import hashlib, sys, bytepair as bp\n"
        "from pathlib import Path\n"
        "threads, order, shards, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3] == 'shards', Path(sys.argv[4])\n"
        "paths = [folder / f'{number}.txt' for number in order]\n"
        "if shards:\n"
        "    source = bp.Counts.of(paths[:2], threads=threads) + bp.Counts.of(paths[2:], threads=threads)\n"
        "else:\n"
        "    source = paths\n"
        "tok = bp.train(source, 700, threads=threads, special_tokens=['<|end|>'])\n"
        "tok.save(folder / f'out{threads}{order}.json')\n"
        "print(hashlib.sha256((folder / f'out{threads}{order}.json').read_bytes()).hexdigest())"
    )
    hashes = set()
    for seed, (threads, order, kind) in enumerate(
        [(1, "01234", "whole"), (2, "43210", "whole"), (7, "20143", "shards"), (64, "01234", "shards")]
    ):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, "-c", script, str(threads), order, kind, str(tmp_path)]
        hashes.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(hashes) == 1


def test_cuts_are_exact_even_where_scans_do_not_settle() -> None:
    # Digits in threes and one endless run: a scan that starts elsewhere never meets the first one's boundaries.
    text = "".join(Random(5).choices("0123456789", k=3_500_000))
    one = bp.train(iter([text]), 300, split="cl100k", threads=1)
    assert bp.train(iter([text]), 300, split="cl100k", threads=3).spec == one.spec
    assert len(one.pieces(text[:3_000])) == 1_000


def test_special_tokens_are_cut_out_before_counting() -> None:
    tok = bp.train(iter(["ab<|x|>ab<|x|>ab"]), 258, split="none", special_tokens=["<|x|>"])
    assert tok.spec.byte_pair.tokens[256:] == (b"ab",)


def test_id_layouts() -> None:
    last = bp.train({"ab": 2}, 258, special_tokens=["<|x|>"])
    assert (last.token_id("a"), last.token_id("ab"), last.token_id("<|x|>")) == (97, 256, 257)
    first = bp.train({"ab": 2}, 258, special_tokens=["<|x|>"], special_ids="first")
    assert (first.token_id("<|x|>"), first.token_id("a"), first.token_id("ab")) == (0, 98, 257)
    gpt2 = bp.train({"ab": 2}, 257, byte_order="gpt2")
    assert (gpt2.token_id("!"), gpt2.token_id(" "), gpt2.token_id("ab")) == (0, 220, 256)


def test_all_bytes_round_trip() -> None:
    tok = bp.train({"mañana": 3}, 260)
    for byte in range(256):
        assert tok.decode_bytes([tok.token_id(bytes([byte]))]) == bytes([byte])
    assert tok.tokens("mañana")[0].startswith(b"ma")


def test_counts_are_exact_up_to_64_bits() -> None:
    assert bp.train_merges({"ab": 2**63}, 1)[0].count == 2**63
    with pytest.raises(bp.TrainingError, match=r"more than 2\^64"):
        bp.train_merges({"ab": 2**63, "xab": 2**63}, 1)
    with pytest.raises(bp.TrainingError, match="above 2"):
        bp.train_merges({"ab": 2**64}, 1)


def test_running_out_of_pairs_warns() -> None:
    with pytest.warns(bp.TokenizerWarning, match="258 tokens instead of 300"):
        tok = bp.train({"abc": 5}, 300)
    assert len(tok) == 258
    with pytest.warns(bp.TokenizerWarning):
        assert len(bp.train({"abc": 1}, 300)) == 256


@pytest.mark.parametrize(
    ("source", "options", "error", "says"),
    [
        ({}, {}, bp.TrainingError, "no text"),
        (iter([]), {}, bp.TrainingError, "no text"),
        (iter([""]), {}, bp.TrainingError, "no text"),
        ({"a": 0}, {}, bp.TrainingError, "count 0"),
        ({"a": 1}, {"vocab_size": 255}, bp.TrainingError, "leaves no room"),
        ({"a": 1}, {"vocab_size": 256, "special_tokens": ["<x>"]}, bp.TrainingError, "pass vocab_size=257"),
        ({"a": 1}, {"special_tokens": ["<x>", "<x>"]}, bp.TrainingError, "listed twice"),
        ({"a": 1}, {"special_tokens": [""]}, bp.TrainingError, "is empty"),
        ({"a": 1}, {"special_tokens": "<x>"}, TypeError, "a list of str"),
        ({"a": 1}, {"split": "GPT2"}, bp.PatternError, "did you mean 'gpt2'"),
        ({"a": 1}, {"split": "(a"}, bp.PatternError, "does not compile"),
        ({"a": 1}, {"min_frequency": -1}, bp.TrainingError, "min_frequency=-1"),
        ({"a": 1}, {"ties": "random"}, ValueError, "use one of lowest_ids"),
        ({"a": 1}, {"special_ids": "middle"}, ValueError, "special_ids"),
        ({"a": 1}, {"threads": 0}, ValueError, "threads=0"),
        ("no/such/*.txt", {}, bp.TrainingError, "no file matches"),
        (["just a text"], {}, bp.TrainingError, "iter"),
        (iter([3]), {}, TypeError, "text 0"),
        (b"bytes", {}, TypeError, "list of texts"),
        (iter(["ok", "a\ud800"]), {}, bp.EncodeError, r"row 1, character 1, byte 1"),
        ([b"ok", b"a\xff"], {}, bp.EncodeError, r"0xFF .*row 1, character 1, byte 1"),
    ],
)
def test_what_is_wrong_is_said(source: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        bp.train(source, **{"vocab_size": 300, **options})


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("good good")
    (tmp_path / "bad.txt").write_bytes(b"good \xc3\xa9\xff")
    with pytest.raises(bp.EncodeError, match=r"file .*bad\.txt, character 6, byte 7"):
        bp.train([tmp_path / "good.txt", tmp_path / "bad.txt"], 256)
    tok = bp.train([tmp_path / "good.txt", tmp_path / "bad.txt"], 258, errors="replace")
    assert len(tok) == 258


def test_progress_is_told() -> None:
    told: list[bp.Progress] = []
    bp.train(iter(["low lower " * 1000]), 260, progress=told.append)
    assert {state.phase for state in told} == {"count", "merge"}
    assert (told[-1].done, told[-1].total) == (4, 4)
    with pytest.raises(RuntimeError, match="enough"):
        bp.train(iter(["low lower " * 1000]), 260, progress=_fail)
    with pytest.raises(ValueError, match="progress='yes'"):
        bp.train({"a": 1}, 256, progress="yes")


def _fail(_: bp.Progress) -> None:
    raise RuntimeError("enough")


def dna(letters: int) -> bytes:
    """Random letters of DNA, which no pattern splits."""
    return Random(4).randbytes(letters // 4).hex().translate(str.maketrans("0123456789abcdef", "ACGT" * 4)).encode() * 2


@pytest.mark.parametrize("ties", TIES)
def test_one_giant_piece_learns_what_the_reference_learns(ties: Ties) -> None:
    piece = dna(6_000)
    expected = train_heap({piece: 1}, 80, ties=ties).merges
    assert [*map(tuple, bp.train_merges([piece], 80, split="gpt2", ties=ties))] == [*map(tuple, expected)]
    tripled = [(left, right, 3 * count) for left, right, count in expected]
    assert [*map(tuple, bp.train_merges({piece: 3}, 80, ties=ties))] == tripled


@pytest.mark.skipif("BYTEPAIR_DNA_MB" not in os.environ, reason="set BYTEPAIR_DNA_MB=100 for a piece of so much")
def test_one_endless_piece() -> None:
    """A thousand merges of one piece; rewriting it for each would take hours."""
    piece = dna(int(os.environ["BYTEPAIR_DNA_MB"]) << 20)
    trained = bp.train_with_statistics([piece], 1256, split="o200k")
    assert (trained.statistics.rows, trained.statistics.text_bytes) == (1, len(piece))
    # Merges only take occurrences away: each is as frequent as it was when it was chosen, or less so.
    counts = [merge.count for merge in trained.merges]
    assert counts == sorted(counts, reverse=True)
    # The encoder merges by other means.
    assert trained.tokenizer.count(piece) == trained.statistics.tokens


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent with os.kill")
def test_ctrl_c_stops_training() -> None:
    """In a process of its own: one giant piece, whose merging takes many times as long as the delay of the signal."""
    script = "import bytepair as bp, random; r = random.Random(1)\n"
    script += "text = ''.join(r.choices('abcdefgh', k=2_000_000)) * 30; print('go', flush=True)\n"
    script += "bp.train(iter([text]), 30_000, split='none')"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    timer = threading.Timer(0.7, os.kill, (child.pid, signal.SIGINT))
    timer.start()
    try:
        _, stderr = child.communicate(timeout=60)
    finally:
        timer.cancel()
        child.kill()
    assert b"KeyboardInterrupt" in stderr


def test_any_normalizer_can_stand_before_the_split() -> None:
    steps = ("NFKC", "Lowercase", '{"type": "Replace", "content": "x", "pattern": {"String": "y"}}')
    tok = bp.train(iter(["LOW ＬＯＷ lowY lowy"] * 3), 260, split="gpt2", normalizers=steps)
    assert tok.spec.normalizers == steps
    assert tok.encode("ＬＯＷ") == tok.encode("low")
    assert tok.decode(tok.encode("LowY")) == "lowx"
    with pytest.raises(bp.FormatError, match="Louder"):
        bp.train(iter(["low"]), 260, normalizers=("Louder",))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_memory_of_a_process_is_not_that_of_the_one_that_started_it() -> None:
    large = b"1" * 300_000_000
    code = "from bytepair.training.memory import peak_memory; print(peak_memory())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 10_000_000 < int(done.stdout) < len(large)
