"""The class of ``transformers`` that a folder names, and the template of tokens that it adds to a text.

Files without stages of their own, such as a ``.model`` or ``vocab.json`` with ``merges.txt``, leave much to the class:
the special tokens, what stands around a text, sometimes the ids. `piece_classes` has those of a ``.model``,
`byte_classes` those of ``vocab.json``, `vocab_txt` those of ``vocab.txt``. What a class does beyond that is refused by
name: ids that are off by one look right.

Source: ``tokenization_auto.py`` in ``transformers`` 4.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError, TokenizerWarning
from bytepair.model.spec import AddedToken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytepair.model.spec import TokenizerSpec

_MODELS = {
    "Albert": "albert",
    "Bart": "bart",
    "Bartpho": "bartpho",
    "Bert": "bert",
    "BertJapanese": "bert-japanese",
    "Bertweet": "bertweet",
    "BigBird": "big_bird",
    "BioGpt": "biogpt",
    "Blenderbot": "blenderbot",
    "BlenderbotSmall": "blenderbot-small",
    "ByT5": "byt5",
    "CTRL": "ctrl",
    "Camembert": "camembert",
    "Canine": "canine",
    "CodeLlama": "code_llama",
    "CodeGen": "codegen",
    "Deberta": "deberta",
    "DebertaV2": "deberta-v2",
    "DistilBert": "distilbert",
    "Electra": "electra",
    "ErnieM": "ernie_m",
    "Esm": "esm",
    "FSMT": "fsmt",
    "FNet": "fnet",
    "Flaubert": "flaubert",
    "Funnel": "funnel",
    "GPTSw3": "gpt-sw3",
    "Gemma": "gemma gemma2 gemma3 gemma3_text",
    "GPT2": "gpt2 gpt_neo gptj opt",
    "Herbert": "herbert",
    "LED": "led",
    "Llama": "llama mistral mixtral",
    "LayoutLMv3": "layoutlmv3",
    "LayoutXLM": "layoutxlm",
    "Longformer": "longformer",
    "Luke": "luke",
    "M2M100": "m2m_100",
    "MBart": "mbart",
    # A folder has to name it.
    "MBart50": "",
    "MLuke": "mluke",
    "MPNet": "mpnet",
    "Marian": "marian",
    "MarkupLM": "markuplm",
    "Mvp": "mvp",
    "Nllb": "nllb-moe",
    "OpenAIGPT": "openai-gpt",
    "PLBart": "plbart",
    "Pegasus": "bigbird_pegasus pegasus",
    "Perceiver": "perceiver",
    "Phobert": "phobert",
    "ProphetNet": "prophetnet",
    "RemBert": "rembert",
    "RoCBert": "roc_bert",
    "RoFormer": "roformer",
    "Roberta": "bridgetower clap data2vec-text ibert mega mra roberta roberta-prelayernorm",
    "SeamlessM4T": "seamless_m4t seamless_m4t_v2",
    "Siglip": "siglip siglip2",
    "Speech2Text": "speech_to_text",
    "SpeechT5": "speecht5",
    "Splinter": "splinter",
    "T5": "mt5 t5 umt5",
    "Tapas": "tapas",
    "Wav2Vec2CTC": "data2vec-audio hubert wav2vec2 wav2vec2-bert wav2vec2-conformer",
    "Whisper": "whisper",
    "XGLM": "xglm",
    "XLM": "xlm",
    "XLMProphetNet": "xlm-prophetnet",
    "XLMRoberta": "xlm-roberta xlm-roberta-xl xmod",
    "XLNet": "xlnet",
}
"""The classes with more than their files say, or refused, and the kinds of models, ``model_type``, that they are of."""
NAMES = frozenset(_MODELS)
"""The same classes."""
_OF_MODELS = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The classes by ``model_type``, for folders that name none."""

_OF_PLAIN = """
Bert BertGeneration CLIP ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DistilBert Electra LayoutLM
LayoutLMv2 Lxmert MobileBert Qwen2 Realm Reformer RetriBert SqueezeBert
"""
GENERAL = frozenset(["PreTrained", "TokenizersBackend"])
"""The classes that do what a ``tokenizer.json`` says, whatever it is."""
_PLAIN = frozenset(_OF_PLAIN.split()) | GENERAL
"""The classes that do what their files say."""

OF_MOSES = frozenset(["BioGpt", "FSMT", "Flaubert", "XLM"])
"""The classes whose words are found by the rules of Moses."""

_MOST_EXTRA_IDS = 10_000

A, B = 0, 1
"""The texts in a template."""


def name_of(config: Mapping[str, Any], model: Mapping[str, Any]) -> str | None:
    """The class of a folder, without ``Tokenizer`` and ``Fast``; None if nothing names one.

    Args:
        config: ``tokenizer_config.json``, parsed.
        model: ``config.json``, likewise, which counts if the first names no class.

    Example:
        >>> name_of({"tokenizer_class": "BartTokenizerFast"}, {"model_type": "mt5"}), name_of({}, {"model_type": "mt5"})
        ('Bart', 'T5')
    """
    name = config.get("tokenizer_class") or model.get("tokenizer_class")
    return (
        str(name).removesuffix("Fast").removesuffix("Tokenizer")
        if name
        else _OF_MODELS.get(str(model.get("model_type")))
    )


def with_template(
    spec: TokenizerSpec, single: Sequence[str | int], pair: Sequence[str | int], types: tuple[str, str] | None = None
) -> TokenizerSpec:
    """The tokenizer that adds tokens to one or two texts.

    Args:
        spec: The tokenizer, with the tokens among its added ones.
        single: What one text becomes: names of tokens, and `A` for the text.
        pair: What two texts become, with `A` and `B`.
        types: A digit for each part of both: its type; None for 0 everywhere.

    Raises:
        FormatError: A token is missing.
    """
    ids = {token.content: token.id for token in spec.added_tokens}
    check_tokens((part for part in (*single, *pair) if isinstance(part, str)), ids)
    return spec.replace(post_processor=template(single, pair, ids, types))


def template(
    single: Sequence[str | int],
    pair: Sequence[str | int],
    ids: Mapping[str, int],
    types: tuple[str, str] | None = None,
) -> str:
    """The post-processor of a template, as JSON; arguments as for `with_template`, with the ids of its tokens.

    Example:
        >>> json.loads(template(["<s>", A], ["<s>", A, B], {"<s>": 1}))["single"]
        [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}}]
    """

    def parts(row: Sequence[str | int], digits: str) -> list[dict[str, object]]:
        return [
            {"SpecialToken": {"id": part, "type_id": int(digit)}}
            if isinstance(part, str)
            else {"Sequence": {"id": "AB"[part], "type_id": int(digit)}}
            for part, digit in zip(row, digits, strict=True)
        ]

    first, second = types or ("0" * len(single), "0" * len(pair))
    names = dict.fromkeys(part for part in (*single, *pair) if isinstance(part, str))
    special = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in names}
    step = {"type": "TemplateProcessing", "single": parts(single, first), "pair": parts(pair, second)}
    return json.dumps({**step, "special_tokens": special}, ensure_ascii=False)


def with_ends(spec: TokenizerSpec, cls: str, sep: str) -> TokenizerSpec:
    """The tokenizer with BERT's template: `cls` in front and `sep` behind each of one or two texts.

    Raises:
        FormatError: A token is missing.
    """
    return with_template(spec, [cls, A, sep], [cls, A, sep, B, sep], ("000", "00011"))


def with_entities(spec: TokenizerSpec, size: int) -> TokenizerSpec:
    """The tokenizer with the marks of entities that LUKE has, behind `size` other ids if it has none yet."""
    known = {token.content for token in spec.added_tokens}
    absent = [token for token in ("<ent>", "<ent2>") if token not in known]
    marks = (AddedToken(token, size + place) for place, token in enumerate(absent))
    return spec.replace(added_tokens=(*spec.added_tokens, *marks))


def extra_ids(config: Mapping[str, Any], usual: int = 100) -> int:
    """The number of sentinels, ``<extra_id_0>`` and so on, that a folder states, or else `usual`: that of T5.

    Raises:
        FormatError: It is no number, or too large.
    """
    extra = config.get("extra_ids", usual)
    if type(extra) is not int or not 0 <= extra <= _MOST_EXTRA_IDS:
        raise FormatError(
            f"extra_ids is {str(extra)[:80]!r}", pointer="/extra_ids", remedy="correct the file, or remove it"
        )
    return extra


def check_tokens(names: Iterable[str], known: Mapping[str, int]) -> None:
    """Raises FormatError if one of the tokens that a class adds to a text is missing."""
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        raise refused(f"the vocabulary has no {missing}, which is to be added to each text")


def is_known(name: str | None) -> bool:
    """Whether nothing is named, or a class that is read or refused by name.

    Example:
        >>> is_known("Bert"), is_known("XLM"), is_known("Vits"), is_known(None)
        (True, True, False, True)
    """
    return name is None or name in NAMES or name in _PLAIN


def warn_if_unknown(name: str | None) -> None:
    """Warns of a class that is not known to add nothing to a text."""
    if name is not None and name not in _PLAIN:
        what = (
            f"the class {name[:80]!r} of the folder is not known: what it adds to a text is missing, or ids of its own"
        )
        warnings.warn(what, TokenizerWarning, stacklevel=5)


def refused_alone(name: str) -> FormatError:
    """The error for a class whose words another library finds: `bytepair.formats.found_words` has its vocabulary."""
    return FormatError(
        f"not supported: {name}Tokenizer finds words with another library first",
        remedy="load it with bytepair.compat.transformers.AutoTokenizer, which calls that library",
    )


def refused(what: str) -> FormatError:
    """The error for a class that does what is not done here."""
    return FormatError(
        f"not supported: {what}",
        remedy="load its tokenizer.json, which transformers saves, or the file itself by its own name",
    )
