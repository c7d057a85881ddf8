"""Defaults of the tokenizer classes of ``transformers`` that no file contains: named tokens, sides, columns.

Source: the defaults in ``models/*/tokenization_*.py`` of ``transformers`` 5.23, read for these values. The pipelines of
these classes are not copied: a ``tokenizer.json`` has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

INPUTS = ("input_ids", "attention_mask")
"""The default columns of a call."""

_TYPED = ("Bert", "Electra", "LayoutLM", "MobileBert", "SqueezeBert", "Lxmert")
_TYPED_LAST = ("Deberta", "DebertaV2", "LayoutLMv2", "Tapas", "Canine")
_LEFT = ("Llama", "CodeLlama", "Gemma", "Cohere", "XLNet", "Siglip2")

_END = "<|endoftext|>"
_BERT = {f"{role}_token": f"[{role.upper()}]" for role in ("unk", "sep", "pad", "cls", "mask")}
_ROBERTA = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "mask_token": "<mask>",
}
_GPT2 = {"bos_token": _END, "eos_token": _END, "unk_token": _END}
_T5 = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_CLIP = {"bos_token": "<|startoftext|>", "eos_token": _END, "unk_token": _END, "pad_token": _END}
_LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_QWEN2 = {"eos_token": _END, "unk_token": _END, "pad_token": _END}

_NAMES: dict[str, dict[str, str]] = {
    **dict.fromkeys((*_TYPED, "DistilBert"), _BERT),
    **dict.fromkeys(("Roberta", "XLMRoberta", "Camembert", "Bart", "MBart"), _ROBERTA),
    **dict.fromkeys(("GPT2", "CodeGen"), _GPT2),
    "GPTNeoX": {**_GPT2, "pad_token": "<|padding|>"},
    "T5": _T5,
    "CLIP": _CLIP,
    **dict.fromkeys(("Llama", "CodeLlama"), _LLAMA),
    "Qwen2": _QWEN2,
}
_BY_MODEL = {
    "bert": "Bert",
    "distilbert": "DistilBert",
    "electra": "Bert",
    "layoutlm": "Bert",
    "mobilebert": "MobileBert",
    "squeezebert": "Bert",
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "bart": "Bart",
    "gpt2": "GPT2",
    "gpt_neo": "GPT2",
    "opt": "GPT2",
    "codegen": "GPT2",
    "gpt_neox": "GPTNeoX",
    "t5": "T5",
    "clip": "CLIP",
    "llama": "Llama",
    "qwen2": "Qwen2",
    "qwen3": "Qwen2",
}


def known(name: str | None, model: str | None = None) -> dict[str, Any]:
    """Return the defaults of a class.

    Args:
        name: The class in ``tokenizer_config.json``.
        model: The ``model_type`` in ``config.json``, used if there is no class.

    Returns:
        Named tokens, and ``padding_side`` and ``model_input_names`` if they differ from the usual ones.

    Example:
        >>> known("GPT2TokenizerFast")
        {'bos_token': '<|endoftext|>', 'eos_token': '<|endoftext|>', 'unk_token': '<|endoftext|>'}
        >>> known("BertTokenizer")["model_input_names"]
        ['input_ids', 'token_type_ids', 'attention_mask']
    """
    stem = (name or "").removesuffix("Fast").removesuffix("Tokenizer") or _BY_MODEL.get(model or "", "")
    found: dict[str, Any] = dict(_NAMES.get(stem, {}))
    if stem in _LEFT:
        found["padding_side"] = "left"
    if stem in _TYPED:
        found["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    elif stem in _TYPED_LAST:
        found["model_input_names"] = [*INPUTS, "token_type_ids"]
    return found


def guessed(vocab: Mapping[str, int], special: Collection[str]) -> dict[str, Any]:
    """Recognize named tokens by their text, for files without a class.

    The tokens of BERT, RoBERTa, T5 and GPT-2 are recognized, if all of them are in the vocabulary.

    Example:
        >>> guessed({"a": 0, "<|endoftext|>": 1}, ["<|endoftext|>"])["eos_token"]
        '<|endoftext|>'
    """
    for stem, names in (("Bert", _BERT), ("Roberta", _ROBERTA), ("T5", _T5), ("GPT2", _GPT2)):
        if all(name in vocab for name in names.values()) and any(name in special for name in names.values()):
            return known(stem)
    return {}
