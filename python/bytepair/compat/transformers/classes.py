"""Defaults of the tokenizer classes of ``transformers`` that no file contains: named tokens, sides, columns.

Source: the defaults in ``models/*/tokenization_*.py`` of ``transformers`` 5.23, read for these values. The pipelines of
these classes are not copied: a ``tokenizer.json`` has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.formats.classes import name_of

if TYPE_CHECKING:
    from collections.abc import Collection

INPUTS = ("input_ids", "attention_mask")
"""The default columns of a call."""

_TYPED = ("Bert",)
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
_GEMMA = {
    "bos_token": "<bos>",
    "eos_token": "<eos>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
_XLM = {
    "bos_token": "<s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "</s>",
    "mask_token": "<special1>",
}
_QWEN2 = {"eos_token": _END, "unk_token": _END, "pad_token": _END}

_NAMES: dict[str, dict[str, str]] = {
    **dict.fromkeys((*_TYPED, "BertJapanese", "DistilBert"), _BERT),
    **dict.fromkeys(("Roberta", "XLMRoberta", "Camembert", "MBart"), _ROBERTA),
    **dict.fromkeys(("GPT2", "CodeGen"), _GPT2),
    "GPTNeoX": {**_GPT2, "pad_token": "<|padding|>"},
    "T5": _T5,
    "CLIP": _CLIP,
    **dict.fromkeys(("Llama", "CodeLlama"), _LLAMA),
    "Gemma": _GEMMA,
    "Qwen2": _QWEN2,
    "BioGpt": {name: token for name, token in _ROBERTA.items() if name not in {"cls_token", "mask_token"}},
    "FSMT": {
        name: token for name, token in _ROBERTA.items() if name in {"bos_token", "unk_token", "sep_token", "pad_token"}
    },
    **dict.fromkeys(("Flaubert", "XLM"), _XLM),
}
_EXTRA = {stem: [f"<special{number}>" for number in range(10)] for stem in ("Flaubert", "XLM")}
"""The special tokens without a name."""
_BY_MODEL = {
    "bert": "Bert",
    "distilbert": "DistilBert",
    "electra": "Bert",
    "layoutlm": "Bert",
    "mobilebert": "Bert",
    "squeezebert": "Bert",
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "bart": "Roberta",
    "gpt2": "GPT2",
    "gpt_neo": "GPT2",
    "opt": "GPT2",
    "codegen": "GPT2",
    "gpt_neox": "GPTNeoX",
    "t5": "T5",
    "clip": "CLIP",
    "qwen2": "Qwen2",
    "qwen3": "Qwen2",
    **dict.fromkeys(("gemma", "gemma2", "gemma3", "gemma3_text"), "Gemma"),
}

_GENERAL_NAMES = """
EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5 ernie4_5_moe
flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode
gradium_phonon_tts granite granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm
internlm2 internlm3 iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava llava_next mimo_v2_flash minicpm3
minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral ministral3 mistral mistral3 mistral_large4
mixtral modernbert modernbert-decoder molmo molmo2 nemo_speechlm nemotron nvfp4 nystromformer olmo2 olmo3
olmo_hybrid opencua openvla paddleocr_vl pegasus_x persimmon phi3 phi3_v phimoe pix2struct pixtral pocket_tts
smolvlm stablelm step3_vl umt5 vipllava voxtral voxtral_realtime xlm-roberta-xl
"""
_GENERAL = frozenset(_GENERAL_NAMES.split())
"""The models whose tokenizers are of a general class, whatever class their files name."""

_MODELS = {
    **dict.fromkeys(("GPT2", "CodeGen", "GPTNeoX", "Roberta", "Qwen2"), "bytes"),
    **dict.fromkeys(("Bert", "DistilBert"), "WordPiece"),
    **dict.fromkeys(("T5", "XLMRoberta", "Camembert"), "Unigram"),
    **dict.fromkeys(("Llama", "CodeLlama", "CLIP", "Gemma"), "merges"),
}

OFFERED = (
    "Bert",
    "CLIP",
    "CodeGen",
    "DistilBert",
    "GPT2",
    "GPTNeoX",
    "Gemma",
    "Llama",
    "Qwen2",
    "Roberta",
    "T5",
    "XLMRoberta",
)
"""The classes with a name of their own here, such as ``LlamaTokenizer``."""

ALIASES = {
    **dict.fromkeys(("Bart", "LED", "Longformer"), "Roberta"),
    **dict.fromkeys(("Electra", "LayoutLM", "Lxmert", "MobileBert", "SqueezeBert"), "Bert"),
}
"""Classes that are others in ``transformers`` 5."""


def stem_of(name: str | None, model: str | None = None) -> str | None:
    """The class of a file without ``TokenizerFast``; None if it is a general one.

    Args:
        name: The class in ``tokenizer_config.json``.
        model: The ``model_type`` in ``config.json``, used if there is no class.

    Example:
        >>> stem_of("GPT2TokenizerFast"), stem_of(None, "bert"), stem_of("PreTrainedTokenizerFast", "bert")
        ('GPT2', 'Bert', None)
    """
    if model in _GENERAL:
        return None
    if name is None:
        return _BY_MODEL.get(model or "")
    stem = name_of({"tokenizer_class": name}, {}) or ""
    stem = ALIASES.get(stem, stem)
    return stem if stem in {*_NAMES, *_LEFT, *_TYPED, *_TYPED_LAST} else None


def fits(stem: str, semantics: str, is_byte_level: bool) -> bool:
    """Whether a class is for models of a kind.

    Example:
        >>> fits("Llama", "merges", False), fits("Llama", "merges", True), fits("GPT2", "merges", True)
        (True, False, True)
    """
    wanted = _MODELS.get(stem)
    return wanted is None or wanted == ("bytes" if is_byte_level else semantics)


def known(stem: str) -> dict[str, Any]:
    """The defaults of a class.

    Returns:
        Named tokens and those without a name, and ``padding_side`` and ``model_input_names`` if they differ from the
        usual ones.

    Example:
        >>> known("GPT2")
        {'bos_token': '<|endoftext|>', 'eos_token': '<|endoftext|>', 'unk_token': '<|endoftext|>'}
        >>> known("Bert")["model_input_names"]
        ['input_ids', 'token_type_ids', 'attention_mask']
    """
    found: dict[str, Any] = dict(_NAMES.get(stem, {}))
    if stem in _EXTRA:
        found["extra_special_tokens"] = _EXTRA[stem]
    if stem in _LEFT:
        found["padding_side"] = "left"
    if stem in _TYPED:
        found["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    elif stem in _TYPED_LAST:
        found["model_input_names"] = [*INPUTS, "token_type_ids"]
    return found


def guessed(added: Collection[str], special: Collection[str]) -> str | None:
    """The class that uses the special tokens of a file: BERT, RoBERTa, T5 or GPT-2, if all of them are there.

    Example:
        >>> guessed(["<|endoftext|>"], ["<|endoftext|>"])
        'GPT2'
    """
    for stem, names in (("Bert", _BERT), ("Roberta", _ROBERTA), ("T5", _T5), ("GPT2", _GPT2)):
        if all(name in added for name in names.values()) and any(name in special for name in names.values()):
            return stem
    return None
