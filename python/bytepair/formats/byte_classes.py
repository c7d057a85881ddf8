"""Classes of ``transformers`` whose files are ``vocab.json`` and ``merges.txt``: what they add to a text.

Source: ``tokenization_roberta.py`` and its like, and ``convert_slow_tokenizer.py``, in ``transformers`` 4.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.errors import FormatError
from bytepair.formats import hf_json
from bytepair.formats.classes import A, B, check_tokens, warn_if_unknown, with_entities, with_template
from bytepair.formats.configs import CONFIG, named_tokens, template
from bytepair.formats.vocab_merges import pairs
from bytepair.model.spec import AddedToken, TokenizerSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

_END = "<|endoftext|>"
_ROBERTA = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>", "mask": "<mask>"}
_BERT = {
    "bos": "[CLS]",
    "eos": "[SEP]",
    "unk": "[UNK]",
    "sep": "[SEP]",
    "pad": "[PAD]",
    "cls": "[CLS]",
    "mask": "[MASK]",
}
_GPT2 = {"bos": _END, "eos": _END, "unk": _END}
_ROLES = {
    **dict.fromkeys(
        ("Roberta", "Bart", "Blenderbot", "LED", "LayoutLMv3", "Longformer", "Luke", "MarkupLM", "Mvp"), _ROBERTA
    ),
    **dict.fromkeys(("GPT2", "CodeGen", "Whisper"), _GPT2),
    "Deberta": _BERT,
}
"""The special tokens of each class, by their roles."""
_FRAMED = {"Roberta", "Bart", "LED", "LayoutLMv3", "Longformer", "Luke", "Mvp"}
"""Those that put tokens around a text as RoBERTa does."""

_PROMPT = ("<|startoftranscript|>", "<|notimestamps|>")
"""The prompt of Whisper without a language and a task."""
_TEMPLATES: dict[str, tuple[tuple[str | int, ...], tuple[str | int, ...], tuple[str, str]]] = {
    "Blenderbot": ((A, "eos"), (A, B), ("00", "01")),
    "Deberta": (("cls", A, "sep"), ("cls", A, "sep", B, "sep"), ("000", "00011")),
    "MarkupLM": (("cls", A, "sep"), ("cls", A, "sep", B, "sep"), ("000", "00000")),
    "Whisper": ((*_PROMPT, A, "eos"), (*_PROMPT, A, B, "eos"), ("0000", "00011")),
}
"""The templates for one text and for two, of roles, other tokens and texts; and the types of their parts."""

_WORD_END = "</w>"


class _Words(NamedTuple):
    """A class whose words end with ``</w>``."""

    roles: Mapping[str, str]
    lowercase: bool
    strip_accents: bool | None
    is_framed: bool


_HERBERT = {role: token for role, token in _ROBERTA.items() if role != "eos"}
_OF_WORDS = {
    "Herbert": _Words(_HERBERT, lowercase=False, strip_accents=False, is_framed=True),
    "OpenAIGPT": _Words({"unk": "<unk>"}, lowercase=True, strip_accents=None, is_framed=False),
}


def read_words(name: str | None, vocab: Mapping[str, Any], merges: bytes, config: Mapping[str, Any]) -> TokenizerSpec:
    """Reads the files of a class whose tokens are characters, with ``</w>`` at the end of a word.

    Raises:
        FormatError: The class is none of those, or is not named. Or the files are malformed, or a token is missing.
    """
    if name not in _OF_WORDS:
        raise FormatError(
            "tokens that end with </w> are characters and not bytes, and nothing says how words are found",
            remedy=f"name its class in {CONFIG}: one of {', '.join(f'{known}Tokenizer' for known in _OF_WORDS)}",
        )
    words = _OF_WORDS[name]
    roles = named_tokens(config, words.roles)
    added = sorted({(vocab[token], token) for token in roles.values() if token in vocab})
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    model = {"type": "BPE", "vocab": vocab, "merges": [pair for _, pair in pairs(merges)]}
    table: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [{"id": id, "content": token, "special": True, **flags} for id, token in added],
        "normalizer": {**normalizer, "lowercase": words.lowercase, "strip_accents": words.strip_accents},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "BPEDecoder", "suffix": _WORD_END},
        "model": {**model, "unk_token": roles["unk"], "end_of_word_suffix": _WORD_END},
    }
    if words.is_framed:
        check_tokens((roles["cls"], roles["sep"]), vocab)
        frame = {role: [roles[role], vocab[roles[role]]] for role in ("sep", "cls")}
        table["post_processor"] = {"type": "BertProcessing", **frame}
    return hf_json.read(table).replace(roles=tuple(roles.items()))


def as_class(
    spec: TokenizerSpec, name: str | None, vocab: Mapping[str, Any], config: Mapping[str, Any]
) -> TokenizerSpec:
    """The tokenizer of ``vocab.json`` and ``merges.txt`` as a class has it; unchanged if that adds nothing.

    Args:
        spec: As the files have it.
        name: The class.
        vocab: ``vocab.json``, parsed.
        config: ``tokenizer_config.json`` and ``special_tokens_map.json``, which may name tokens.

    Raises:
        FormatError: A token that the class adds is missing.
    """
    if name not in _ROLES:
        if name not in _OF_WORDS:
            warn_if_unknown(name)
        return spec
    roles = named_tokens(config, _ROLES[name])
    wanted = dict.fromkeys((*roles.values(), *(_PROMPT if name == "Whisper" else ())))
    found = {token: vocab[token] for token in wanted if token in vocab}
    spec = _with_special_tokens(spec, roles, found, _stripping(config, roles))
    if name == "Luke":
        spec = with_entities(spec, max(len(vocab), *(token.id + 1 for token in spec.added_tokens)))
    ids = {token.content: token.id for token in spec.added_tokens}
    if name == "LayoutLMv3" and config.get("add_prefix_space") is None:
        spec = spec.replace(prefix_space=True)
    if name in _FRAMED:
        check_tokens((roles["cls"], roles["sep"]), ids)
        step: dict[str, Any] = {role: [roles[role], ids[roles[role]]] for role in ("sep", "cls")}
        step |= {"trim_offsets": True, "add_prefix_space": spec.prefix_space}
        return spec.replace(post_processor=json.dumps({"type": "RobertaProcessing", **step}, ensure_ascii=False))
    if name in _TEMPLATES:
        *templates, types = _TEMPLATES[name]
        single, pair = ([roles.get(str(part), part) for part in row] for row in templates)
        return with_template(spec, single, pair, types)
    if config.get("add_bos_token") and spec.post_processor is None:
        check_tokens([roles["bos"]], ids)
        return spec.replace(post_processor=template(roles["bos"], None, ids))
    return spec


def _with_special_tokens(
    spec: TokenizerSpec, roles: Mapping[str, str], found: Mapping[str, int], stripping: str | None
) -> TokenizerSpec:
    """The tokenizer with the special tokens of its class that were found in the vocabulary."""
    rows = [token._replace(lstrip=True) if token.content == stripping else token for token in spec.added_tokens]
    known = {token.content for token in rows}
    rows += [AddedToken(token, id, lstrip=token == stripping) for token, id in found.items() if token not in known]
    known |= found.keys()
    named = dict(spec.roles) | {role: token for role, token in roles.items() if token in known}
    by_id = sorted(rows, key=lambda token: token.id)
    return spec.replace(added_tokens=tuple(by_id), roles=tuple(named.items()))


def _stripping(config: Mapping[str, Any], roles: Mapping[str, str]) -> str | None:
    """The mask, which takes the space before it unless the folder says otherwise."""
    mask, listed = config.get("mask_token"), config.get("added_tokens_decoder")
    rows = listed.values() if isinstance(listed, dict) else ()
    is_listed = any(isinstance(row, dict) and row.get("content") == roles.get("mask") for row in rows)
    return None if is_listed or (isinstance(mask, dict) and mask.get("lstrip") is False) else roles.get("mask")
