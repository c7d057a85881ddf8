"""Classes of ``transformers`` that change a text before `sentencepiece` does: ALBERT, FNet, GPT-SW3, SigLIP and XLNet.

Source: ``AlbertConverter`` and ``XLNetConverter`` of ``convert_slow_tokenizer.py``, ``tokenization_gpt_sw3.py`` and
``tokenization_siglip.py``, in ``transformers`` 4.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.formats.classes import A, B, refused, with_template
from bytepair.formats.configs import flag, named_tokens
from bytepair.formats.sentencepiece import UNKNOWN_PENALTY, in_32_bits
from bytepair.model.models import Unigram
from bytepair.model.steps import spell_replace, spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bytepair.model.spec import TokenizerSpec


class _Class(NamedTuple):
    """The settings of a class where a folder has none, its special tokens and its template."""

    lowercase: bool
    keep_accents: bool
    roles: Mapping[str, str]
    single: tuple[str | int, ...]
    """The template for one text, of roles and texts."""
    pair: tuple[str | int, ...]
    types: tuple[str, str]


_BERT = {"unk": "<unk>", "sep": "[SEP]", "pad": "<pad>", "cls": "[CLS]", "mask": "[MASK]"}
_XLNET = {"unk": "<unk>", "sep": "<sep>", "pad": "<pad>", "cls": "<cls>", "mask": "<mask>"}
_FRAME = (("cls", A, "sep"), ("cls", A, "sep", B, "sep"), ("000", "00011"))
_CLASSES = {
    "Albert": _Class(True, False, {"bos": "[CLS]", "eos": "[SEP]", **_BERT}, *_FRAME),
    "FNet": _Class(False, True, _BERT, *_FRAME),
    "XLNet": _Class(
        False,
        False,
        {"bos": "<s>", "eos": "</s>", **_XLNET},
        (A, "sep", "cls"),
        (A, "sep", B, "sep", "cls"),
        ("002", "00112"),
    ),
}
NAMES = frozenset(_CLASSES)

_END_OF_TEXT = "<|endoftext|>"

# A piece of a digit and a comma at its end is taken where nothing else fits.
_PENALTY = 100.0

_REMOVED = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xa0\xad\u200b]"
# Those of Python's `string.punctuation`; and what its regular expressions take for white space.
_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_WHITE = r"[\s\x1c-\x1f]+"
_SPACES = r"[\u2002\u2003\u2005\u2008-\u200a\u202f\u3000\ufffc]"


def as_class(spec: TokenizerSpec, path: Path, name: str, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of a ``.model`` as one of the classes in `NAMES` has it.

    Raises:
        FormatError: A setting is no boolean, or a special token is missing. Or the model is no Unigram.
    """
    of_class = _CLASSES[name]
    lowercase = flag(config, path.parent, "do_lower_case", usual=of_class.lowercase)
    keep_accents = flag(config, path.parent, "keep_accents", usual=of_class.keep_accents)
    if not isinstance(spec.model, Unigram):
        raise refused(f"the .model is no Unigram, as those of {name}Tokenizer are")
    steps: list[str] = [spell_replace("``", '"'), spell_replace("''", '"')]
    steps += [] if keep_accents else ["NFKD", "StripAccents"]
    steps += ["Lowercase"] if lowercase else []
    roles = named_tokens(config, of_class.roles)
    changed = spec.replace(
        model=_with_penalty(spec.model),
        normalizers=(*steps, *spec.normalizers),
        added_tokens=tuple(token._replace(lstrip=token.content == roles["mask"]) for token in spec.added_tokens),
        roles=tuple(roles.items()),
    )
    single, pair = ([part if isinstance(part, int) else roles[part] for part in row] for row in of_class[3:5])
    return with_template(changed, single, pair, of_class.types)


def gpt_sw3(spec: TokenizerSpec, *_: object) -> TokenizerSpec:
    """The tokenizer of GPT-SW3, which removes characters that do not print and knows more kinds of spaces."""
    steps = (spell_replace(_REMOVED, "", "Regex"), spell_replace(_SPACES, " ", "Regex"), "NFC")
    known = {token.content for token in spec.added_tokens}
    roles = dict(spec.roles) | ({"eos": _END_OF_TEXT} if _END_OF_TEXT in known else {})
    return spec.replace(normalizers=(*steps, *spec.normalizers), roles=tuple(roles.items()))


def siglip(spec: TokenizerSpec, path: Path, config: Mapping[str, Any]) -> TokenizerSpec:
    """The tokenizer of SigLIP, which removes punctuation and ends a text as T5 does.

    Raises:
        FormatError: A setting is no boolean, or a special token is missing.
    """
    lowercase = flag(config, path.parent, "do_lower_case", usual=True)
    roles = named_tokens(config, {"eos": "</s>", "unk": "<unk>", "pad": "</s>"})
    steps: list[str] = [spell_replace("\u2581", " "), *(["Lowercase"] if lowercase else [])]
    steps += [spell_replace(_PUNCTUATION, "", "Regex"), spell_replace(_WHITE, " ", "Regex")]
    # The class puts a space in front first: white space before a text is not at its start.
    steps.append(spell_step({"type": "Strip", "strip_left": False, "strip_right": True}))
    special = set(roles.values())
    changed = spec.replace(
        normalizers=(*steps, *spec.normalizers),
        added_tokens=tuple(
            token._replace(lstrip=True, rstrip=True) if token.content in special else token
            for token in spec.added_tokens
        ),
        roles=tuple(roles.items()),
    )
    eos = roles["eos"]
    return with_template(changed, [A, eos], [A, eos, B, eos])


def _with_penalty(model: Unigram) -> Unigram:
    def score(token: bytes, usual: float) -> float:
        text = token.decode()
        is_number = len(text) > 1 and text[-1] == "," and text[-2].isdigit()
        return in_32_bits(usual - _PENALTY) if is_number else usual

    scores = tuple(map(score, model.tokens, model.scores))
    return replace(model, scores=scores, unk_score=in_32_bits(min(scores) - UNKNOWN_PENALTY))
