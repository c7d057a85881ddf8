"""The published encodings on the real rank files: examples of tiktoken's README and tests, and random texts."""

from __future__ import annotations

import pickle
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import tiktoken as peer
from tiktoken import load as peer_load
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from bytepair.compat import tiktoken
from bytepair.compat.tiktoken import registry
from tests.compat.test_tiktoken import answer
from tests.compat.test_tiktoken_files import DOCUMENT
from tests.conftest import HOSTILE
from tests.test_data import KIMI, texts
from tests.test_docs import python_blocks, run_as_written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.data

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]


@pytest.fixture(autouse=True, scope="module")
def offline(data: Path) -> Any:
    """Both find the published files in the data folder, and nothing else."""
    files = {"vocab.bpe": data / "vocabs/gpt2/merges.txt", "encoder.json": data / "vocabs/gpt2/vocab.json"}

    def read(address: str, expected_hash: str | None = None) -> bytes:
        name = address.rpartition("/")[2]
        found: bytes = files.get(name, data / "vocabs/openai" / name).read_bytes()
        assert expected_hash is None or peer_load.check_hash(found, expected_hash)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYTEPAIR_ENCODINGS", str(data / "vocabs" / "openai"))
        patch.setattr(registry, "ENCODINGS", {})
        patch.setattr(peer_load, "read_file_cached", read)
        yield


@cache
def theirs(name: str) -> Any:
    return peer.Encoding(**getattr(openai_public, name)())


def test_the_first_lines_of_the_readme() -> None:
    enc = tiktoken.get_encoding("o200k_base")
    assert enc.decode(enc.encode("hello world")) == "hello world"
    assert tiktoken.encoding_for_model("gpt-4o") is enc


def test_the_readme_extends_cl100k() -> None:
    cl100k_base = tiktoken.get_encoding("cl100k_base")
    made = {"<|im_start|>": 100264, "<|im_end|>": 100265}
    enc = tiktoken.Encoding(
        name="cl100k_im",
        pat_str=cl100k_base._pat_str,
        mergeable_ranks=cl100k_base._mergeable_ranks,
        special_tokens={**cl100k_base._special_tokens, **made},
    )
    text = "<|im_start|>user\nhello world<|im_end|>\n"
    assert enc.encode(text, allowed_special=set(made)) == [100264, 882, 198, 15339, 1917, 100265, 198]
    assert enc.decode(enc.encode(text, allowed_special="all")) == text
    assert cl100k_base.encode(text, disallowed_special=()) == cl100k_base.encode(text)


@pytest.mark.parametrize("name", NAMES)
def test_each_published_encoding_is_theirs(name: str) -> None:
    enc, other = tiktoken.get_encoding(name), theirs(name)
    for what in (
        "name",
        "n_vocab",
        "max_token_value",
        "eot_token",
        "special_tokens_set",
        "_special_tokens",
        "_pat_str",
    ):
        assert getattr(enc, what) == getattr(other, what), what
    assert enc._mergeable_ranks == other._mergeable_ranks
    assert enc.token_byte_values() == other.token_byte_values()
    for id in [*range(10_000), *range(enc.n_vocab - 1200, enc.n_vocab + 2)]:
        token = answer(other, "decode_single_token_bytes", id)
        assert answer(enc, "decode_single_token_bytes", id) == token
        assert enc.is_special_token(id) == other.is_special_token(id)
        if isinstance(token, bytes):
            assert enc.encode_single_token(token) == id
    for token, id in other._special_tokens.items():
        assert enc.encode_single_token(token) == id
        assert enc.encode(f"a{token}b", allowed_special="all") == other.encode(f"a{token}b", allowed_special="all")


def test_texts_of_their_tests() -> None:
    gpt2, cl100k = tiktoken.get_encoding("gpt2"), tiktoken.get_encoding("cl100k_base")
    for name in ("gpt2", "r50k_base", "p50k_base"):
        assert tiktoken.get_encoding(name).encode("hello world") == [31373, 995]
    assert cl100k.encode("hello world") == [15339, 1917]
    assert gpt2.encode("hello <|endoftext|>", allowed_special="all") == [31373, 220, 50256]
    assert cl100k.encode("hello <|endoftext|>", allowed_special="all") == [15339, 220, 100257]
    for zeros in range(1, 40):
        assert gpt2.encode("0" * zeros) == theirs("gpt2").encode("0" * zeros)
    assert [gpt2.encode("0" * zeros) for zeros in (9, 17)] == [[10535, 830], [8269, 10535, 830]]
    for text in ["rer", "'rer", "today\n ", "today\n \n", "today\n  \n", " \x850"]:
        assert cl100k.encode(text) == theirs("cl100k_base").encode(text)
    assert cl100k.encode("today\n  \n") == [31213, 14211]
    assert cl100k._encode_bytes(b" \xec\x8b\xa4\xed") == [62085]
    assert cl100k.encode("\ud83d\udc4d") == cl100k.encode("👍") == [9468, 239, 235]
    assert len(tiktoken.get_encoding("o200k_base").encode("x" * 1_000_000)) > 100_000
    assert gpt2.encode_with_unstable("hello fanta")[0] == [31373]


def test_offsets_of_their_tests() -> None:
    enc = tiktoken.get_encoding("cl100k_base")
    for text, starts in [
        ("hello world", [0, 5]),
        ("hello world<|endoftext|> green cow", [0, 5, 11, 24, 30]),
        ("我非常渴望与人工智能一起工作", [0, 1, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13]),
        ("நடிகர் சூர்யா", [0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 9, 10, 11, 12, 12]),
        (" Ġ除", [0, 1]),
    ]:
        assert enc.decode_with_offsets(enc.encode(text, allowed_special="all")) == (text, starts)


def test_a_published_encoding_is_pickled_by_its_name() -> None:
    enc = tiktoken.get_encoding("r50k_base")
    data = pickle.dumps(enc)
    assert len(data) < 200
    again = pickle.loads(data)
    assert again.encode("hello world") == enc.encode("hello world")
    custom = tiktoken.Encoding(
        name="custom_enc",
        pat_str=enc._pat_str,
        mergeable_ranks=enc._mergeable_ranks,
        special_tokens={"<|pickle|>": 100_000},
    )
    again = pickle.loads(pickle.dumps(custom))
    assert again.encode("hello world") == custom.encode("hello world") == [31373, 995]
    assert again.encode("<|pickle|>", allowed_special="all") == [100_000]


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base", "o200k_harmony"])
def test_no_text_and_no_call_tells_them_apart(data: Path, name: str) -> None:
    enc, other = tiktoken.get_encoding(name), theirs(name)
    draw = random.Random(name)
    real = list(texts(data).values())
    special = ["<|endoftext|>", "<|endofprompt|>", "<|reserved_200018|>", "<|fim_prefix|>"]
    some = {"<|endoftext|>", "<|reserved_200018|>", "none of them"}
    pieces = ["\n", "  ", "\u3000", "é", "漢字", "🦊", "'S", "123", "\x85", "\ud83d"]
    for _ in range(150):
        text = ""
        for _ in range(draw.randrange(5)):
            whole = draw.choice(real)
            start = draw.randrange(len(whole))
            random_text = "".join(chr(draw.randrange(0x20, 0xD800)) for _ in range(5))
            text += draw.choice([whole[start : start + 30], *draw.sample(pieces, 2), draw.choice(special), random_text])
        text = draw.choice([text] * 9 + HOSTILE)
        options = {
            "allowed_special": draw.choice(["all", set(), some]),
            "disallowed_special": draw.choice(["all", (), some]),
        }
        ids = other.encode(text, allowed_special="all")[draw.randrange(3) :]
        # Some ends have ten thousand completions; those of o200k_harmony are those of o200k_base.
        many = name != "o200k_harmony" and draw.random() < 0.2
        short = draw.choice(["hello fan", "a \n\n", "  <", text[:2]]) if many else "<|endoftext|>"
        calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("encode", (text,), {}),
            ("encode", (text,), options),
            ("encode_ordinary", (text,), {}),
            ("encode_to_numpy", (text,), options),
            ("encode_batch", ([text, "a"],), options),
            ("encode_with_unstable", (short,), options),
            ("_encode_bytes", (text.encode(errors="replace")[: draw.randrange(40)],), {}),
            ("decode", (ids,), {}),
            ("decode_with_offsets", (ids,), {}),
            ("decode_tokens_bytes", (ids,), {}),
        ]
        for method, arguments, given in calls:
            found, wanted = (answer(e, method, *arguments, **given) for e in (enc, other))
            assert found == wanted, (method, arguments, given)


def test_patterns_that_are_not_published(data: Path) -> None:
    ranks = tiktoken.get_encoding("cl100k_base")._mergeable_ranks
    for pattern in (KIMI, r"\p{L}+|\p{N}"):
        settings: dict[str, Any] = {"pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": {"<|x|>": 200_000}}
        enc, other = tiktoken.Encoding("other", **settings), peer.Encoding("other", **settings)
        for text in [text[:20_000] + "<|x|>" for text in texts(data).values()]:
            for options in ({"allowed_special": "all"}, {"disallowed_special": ()}):
                assert enc.encode(text, **options) == other.encode(text, **options)
        assert enc.encode_batch(["a b", ""]) == other.encode_batch(["a b", ""])


@pytest.mark.parametrize("block", [block for block in python_blocks(DOCUMENT) if "get_encoding" in block])
def test_the_examples_run_as_written(tmp_path: Path, block: str) -> None:
    run_as_written(block, tmp_path)
