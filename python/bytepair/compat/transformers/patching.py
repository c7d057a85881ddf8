"""`patch` and `unpatch`: bytepair as the engine of tokenizers that ``transformers`` has loaded."""

from __future__ import annotations

import json
import threading
import warnings
from typing import TYPE_CHECKING, Any

from bytepair.compat.transformers.backend import Backend
from bytepair.errors import BytepairError, FormatError, TokenizerWarning
from bytepair.formats import probes

if TYPE_CHECKING:
    from types import TracebackType

_HOOK = "_from_pretrained"


class Patched:
    """The result of `patch`: the end of a ``with`` block, or `undo`, reverts it, unless the patch existed before.

    Attributes:
        tokenizer: The patched tokenizer; None if all tokenizers loaded later are patched.
    """

    def __init__(self, tokenizer: Any, *, is_new: bool) -> None:
        self.tokenizer = tokenizer
        self._is_new = is_new

    def undo(self) -> None:
        """As `unpatch`, except for an earlier patch."""
        if self._is_new:
            self._is_new = False
            unpatch(self.tokenizer)

    def __enter__(self) -> Any:
        return self.tokenizer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()


def patch(tokenizer: Any = None) -> Patched:
    """Replace the engine of a tokenizer of ``transformers`` by bytepair; nothing else about it changes.

    The new engine is made from the tokenizer's own ``tokenizer.json`` and first compared with the old one: ids, tokens,
    offsets, masks, words and decoded texts, on texts of many scripts, the tokenizer's special tokens, and pairs.

    Args:
        tokenizer: A tokenizer from ``AutoTokenizer.from_pretrained``; None for all tokenizers loaded later. One that
            cannot be patched then stays as it is, with a TokenizerWarning.

    Returns:
        A context manager that reverts the patch.

    Raises:
        TypeError: The argument is not a tokenizer of ``transformers``, or is a slow one, without an engine.
        FormatError: bytepair does not support the tokenizer, or differs on a text, which the error names. Nothing is
            changed.

    Example:
        >>> import bytepair as bp, tempfile
        >>> import transformers
        >>> from bytepair.compat.transformers import patch
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = tok.save(folder)
        ...     tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
        >>> with patch(tokenizer):
        ...     tokenizer("lower low").input_ids
        [257, 258, 32, 257]
    """
    if tokenizer is None:
        return Patched(None, is_new=_hook())
    engine = _engine_of(tokenizer)
    if isinstance(engine, Backend):
        return Patched(tokenizer, is_new=False)
    face = _face(engine, type(tokenizer).__name__)
    _check_equal(engine, face, getattr(tokenizer, "all_special_tokens", []))
    tokenizer._tokenizer = face
    return Patched(tokenizer, is_new=True)


def unpatch(tokenizer: Any = None) -> None:
    """Restore the engine of ``tokenizers`` in a patched tokenizer.

    Added tokens, padding, truncation and stages keep their current values.

    Args:
        tokenizer: The tokenizer; None to stop patching tokenizers loaded later, while patched ones stay patched.

    Raises:
        TypeError: The argument is not a tokenizer of ``transformers``, or is a slow one.
    """
    if tokenizer is None:
        _unhook()
        return
    engine = _engine_of(tokenizer)
    if isinstance(engine, Backend):
        tokenizer._tokenizer = _given_back(engine)


def _engine_of(tokenizer: Any) -> Any:
    import tokenizers  # noqa: PLC0415 (a tokenizer to patch has imported it)

    engine = getattr(tokenizer, "_tokenizer", None)
    if isinstance(engine, (Backend, tokenizers.Tokenizer)):
        return engine
    kind = type(tokenizer).__name__
    if engine is None and hasattr(tokenizer, "convert_tokens_to_ids"):
        raise TypeError(f"{kind} is a slow tokenizer, written in Python, and has no engine to replace")
    raise TypeError(f"{kind} is not a tokenizer of transformers with an engine of tokenizers")


def _face(engine: Any, kind: str) -> Backend:
    try:
        face = Backend.from_str(engine.to_str())
    except (BytepairError, ValueError, NotImplementedError) as error:
        raise FormatError(
            f"bytepair cannot be the engine of this {kind}: {error}", remedy="leave it as it is"
        ) from error
    face.original = engine
    _set_state(face, engine)
    return face


def _set_state(target: Any, source: Any) -> None:
    """Copy padding, truncation and the treatment of special tokens from one engine to another."""
    padding, truncation = source.padding, source.truncation
    target.no_padding() if padding is None else target.enable_padding(**padding)
    target.no_truncation() if truncation is None else target.enable_truncation(**truncation)
    target.encode_special_tokens = source.encode_special_tokens


def _given_back(face: Backend) -> Any:
    import tokenizers  # noqa: PLC0415 (as above)

    engine = face.original
    current = face.to_str()
    if engine is None or _stages(engine.to_str()) != _stages(current):
        engine = tokenizers.Tokenizer.from_str(current)
    _set_state(engine, face)
    return engine


def _stages(text: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(text)
    return {**table, "padding": None, "truncation": None}


_COLUMNS = ("ids", "tokens", "offsets", "type_ids", "special_tokens_mask", "attention_mask", "word_ids", "sequence_ids")


def _check_equal(engine: Any, face: Backend, special: list[str]) -> None:
    """Compare two engines on fixed texts; FormatError names a text on which they differ."""
    texts = [*probes.TEXTS, " ".join(special), "".join(special), *(f"a{token} b" for token in special[:20])]
    padding, truncation = engine.padding, engine.truncation
    try:
        for each in (engine, face):
            each.no_padding()
            each.no_truncation()
        for add in (True, False):
            _compare(engine, face, texts, add=add)
        _compare(engine, face, list(zip(probes.TEXTS[:40], reversed(probes.TEXTS[:40]), strict=True)), add=True)
    finally:
        for each in (engine, face):
            if padding is not None:
                each.enable_padding(**padding)
            if truncation is not None:
                each.enable_truncation(**truncation)


def _compare(engine: Any, face: Backend, texts: list[Any], *, add: bool) -> None:
    try:
        ours = face.encode_batch(texts, add_special_tokens=add)
    except BytepairError as error:
        raise _refused("cannot encode a text", texts[error.row or 0], str(error)) from error
    theirs = engine.encode_batch(texts, add_special_tokens=add)
    for text, one, other in zip(texts, theirs, ours, strict=True):
        for column in _COLUMNS:
            if getattr(one, column) != getattr(other, column):
                raise _refused(f"has different {column} for a text", text, _shown(one, other, column))
        for skip in (True, False):
            expected = engine.decode(one.ids, skip_special_tokens=skip)
            if face.decode(one.ids, skip_special_tokens=skip) != expected:
                raise _refused("decodes the ids of a text differently", text, f"skip_special_tokens={skip}")


def _shown(one: Any, other: Any, column: str) -> str:
    first, second = getattr(one, column), getattr(other, column)
    place = next(
        (row for row, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    return f"token {place}: {first[place : place + 1]} and {second[place : place + 1]}"


def _refused(what: str, text: Any, why: str) -> FormatError:
    shown = repr(text)
    return FormatError(
        f"bytepair {what}: {shown if len(shown) <= 100 else shown[:97] + '...'}: {why}",
        remedy="leave the tokenizer as it is; docs/compatibility.md lists known differences",
    )


_lock = threading.Lock()
_is_wanted = False
"""Whether loaded tokenizers are patched; also read if another library has wrapped the hook."""


def _hook() -> bool:
    """Patch all tokenizers loaded later; return False if this was enabled before."""
    global _is_wanted  # noqa: PLW0603 (transformers has one class to hook)
    from transformers.tokenization_utils_base import PreTrainedTokenizerBase  # noqa: PLC0415 (only patching all tokenizers needs it)

    with _lock:
        if _is_wanted:
            return False
        _is_wanted = True
        original = PreTrainedTokenizerBase.__dict__[_HOOK]

        def load(cls: Any, *args: Any, **options: Any) -> Any:
            tokenizer = original.__func__(cls, *args, **options)
            if _is_wanted and getattr(tokenizer, "_tokenizer", None) is not None:
                try:
                    patch(tokenizer)
                except (BytepairError, TypeError) as error:
                    warnings.warn(f"a tokenizer was not patched: {error}", TokenizerWarning, stacklevel=3)
            return tokenizer

        hooked = _Hook(load)
        hooked.original = original
        setattr(PreTrainedTokenizerBase, _HOOK, hooked)
        return True


def _unhook() -> None:
    global _is_wanted  # noqa: PLW0603 (as above)
    with _lock:
        if not _is_wanted:
            return
        _is_wanted = False
        from transformers.tokenization_utils_base import PreTrainedTokenizerBase  # noqa: PLC0415 (as above)

        current = PreTrainedTokenizerBase.__dict__[_HOOK]
        if isinstance(current, _Hook):
            setattr(PreTrainedTokenizerBase, _HOOK, current.original)


class _Hook(classmethod):  # type: ignore[type-arg]  # it has none at run time
    """A class method that remembers the one it replaces."""

    original: Any
