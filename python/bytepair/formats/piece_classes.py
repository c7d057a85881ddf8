"""Classes of ``transformers`` that do more with a ``.model`` than `sentencepiece`: they number its pieces otherwise, or
add tokens to each text.

The folder of such a tokenizer often holds its ``.model`` alone, and names the class in ``tokenizer_config.json`` or the
kind of model in ``config.json``. `as_class` does what the class does, or refuses: ids that are off by one look right.

Source: ``tokenization_xlm_roberta.py`` and its like in ``transformers`` 4.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair.errors import FormatError
from bytepair.formats import piece_vocabularies
from bytepair.formats.configs import token_content
from bytepair.model.models import BytePair, Unigram
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from bytepair.model.models import Model
    from bytepair.model.spec import TokenizerSpec

_OF_MODELS = {
    "albert": "Albert",
    "bigbird_pegasus": "Pegasus",
    "camembert": "Camembert",
    "deberta-v2": "DebertaV2",
    "ernie_m": "ErnieM",
    "m2m_100": "M2M100",
    "marian": "Marian",
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
_NUMBERS = {"Barthez", "ErnieM", "Nllb", "PLBart", "SeamlessM4T", "Speech2Text", "XLMProphetNet"}
_TEXTS = {"Albert", "Cpm", "XLNet"}

# What a template has besides tokens: the two texts, and the token of a language.
_A, _B, _LANGUAGE = 0, 1, 2
_Template: TypeAlias = "tuple[str | int, ...]"


class _Numbers(NamedTuple):
    """How a class numbers the pieces of a ``.model``, and what it adds to a text."""

    begins: tuple[str, ...]
    """The first pieces of the file."""
    shift: int
    """How much greater the id of a piece is than its place."""
    moved: Mapping[str, int]
    """The ids of tokens that are not shifted, or not in the file."""
    more: tuple[str, ...]
    """The tokens behind the last piece."""
    single: _Template
    pair: _Template
    roles: Mapping[str, str]
    languages: tuple[str, ...] = ()
    """Those of `more` that are languages: a folder chooses one as ``src_lang``."""


_BEGINS = ("<unk>", "<s>", "</s>")
# fairseq's dictionary begins with four tokens of its own, in place of these three.
_FAIRSEQ = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
_CAMEMBERT = {"<s>NOTUSED": 0, "<pad>": 1, "</s>NOTUSED": 2, "<unk>": 3, "<unk>NOTUSED": 4}
_PEGASUS = {"<pad>": 0, "</s>": 1, "<mask_1>": 2, "<mask_2>": 3, **{f"<unk_{at}>": at + 2 for at in range(2, 103)}}
_OF_MBART = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN"
)
_OF_MBART50 = (
    f"{_OF_MBART} af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX "
    "sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI"
)
_MBART, _MBART50 = (tuple(codes.split()) for codes in (_OF_MBART, _OF_MBART50))
_USUAL_LANGUAGE = "en_XX"
_ROLES = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>", "mask": "<mask>"}
_BERT = (("<s>", _A, "</s>"), ("<s>", _A, "</s>", "</s>", _B, "</s>"))
_SHIFTED = {
    "XLMRoberta": _Numbers(_BEGINS, 1, _FAIRSEQ, ("<mask>",), *_BERT, _ROLES),
    "Camembert": _Numbers(_BEGINS, 4, _CAMEMBERT, ("<mask>",), *_BERT, _ROLES),
    "MBart": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        (*_MBART, "<mask>"),
        (_A, "</s>", _LANGUAGE),
        (_A, _B, "</s>", _LANGUAGE),
        _ROLES,
        _MBART,
    ),
    "MBart50": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        (*_MBART50, "<mask>"),
        (_LANGUAGE, _A, "</s>"),
        (_LANGUAGE, _A, _B, "</s>"),
        _ROLES,
        _MBART50,
    ),
    "XGLM": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        tuple(f"<madeupword{at}>" for at in range(7)),
        ("</s>", _A),
        ("</s>", _A, "</s>", "</s>", _B),
        {role: token for role, token in _ROLES.items() if role != "mask"},
    ),
    "Pegasus": _Numbers(
        ("<pad>", "</s>", "<unk>"),
        103,
        _PEGASUS,
        (),
        (_A, "</s>"),
        (_A, _B, "</s>"),
        {"eos": "</s>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask_2>"},
    ),
}
"""The classes that number pieces by adding to their places."""

# A folder of Pegasus can state other ones.
_PEGASUS_SETTINGS = {"offset": 103, "mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"}

# T5 without a number of its own has so many.
_EXTRA_IDS = 100
_MOST_EXTRA_IDS = 10_000


def as_class(spec: TokenizerSpec, path: Path, config: Mapping[str, Any], model_type: object) -> TokenizerSpec:
    """The tokenizer of a ``.model`` as a class of ``transformers`` has it; unchanged if that does nothing else.

    Args:
        spec: As `sentencepiece` has it.
        path: Its file, beside which some classes have a vocabulary.
        config: ``tokenizer_config.json``, which may name the class.
        model_type: That of ``config.json``, which counts if there is no class.

    Raises:
        FormatError: The class does what is not done here.
    """
    name = config.get("tokenizer_class")
    found = str(name).removesuffix("Fast").removesuffix("Tokenizer") if name else _OF_MODELS.get(str(model_type))
    if piece_vocabularies.is_marian(path):
        found = "Marian"
    if found in _NUMBERS:
        raise _refused(f"{found}Tokenizer numbers the pieces of its .model in another way")
    if found in _TEXTS:
        raise _refused(f"{found}Tokenizer changes a text before its .model does")
    if found in _SHIFTED:
        return _shifted(spec, path, found, config)
    match found:
        case "Marian":
            marian = piece_vocabularies.marian(spec, path, config)
            eos = dict(marian.roles)["eos"]
            return _with_template(marian, [_A, eos], [_A, _B, eos])
        case "M2M100":
            m2m100, language = piece_vocabularies.m2m100(spec, path, config)
            eos = dict(m2m100.roles)["eos"]
            return _with_template(m2m100, [language, _A, eos], [language, _A, _B, eos])
        case "T5" | "MT5":
            return _t5(spec, token_content(config, "eos_token") or "</s>", config.get("extra_ids", _EXTRA_IDS))
        case "DebertaV2":
            return _deberta(spec)
    return spec


def _shifted(spec: TokenizerSpec, path: Path, name: str, config: Mapping[str, Any]) -> TokenizerSpec:
    numbers = _SHIFTED[name]
    contents = {token.id: token.content for token in spec.added_tokens}
    contents |= {id: token.decode() for id, token in zip(spec.model.ids, spec.model.tokens, strict=True)}
    if tuple(contents.get(id) for id in range(len(numbers.begins))) != numbers.begins:
        begins = ", ".join(numbers.begins)
        raise _refused(f"the .model does not begin with {begins}, as those of {name}Tokenizer do")
    if name == "Pegasus":
        for setting, usual in _PEGASUS_SETTINGS.items():
            value = token_content(config, setting) if setting in config and setting != "offset" else config.get(setting)
            if setting in config and value != usual:
                raise _refused(f"{setting} of PegasusTokenizer is {str(value)[:80]!r}, not {usual!r}")
    moved, size = numbers.moved, _size(spec) + numbers.shift

    def number(id: int) -> int:
        return moved.get(contents[id], id + numbers.shift)

    known = {token.content for token in spec.added_tokens}
    added = [token._replace(id=number(token.id)) for token in spec.added_tokens]
    added += [AddedToken(content, id) for content, id in moved.items() if content not in known]
    added += [AddedToken(content, size + at, lstrip=content == "<mask>") for at, content in enumerate(numbers.more)]
    numbered = spec.replace(
        model=_numbered(spec.model, number),
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
        roles=tuple(numbers.roles.items()),
    )
    single, pair = [*numbers.single], [*numbers.pair]
    if numbers.languages:
        language = piece_vocabularies.one_of(config, path, "src_lang", _USUAL_LANGUAGE, numbers.languages)
        single, pair = ([language if part == _LANGUAGE else part for part in template] for template in (single, pair))
    return _with_template(numbered, single, pair)


def _numbered(model: Model, number: Callable[[int], int]) -> Model:
    """The model with other ids, in the order of the old ones."""
    ids = tuple(map(number, model.ids))
    if isinstance(model, Unigram):
        return replace(model, ids=ids, unk_id=None if model.unk_id is None else number(model.unk_id))
    assert isinstance(model, BytePair)
    merges = tuple((number(left), number(right)) for left, right in model.merges or ())
    return replace(model, ids=ids, merges=merges)


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
    spec: TokenizerSpec, single: Sequence[str | int], pair: Sequence[str | int], *, is_typed: bool = False
) -> TokenizerSpec:
    """The tokenizer that adds tokens to one or two texts, which are numbers in the templates."""
    ids = {token.content: token.id for token in spec.added_tokens}
    names = dict.fromkeys(part for part in single if isinstance(part, str))
    missing = next((name for name in names if name not in ids), None)
    if missing is not None:
        raise _refused(f"the .model has no {missing}, which is to be added to each text")

    def parts(template: Sequence[str | int]) -> list[dict[str, object]]:
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
