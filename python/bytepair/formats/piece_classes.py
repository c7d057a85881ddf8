"""Classes of ``transformers`` that do more with a ``.model`` than `sentencepiece`: they number its pieces otherwise, or
add tokens to each text.

The folder of such a tokenizer often holds its ``.model`` alone. `as_class` does what the class does, or refuses.

Source: ``tokenization_xlm_roberta.py`` and its like in ``transformers`` 4.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair.errors import TokenizerWarning
from bytepair.formats import piece_texts, piece_vocabularies, sentencepiece
from bytepair.formats.classes import (
    A,
    B,
    check_tokens,
    extra_ids,
    refused,
    warn_if_unknown,
    with_ends,
    with_entities,
    with_template,
)
from bytepair.formats.configs import flag, listed_tokens, template, token_content
from bytepair.model.models import BytePair, Unigram
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from bytepair.model.models import Model
    from bytepair.model.spec import TokenizerSpec

# Classes that number pieces in ways of their own, and those that change a text before the pieces are looked for.
_NUMBERS = {"ErnieM", "XLMProphetNet"}
_TEXTS = {"BertJapanese", "Cpm"}

# The place of a language in a template.
_LANGUAGE = 2
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
    language: str | None = "en_XX"
    """The one of a folder that chooses none; None for no language in the template."""


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
_PLBART = tuple(f"__{code}__" for code in ("java", "python", "en_XX", "javascript", "php", "ruby", "go"))
_ROLES = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>", "mask": "<mask>"}
_BERT = (("<s>", A, "</s>"), ("<s>", A, "</s>", "</s>", B, "</s>"))
_SHIFTED = {
    **dict.fromkeys(("XLMRoberta", "LayoutXLM"), _Numbers(_BEGINS, 1, _FAIRSEQ, ("<mask>",), *_BERT, _ROLES)),
    "Camembert": _Numbers(_BEGINS, 4, _CAMEMBERT, ("<mask>",), *_BERT, _ROLES),
    "MBart": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        (*_MBART, "<mask>"),
        (A, "</s>", _LANGUAGE),
        (A, B, "</s>", _LANGUAGE),
        _ROLES,
        _MBART,
    ),
    "MBart50": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        (*_MBART50, "<mask>"),
        (_LANGUAGE, A, "</s>"),
        (_LANGUAGE, A, B, "</s>"),
        _ROLES,
        _MBART50,
    ),
    "XGLM": _Numbers(
        _BEGINS,
        1,
        _FAIRSEQ,
        tuple(f"<madeupword{at}>" for at in range(7)),
        ("</s>", A),
        ("</s>", A, "</s>", "</s>", B),
        {role: token for role, token in _ROLES.items() if role != "mask"},
    ),
    "Pegasus": _Numbers(
        ("<pad>", "</s>", "<unk>"),
        103,
        _PEGASUS,
        (),
        (A, "</s>"),
        (A, B, "</s>"),
        {"eos": "</s>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask_2>"},
    ),
}
"""The classes that number pieces by adding to their places."""

_MULTI = _SHIFTED["MBart"]._replace(more=(*_PLBART, "<mask>"), languages=_PLBART, language="__en_XX__")
_BASE = _MULTI._replace(more=(*_PLBART[:3], "<mask>"), languages=_PLBART[:3], language=None)
_OF_PLBART = {"base": _BASE, "multi": _MULTI}
"""PLBart's numbers by its ``language_codes``."""

# The folder of NLLB lists the tokens of its languages.
_NLLB = _SHIFTED["MBart50"]._replace(more=(), language="eng_Latn")
_NLLB_LEGACY = _SHIFTED["MBart"]._replace(more=(), language="eng_Latn")
# So does that of SeamlessM4T.
_SEAMLESS = _Numbers(
    _BEGINS,
    1,
    {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3},
    (),
    (_LANGUAGE, A, "</s>"),
    (_LANGUAGE, A, B, "</s>"),
    {role: token for role, token in _ROLES.items() if role != "mask"},
    language="__eng__",
)
_LISTED = {"Nllb": re.compile("[a-z]{3}_[A-Z][a-z]{3}"), "SeamlessM4T": re.compile("__.+__")}
"""The tokens of languages of these classes."""

# A folder of Pegasus can state other ones.
_PEGASUS_SETTINGS = {"offset": 103, "mask_token": "<mask_2>", "mask_token_sent": "<mask_1>"}

_BERT_ROLES = {"sep": "[SEP]", "cls": "[CLS]", "mask": "[MASK]"}


def as_class(spec: TokenizerSpec, path: Path, name: str | None, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of a ``.model`` as a class of ``transformers`` has it; unchanged if that does nothing else.

    Args:
        spec: As `sentencepiece` has it.
        path: Its file, beside which some classes have a vocabulary.
        name: The class, as `classes.name_of` has it.
        config: ``tokenizer_config.json``, parsed.

    Raises:
        FormatError: The class does what is not done here.
    """
    if piece_vocabularies.is_marian(path):
        name = "Marian"
    if name in _NUMBERS:
        raise refused(f"{name}Tokenizer numbers the pieces of its .model in another way")
    if name in _TEXTS:
        raise refused(f"{name}Tokenizer changes a text before its .model does")
    if name in piece_texts.NAMES:
        return piece_texts.as_class(spec, path, name, config)
    if name in _SHIFTED:
        return _shifted(spec, path, name, _SHIFTED[name], config)
    if name not in _BUILDERS:
        warn_if_unknown(name)
        return spec
    return _BUILDERS[name](spec, path, config)


def _llama(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    return _with_bos(_with_spaces(spec, path, config), path, config)


def _with_spaces(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer that puts a space before a text, with `legacy` behind each added token in it too, or none."""
    if not flag(config, path.parent, "add_prefix_space", usual=True):
        return sentencepiece.without_prefix(spec)
    if flag(config, path.parent, "legacy", usual=True):
        return spec
    once = sentencepiece.with_prefix_once(spec)
    if once is None:
        what = "legacy is false in the folder, but text behind an added token gets a space here, as with true"
        warnings.warn(what, TokenizerWarning, stacklevel=5)
    return once or spec


def _with_bos(spec: TokenizerSpec, _: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer that puts bos in front of a text, unless the folder says that it does not."""
    usual = dict(spec.roles).get("bos", "<s>")
    bos = (token_content(config, "bos_token") or usual) if config.get("add_bos_token", True) else None
    eos = (token_content(config, "eos_token") or "</s>") if config.get("add_eos_token") else None
    ids = {token.content: token.id for token in spec.added_tokens}
    check_tokens([name for name in (bos, eos) if name], ids)
    return spec.replace(post_processor=template(bos, eos, ids)) if bos or eos else spec


def _shifted(spec: TokenizerSpec, path: Path, name: str, numbers: _Numbers, config: Mapping[str, Any]) -> TokenizerSpec:
    contents = {token.id: token.content for token in spec.added_tokens}
    contents |= {id: token.decode() for id, token in zip(spec.model.ids, spec.model.tokens, strict=True)}
    if tuple(contents.get(id) for id in range(len(numbers.begins))) != numbers.begins:
        begins = ", ".join(numbers.begins)
        raise refused(f"the .model does not begin with {begins}, as those of {name}Tokenizer do")
    if name == "Pegasus":
        for setting, usual in _PEGASUS_SETTINGS.items():
            value = config.get(setting, usual)
            value = value.get("content") if isinstance(value, dict) else value
            if value != usual:
                raise refused(f"{setting} of PegasusTokenizer is {str(value)[:80]!r}, not {usual!r}")
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
    language = numbers.language
    if numbers.languages and (language or config.get("src_lang")):
        language = piece_vocabularies.one_of(config, path, "src_lang", language or "", numbers.languages)
    rows = ([language if part == _LANGUAGE else part for part in row] for row in (numbers.single, numbers.pair))
    single, pair = ([part for part in row if part is not None] for row in rows)
    return with_template(numbered, single, pair)


def _plbart(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    codes = piece_vocabularies.one_of(config, path, "language_codes", "base", list(_OF_PLBART))
    source = f"__{config.get('src_lang')}__"
    named = {**config, "src_lang": source} if source in _PLBART else config
    return _shifted(spec, path, "PLBart", _OF_PLBART[codes], named)


def _nllb(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    numbers = _NLLB_LEGACY if flag(config, path.parent, "legacy_behaviour", usual=False) else _NLLB
    return _listed(spec, path, "Nllb", numbers, config)


def _seamless(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    source = str(config.get("src_lang") or "eng")
    named = {**config, "src_lang": source if "__" in source else f"__{source}__", "legacy": False}
    return _listed(_with_spaces(spec, path, named), path, "SeamlessM4T", _SEAMLESS, named)


def _listed(spec: TokenizerSpec, path: Path, name: str, numbers: _Numbers, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of a class whose folder lists the tokens of its languages."""
    ids = {row.content: row.id for row, _ in listed_tokens(path.parent) if _LISTED[name].fullmatch(row.content)}
    if not ids:
        raise refused(f"the folder of {name}Tokenizer does not list the tokens of its languages")
    # They are shifted with the pieces.
    languages = tuple(AddedToken(content, id - numbers.shift) for content, id in ids.items())
    listed = spec.replace(added_tokens=(*spec.added_tokens, *languages))
    return _shifted(listed, path, name, numbers._replace(languages=tuple(ids)), config)


def _mluke(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    numbered = _shifted(spec, path, "MLuke", _SHIFTED["XLMRoberta"], config)
    listed = {row.content for row, _ in listed_tokens(path.parent)}
    return numbered if "<ent>" in listed else with_entities(numbered, _size(numbered))


def _barthez(spec: TokenizerSpec, *_: object) -> TokenizerSpec:
    ids = {token.content: token.id for token in spec.added_tokens}
    if [ids.get(token) for token in _FAIRSEQ] != list(_FAIRSEQ.values()) or "<mask>" not in ids:
        raise refused(f"the .model does not begin with {', '.join(_FAIRSEQ)}, or has no <mask>, as that of Barthez")
    added = tuple(token._replace(lstrip=token.content == "<mask>") for token in spec.added_tokens)
    return with_template(spec.replace(added_tokens=added, roles=tuple(_ROLES.items())), *_BERT)


def _numbered(model: Model, number: Callable[[int], int]) -> Model:
    """The model with other ids, in the order of the old ones."""
    ids = tuple(map(number, model.ids))
    if isinstance(model, Unigram):
        return replace(model, ids=ids, unk_id=None if model.unk_id is None else number(model.unk_id))
    assert isinstance(model, BytePair)
    merges = tuple((number(left), number(right)) for left, right in model.merges or ())
    return replace(model, ids=ids, merges=merges)


def _marian(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    return _ended(piece_vocabularies.marian(spec, path, config))


def _bartpho(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    return with_template(piece_vocabularies.bartpho(spec, path, config), *_BERT)


def _speech_to_text(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    if config.get("lang_codes") or config.get("do_upper_case"):
        raise refused("Speech2TextTokenizer with lang_codes, or with do_upper_case")
    return _ended(piece_vocabularies.speech_to_text(spec, path, config))


def _ended(numbered: TokenizerSpec) -> TokenizerSpec:
    """The tokenizer that puts its eos behind one or two texts."""
    eos = dict(numbered.roles)["eos"]
    return with_template(numbered, [A, eos], [A, B, eos])


def _m2m100(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    numbered, language = piece_vocabularies.m2m100(spec, path, config)
    eos = dict(numbered.roles)["eos"]
    return with_template(numbered, [language, A, eos], [language, A, B, eos])


def _t5(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    eos, extra = token_content(config, "eos_token") or "</s>", extra_ids(config)
    known = {token.content for token in spec.added_tokens}
    last = _size(spec) + extra - 1
    added = [AddedToken(f"<extra_id_{number}>", last - number) for number in reversed(range(extra))]
    added = [token for token in added if token.content not in known]
    extended = _with_spaces(spec, path, config).replace(added_tokens=(*spec.added_tokens, *added))
    return with_template(extended, [A, eos], [A, eos, B, eos])


def _size(spec: TokenizerSpec) -> int:
    return 1 + max((*spec.model.ids, *(token.id for token in spec.added_tokens)))


def _deberta(spec: TokenizerSpec, *_: object) -> TokenizerSpec:
    known = {token.content for token in spec.added_tokens}
    if not {"[CLS]", "[SEP]"} <= known:
        raise refused("the .model has no [CLS] and [SEP], as those of DebertaV2Tokenizer have")
    added = () if "[MASK]" in known else (AddedToken("[MASK]", _size(spec)),)
    roles = {**dict(spec.roles), "bos": "[CLS]", "eos": "[SEP]", **_BERT_ROLES}
    masked = spec.replace(added_tokens=(*spec.added_tokens, *added), roles=tuple(roles.items()))
    return with_ends(masked, "[CLS]", "[SEP]")


def _with_bert_ends(spec: TokenizerSpec, *_: object) -> TokenizerSpec:
    known = {token.content for token in spec.added_tokens}
    roles = dict(spec.roles) | {role: token for role, token in _BERT_ROLES.items() if token in known}
    return with_ends(spec.replace(roles=tuple(roles.items())), "[CLS]", "[SEP]")


def _speech_t5(spec: TokenizerSpec, *_: object) -> TokenizerSpec:
    return with_template(spec, [A, "</s>"], [A, B, "</s>"])


_BUILDERS: dict[str | None, Callable[[TokenizerSpec, Path, Mapping[str, Any]], TokenizerSpec]] = {
    **dict.fromkeys(("CodeLlama", "Gemma"), _with_bos),
    "Llama": _llama,
    **dict.fromkeys(("BigBird", "RemBert"), _with_bert_ends),
    **dict.fromkeys(("T5", "MT5"), _t5),
    "Barthez": _barthez,
    "Bartpho": _bartpho,
    "DebertaV2": _deberta,
    "GPTSw3": piece_texts.gpt_sw3,
    "M2M100": _m2m100,
    "MLuke": _mluke,
    "Marian": _marian,
    "Nllb": _nllb,
    "PLBart": _plbart,
    "SeamlessM4T": _seamless,
    "Siglip": piece_texts.siglip,
    "Speech2Text": _speech_to_text,
    "SpeechT5": _speech_t5,
}
"""The other classes that add to a text, or number its pieces."""
