"""Policies for reserved literals in content: reject, encode as text, escape, or allow.

Reserved are special tokens and the added tokens that the template writes: they control the model, so content must not
produce them. Other added tokens, such as ``<b>``, are text. A call can reserve more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytepair import _core
from bytepair.chat.encoding.labels import joined
from bytepair.chat.rendering.plain import plain_value
from bytepair.errors import EncodeError, SpecialTokenError, TemplateError
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from bytepair.chat.rendering.spans import Rendered
    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer

Policy: TypeAlias = Literal["reject", "text", "escape", "allow"]
"""The treatment of reserved literals in content."""

POLICIES = ("reject", "text", "escape", "allow")
_DEEPEST = 64
# The templates whose reserved tokens are kept with a tokenizer.
_MOST_TEMPLATES = 16
"""The maximum nesting of messages, as for rendering."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_OTHERS = 'pass policy="text" to encode it as text, "escape" to rewrite it, or "allow" to encode it as the token'


class InputString(NamedTuple):
    """A string in the inputs of a template.

    Attributes:
        message: The index of its message; None for tools, documents and variables.
        role: The role of that message.
        field: Its path, as in `Span`.
        text: The string.
    """

    message: int | None
    role: str | None
    field: str
    text: str

    @property
    def pointer(self) -> str:
        """A JSON pointer to the string, from the list of messages or from the arguments of the call."""
        return f"/{self.field}" if self.message is None else f"/{self.message}/{self.field}"

    def __str__(self) -> str:
        return self.field if self.message is None else f"message {self.message} ({self.role}), {self.field}"


def input_strings(messages: Any, others: dict[str, Any]) -> Iterator[InputString]:
    """Yield all strings, keys included, of messages and of a template's other inputs."""
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        for field, text in _strings(message, ""):
            yield InputString(number, role if isinstance(role, str) else None, field, text)
    for name, value in others.items():
        for field, text in _strings(value, name):
            yield InputString(None, None, field, text)


def _strings(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list, tuple)):
        _check_depth(depth, path)
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            below = f"{path}/{key}" if path else str(key)
            if isinstance(key, str):
                yield below, key
            yield from _strings(inner, below, depth + 1)


def _check_depth(depth: int, path: str) -> None:
    if depth > _DEEPEST:
        shown = path if len(path) < 80 else f"{path[:80]} ..."
        raise TemplateError(
            f"{shown} is nested deeper than {_DEEPEST} levels", remedy="flatten the inputs of the template"
        )


def _added(tok: CompiledTokenizer) -> dict[str, int]:
    """The added tokens that are not white space, by name."""
    return cached(tok, "added_by_name", lambda tok: dict(tok.reserved_tokens))


def reserved_by(tok: CompiledTokenizer, template: Template, reserve: str | Collection[str]) -> dict[str, int]:
    """The tokens that content must not become, by name: special ones, those in the template's source, and `reserve`.

    Raises:
        ValueError: A name in `reserve` is not an added token.
    """
    known = _added(tok)
    if reserve == "all":
        return dict(known)
    wanted = {reserve} if isinstance(reserve, str) else set(reserve)
    if unknown := sorted(wanted - known.keys()):
        raise ValueError(f'reserve names {unknown[0]!r}, which is no added token; use names of added tokens, or "all"')
    kept: dict[str, dict[str, int]] = cached(tok, "reserved_by", lambda _: {})
    found = kept.get(template.hash)
    if found is None:
        special = frozenset(tok.special_tokens.values())
        texts = [template.source, *(value for value in template.variables.values() if isinstance(value, str))]
        found = {name: id for name, id in known.items() if id in special or any(name in text for text in texts)}
        if len(kept) >= _MOST_TEMPLATES:
            kept.clear()
        kept[template.hash] = found
    return {**found, **{name: known[name] for name in wanted}}


def written(
    tok: CompiledTokenizer, rendered: Rendered, trusted: list[tuple[int, int]], known: dict[str, int]
) -> dict[str, int]:
    """The added tokens besides the known ones that a template wrote, by name; it may put them together from parts."""
    if len(_added(tok)) == len(known):
        return {}
    ids = {id for id, *_ in _core.find_added(tok, rendered.text, trusted)} - set(known.values())
    return {name: id for name, id in _added(tok).items() if id in ids} if ids else {}


def matching(
    tok: CompiledTokenizer, rendered: Rendered, trusted: list[tuple[int, int]], reserved: Collection[int]
) -> list[tuple[int, int]]:
    """The parts of a text in which added tokens may be matched: the trusted ones, and each that is not reserved."""
    if len(reserved) == len(_added(tok)):
        return trusted
    text = rendered.text
    free = [(start, end) for id, start, end in _core.find_added(tok, text) if id not in reserved]
    if not free:
        return trusted
    found = joined([*trusted, *free])
    inside = {match for match in _core.find_added(tok, text, found) if match[0] in reserved}
    # Together with the template's text beside it, a part could form a reserved token.
    return found if inside <= set(_core.find_added(tok, text, trusted)) else trusted


def _minds_context(tok: CompiledTokenizer) -> bool:
    """Whether adjacent text can prevent the match of an added token."""
    tokens = tok.spec.added_tokens
    in_normalized = bool(tok.spec.normalizers) and any(token.normalized for token in tokens)
    return in_normalized or any(token.single_word for token in tokens)


def refuse(tok: CompiledTokenizer, messages: Any, others: dict[str, Any], reserved: Collection[int]) -> None:
    """Raise SpecialTokenError, with message, role, field and character, for a reserved literal in the inputs."""
    for place in input_strings(messages, others):
        for id, start, end in _core.find_added(tok, place.text):
            if id in reserved:
                raise SpecialTokenError(
                    f"{place} holds the reserved token {place.text[start:end]!r}",
                    remedy=_OTHERS,
                    pointer=place.pointer,
                    character=start,
                )


def refuse_surrogates(messages: Any, others: dict[str, Any]) -> None:
    """Raise EncodeError, with message, role, field and character, for a lone surrogate, which cannot be encoded."""
    for place in input_strings(messages, others):
        if half := _SURROGATE.search(place.text):
            raise EncodeError(
                f"{place} holds the lone surrogate {half[0]!a}",
                remedy='repair it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
                pointer=place.pointer,
                character=half.start(),
            )


def refuse_across(
    tok: CompiledTokenizer, rendered: Rendered, trusted: list[tuple[int, int]], reserved: Collection[int]
) -> None:
    """Raise SpecialTokenError for a rendered text in which content helps to form a reserved token, or breaks one.

    Several fields, or content and template, can form one together; a normalizer can join a token of the template with
    the start of content, so that it no longer matches.
    """
    text = rendered.text
    standing = _core.find_added(tok, text, trusted)
    known = set(standing)
    for id, start, end in _core.find_added(tok, text):
        if id in reserved and (id, start, end) not in known:
            parts = [
                span for span in rendered.spans if span.kind == "content" and span.start < end and start < span.end
            ]
            names = " and ".join(str(InputString(span.message, span.role, span.field or "", "")) for span in parts[:2])
            raise SpecialTokenError(
                f"{names} forms the reserved token {text[start:end]!r} together with adjacent text",
                remedy=_OTHERS,
                character=start,
            )
    if not _minds_context(tok):
        return
    alone = Counter(id for start, end in trusted for id, *_ in _core.find_added(tok, text[start:end]))
    for id in alone - Counter(id for id, *_ in standing):
        if id in reserved:
            raise SpecialTokenError(
                f"content breaks the template's {tok.token_bytes(id).decode('utf-8', 'replace')!r}: it does not match "
                "next to this content",
                remedy="begin no content with a combining mark, nor with a letter next to a token that is a word",
            )


def escape(tok: CompiledTokenizer, text: str) -> str:
    """Insert a space after the first character of each added token in a text, so that it no longer matches.

    A literal that already has such spaces gets one more, so `unescape` restores the text exactly.

    Args:
        tok: The tokenizer.
        text: The text.

    Raises:
        SpecialTokenError: A literal cannot be escaped: it is a single character, a normalizer ignores the space, or it
            overlaps another literal.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"hi": 5}, vocab_size=258, special_tokens=["<|e|>"])
        >>> escape(tok, "<|e|> and < |e|>"), unescape(tok, "< |e|> and <  |e|>")
        ('< |e|> and <  |e|>', '<|e|> and < |e|>')
    """
    pattern = _pattern(tuple(_added(tok)))
    escaped = pattern.sub(r"\g<0> ", text) if pattern else text
    known = set(_added(tok).values())
    left = next((text for id, *_ in _core.find_added(tok, escaped) if id in known), None)
    if left is not None or unescape(tok, escaped) != text:
        raise SpecialTokenError(
            "a reserved token in the text cannot be escaped reversibly",
            remedy='pass policy="text" to encode it as text, or remove it',
        )
    return escaped


def unescape(tok: CompiledTokenizer, text: str) -> str:
    """Undo `escape`."""
    pattern = _pattern(tuple(_added(tok)), " ")
    return pattern.sub(lambda found: found[0][:-1], text) if pattern else text


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...], behind: str = "") -> re.Pattern[str] | None:
    """Match the first character of each name, then `behind`, if the rest of the name follows after any spaces."""
    rests: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 1:
            rests.setdefault(name[0], []).append(re.escape(name[1:]))
    starts = [f"{re.escape(first)}{behind}(?= *(?:{'|'.join(rest)}))" for first, rest in rests.items()]
    return re.compile("|".join(starts)) if starts else None


def copied(value: Any) -> Any:
    """Copy inputs of a template, such as messages, to plain dicts and lists."""
    return rewritten(value, lambda text: text)


def rewritten(value: Any, change: Callable[[str], str], depth: int = 0, path: str = "") -> Any:
    """Copy inputs of a template with each string and key changed."""
    value = plain_value(value)
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        _check_depth(depth, path)
        return {
            change(key) if isinstance(key, str) else key: rewritten(inner, change, depth + 1, f"{path}/{key}")
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        _check_depth(depth, path)
        return [rewritten(inner, change, depth + 1, f"{path}/{row}") for row, inner in enumerate(value)]
    return value
