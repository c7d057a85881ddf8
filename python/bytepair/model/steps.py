"""The canonical spelling of a ``tokenizer.json`` step, so that equal tokenizers have equal specs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def spell_step(step: Mapping[str, Any]) -> str:
    """The canonical spelling of a step: its name if it has no options, else JSON with the type first, then sorted keys.

    Example:
        >>> spell_step({"type": "NFC"}), spell_step({"individual_digits": True, "type": "Digits"})
        ('NFC', '{"type": "Digits", "individual_digits": true}')
    """
    if step.keys() == {"type"}:
        return str(step["type"])
    return json.dumps({"type": step["type"], **dict(sorted(step.items()))}, ensure_ascii=False)


def spell_replace(pattern: str, content: str, kind: str = "String") -> str:
    """The canonical spelling of a Replace, of a text or of a regular expression (``"Regex"``).

    Example:
        >>> spell_replace(" ", "_")
        '{"type": "Replace", "content": "_", "pattern": {"String": " "}}'
    """
    return spell_step({"type": "Replace", "pattern": {kind: pattern}, "content": content})


def has_type(step: str, name: str) -> bool:
    """Whether a canonical spelling is of the type; the options, which can be long, are not parsed.

    Example:
        >>> has_type("NFC", "NFC"), has_type(spell_step({"type": "Digits", "individual_digits": True}), "Dig")
        (True, False)
    """
    return step == name or step.startswith(f'{{"type": "{name}"')


def keeps_tokens(normalizers: Iterable[str]) -> bool:
    """Whether added tokens can be found in a normalized text.

    They cannot behind the normalizer of `sentencepiece`: it removes spaces, adds one and spells them in another way.
    The classes of ``transformers`` look for added tokens before it.

    Example:
        >>> keeps_tokens(["NFC"]), keeps_tokens([spell_step({"type": "SentencePiece", "add_dummy_prefix": True})])
        (True, False)
    """
    return not any(has_type(step, "SentencePiece") for step in normalizers)


def parse_step(step: str) -> dict[str, Any]:
    """The step of a canonical spelling.

    Raises:
        ValueError: It is neither a name nor a JSON object.

    Example:
        >>> parse_step("NFC"), parse_step(spell_step({"type": "FixedLength", "length": 2}))
        ({'type': 'NFC'}, {'type': 'FixedLength', 'length': 2})
    """
    if step.isalnum():
        return {"type": step}
    parsed = json.loads(step)
    if not isinstance(parsed, dict):
        raise ValueError("a step is a name or a JSON object")  # noqa: TRY004 (the text is wrong, not its type)
    return parsed
