"""Facts of a tokenizer that its GGUF file does not hold, and llama.cpp knows by the kind of model and by names.

A file of Llama 3, for one, does not say that ``<|begin_of_text|>`` comes first, and none says that a token takes the
white space beside it.

Source: ``src/llama-vocab.cpp`` of llama.cpp.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytepair.errors import TokenizerWarning
from bytepair.formats.gguf_patterns import LIKE_LLAMA_3
from bytepair.formats.sentencepiece import CONTROL, NORMAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.model.spec import AddedToken

_KINDS = frozenset(["gpt2", "gemma4", "llama", "plamo2", "t5", "whitespace"])
_BEGIN = LIKE_LLAMA_3 | {"tekken", "chameleon"}
_ALWAYS_BEGIN = frozenset(["gemma4", "granite-embed-multi-311m"])
_IDS = {
    "llama": {"bos_token_id": 1, "eos_token_id": 2},
    "plamo2": {"unknown_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "padding_token_id": 3},
    "t5": {"eos_token_id": 1},
}
# Those of llama.cpp but for `</s>`, which is in HTML as well, and an ordinary token of Qwen.
_ENDS = frozenset(
    [
        "<|eot_id|>",
        "<|im_end|>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<|flush|>",
        "<|calls|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "<|eom_id|>",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "[EOS]",
        "<|end_of_text|>",
        "<end_of_utterance>",
        "<eos>",
        "<turn|>",
        "<|tool_response>",
        "<｜end▁of▁sentence｜>",
        "[e~[",
    ]
)
# In these `<mask>` takes the white space before it.
_MASK_BY_PATTERN = ("jina-v2-de", "jina-v2-es", "jina-v2-code")
_MASK_BY_ARCHITECTURE = ("nomic-bert-moe", "jina-bert-v3")
_PHI_3 = ("phi-3", "phi3")
# Every other added token of Phi-3 takes the white space behind it.
_PHI_3_PLAIN = frozenset(["<unk>", "<s>", "<|endoftext|>"])


def completed(table: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata, with what llama.cpp takes for granted where the file says nothing.

    Args:
        table: The metadata by names without ``tokenizer.ggml.``; of another kind than `_KINDS` they are not changed.

    Example:
        >>> completed({"model": "gpt2", "pre": "llama-bpe", "tokens": ["a"]})["add_bos_token"]
        True
    """
    kind, pre, tokens = table.get("model", ""), table.get("pre"), table["tokens"]
    if kind not in _KINDS:
        return dict(table)
    usual = {
        **{key: id for key, id in _IDS.get(kind, {}).items() if id < len(tokens)},
        "add_bos_token": kind == "llama" or (kind == "gpt2" and pre in _BEGIN),
        "add_eos_token": kind == "t5",
    }
    found = {**usual, **table, "token_type": _types(tokens, table.get("token_type") or [NORMAL] * len(tokens))}
    if kind == "gemma4" or (kind == "gpt2" and pre in _ALWAYS_BEGIN):
        found["add_bos_token"] = True
    return found


def _types(tokens: Sequence[str], given: Sequence[int]) -> list[int]:
    """The types of the tokens; ordinary ones by which llama.cpp knows where a text ends are control tokens."""
    found = {id for id in map(tokens.index, _ENDS.intersection(tokens)) if given[id] == NORMAL}
    if not found:
        return list(given)
    names = ", ".join(repr(tokens[id]) for id in sorted(found))
    warnings.warn(
        f"the file has {names} among its ordinary tokens; special here, as in llama.cpp", TokenizerWarning, stacklevel=4
    )
    return [CONTROL if id in found else kind for id, kind in enumerate(given)]


def flagged(added: Iterable[AddedToken], model: str, architecture: str, pre: str) -> tuple[AddedToken, ...]:
    """The added tokens, some of which take the white space before or behind them.

    Args:
        added: The tokens.
        model: The name of the model.
        architecture: That of its architecture.
        pre: That of its split pattern.
    """
    model = model.lower()
    if any(part in model for part in _PHI_3):
        return tuple(token._replace(rstrip=token.content not in _PHI_3_PLAIN) for token in added)
    if any(part in pre for part in _MASK_BY_PATTERN) or any(part in architecture for part in _MASK_BY_ARCHITECTURE):
        taking = "<mask>"
    else:
        taking = "[MASK]" if "modern-bert" in model else ""
    return tuple(token._replace(lstrip=token.lstrip or token.content == taking) for token in added)
