"""A cache of ids below tokenizers of transformers, as SGLang and vLLM call them.

Neither server is installed: stand-ins here have the interface that they document, and nothing else of them is tested.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp

transformers = pytest.importorskip("transformers")

from bytepair.compat.serving import cache_prefixes  # noqa: E402 (needs transformers)

TEXT = "a low hill, a lower hill <s> the lowest hill. " * 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served")
    bp.train(iter([TEXT.replace("<s>", "")]), vocab_size=270, special_tokens=["<s>", "</s>"]).save(path)
    return path


def theirs(folder: Path) -> Any:
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder)


def test_calls_return_what_they_returned(folder: Path) -> None:
    plain, tok = theirs(folder), bp.Tokenizer.from_file(folder)
    cached = cache_prefixes(theirs(folder), tok)
    assert isinstance(cached, transformers.PreTrainedTokenizerFast)
    for text in (TEXT, TEXT + "more", TEXT[:-9] + "lower", "", "<s>"):
        assert cached.encode(text) == plain.encode(text)
        assert cached.encode(text, add_special_tokens=False) == plain.encode(text, add_special_tokens=False)
        if set(plain.model_input_names) == {"input_ids", "attention_mask"}:
            assert dict(cached(text)) == dict(plain(text))
        assert cached(text)["input_ids"] == plain(text)["input_ids"]
    assert cached._prefix_cache.figures()["hits"] > 0
    before = cached._prefix_cache.figures()["texts"]
    for options in ({"truncation": True, "max_length": 5}, {"return_tensors": "np"}):
        assert cached(TEXT, **options)["input_ids"].__str__() == plain(TEXT, **options)["input_ids"].__str__()
    assert cached([TEXT, "low"])["input_ids"] == plain([TEXT, "low"])["input_ids"]
    assert cached._prefix_cache.figures()["texts"] == before


def test_another_tokenizer_is_refused(folder: Path) -> None:
    with pytest.raises(bp.FormatError, match="other ids"):
        cache_prefixes(theirs(folder), bp.train({"hill": 5}, vocab_size=258))


def test_a_stand_in_for_sglang_encodes_a_growing_prompt(folder: Path) -> None:
    class TokenizerManager:
        """Stand-in: SGLang's manager has a tokenizer, and encodes one text a request with it."""

        def __init__(self, tokenizer: Any) -> None:
            self.tokenizer = tokenizer

        def tokenize_one_request(self, text: str) -> list[int]:
            ids: list[int] = self.tokenizer.encode(text)
            return ids

    manager, plain = TokenizerManager(theirs(folder)), theirs(folder)
    manager.tokenizer = cache_prefixes(manager.tokenizer, bp.Tokenizer.from_file(folder))
    prompt = TEXT
    for turn in range(5):
        prompt += f" turn {turn} of a low hill"
        assert manager.tokenize_one_request(prompt) == plain.encode(prompt)
    assert manager.tokenizer._prefix_cache.figures()["hits"] == 4


def test_a_stand_in_for_vllm_loads_the_registered_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: dict[str, tuple[str, str]] = {}

    class TokenizerRegistry:
        """Stand-in: vLLM's registry keeps a module and a class by mode."""

        @staticmethod
        def register(tokenizer_mode: str, module: str, class_name: str) -> None:
            registered[tokenizer_mode] = (module, class_name)

    module: Any = types.ModuleType("vllm.tokenizers")
    module.TokenizerRegistry = TokenizerRegistry
    monkeypatch.setitem(sys.modules, "vllm", types.ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.tokenizers", module)
    from bytepair.compat import vllm

    vllm.register()
    name, kind = registered["bytepair"]
    made = getattr(importlib.import_module(name), kind).from_pretrained(folder, trust_remote_code=False)
    assert made.encode(TEXT) == theirs(folder).encode(TEXT)
    assert made._prefix_cache.figures()["texts"] == 1
