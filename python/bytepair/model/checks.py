"""Validation that the Rust core does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import AlphabetError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_IDS = 2**32 - 1
"""Ids are below this."""

ROLES = ("bos", "eos", "pad", "unk", "cls", "sep", "mask")
"""The uses of special tokens that files name."""

# UTF-8 has no use for the other 13, and some vocabularies (GPT-NeoX) have no token for them.
BYTES_IN_TEXT = frozenset(range(0xF5)) - {0xC0, 0xC1}

BYTES_OF_ASCII = frozenset(b"\t\n") | frozenset(range(0x20, 0x7F))
"""The bytes of ordinary text in ASCII: a vocabulary without one of them is damaged, or a toy."""


def check_added_ids(ids: Sequence[int]) -> None:
    """Raises FormatError if the id of an added token is out of range, or they are not in order."""
    for id in ids:
        if not 0 <= id < MOST_IDS:
            raise FormatError(f"the id {id} is out of range", remedy=f"ids are from 0 to {MOST_IDS - 1}")
    if list(ids) != sorted(ids):
        raise FormatError("the added tokens are not in the order of their ids", remedy="sort them by id")


def check_roles(roles: Sequence[Any]) -> None:
    """Raises FormatError if a role is unknown, has two tokens, or has one that is empty or not text."""
    try:
        named: dict[Any, Any] = dict(roles)
        is_text = all(isinstance(token, str) and token and token.encode() for token in named.values())
    except (TypeError, ValueError):
        named, is_text = {}, False
    if not is_text or len(named) < len(roles) or not named.keys() <= set(ROLES):
        raise FormatError(f"roles={str(roles)[:80]} are not pairs of a role and its token", remedy=f"use {ROLES}")


def check_post_processor(text: str | None) -> None:
    """Raises FormatError if it is not JSON in the spelling of ``json.dumps``."""
    if text is not None and not _is_canonical(text):
        raise FormatError("post_processor is not JSON as json.dumps(..., ensure_ascii=False) writes it")


def check_post_processor_ids(text: str | None, vocab_size: int) -> None:
    """Raises FormatError if a post-processor adds an id beyond the vocabulary; ``pointer`` locates it."""
    if text is None:
        return
    # Few tokenizers have one.
    import json  # noqa: PLC0415

    for pointer, id in _added_ids(json.loads(text)):
        if type(id) is int and id >= vocab_size:
            raise FormatError(
                f"the post-processor adds the id {id}, and the vocabulary ends at {vocab_size - 1}",
                pointer=pointer,
                remedy="are the files of one tokenizer? fetch them again",
            )


def _added_ids(table: Any) -> Iterator[tuple[str, Any]]:
    """The ids in a parsed post-processor, with their pointers; its reader finds whatever else is wrong with it."""
    waiting = [("/post_processor", table)]
    while waiting:
        pointer, step = waiting.pop()
        if not isinstance(step, dict):
            continue
        inner = step.get("processors")
        waiting += [
            (f"{pointer}/processors/{row}", each) for row, each in enumerate(inner if isinstance(inner, list) else ())
        ]
        for name in ("sep", "cls"):
            pair = step.get(name)
            if isinstance(pair, list) and len(pair) == 2:
                yield f"{pointer}/{name}/1", pair[1]
        tokens = step.get("special_tokens")
        for name, token in tokens.items() if isinstance(tokens, dict) else ():
            ids = token.get("ids") if isinstance(token, dict) else None
            place = f"{pointer}/special_tokens/{name.replace('~', '~0').replace('/', '~1')}/ids"
            yield from ((f"{place}/{row}", id) for row, id in enumerate(ids if isinstance(ids, list) else ()))


def _is_canonical(text: str) -> bool:
    # Few tokenizers have one.
    import json  # noqa: PLC0415

    try:
        return text not in ("null", "") and json.dumps(json.loads(text), ensure_ascii=False) == text
    except (ValueError, RecursionError):
        return False


def check_steps(
    normalizers: Sequence[str],
    pre_tokenizers: Sequence[str],
    decoders: Sequence[str],
    *,
    has_split: bool,
    is_byte_level: bool,
) -> None:
    """Raises FormatError if a step is neither a name nor canonical JSON, or stages exclude each other."""
    for step in (*normalizers, *pre_tokenizers, *decoders):
        if not step.isalnum() and not _is_spelled(step):
            raise FormatError(
                f"the step {step[:80]!r} is neither a name nor JSON in its canonical spelling",
                remedy='spell it by bytepair.model.steps.spell_step({"type": ...})',
            )
    if pre_tokenizers and has_split:
        raise FormatError("pre_tokenizers replace split and prefix_space", remedy="use one of them")
    if is_byte_level and (pre_tokenizers or decoders):
        raise FormatError(
            "tokens that are bytes have neither pre_tokenizers nor decoders",
            remedy="use split and prefix_space, or a model whose alphabet is Characters()",
        )


def _is_spelled(step: str) -> bool:
    # Few tokenizers have steps with options.
    from bytepair.model.steps import parse_step, spell_step  # noqa: PLC0415

    try:
        return spell_step(parse_step(step)) == step
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def check_alphabet(single_bytes: Iterable[int]) -> None:
    """Raises FormatError if a byte that can occur in UTF-8 has no token."""
    missing = sorted(BYTES_IN_TEXT.difference(single_bytes))
    if missing:
        shown = ", ".join(f"0x{byte:02X}" for byte in missing[:8]) + (", ..." if len(missing) > 8 else "")
        unencodable = "text that needs one of these bytes then raises EncodeError"
        raise AlphabetError(
            f"the vocabulary has no token for {len(missing)} of the bytes of UTF-8: {shown}",
            remedy=f"fetch the file again, or load it as it is with partial_alphabet=True: {unencodable}",
            cli_remedy=f"fetch the file again, or load it as it is with --partial-alphabet: {unencodable}",
        )
