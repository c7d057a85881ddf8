"""`bytepair.compat.tiktoken` compared with tiktoken on small vocabularies, errors included.

The file is long because each behaviour of tiktoken's own tests has one here.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import random
import threading
from typing import Any

import numpy as np
import pytest
import tiktoken as peer

import bytepair as bp
from bytepair.compat import tiktoken
from bytepair.model import semantics
from tests.conftest import HOSTILE
from tests.test_peers import TIKTOKEN

SPECIAL = {"<|endoftext|>": 3000, "<|fim_prefix|>": 3002, "<|fim_middle|>": 3001}
ERRORS = (UnicodeEncodeError, UnicodeDecodeError, OverflowError, TypeError, AssertionError, KeyError, ValueError)


def answer(encoding: Any, method: str, *arguments: Any, **options: Any) -> Any:
    """The result of a call, in one form; or the class of its error."""
    try:
        found = getattr(encoding, method)(*arguments, **options)
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind))
    if method == "encode_with_unstable":
        return found[0], sorted(found[1])
    return found.tolist() if isinstance(found, np.ndarray) else found


@pytest.fixture(scope="session")
def settings(tok: bp.Tokenizer) -> dict[str, Any]:
    model = semantics.to_ranks(tok.spec.byte_pair)
    ranks = dict(zip(model.tokens, model.ids, strict=True))
    return {"pat_str": TIKTOKEN["cl100k"], "mergeable_ranks": ranks, "special_tokens": SPECIAL}


@pytest.fixture(scope="session")
def enc(settings: dict[str, Any]) -> tiktoken.Encoding:
    return tiktoken.Encoding("test", **settings)


@pytest.fixture(scope="session")
def theirs(settings: dict[str, Any]) -> Any:
    return peer.Encoding("test", **settings)


def test_the_module_has_what_theirs_has() -> None:
    public = {name for name in vars(peer) if not name.startswith("_")}
    assert public <= set(vars(tiktoken))
    assert tiktoken.__version__ == "0.14.0"


@pytest.mark.parametrize("name", [name for name in vars(peer.Encoding) if callable(vars(peer.Encoding)[name])])
def test_each_method_takes_the_same_arguments(name: str) -> None:
    ours, other = (inspect.signature(getattr(module.Encoding, name)).parameters for module in (tiktoken, peer))
    if name == "__setstate__":
        return
    assert list(ours) == list(other)
    for one, two in zip(ours.values(), other.values(), strict=True):
        assert (one.kind, one.default) == (two.kind, two.default)


def test_each_property_is_there(enc: tiktoken.Encoding, theirs: Any) -> None:
    for name in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set", "_pat_str"):
        assert getattr(enc, name) == getattr(theirs, name)
    assert enc.n_vocab == 3003
    assert repr(enc) == repr(theirs) == "<Encoding 'test'>"
    assert enc._mergeable_ranks == theirs._mergeable_ranks
    assert enc._special_tokens == theirs._special_tokens
    assert enc.token_byte_values() == theirs.token_byte_values()
    assert isinstance(enc.tokenizer, bp.Tokenizer)
    assert enc.tokenizer.count("def f():") == len(enc.encode("def f():"))


def test_text_comes_back(enc: tiktoken.Encoding, theirs: Any, sources: list[str]) -> None:
    texts = ["hello", "hello  ", " hello  ", "hello world", "请考试我的软件！12345", "today\n  \n", *HOSTILE, *sources]
    for text in texts:
        ids = enc.encode(text)
        assert ids == theirs.encode(text) == enc.encode_ordinary(text)
        assert enc.decode(ids) == text
        assert ids == enc._encode_only_native_bpe(text)
    assert enc.encode_batch(texts) == theirs.encode_batch(texts) == enc.encode_ordinary_batch(texts)
    assert enc.decode_batch(enc.encode_batch(texts)) == texts
    assert enc.encode("") == enc.encode_to_numpy("").tolist() == enc.encode_batch([]) == []


@pytest.mark.parametrize("unit", ["^", "0", "a", "'s", " ", "\n"])
def test_endless_repetition_comes_back(enc: tiktoken.Encoding, unit: str) -> None:
    for text in (unit * 10_000, " " + unit * 10_000, " " + unit * 10_000 + "\n"):
        assert enc.decode(enc.encode(text)) == text


def test_a_piece_of_a_million_letters(enc: tiktoken.Encoding) -> None:
    assert enc.decode(enc.encode("x" * 1_000_000)) == "x" * 1_000_000


def test_every_token_alone_comes_back(enc: tiktoken.Encoding, theirs: Any) -> None:
    for id in range(-2, enc.n_vocab + 2):
        token = answer(theirs, "decode_single_token_bytes", id)
        assert answer(enc, "decode_single_token_bytes", id) == token
        assert enc.is_special_token(id) == theirs.is_special_token(id)
        if isinstance(token, bytes):
            assert enc.encode_single_token(token) == id
            assert enc._encode_single_piece(token) == theirs._encode_single_piece(token)


def test_special_tokens_are_those_that_the_call_allows(enc: tiktoken.Encoding, theirs: Any) -> None:
    text = "<|endoftext|> hello <|fim_prefix|> there <|fim_middle|>"
    names = ["all", (), *({name} for name in SPECIAL), {"<|fim_prefix|>", "hello"}, {"none of them"}, SPECIAL.keys()]
    for allowed in names:
        for disallowed in names:
            if allowed in ((), SPECIAL.keys()):
                allowed = frozenset(allowed)  # noqa: PLW2901 (tiktoken takes no other sets there)
            call: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": disallowed}
            for method in ("encode", "encode_to_numpy", "encode_with_unstable"):
                assert answer(enc, method, text, **call) == answer(theirs, method, text, **call), (call, method)
    with pytest.raises(
        ValueError, match=r"'<\|endoftext\|>' \(character 0\); pass allowed_special=\{'<\|endoftext\|>'\}"
    ):
        enc.encode(text)
    with pytest.raises(ValueError, match=r"'<\|fim_prefix\|>' \(character 20\)"):
        enc.encode_batch(["", text], allowed_special={"<|endoftext|>"})
    assert enc.encode("hello <|endoftext|>", allowed_special="all")[-1] == enc.eot_token == 3000


def test_surrogates_are_joined_or_replaced(enc: tiktoken.Encoding, theirs: Any) -> None:
    assert enc.encode("\ud83d\udc4d") == enc.encode("👍")
    assert enc.encode("\ud83d") == enc.encode("\ufffd")
    for text in ["a\ud83d\udc4db", "\udc4d\ud83d", "\ud83d a", "\ufeff\ud83d", "<|endoftext|>\ud83d"]:
        for method in ("encode", "encode_to_numpy", "encode_with_unstable"):
            for options in ({}, {"allowed_special": "all"}, {"disallowed_special": ()}):
                assert answer(enc, method, text, **options) == answer(theirs, method, text, **options)
        assert enc.encode_ordinary_batch([text, text]) == theirs.encode_ordinary_batch([text, text])


def test_wrong_arguments_raise_what_theirs_raise(enc: tiktoken.Encoding, theirs: Any) -> None:
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("encode", (b"a",), {}),
        ("encode", (None,), {"disallowed_special": ()}),
        ("encode", ("a",), {"allowed_special": ["<|endoftext|>"]}),
        ("encode", ("a",), {"allowed_special": "<|endoftext|>", "disallowed_special": ()}),
        ("encode_ordinary", (["a"],), {}),
        ("encode_batch", (["a", b"b"],), {}),
        ("encode_batch", (["a"],), {"num_threads": 0}),
        ("encode_batch", (["a"],), {"num_threads": None}),
        ("decode_batch", ([[1]],), {"num_threads": None}),
        ("encode_batch", ("ab",), {}),
        ("encode_single_token", ("no such token",), {}),
        ("encode_single_token", ("\ud83d",), {}),
        ("encode_single_token", (3,), {}),
        ("decode", ([1, 2999],), {}),
        ("decode", ([-1],), {}),
        ("decode", ([2**32],), {}),
        ("decode", (["a"],), {}),
        ("decode", ("ab",), {}),
        ("decode", (7,), {}),
        ("decode", ([0xFF],), {"errors": "strict"}),
        ("decode_bytes", ([2**40],), {}),
        ("decode_single_token_bytes", (-1,), {}),
        ("decode_single_token_bytes", ("a",), {}),
        ("decode_tokens_bytes", ([2999],), {}),
        ("decode_batch", ([[1], [2999]],), {}),
        ("decode_batch", ([[1], [-1]],), {}),
        ("decode_batch", ([[1]],), {"num_threads": -1}),
        ("decode_bytes_batch", ([[1]],), {"num_threads": 0}),
        ("decode_with_offsets", ([0xFF],), {}),
        ("is_special_token", ("a",), {}),
    ]
    for method, arguments, options in calls:
        found, wanted = (answer(e, method, *arguments, **options) for e in (enc, theirs))
        assert found == wanted, (method, arguments, options)


def test_arrays_and_other_sequences_are_ids(enc: tiktoken.Encoding) -> None:
    ids = enc.encode_to_numpy("hello world")
    assert ids.dtype == np.uint32
    assert enc.decode(ids) == enc.decode(tuple(ids.tolist())) == "hello world"
    assert enc.decode_bytes_batch([ids, []]) == [b"hello world", b""]


def test_each_encoding_error_handler_is_pythons(enc: tiktoken.Encoding) -> None:
    ids = [*"é🦊".encode()[1:5], 97]
    for errors in ("replace", "ignore", "backslashreplace"):
        assert enc.decode(ids, errors) == enc.decode_batch([ids], errors=errors)[0] == bytes_of(enc, ids, errors)


def bytes_of(enc: tiktoken.Encoding, ids: list[int], errors: str) -> str:
    return enc.decode_bytes(ids).decode(errors=errors)


def test_offsets_are_where_decoding_the_tokens_before_ends(enc: tiktoken.Encoding, theirs: Any) -> None:
    draw = random.Random(7)
    ids = sorted(set(enc._mergeable_ranks.values()) | set(SPECIAL.values()))
    for _ in range(200):
        text = enc.decode(draw.choices(ids, k=draw.randrange(1, 20)), errors="ignore") + draw.choice(
            ["", "நடிகர்", "除"]
        )
        row = enc.encode(text, allowed_special="all")
        found, starts = enc.decode_with_offsets(row)
        assert (found, starts) == theirs.decode_with_offsets(row)
        assert found == text
        for place, start in enumerate(starts):
            before = enc.decode(row[:place], errors="ignore")
            assert text[:start] == before[:start]
            # In front of a token, only a part of a character can be missing.
            assert start <= len(before) <= start + 1


def test_bytes_that_are_no_text(enc: tiktoken.Encoding, theirs: Any) -> None:
    draw = random.Random(8)
    for size in range(10):
        assert enc.decode_bytes(enc._encode_bytes(b"\x80" * size)) == b"\x80" * size
    for _ in range(500):
        whole = "".join(
            draw.choices(["a", " ", "\n", "é", "漢", "실", "🦊", "self", "x\n "], k=draw.randrange(6))
        ).encode()
        data = whole[: draw.randrange(len(whole) + 1)] + draw.choice(
            [b"", b"\xff", b"\xed", b"\xf0\x9f", draw.randbytes(3)]
        )
        ids = enc._encode_bytes(data)
        assert ids == theirs._encode_bytes(data)
        assert enc.decode_bytes(ids) == data


def test_what_may_become_of_the_end(enc: tiktoken.Encoding, theirs: Any) -> None:
    draw = random.Random(9)
    alphabet = [*" \n\t\u3000\x1cabelfs(_1éا漢🦊", "self", "def ", " return", "<|endoftext|>", "  "]
    for _ in range(150):
        text = "".join(draw.choices(alphabet, k=draw.randrange(7)))
        for call in ({"allowed_special": "all"}, {"disallowed_special": ()}):
            stable, completions = enc.encode_with_unstable(text, **call)
            wanted = theirs.encode_with_unstable(text, **call)
            assert (stable, sorted(completions)) == (wanted[0], sorted(wanted[1])), text
            assert completions == sorted(completions, key=lambda row: (len(row) > 1, row))
            assert text.encode().startswith(enc.decode_bytes(stable))
            assert all(enc.decode_bytes(stable + row).startswith(text.encode()) for row in completions)


PATTERNS = [*TIKTOKEN.values(), r"\w+|\W+", r"[a-z]+|\d", r"\S+", r"(?s:.)", r"[ab]+(?=c)|c+|\s"]
LETTERS = ["a", "b", "c", " ", "\n", "é", "漢", "\u3000", "1", "'", "s", "<", ">", "|", "🦊", "\t", "\x1c"]


def random_settings(draw: random.Random) -> dict[str, Any]:
    """A vocabulary that was never trained, special tokens that overlap or share ids and bytes with it, any pattern."""
    tokens = [bytes([byte]) for byte in range(256)]
    draw.shuffle(tokens)
    parts = [letter.encode() for letter in LETTERS]
    for _ in range(draw.choice([0, 5, 40, 200])):
        token = b"".join(draw.choice(draw.choice([tokens[-60:], parts])) for _ in range(draw.choice([2, 2, 3])))
        if len(token) < 20 and token not in tokens:
            tokens.append(token)
    ids = sorted(draw.sample(range(3 * len(tokens)), len(tokens)))
    names = draw.sample(["<a>", "<b>", "<|c|>", "ab>", " ", "🦊", "b"], draw.choice([0, 1, 2, 4]))
    # If one token begins another, tiktoken's choice depends on a hash.
    names = [name for name in names if name != "b" or "ab>" not in names]
    special = {name: ids[-1] + 1 + 3 * number for number, name in enumerate(names)}
    if names and draw.random() < 0.3:
        special[names[0]] = draw.choice(ids)
    ranks = dict(zip(tokens, ids, strict=True))
    return {"pat_str": draw.choice(PATTERNS), "mergeable_ranks": ranks, "special_tokens": special}


@pytest.mark.parametrize("seed", range(24))
def test_no_vocabulary_and_no_call_tells_them_apart(seed: int) -> None:
    draw = random.Random(seed)
    settings = random_settings(draw)
    enc, theirs = tiktoken.Encoding("random", **settings), peer.Encoding("random", **settings)
    special = list(settings["special_tokens"])
    assert enc.token_byte_values() == theirs.token_byte_values()
    assert enc.n_vocab == theirs.n_vocab
    texts = ["".join(draw.choices(LETTERS + special * 3, k=draw.choice([0, 1, 3, 8, 25]))) for _ in range(12)]
    for text in [*texts, *draw.sample(HOSTILE, 2), texts[-1] + "\ud83d", "\ud83d\udc4d" + texts[-2]]:
        names = [*special, "zz", "c"]
        some = [set(draw.sample(names, draw.randrange(len(names) + 1))) for _ in range(2)]
        options = {
            "allowed_special": draw.choice(["all", set(), some[0]]),
            "disallowed_special": draw.choice(["all", (), some[1]]),
        }
        ids = theirs.encode_ordinary(text) + list(settings["special_tokens"].values())
        ids = ids[draw.randrange(len(ids) + 1) :]
        data = text.encode(errors="replace")[: draw.randrange(30)]
        calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("encode", (text,), {}),
            ("encode", (text,), options),
            ("encode_ordinary", (text,), {}),
            ("encode_to_numpy", (text,), options),
            ("encode_batch", ([text, "a", text],), options),
            ("encode_ordinary_batch", ([text, "b"],), {}),
            ("encode_with_unstable", (text[-20:],), options),
            ("encode_single_token", (text,), {}),
            ("_encode_bytes", (data,), {}),
            ("_encode_single_piece", (text.encode(errors="replace") or b"a",), {}),
            ("decode", (ids,), {}),
            ("decode", (ids, "strict"), {}),
            ("decode_with_offsets", (ids,), {}),
            ("decode_tokens_bytes", (ids,), {}),
            ("decode_batch", ([ids, ids[:1]],), {"errors": "ignore"}),
        ]
        for method, arguments, given in calls:
            found, wanted = (answer(e, method, *arguments, **given) for e in (enc, theirs))
            assert found == wanted, (method, arguments, given, settings["pat_str"], special)


def test_pickles_are_the_same_encoding(enc: tiktoken.Encoding) -> None:
    text = "hello <|endoftext|>"
    for again in (pickle.loads(pickle.dumps(enc)), copy.copy(enc), copy.deepcopy(enc)):
        assert type(again) is tiktoken.Encoding
        assert again.encode(text, allowed_special="all") == enc.encode(text, allowed_special="all")
        assert (again.name, again.n_vocab, again._special_tokens) == (enc.name, enc.n_vocab, enc._special_tokens)


def test_an_encoding_can_be_extended(enc: tiktoken.Encoding) -> None:
    extended = tiktoken.Encoding(
        name="test_im",
        pat_str=enc._pat_str,
        mergeable_ranks=enc._mergeable_ranks,
        special_tokens={**enc._special_tokens, "<|im_start|>": 3100, "<|im_end|>": 3101},
    )
    ids = extended.encode("<|im_start|>user<|im_end|>", allowed_special={"<|im_start|>", "<|im_end|>"})
    assert ids == [3100, *enc.encode("user"), 3101]
    assert extended.n_vocab == 3102
    assert "<|im_start|>" not in enc.special_tokens_set


def test_sizes_that_do_not_fit_are_assertions(settings: dict[str, Any]) -> None:
    few = {**settings, "special_tokens": {"<|endoftext|>": len(settings["mergeable_ranks"])}}
    size = len(settings["mergeable_ranks"]) + 1
    assert tiktoken.Encoding("test", **few, explicit_n_vocab=size).n_vocab == size
    with pytest.raises(AssertionError, match=f"is {size + 1}, but there are {size} tokens"):
        tiktoken.Encoding("test", **few, explicit_n_vocab=size + 1)
    with pytest.raises(AssertionError, match="the greatest id is 3002: ids must have no holes"):
        tiktoken.Encoding("test", **settings, explicit_n_vocab=size + 2)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"mergeable_ranks": {}}, ValueError, "mergeable_ranks is empty"),
        ({"mergeable_ranks": {b"a": 0, b"b": 0}}, bp.FormatError, "0"),
        ({"pat_str": "["}, bp.PatternError, "does not compile"),
        ({"special_tokens": {"": 5000}}, bp.FormatError, "5000 is empty"),
    ],
)
def test_what_makes_no_encoding_is_refused(
    settings: dict[str, Any], change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        tiktoken.Encoding("test", **settings | change)
    assert isinstance(raised.value, ValueError)


def test_a_byte_without_a_token_is_an_error_of_encoding() -> None:
    small = tiktoken.Encoding("small", pat_str=r"\w+", mergeable_ranks={b"a": 0, b"b": 1}, special_tokens={})
    assert small.encode("ab") == [0, 1]
    with pytest.raises(bp.EncodeError):
        small.encode("abc")


def test_ids_with_two_names() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    enc = tiktoken.Encoding("two", pat_str=r"(?s:.)", mergeable_ranks=ranks, special_tokens={"<x>": 300, "<y>": 300})
    assert enc.encode("<x>a<y>", allowed_special="all") == [300, 97, 300]
    assert enc.encode_batch(["<y>"], allowed_special={"<y>"}) == [[300]]
    assert enc.encode_single_token("<y>") == enc.encode_single_token("<x>") == 300
    assert enc.decode([300]) == "<x>"
    assert len(enc.encode("<y>", disallowed_special=())) == 3
    for call in ({}, {"allowed_special": {"<x>"}}):
        with pytest.raises(ValueError, match="'<y>'"):
            enc.encode("a<y>", **call)


def test_threads_share_an_encoding(enc: tiktoken.Encoding, sources: list[str]) -> None:
    wanted = enc.encode_with_unstable("def f(self"), enc.encode(sources[0])
    found: list[Any] = []
    fresh = pickle.loads(pickle.dumps(enc))
    threads = [
        threading.Thread(
            target=lambda: found.append((fresh.encode_with_unstable("def f(self"), fresh.encode(sources[0])))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 4


def test_a_tokenizer_becomes_an_encoding(tok: bp.Tokenizer, sources: list[str]) -> None:
    enc = tiktoken.Encoding.from_tokenizer(tok, "trained")
    for text in [*HOSTILE, *sources, "a<|end|>b"]:
        assert enc.encode(text, allowed_special="all") == tok.encode(text, special="allow")
    whole = tiktoken.Encoding.from_tokenizer(bp.train({"a b": 5}, 258, split="none"), "whole")
    assert whole.encode("a b") == [257]
    spec = bp.train({"low": 5}, 258).spec
    for change, feature in [
        ({"normalizers": ("NFC",)}, "normalizers"),
        ({"prefix_space": True}, "prefix_space"),
        ({"split": (r"\s+", r"\d")}, "several split patterns"),
        ({"added_tokens": (bp.AddedToken("<x>", 300, special=False),)}, "not special"),
    ]:
        changed = bp.Tokenizer(bp.TokenizerSpec(spec.byte_pair, **change))  # type: ignore[arg-type]
        with pytest.raises(bp.FormatError, match=feature):
            tiktoken.Encoding.from_tokenizer(changed, "refused")
