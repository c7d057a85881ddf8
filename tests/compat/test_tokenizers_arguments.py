"""Arguments of `bytepair.compat.tokenizers`: valid ones are taken and invalid ones raise as in the library."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tokenizers as peer

from bytepair.compat import tokenizers as face
from tests.compat.tokenizers_peer import trained

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 2.5, "", "a", "ab", "never", "right", b"x", [], ["a"], [1], {}, {"a": 0}, (1, 2)),
    *(2**40, 2**70, np.int64(3), np.bool_(1), np.float32(0.5), np.str_("q"), object, ("a", 1), [-1], [2**40], [[1]]),
]
"""Values that an argument could be passed by mistake, or from arrays."""

ENDS: dict[str, Any] = {"sep": ("a", 1), "cls_token": ("b", 2)}
NEEDED: dict[str, dict[str, Any]] = {
    "BertProcessing": ENDS,
    "RobertaProcessing": ENDS,
    "CharDelimiterSplit": {"delimiter": "a"},
    "Split": {"pattern": "a", "behavior": "removed"},
    "Replace": {"pattern": "a", "content": "b"},
    "Regex": {"s": "a"},
}
LEFT_OUT = {
    *("Model", "Normalizer", "PreTokenizer", "Decoder", "PostProcessor", "Trainer", "Enum", "Tokenizer", "Encoding"),
    *("NormalizedString", "PreTokenizedString", "ParityBpeTrainer", "Sequence", "Token", "Precompiled"),
    *("OffsetReferential", "OffsetType", "SplitDelimiterBehavior"),
}
TAKEN: dict[str, Any] = {
    "encode": ("the sea",),
    "encode_batch": (["the sea"],),
    "encode_batch_fast": (["the sea"],),
    "enable_truncation": (9,),
    "enable_padding": (),
    "decode": ([5],),
    "token_to_id": ("a",),
    "id_to_token": (3,),
    "get_vocab": (),
    "get_vocab_size": (),
    "num_special_tokens_to_add": (True,),
    "add_tokens": (["x"],),
    "add_special_tokens": (["x"],),
    "to_str": (),
    "from_str": (),
    "from_buffer": (),
    "post_process": (),
}
KINDS = (OverflowError, TypeError, ValueError)


def _raised(call: Callable[..., Any], *said: Any, **named: Any) -> type[Exception] | None:
    try:
        call(*said, **named)
    except NotImplementedError:
        return NotImplementedError
    except Exception as error:
        return next((kind for kind in KINDS if isinstance(error, kind)), Exception)
    return None


def _agree(theirs: type[Exception] | None, ours: type[Exception] | None, what: Any) -> None:
    """A handler for the library's error catches the face's; the face accepts or refuses what the library accepts."""
    if theirs in KINDS:
        assert ours in (theirs, None) if what[-1] is None else ours is theirs, what
    elif theirs is None:
        assert ours in (None, ValueError, NotImplementedError) or what[:2] in LESS, what


# The library prints that it does not know these, or takes anything for them and ignores it.
LESS = {("ByteLevel", name) for name in ("add_prefix_space", "trim_offsets", "use_regex", "type")}
# Arguments that only the face accepts, for convenience.
MORE = {("special_tokens", tuple), ("add_tokens", tuple), ("add_special_tokens", tuple)}


def _classes() -> list[tuple[str, str]]:
    modules = ("models", "normalizers", "pre_tokenizers", "processors", "decoders", "trainers")
    found = [(module, name) for module in modules for name in vars(getattr(face, module))]
    found += [("", "AddedToken"), ("", "Regex")]
    return [
        (module, name)
        for module, name in found
        if name not in LEFT_OUT
        and isinstance(getattr(_module(face, module), name), type)
        and isinstance(getattr(_module(peer, module), name, None), type)
    ]


def _module(m: Any, name: str) -> Any:
    return getattr(m, name) if name else m


@pytest.mark.parametrize(("module", "name"), _classes())
def test_constructors_and_properties(module: str, name: str) -> None:
    kinds = [getattr(_module(m, module), name) for m in (peer, face)]
    needed = NEEDED.get(name, {})
    names = [each for each in inspect.signature(kinds[1]).parameters if each not in ("options", "said", "more")]
    for argument in names:
        for value in VALUES:
            if (argument, type(value)) in MORE or (argument == "merges" and value is not None) or value == 2**40:
                continue
            theirs, ours = (_raised(kind, **{**needed, argument: value}) for kind in kinds)
            _agree(theirs, ours, (name, argument, value))
    properties = [each for each in vars(kinds[0]) if not each.startswith("_") and each in vars(kinds[1])]
    for each in properties:
        if callable(getattr(kinds[0], each)) or each == "pattern" or (name, each) == ("TemplateProcessing", "single"):
            continue
        for value in VALUES:
            if (each, type(value)) not in MORE and value != 2**40:
                theirs, ours = (_raised(setattr, kind(**needed), each, value) for kind in kinds)
                _agree(theirs, ours, (name, "set", each, value))


@pytest.fixture(scope="module")
def both() -> list[Any]:
    return [trained(m, "bytes") for m in (peer, face)]


@pytest.mark.parametrize("method", TAKEN)
def test_methods(method: str, both: list[Any]) -> None:
    given = TAKEN[method]
    for place, argument in enumerate(inspect.signature(getattr(both[1], method)).parameters):
        for value in VALUES:
            if argument == "max_length" and method == "enable_padding":
                continue
            if (method, type(value)) in MORE or (method, value) in (("decode", ""), ("decode", {})):
                continue
            said = list(given)
            named = {argument: value}
            if place < len(given):
                said[place], named = value, {}
            theirs, ours = (_raised(getattr(tokenizer, method), *said, **named) for tokenizer in both)
            _agree(theirs, ours, (method, argument, value))
            for tokenizer in both:
                tokenizer.no_truncation()
                tokenizer.no_padding()


def test_a_state_is_given_and_taken(both: list[Any]) -> None:
    for m, tokenizer in zip((peer, face), both, strict=True):
        state = tokenizer.__getstate__()
        assert json.loads(state) == json.loads(tokenizer.to_str())
        other = m.Tokenizer(m.models.BPE())
        other.__setstate__(state)
        assert other.to_str() == tokenizer.to_str()
        cut = m.pre_tokenizers.ByteLevel()
        cut.__setstate__(m.pre_tokenizers.ByteLevel(add_prefix_space=False).__getstate__())
        assert cut.pre_tokenize_str("sea")[0][0] == "sea"
    with pytest.raises(TypeError, match="does not fit a Lowercase"):
        face.normalizers.Lowercase().__setstate__(b'{"type":"NFC"}')


def test_an_option_without_a_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="unk_id=0 needs a vocabulary"):
        face.models.Unigram(unk_id=0)


def test_numbers_of_numpy_are_numbers() -> None:
    tokenizer = trained(face, "bytes")
    tokenizer.enable_truncation(np.int64(7))
    tokenizer.enable_padding(length=np.int32(9), pad_id=np.int64(3))
    tokenizer.pre_tokenizer.add_prefix_space = np.bool_(0)
    tokenizer.model.dropout = np.float32(0.5)
    assert type(tokenizer.truncation["max_length"]) is type(tokenizer.padding["pad_id"]) is int
    assert face.Tokenizer.from_str(tokenizer.to_str()).to_str() == tokenizer.to_str()
