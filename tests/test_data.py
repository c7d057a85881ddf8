"""Real vocabularies and texts, if present: the ids of the libraries that they were made for."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load

import bytepair as bp
from bytepair.formats.encodings import ENCODINGS
from bytepair.model import byte_alphabet
from tests.conftest import WHOLE, data_folder
from tests.test_peers import TIKTOKEN

pytestmark = pytest.mark.data

# The start of each text is enough for every commit; BYTEPAIR_WHOLE=1 takes all of it, some minutes long.
CHARACTERS = None if WHOLE else 200_000


# As the tokenizer of Kimi K2 is published.
KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@cache
def texts(folder: Path) -> dict[str, str]:
    found = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("corpora/*.txt"))}
    found["fra.txt"] = unpacked(folder / "corpora" / "fra.txt.xz").decode()
    return {name: text[:CHARACTERS] for name, text in found.items()}


def unpacked(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


@pytest.mark.parametrize("name", ENCODINGS)
def test_published_encodings_are_tiktokens(data: Path, name: str) -> None:
    tok = bp.get_encoding(name, folder=data / "vocabs" / "openai")
    encoding = ENCODINGS[name]
    model = tok.spec.byte_pair
    peer = tiktoken.Encoding(
        name,
        pat_str=TIKTOKEN[encoding.split],
        mergeable_ranks=dict(zip(model.tokens, model.ids, strict=True)),
        special_tokens=dict(encoding.special_tokens),
    )
    assert tok.vocab_size == peer.n_vocab
    for title, text in texts(data).items():
        ids = tok.encode(text, special="allow")
        assert ids == peer.encode(text, allowed_special="all"), title
        assert tok.decode(ids) == text
        assert tok.count(text, special="allow") == len(ids)


def test_published_rank_files_need_no_options(data: Path) -> None:
    folder = data / "vocabs" / "openai"
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        assert bp.load(folder / f"{name}.tiktoken") == bp.get_encoding(name, folder=folder)


def test_gpt2_files_of_three_kinds_are_one_tokenizer(data: Path) -> None:
    vocab = bp.Tokenizer.from_file(data / "vocabs/gpt2/vocab.json", special_tokens={"<|endoftext|>": 50256})
    table = bp.Tokenizer.from_file(data / "vocabs/gpt2/tokenizer.json")
    ranks = bp.get_encoding("gpt2", folder=data / "vocabs/openai")
    assert vocab.spec.byte_pair == table.spec.byte_pair
    assert vocab.spec.byte_pair.merges is not None
    for text in texts(data).values():
        ids = ranks.encode(text, special="allow")
        assert ids == vocab.encode(text, special="allow") == table.encode(text, special="allow")


@pytest.mark.parametrize(
    ("file", "split"),
    [
        ("kimi-k2/tiktoken.model", KIMI),
        ("llama3/tokenizer.model", bp.SPLIT_PATTERNS["llama3"]),
        ("qwen/qwen.tiktoken", bp.SPLIT_PATTERNS["qwen2"]),
    ],
)
def test_rank_files_are_tiktokens(data: Path, file: str, split: str) -> None:
    path = data / "vocabs" / file
    tok = bp.Tokenizer.from_file(path, split=split)
    with pytest.warns(bp.TokenizerWarning, match="does not hold the special tokens of its model"):
        assert bp.load(path) == tok
    ranks = tiktoken.load.load_tiktoken_bpe(str(path))
    peer = tiktoken.Encoding(file, pat_str=split, mergeable_ranks=ranks, special_tokens={})
    for title, text in texts(data).items():
        ids = tok.encode(text)
        assert ids == peer.encode_ordinary(text), title
        assert tok.decode(ids) == text


def test_a_folder_with_a_rank_file_has_the_special_tokens_of_its_config(data: Path) -> None:
    tok = bp.load(data / "vocabs" / "kimi-k2")
    assert tok.encode("hi<|im_end|>", special="allow")[-1] == tok.token_to_id("<|im_end|>") == 163586


@pytest.mark.parametrize(
    ("name", "ties"), [("tinystories_sample_5M", "lowest_ids"), ("TinyStoriesV2-GPT4-train", "greatest_bytes")]
)
def test_golden_merges(data: Path, name: str, ties: str) -> None:
    counts = json.loads((data / "golden" / f"_words.{name}.json").read_text("utf-8"))
    lines = (data / "golden" / f"merges.{name}.txt").read_text("utf-8").splitlines()
    merges = bp.train_merges(counts, len(lines), ties=ties)  # type: ignore[arg-type]
    spell = byte_alphabet.to_characters
    assert [f"{spell(left)} {spell(right)} => {count}" for left, right, count in merges] == lines


def test_there_is_data_in_the_data_folder() -> None:
    if not data_folder().is_dir():
        pytest.skip("no real data: set BYTEPAIR_DATA")
    assert len(texts(data_folder())) >= 5
