"""The stages of ``tokenizer.json`` <-> the steps and split patterns of a spec.

A pre-tokenizer of ``ByteLevel`` after nothing but ``Split`` (Isolated) is split patterns over bytes, which is how most
tokenizers in use are written; everything else is steps. Sequences are flat.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from bytepair._core import check_step
from bytepair.errors import FormatError, PatternError
from bytepair.formats import oniguruma
from bytepair.formats.hf_common import Json, flag, kind_of, list_of, unsupported
from bytepair.model.split_patterns import split_pattern
from bytepair.model.steps import parse_step, spell_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GPT2 = split_pattern("gpt2")
_INNER = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
_BYTE_LEVEL_KEYS = {"type", "add_prefix_space", "trim_offsets", "use_regex"}
_SPLIT_KEYS = {"type", "pattern", "behavior", "invert"}
_DEEPEST = 16


class BytePieces(NamedTuple):
    """A pre-tokenizer that is split patterns over bytes."""

    split: tuple[str, ...]
    prefix_space: bool


def read_steps(stage: str, value: Json) -> tuple[str, ...]:
    """The steps of ``normalizer``, ``pre_tokenizer`` or ``decoder``.

    Raises:
        FormatError: A step is broken or not supported; ``pointer`` locates it.
    """
    return tuple(_read_step(stage, step, pointer) for step, pointer in _flat(stage, value, f"/{stage}", 0))


def _flat(stage: str, value: Json, pointer: str, depth: int) -> Iterator[tuple[dict[str, Json], str]]:
    if value is None:
        return
    if kind_of(value, pointer) != "Sequence":
        yield value, pointer
        return
    inner = _INNER[stage]
    for key in value.keys() - {"type", inner}:
        raise unsupported(f"{key} in Sequence", f"{pointer}/{key}")
    if depth == _DEEPEST:
        raise unsupported(f"Sequences in Sequences, more than {_DEEPEST} deep", pointer)
    for row, step in enumerate(list_of(value, inner, pointer)):
        yield from _flat(stage, step, f"{pointer}/{inner}/{row}", depth + 1)


def _read_step(stage: str, step: dict[str, Json], pointer: str) -> str:
    pattern = step.get("pattern")
    if isinstance(pattern, dict) and isinstance(pattern.get("Regex"), str):
        place = f"{pointer}/pattern/Regex"
        spelled = oniguruma.portable(pattern["Regex"], place)
        step = {**step, "pattern": {**pattern, "Regex": spelled}}
    canonical = spell_step(step)
    try:
        check_step(stage, canonical)
    except (FormatError, PatternError) as error:
        error.pointer = error.pointer or pointer
        raise
    return canonical


def read_byte_pieces(value: Json) -> BytePieces | None:
    """The split patterns of a pre-tokenizer; None if it is of another kind.

    Raises:
        FormatError: A stage of it is broken.
    """
    flat = list(_flat("pre_tokenizer", value, "/pre_tokenizer", 0))
    if not flat or flat[-1][0]["type"] != "ByteLevel":
        return None
    *splits, (step, place) = flat
    if any(split["type"] != "Split" or split.get("behavior") != "Isolated" for split, _ in splits):
        return None
    for key in step.keys() - _BYTE_LEVEL_KEYS:
        raise unsupported(f"{key} in ByteLevel", f"{place}/{key}")
    patterns = tuple(filter(None, (_read_split(split, place) for split, place in splits)))
    if len(patterns) < len(splits):
        return None
    prefix_space = flag(step, "add_prefix_space", place, default=True)
    if flag(step, "use_regex", place, default=True):
        patterns = (*patterns, GPT2)
        if prefix_space and splits:
            return None
    elif prefix_space and patterns:
        return None
    return BytePieces(patterns, prefix_space)


def _read_split(step: Mapping[str, Json], place: str) -> str | None:
    """The pattern whose pieces are those of an isolating Split; None if there is none."""
    for key in step.keys() - _SPLIT_KEYS:
        raise unsupported(f"{key} in Split", f"{place}/{key}")
    pattern = step.get("pattern")
    # Matches and the text between them are both pieces, so `invert` changes nothing.
    flag(step, "invert", place, default=False)
    if isinstance(pattern, dict) and len(pattern) != 1:
        raise FormatError("a pattern is one of String and Regex", pointer=f"{place}/pattern")
    if isinstance(pattern, dict) and isinstance(pattern.get("String"), str):
        return str(re.escape(pattern["String"]))
    if not isinstance(pattern, dict) or not isinstance(pattern.get("Regex"), str):
        raise FormatError("a Split needs a pattern", pointer=f"{place}/pattern")
    pointer = f"{place}/pattern/Regex"
    try:
        return oniguruma.as_pieces(oniguruma.portable(pattern["Regex"], pointer))
    except PatternError as error:
        # The file holds the pattern: there is no name to pass in its place.
        error.pointer, error.remedy = pointer, "fetch the file again, or mend the pattern"
        raise


def write_steps(stage: str, steps: Sequence[str]) -> Json:
    """The stage of some steps.

    Example:
        >>> write_steps("normalizer", ["NFC", "Lowercase"])
        {'type': 'Sequence', 'normalizers': [{'type': 'NFC'}, {'type': 'Lowercase'}]}
    """
    parsed = [parse_step(step) for step in steps]
    if len(parsed) == 1:
        return parsed[0]
    return {"type": "Sequence", _INNER[stage]: parsed} if parsed else None


def write_byte_pieces(patterns: Sequence[str], *, prefix_space: bool) -> Json:
    """The pre-tokenizer of split patterns over bytes.

    Raises:
        FormatError: The format cannot hold the patterns.
    """
    if tuple(patterns) in ((), (GPT2,)):
        return byte_level(add_prefix_space=prefix_space, use_regex=bool(patterns))
    if prefix_space:
        raise FormatError(
            "tokenizer.json cannot hold prefix_space with this split pattern", remedy="save as the native format"
        )
    splits = [
        {
            "type": "Split",
            "pattern": {"Regex": oniguruma.shared(pattern)},
            "behavior": "Isolated",
            "invert": False,
        }
        for pattern in patterns
    ]
    return {"type": "Sequence", "pretokenizers": [*splits, byte_level(add_prefix_space=False, use_regex=False)]}


def byte_level(*, add_prefix_space: bool = True, use_regex: bool = True) -> dict[str, Json]:
    """The stage of the byte alphabet."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }
