"""The trainers that bytepair is compared with, each behind one call from a file to its merges.

Run as ``python -m benchmarks.trainers NAME CORPUS TOKENS THREADS`` it is the process that `train` measures. It imports
nothing but the standard library and one trainer, since all else would count as memory of that trainer.

Trainers with the same `rule` must return equal results. ``gpt2``: bytes have the ids of the GPT-2 byte alphabet, and
ties go to the pair with the lowest ids; ``raw``: likewise, with byte values as ids; ``own``: another algorithm, whose
number of tokens alone is checked. To add a trainer, write a function and add it to `TRAINERS`.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.worker import digest, peak

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BLOCK = 1 << 14
BUFFER = 256
"""How many blocks a trainer that takes an iterator may hold: it is as fast as with more, and they are 4 MB. With
smaller blocks, or lines, all that take them are slower; with larger ones some take more memory."""

LONGEST = 1 << 30
"""More than the longest line or token, for trainers that skip longer ones than their limit."""

COVERAGE = 0.9995
"""The share of a text whose characters are tokens, for trainers that start from characters: all would be too many."""


def blocks(corpus: Path) -> Iterator[str]:
    """The text in blocks of about 16 KB, cut only where no piece changes: after a line break between two characters
    that are no white space.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    seam = re.compile(r"(?<=\S\n)(?=\S)")
    rest = ""
    with corpus.open("rb") as file:
        while block := file.read(BLOCK):
            rest += decode(block)
            cut = 0
            for found in seam.finditer(rest, max(0, len(rest) - 4096)):
                cut = found.start()
            if cut:
                yield rest[:cut]
                rest = rest[cut:]
    if rest:
        yield rest


def _bytepair(corpus: Path, tokens: int, threads: int, byte_order: Literal["gpt2", "raw"]) -> Any:
    import bytepair as bp

    warnings.simplefilter("ignore", bp.TokenizerWarning)
    model = bp.train(
        corpus, tokens, split="gpt2", ties="lowest_ids", byte_order=byte_order, min_frequency=1, threads=threads
    ).spec.byte_pair
    if byte_order == "raw":
        return list(model.tokens)
    return [(model.tokens[left], model.tokens[right]) for left, right in model.merges or ()]


def _bytepair_gpt2(corpus: Path, tokens: int, threads: int) -> Any:
    return _bytepair(corpus, tokens, threads, "gpt2")


def _bytepair_raw(corpus: Path, tokens: int, threads: int) -> Any:
    return _bytepair(corpus, tokens, threads, "raw")


def _tokenizers(corpus: Path, tokens: int, _: int) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    trainer = trainers.BpeTrainer(
        vocab_size=tokens, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tok.train_from_iterator(blocks(corpus), trainer)
    with tempfile.TemporaryDirectory() as folder:
        tok.model.save(folder)
        lines = (Path(folder) / "merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    spelled = {**dict(zip(printable, printable, strict=True)), **{256 + n: byte for n, byte in enumerate(others)}}
    return [tuple(half.translate(spelled).encode("latin-1") for half in line.split(" ")) for line in lines]


def _gigatoken(corpus: Path, tokens: int, threads: int) -> Any:
    import gigatoken

    # Without a separator of one's own it takes <|endoftext|> for one. A source takes less memory but is slower on two
    # threads, which share out the parts of a path but the files of a source.
    if threads == 1:
        return gigatoken.train_bpe(gigatoken.TextFileSource([corpus]), tokens, [])[1]
    return gigatoken.train_bpe(corpus, tokens, [], separator=b"\xff")[1]


def _rustbpe(corpus: Path, tokens: int, _: int) -> Any:
    import rustbpe

    tok = rustbpe.Tokenizer()
    tok.train_from_iterator(blocks(corpus), tokens, BUFFER, GPT2)
    return [bytes(token) for token, _ in sorted(tok.get_mergeable_ranks(), key=lambda one: one[1])]


def _bpeasy(corpus: Path, tokens: int, _: int) -> Any:
    import bpeasy

    ranks = bpeasy.train_bpe(blocks(corpus), GPT2, LONGEST, tokens, BUFFER)
    return sorted(ranks, key=ranks.__getitem__)


def _ffbpe(corpus: Path, tokens: int, _: int) -> Any:
    import ffbpe

    counter = ffbpe.PreTokenizer([], pat_str=GPT2).word_counter()
    counter.add_source(blocks(corpus), max_bytes=BUFFER * BLOCK)
    trainer = ffbpe.BpeTrainer([], initial_alphabet="raw", tie_break="smallest_pair_id")
    trainer.add_word_counter(counter)
    trainer.train(tokens)
    ids = trainer.vocab
    return sorted(ids, key=ids.__getitem__)


def _sentencepiece(corpus: Path, tokens: int, threads: int) -> Any:
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus),
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=tokens,
            byte_fallback=True,
            character_coverage=COVERAGE,
            normalization_rule_name="identity",
            max_sentence_length=LONGEST,
            num_threads=threads,
            train_extremely_large_corpus=True,
            minloglevel=2,
        )
        return Path(folder, "model.vocab").read_bytes().count(b"\n")


def _youtokentome(corpus: Path, tokens: int, threads: int) -> Any:
    import youtokentome

    with tempfile.TemporaryDirectory() as folder:
        return youtokentome.BPE.train(
            str(corpus), f"{folder}/model", tokens, coverage=COVERAGE, n_threads=threads
        ).vocab_size()


@dataclass(frozen=True)
class Trainer:
    """A trainer: a call from corpus, number of tokens and number of threads to its merges; the rule it follows."""

    train: Callable[[Path, int, int], Any]
    rule: Literal["gpt2", "raw", "own"]


RAW = "bytepair-raw"
TRAINERS = {
    "bytepair": Trainer(_bytepair_gpt2, "gpt2"),
    RAW: Trainer(_bytepair_raw, "raw"),
    "gigatoken": Trainer(_gigatoken, "gpt2"),
    "rustbpe": Trainer(_rustbpe, "raw"),
    "sentencepiece": Trainer(_sentencepiece, "own"),
    "youtokentome": Trainer(_youtokentome, "own"),
    "ffbpe": Trainer(_ffbpe, "raw"),
    "tokenizers": Trainer(_tokenizers, "gpt2"),
    "bpeasy": Trainer(_bpeasy, "raw"),
}


def main(name: str, corpus: str, tokens: str, threads: str) -> dict[str, Any]:
    """Train, and print a `digest` of the result and the ``peak`` of memory in MB."""
    learned = TRAINERS[name].train(Path(corpus), int(tokens), int(threads))
    most = peak()
    return {"learned": digest(learned), "peak": most}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
