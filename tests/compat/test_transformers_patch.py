"""Patched tokenizers of transformers: the same results before and after."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.compat.tokenizers import Tokenizer as Face
from bytepair.compat.transformers import patch, unpatch
from tests.compat.test_transformers import (
    KINDS,
    SPECIAL,
    TEXTS,
    columns,
    folder_of,
    said,
    same_texts,
    some_input,
    some_options,
    theirs_of,
)

transformers = pytest.importorskip("transformers")


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, request.param, tmp_path_factory)


@pytest.fixture
def pair(folder: Path) -> tuple[Any, Any]:
    """A patched tokenizer, and an unpatched one from the same folder."""
    patched = theirs_of(folder)
    patch(patched)
    assert isinstance(patched.backend_tokenizer, Face)
    return patched, theirs_of(folder)


def test_calls_give_the_same(pair: tuple[Any, Any], folder: Path) -> None:
    patched, plain = pair
    chance = random.Random(folder.name)
    compared = 0
    for _ in range(200):
        options = some_options(chance)
        if folder.name == "unigram":
            options.pop("split_special_tokens", None)
        text, second = some_input(chance, options)
        side = chance.choice(["left", "right"])
        patched.truncation_side = plain.truncation_side = side
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = plain(text, second, **options)
            except KeyboardInterrupt:
                raise
            except BaseException:  # a panic of Rust is no Exception
                with pytest.raises(Exception):  # noqa: B017, PT011 (each in its own way)
                    patched(text, second, **options)
                continue
            try:
                found = patched(text, second, **options)
            except bp.LimitError:
                # In this case tokenizers cuts off more than there is.
                continue
        assert columns(found) == columns(expected), (text, second, options)
        for one, other in zip(found.encodings, expected.encodings, strict=True):
            for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask"):
                assert getattr(one, name) == getattr(other, name), (name, text, second, options)
        compared += 1
    assert compared > 130


def test_it_says_the_same_of_itself(pair: tuple[Any, Any]) -> None:
    patched, plain = pair
    assert said(patched) == said(plain)
    same_texts(patched, plain, [*TEXTS, *SPECIAL])
    found, expected = (tokenizer(["a b", "the </s>"], ["c", "d"]) for tokenizer in pair)
    for row in range(2):
        assert found.word_ids(row) == expected.word_ids(row)
        assert found.sequence_ids(row) == expected.sequence_ids(row)
        for char in range(6):
            assert found.char_to_token(row, char) == expected.char_to_token(row, char)
    assert dict(pickle.loads(pickle.dumps(found))) == dict(expected)
    assert type(patched.backend_tokenizer.model).__name__ == type(plain.backend_tokenizer.model).__name__


def test_what_is_changed_acts_and_stays(pair: tuple[Any, Any], tmp_path: Path) -> None:
    patched, plain = pair
    for tokenizer in pair:
        tokenizer.add_tokens(["new word", transformers.AddedToken("wide", lstrip=True)])
        tokenizer.add_special_tokens({"eos_token": "[EOS]", "extra_special_tokens": ["<x>"]})
        tokenizer.add_eos_token = True
    texts = ["a new word so  wide[EOS]", "<x>a", *SPECIAL]
    assert said(patched) == said(plain)
    same_texts(patched, plain, texts)
    for number, tokenizer in enumerate(pair):
        tokenizer.save_pretrained(tmp_path / str(number))
    loaded = [theirs_of(tmp_path / str(number)) for number in range(2)]
    assert said(loaded[0]) == said(loaded[1])
    same_texts(loaded[0], loaded[1], texts)
    patched(["a", "b c"], padding=True, truncation=True, max_length=5)
    plain(["a", "b c"], padding=True, truncation=True, max_length=5)
    unpatch(patched)
    assert type(patched.backend_tokenizer) is type(plain.backend_tokenizer)
    assert patched.backend_tokenizer.padding == plain.backend_tokenizer.padding
    assert patched.backend_tokenizer.truncation == plain.backend_tokenizer.truncation
    assert said(patched) == said(plain)
    same_texts(patched, plain, texts)


def test_copies_stay_patched(pair: tuple[Any, Any]) -> None:
    patched, plain = pair
    for other in (pickle.loads(pickle.dumps(patched)), copy.deepcopy(patched)):
        assert isinstance(other.backend_tokenizer, Face)
        assert said(other) == said(plain)
        same_texts(other, plain, SPECIAL)
        other.add_tokens(["another"])
        unpatch(other)
        assert not isinstance(other.backend_tokenizer, Face)
        assert len(other) == len(plain) + 1
    assert said(patched) == said(plain)


def test_training_a_new_one(pair: tuple[Any, Any], sources: list[str]) -> None:
    trained = [tokenizer.train_new_from_iterator([sources[0][:20000]], 400) for tokenizer in pair]
    first, second = map(said, trained)
    if pair[0].name_or_path.endswith(("wordpiece", "unigram")):
        # tokenizers itself trains another one each time.
        assert first.pop("vocab").keys() & second.pop("vocab").keys()
    assert first == second


def test_chats(pair: tuple[Any, Any]) -> None:
    pytest.importorskip("jinja2")
    patched, plain = pair
    template = (
        "{% for m in messages %}{{ m.role }}: {% generation %}{{ m.content }}</s>{% endgeneration %}\n{% endfor %}"
    )
    chat = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "like </s> 🦊 this"}]
    found, expected = (
        tokenizer.apply_chat_template(chat, chat_template=template, return_assistant_tokens_mask=True)
        for tokenizer in (patched, plain)
    )
    assert dict(found) == dict(expected)
    assert 1 in found["assistant_masks"]


def test_it_is_undone(folder: Path) -> None:
    tokenizer = theirs_of(folder)
    engine = tokenizer._tokenizer
    with patch(tokenizer) as same:
        assert same is tokenizer
        assert isinstance(tokenizer._tokenizer, Face)
        face = tokenizer._tokenizer
        # Once is enough.
        patch(tokenizer)
        assert tokenizer._tokenizer is face
    assert tokenizer._tokenizer is engine
    unpatch(tokenizer)
    assert tokenizer._tokenizer is engine


@pytest.fixture
def all_patched() -> Iterator[None]:
    patch()
    yield
    unpatch()


@pytest.mark.usefixtures("all_patched")
def test_all_that_are_loaded_from_then_on(folder: Path) -> None:
    patch()
    loaded = theirs_of(folder)
    assert isinstance(loaded._tokenizer, Face)
    of_any_class = transformers.AutoTokenizer.from_pretrained(str(folder))
    assert isinstance(of_any_class._tokenizer, Face)
    unpatch()
    assert not isinstance(theirs_of(folder)._tokenizer, Face)
    assert isinstance(loaded._tokenizer, Face)
    with patch():
        assert isinstance(theirs_of(folder)._tokenizer, Face)
    assert not isinstance(theirs_of(folder)._tokenizer, Face)


@pytest.mark.usefixtures("all_patched")
def test_a_block_undoes_only_what_it_did(folder: Path) -> None:
    with pytest.raises(KeyError), patch():
        raise KeyError
    tokenizer = theirs_of(folder)
    assert isinstance(tokenizer._tokenizer, Face)
    with patch(tokenizer):
        pass
    assert isinstance(tokenizer._tokenizer, Face)
    unpatch(tokenizer)
    with pytest.raises(KeyError), patch(tokenizer) as same, patch(same):
        raise KeyError
    assert not isinstance(tokenizer._tokenizer, Face)
    first = patch(tokenizer)
    first.undo()
    patch(tokenizer)
    first.undo()
    assert isinstance(tokenizer._tokenizer, Face)


def test_it_is_undone_under_the_function_of_another(folder: Path) -> None:
    kind, name = transformers.PreTrainedTokenizerBase, "_from_pretrained"
    original = kind.__dict__[name]
    with ThreadPoolExecutor(4) as pool:
        assert sum(made._is_new for made in pool.map(lambda _: patch(), range(20))) == 1
    try:
        # As another library would put its own there, which calls what it finds.
        setattr(kind, name, classmethod(kind.__dict__[name].__func__))
        assert isinstance(theirs_of(folder)._tokenizer, Face)
        unpatch()
        assert not isinstance(theirs_of(folder)._tokenizer, Face)
        with patch():
            assert isinstance(theirs_of(folder)._tokenizer, Face)
        assert not isinstance(theirs_of(folder)._tokenizer, Face)
    finally:
        unpatch()
        setattr(kind, name, original)


def test_a_token_that_cannot_be_added_changes_nothing(folder: Path) -> None:
    if folder.name not in ("bytes", "pairs"):
        pytest.skip("only of tokens of bytes a spelling can be that of another token")
    patched, plain = theirs_of(folder), theirs_of(folder)
    patch(patched)
    patched.add_tokens(["new"])
    plain.add_tokens(["new"])
    # In the alphabet of bytes this is the byte E9.
    with pytest.raises(bp.FormatError, match="é"):
        patched.add_tokens(["newer", "é"])
    assert said(patched) == said(plain)
    same_texts(patched, plain, ["a new é", "newer"])
    unpatch(patched)
    assert said(patched) == said(plain)


def test_it_can_be_read_where_nothing_is_patched(folder: Path, tmp_path: Path) -> None:
    patched = theirs_of(folder)
    patch(patched)
    patched.add_tokens(["newer"])
    (tmp_path / "tokenizer.pickle").write_bytes(pickle.dumps(patched))
    source = (
        "import pickle, sys; tokenizer = pickle.load(open(sys.argv[1], 'rb')); "
        "from bytepair.compat.transformers import unpatch; before = tokenizer('a newer day').input_ids; "
        "unpatch(tokenizer); assert tokenizer('a newer day').input_ids == before; print(before)"
    )
    made = subprocess.run(
        [sys.executable, "-c", source, str(tmp_path / "tokenizer.pickle")], capture_output=True, text=True, check=True
    )
    assert made.stdout.strip() == str(patched("a newer day").input_ids)


def test_threads_give_the_same(pair: tuple[Any, Any]) -> None:
    patched, plain = pair
    texts = [f"{text} {number}" for number in range(20) for text in TEXTS]
    expected = [plain(text, truncation=True, max_length=20).input_ids for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: patched(text, truncation=True, max_length=20).input_ids, texts)) == expected


def test_what_cannot_be_patched_is_said(folder: Path) -> None:
    from transformers import ByT5Tokenizer

    with pytest.raises(TypeError, match="ByT5Tokenizer is a slow tokenizer"):
        patch(ByT5Tokenizer())
    for wrong in (5, "gpt2", object()):
        with pytest.raises(TypeError, match="not a tokenizer of transformers"):
            patch(wrong)
        with pytest.raises(TypeError, match="not a tokenizer of transformers"):
            unpatch(wrong)
    tokenizer = theirs_of(folder)
    engine = tokenizer._tokenizer

    class Other:
        """An engine that differs from its file."""

        def __getattr__(self, name: str) -> Any:
            return getattr(engine, name)

        def encode_batch(self, texts: list[Any], **options: Any) -> Any:
            return engine.encode_batch([text if "Греч" in str(text) else "x" for text in texts], **options)

    from bytepair.compat.transformers.backend import Backend
    from bytepair.compat.transformers.patching import _check_equal

    with pytest.raises(bp.FormatError, match=r"bytepair has different ids for a text: ' '|bytepair has different"):
        _check_equal(Other(), Backend.from_str(engine.to_str()), [])
    assert tokenizer._tokenizer is engine


def test_a_part_that_bytepair_lacks_is_named(folder: Path) -> None:
    import tokenizers

    tokenizer = theirs_of(folder)
    tokenizer._tokenizer.decoder = tokenizers.decoders.Sequence([tokenizers.decoders.CTC()])
    engine = tokenizer._tokenizer
    try:
        patch(tokenizer)
    except bp.FormatError as error:
        assert "leave" in error.remedy  # noqa: PT017 (it may be that it can)
        assert tokenizer._tokenizer is engine
    else:
        assert tokenizer.decode([70, 71]) == engine.decode([70, 71])
