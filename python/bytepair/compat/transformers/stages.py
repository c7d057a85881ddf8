"""Settings of ``transformers`` that change the stages of a tokenizer, and the stages that its classes make anew.

Source: ``__init__`` of the classes in ``models/*/tokenization_*.py`` of ``transformers`` 5.23, and its
``_patch_mistral_regex``, read for their behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import configs
from bytepair.model.steps import parse_step, spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.model.spec import TokenizerSpec
    from bytepair.tokenizer import Tokenizer

ACTING = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "legacy", "fix_mistral_regex")
"""The settings that change stages."""

_BERT = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_BERT_DEFAULTS = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}

_MISTRAL_MODELS = ("mistral", "mistral3", "voxtral", "ministral", "pixtral")
_MISTRAL_SIZE = 100_000
_MISTRAL_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def with_settings(
    engine: Tokenizer,
    stem: str | None,
    config: Mapping[str, Any],
    settings: Mapping[str, Any],
    model: Mapping[str, Any] | None = None,
) -> Tokenizer:
    """The engine with the stages that a class makes of its settings, and that the settings of a call make.

    Args:
        engine: The engine with the stages of its file.
        stem: The class, such as ``"Bert"``, if it makes stages anew; None keeps those of the file.
        config: The settings in the file.
        settings: The settings of the call.
        model: The parsed ``config.json`` of the model.

    Raises:
        TypeError: A setting of the call has no stage to act on.
        FormatError: The same, for ``add_prefix_space``.
    """
    spec = engine.spec
    given = {name: settings[name] for name in ACTING if name in settings}
    merged = {**{name: config[name] for name in ACTING if name in config}, **given}
    if stem == "Llama":
        spec = _of_llama(spec, merged)
        given = {name: value for name, value in given.items() if name not in ("legacy", "add_prefix_space")}
    in_bert = {**_BERT_DEFAULTS, **merged} if stem in ("Bert", "DistilBert") else given
    spec = _with_bert_options(spec, {name: in_bert[name] for name in _BERT if name in in_bert}, given)
    if given.get("add_prefix_space") is not None:
        spec = _with_prefix_space(spec, bool(given["add_prefix_space"]))
    if "legacy" in given and given["legacy"] != config.get("legacy"):
        raise _refused("legacy", given, "only a LlamaTokenizer has stages for it")
    if merged.get("fix_mistral_regex") and len(engine) > _MISTRAL_SIZE and _is_old_mistral(model or {}):
        spec = _with_mistral_pattern(spec)
    return engine if spec is engine.spec else type(engine)(spec)


def _refused(name: str, given: Mapping[str, Any], why: str) -> TypeError:
    return TypeError(f"{name}={given[name]!r} is not supported: {why}")


def _with_bert_options(spec: TokenizerSpec, options: Mapping[str, Any], given: Mapping[str, Any]) -> TokenizerSpec:
    if not options:
        return spec
    steps = [parse_step(step) for step in spec.normalizers]
    found = [step for step in steps if step["type"] == "BertNormalizer"]
    if not found:
        for name in _BERT:
            if name in given:
                raise _refused(name, given, "this tokenizer has no BertNormalizer")
    for step in found:
        for name, value in options.items():
            step[_BERT[name]] = None if name == "strip_accents" and value is None else bool(value)
    normalizers = tuple(map(spell_step, steps))
    return spec if normalizers == spec.normalizers else spec.replace(normalizers=normalizers)


def _of_llama(spec: TokenizerSpec, options: Mapping[str, Any]) -> TokenizerSpec:
    """The stages of ``LlamaTokenizer``: only text at the start gets a space, unless ``legacy`` is set."""
    prefix = options.get("add_prefix_space")
    prefix = True if prefix is None else bool(prefix)
    scheme = ("always" if options.get("legacy") else "first") if prefix else "never"
    marks: dict[str, Any] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": False}
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return spec.replace(normalizers=(), pre_tokenizers=(spell_step(marks),), decoders=tuple(map(spell_step, decoders)))


def _with_prefix_space(spec: TokenizerSpec, prefix: bool) -> TokenizerSpec:
    if not spec.is_byte_level:
        raise FormatError(
            "add_prefix_space is a setting of byte-level models, and of LlamaTokenizer",
            remedy="leave it out: the file has its own setting",
        )
    return spec if spec.prefix_space == prefix else configs.with_prefix_space(spec, prefix)


def _is_old_mistral(model: Mapping[str, Any]) -> bool:
    """Whether a checkpoint is one of those that were published with a wrong split pattern."""
    major = str(model.get("transformers_version") or "0").partition(".")[0]
    return model.get("model_type") in _MISTRAL_MODELS and (not major.isdecimal() or int(major) < 5)


def _with_mistral_pattern(spec: TokenizerSpec) -> TokenizerSpec:
    if not spec.is_byte_level or not spec.split:
        raise TypeError("fix_mistral_regex=True is not supported: this tokenizer has no split pattern to replace")
    return spec.replace(split=(_MISTRAL_PATTERN, *spec.split[1:]))
