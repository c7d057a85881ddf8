"""The face of transformers beside transformers itself, on tokenizers that are trained here."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair.compat.transformers import AddedToken, AutoTokenizer, BatchEncoding, PreTrainedTokenizerFast
from bytepair.compat.transformers import batch as batches
from bytepair.formats import configs
from tests.conftest import HOSTILE

transformers = pytest.importorskip("transformers")

NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
KINDS = ["bytes", "pairs", "wordpiece", "unigram"]


def trained(sources: list[str], kind: str) -> tuple[bp.Tokenizer, dict[str, Any]]:
    """A tokenizer of a kind, and how its special tokens are called."""
    if kind == "wordpiece":
        tok = bp.train_wordpiece(iter(sources), 1500)
        return tok, {f"{role}_token": f"[{role.upper()}]" for role in ("unk", "sep", "pad", "cls", "mask")}
    if kind == "unigram":
        tok = bp.train_unigram(iter(sources), 1500)
        step = configs.template(None, "</s>", {"</s>": tok.token_id("</s>")})
        tok = bp.Tokenizer(replace(tok.spec, post_processor=step))
        return tok, {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    special = ["<s>", "</s>", "<pad>", "<mask>"]
    tok = bp.train(iter(sources), 1500, split="gpt2", special_tokens=special)
    ids = {name: tok.token_id(name) for name in special}
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    if kind == "pairs":
        roberta = (
            '{"type": "RobertaProcessing", "sep": ["</s>", %d], "cls": ["<s>", %d], "trim_offsets": true,'
            ' "add_prefix_space": false}'
        )
        return bp.Tokenizer(replace(tok.spec, post_processor=roberta % (ids["</s>"], ids["<s>"]))), names
    return tok, names


_SAVED: dict[str, Path] = {}


def folder_of(sources: list[str], kind: str, factory: pytest.TempPathFactory) -> Path:
    """The folder of a tokenizer of a kind, as the face saves it; made once."""
    if kind not in _SAVED:
        tok, names = trained(sources, kind)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, model_max_length=64, **names)
        _SAVED[kind] = factory.mktemp("saved") / kind
        tokenizer.save_pretrained(_SAVED[kind])
    return _SAVED[kind]


def theirs_of(folder: Path, **settings: Any) -> Any:
    return transformers.PreTrainedTokenizerFast.from_pretrained(str(folder), **settings)


def both(folder: Path, **settings: Any) -> tuple[PreTrainedTokenizerFast, Any]:
    return PreTrainedTokenizerFast.from_pretrained(folder, **settings), theirs_of(folder, **settings)


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, request.param, tmp_path_factory)


@pytest.fixture
def plain(sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, "bytes", tmp_path_factory)


TEXTS = [text for text in HOSTILE if len(text) < 400]
SPECIAL = ["<s> a</s>", "a [SEP] b", "<pad><mask>x [MASK]", "the </s> end"]


def some_text(chance: random.Random) -> str:
    words = ["return", "def", "self", "mañana", "日本語", "🦊", "x=1", "\n", "don't", *SPECIAL]
    return chance.choice([chance.choice(TEXTS), " ".join(chance.choices(words, k=chance.randrange(12)))])


def some_input(chance: random.Random, options: dict[str, Any]) -> tuple[Any, Any]:
    """A text and its pair, in one of the forms that a call takes."""
    count = chance.randrange(1, 4)
    make: Any = some_text
    if options.get("is_split_into_words"):

        def make(chance: random.Random) -> list[str]:
            return [some_text(chance) for _ in range(chance.randrange(1, 5))]

    match chance.randrange(4 if not options.get("is_split_into_words") else 3):
        case 0:
            return make(chance), None
        case 1:
            return [make(chance) for _ in range(count)], None
        case 2:
            return [make(chance) for _ in range(count)], [make(chance) for _ in range(count)]
        case _:
            return [(make(chance), make(chance)) for _ in range(count)], None


def some_options(chance: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"add_special_tokens": chance.random() < 0.7}
    padding = chance.choice([False, True, "longest", "max_length", "do_not_pad"])
    truncation = chance.choice([None, False, True, "longest_first", "only_first", "only_second"])
    options |= {"padding": padding, "truncation": truncation}
    if (truncation and chance.random() < 0.8) or padding == "max_length":
        options["max_length"] = chance.randrange(6, 30)
    if padding not in (False, "do_not_pad"):
        options |= chance.choice([{}, {"padding_side": "left"}, {"padding_side": "right"}])
        if chance.random() < 0.3 and not truncation:
            options["pad_to_multiple_of"] = 8
    if truncation not in (None, False) and chance.random() < 0.3:
        options["return_overflowing_tokens"] = True
        # With less room tokenizers panics.
        options["stride"] = chance.randrange(3) if options.get("max_length", 64) > 20 else 0
    for name in ("token_type_ids", "attention_mask", "special_tokens_mask", "offsets_mapping", "length"):
        if chance.random() < 0.3:
            options[f"return_{name}"] = chance.random() < 0.8
    options["is_split_into_words"] = chance.random() < 0.25
    if chance.random() < 0.1:
        options["split_special_tokens"] = True
    if padding is True and chance.random() < 0.3:
        options["return_tensors"] = "np"
    return options


def columns(batch: Any) -> dict[str, Any]:
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column
        for name, column in batch.items()
        # Of nothing but numbers one shape is as good as another.
    }


def test_calls_give_the_same(folder: Path) -> None:
    ours, theirs = both(folder)
    chance = random.Random(folder.name)
    compared = 0
    for _ in range(500):
        options = some_options(chance)
        if folder.name == "unigram":
            # There a special token that stays text is found again by the model of tokenizers, as one of its pieces.
            options.pop("split_special_tokens", None)
        text, pair = some_input(chance, options)
        side = chance.choice(["left", "right"])
        ours.truncation_side = theirs.truncation_side = side
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = theirs(text, pair, **options)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 (a panic of Rust is no Exception)
            with pytest.raises((ValueError, TypeError)):
                ours(text, pair, **options)
            continue
        try:
            found = ours(text, pair, **options)
        except bp.BytepairError as error:
            # What tokenizers does then is to cut off more than there is.
            assert "stride" in str(error) or "cannot cut" in str(error) or "max_length" in str(error), (text, options)
            continue
        except ValueError as error:
            assert "no effect" in str(error), (text, pair, options)
            continue
        assert columns(found) == columns(expected), (text, pair, options)
        for one, other in zip(found.encodings, expected.encodings, strict=True):
            for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask"):
                assert getattr(one, name) == getattr(other, name), (name, text, pair, options)
        compared += 1
    assert compared > 350
