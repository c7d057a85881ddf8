"""Classes of ``transformers`` that do more with a ``.model`` than `sentencepiece`: they number its pieces otherwise, or
add tokens to each text.

The folder of such a tokenizer often holds its ``.model`` alone, and names the class in ``tokenizer_config.json`` or the
kind of model in ``config.json``. `as_class` does what the class does, or refuses: ids that are off by one look right.

Source: ``tokenization_xlm_roberta.py`` and its like in ``transformers`` 4.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats.configs import token_content
from bytepair.model.models import Unigram
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.model.spec import TokenizerSpec

_OF_MODELS = {
    "albert": "Albert",
    "bigbird_pegasus": "Pegasus",
    "camembert": "Camembert",
    "deberta-v2": "DebertaV2",
    "ernie_m": "ErnieM",
    "m2m_100": "M2M100",
    "mbart": "MBart",
    "mt5": "T5",
    "nllb-moe": "Nllb",
    "pegasus": "Pegasus",
    "plbart": "PLBart",
    "seamless_m4t": "SeamlessM4T",
    "seamless_m4t_v2": "SeamlessM4T",
    "speech_to_text": "Speech2Text",
    "t5": "T5",
    "umt5": "T5",
    "xglm": "XGLM",
    "xlm-prophetnet": "XLMProphetNet",
    "xlm-roberta": "XLMRoberta",
    "xlm-roberta-xl": "XLMRoberta",
    "xlnet": "XLNet",
}
"""The classes by ``model_type``, for folders without ``tokenizer_class``."""

# Classes that number pieces in ways of their own, and those that change a text before the pieces are looked for.
_NUMBERS = {"Barthez", "Camembert", "ErnieM", "M2M100", "MBart", "MBart50", "Nllb", "PLBart", "Pegasus", "SeamlessM4T"}
_NUMBERS |= {"Speech2Text", "XGLM", "XLMProphetNet"}
_TEXTS = {"Albert", "Cpm", "XLNet"}

# fairseq's dictionary begins with four tokens of its own, in place of the three of the file.
_FIRST = ("<unk>", "<s>", "</s>")
_FAIRSEQ = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
_SHIFT = 1

# T5 without a number of its own has so many.
_EXTRA_IDS = 100
_MOST_EXTRA_IDS = 10_000

# The texts in a template.
_A, _B = 0, 1


def as_class(spec: TokenizerSpec, config: Mapping[str, Any], model_type: object) -> TokenizerSpec:
    """The tokenizer of a ``.model`` as a class of ``transformers`` has it; unchanged if that does nothing else.

    Args:
        spec: As `sentencepiece` has it.
        config: ``tokenizer_config.json``, which may name the class.
        model_type: That of ``config.json``, which counts if there is no class.

    Raises:
        FormatError: The class does what is not done here.
    """
    name = config.get("tokenizer_class")
    found = str(name).removesuffix("Fast").removesuffix("Tokenizer") if name else _OF_MODELS.get(str(model_type))
    if found in _NUMBERS:
        raise _refused(f"{found}Tokenizer numbers the pieces of its .model in another way")
    if found in _TEXTS:
        raise _refused(f"{found}Tokenizer changes a text before its .model does")
    match found:
        case "XLMRoberta":
            return _xlm_roberta(spec)
        case "T5" | "MT5":
            return _t5(spec, token_content(config, "eos_token") or "</s>", config.get("extra_ids", _EXTRA_IDS))
        case "DebertaV2":
            return _deberta(spec)
    return spec


def _xlm_roberta(spec: TokenizerSpec) -> TokenizerSpec:
    model = spec.model
    pieces = {token.id: token.content for token in spec.added_tokens}
    pieces |= {id: token.decode() for id, token in zip(model.ids, model.tokens, strict=True)}
    if not isinstance(model, Unigram) or tuple(pieces.get(id) for id in range(len(_FIRST))) != _FIRST:
        raise _refused("the .model does not begin with <unk>, <s> and </s>, as those of XLMRobertaTokenizer do")
    added = [token._replace(id=_FAIRSEQ.get(token.content, token.id + _SHIFT)) for token in spec.added_tokens]
    added += [AddedToken("<pad>", _FAIRSEQ["<pad>"]), AddedToken("<mask>", _size(spec) + _SHIFT, lstrip=True)]
    ids = tuple(id + _SHIFT if id else _FAIRSEQ["<unk>"] for id in model.ids)
    roles = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>", "mask": "<mask>"}
    numbered = spec.replace(
        model=replace(model, ids=ids, unk_id=_FAIRSEQ["<unk>"]),
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
        roles=tuple(roles.items()),
    )
    return _with_template(numbered, ["<s>", _A, "</s>"], ["<s>", _A, "</s>", "</s>", _B, "</s>"])


def _t5(spec: TokenizerSpec, eos: str, extra: object) -> TokenizerSpec:
    if type(extra) is not int or not 0 <= extra <= _MOST_EXTRA_IDS:
        raise FormatError(
            f"extra_ids is {str(extra)[:80]!r}", pointer="/extra_ids", remedy="correct the file, or remove it"
        )
    known = {token.content for token in spec.added_tokens}
    last = _size(spec) + extra - 1
    added = [AddedToken(f"<extra_id_{number}>", last - number) for number in reversed(range(extra))]
    added = [token for token in added if token.content not in known]
    extended = spec.replace(added_tokens=(*spec.added_tokens, *added))
    return _with_template(extended, [_A, eos], [_A, eos, _B, eos])


def _size(spec: TokenizerSpec) -> int:
    return 1 + max((*spec.model.ids, *(token.id for token in spec.added_tokens)))


def _deberta(spec: TokenizerSpec) -> TokenizerSpec:
    known = {token.content for token in spec.added_tokens}
    if not {"[CLS]", "[SEP]"} <= known:
        raise _refused("the .model has no [CLS] and [SEP], as those of DebertaV2Tokenizer have")
    added = () if "[MASK]" in known else (AddedToken("[MASK]", _size(spec)),)
    masked = spec.replace(added_tokens=(*spec.added_tokens, *added))
    return _with_template(masked, ["[CLS]", _A, "[SEP]"], ["[CLS]", _A, "[SEP]", _B, "[SEP]"], is_typed=True)


def _with_template(
    spec: TokenizerSpec, single: list[str | int], pair: list[str | int], *, is_typed: bool = False
) -> TokenizerSpec:
    """The tokenizer that adds tokens to one or two texts, which are numbers in the templates."""
    ids = {token.content: token.id for token in spec.added_tokens}
    names = dict.fromkeys(part for part in single if isinstance(part, str))
    missing = next((name for name in names if name not in ids), None)
    if missing is not None:
        raise _refused(f"the .model has no {missing}, which is to be added to each text")

    def parts(template: list[str | int]) -> list[dict[str, object]]:
        behind = template.index(_B) if _B in template else len(template)
        types = [int(is_typed and at >= behind) for at in range(len(template))]
        return [
            {"SpecialToken": {"id": part, "type_id": type_id}}
            if isinstance(part, str)
            else {"Sequence": {"id": "AB"[part], "type_id": type_id}}
            for part, type_id in zip(template, types, strict=True)
        ]

    special = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in names}
    step = {"type": "TemplateProcessing", "single": parts(single), "pair": parts(pair), "special_tokens": special}
    return spec.replace(post_processor=json.dumps(step, ensure_ascii=False))


def _refused(what: str) -> FormatError:
    return FormatError(
        f"not supported: {what}",
        remedy="load its tokenizer.json, which transformers saves; or the .model itself, for the ids of sentencepiece",
    )
