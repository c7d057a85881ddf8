"""The display of each token of a picture: the characters that it covers first, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.characters import show
from bytepair.model.token_spelling import named_byte
from bytepair.view.spelling import cut_off, note, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.view.pictures import Picture, PictureTokens, VocabularyEntry


_SPACE = "\u2581".encode()
"""The symbol for a space, including a prefix space that the text does not have."""


class DrawnText(NamedTuple):
    """Drawn text: characters, the stand-in of one, or a note.

    Attributes:
        text: Visible characters.
        characters: The characters of the text that they represent; empty for a note.
    """

    text: str
    characters: str

    @property
    def is_plain(self) -> bool:
        """Whether it is shown as it is."""
        return self.text == self.characters


class TokenLook(NamedTuple):
    """The look of a token, or of characters without a token. Many tokens have equal looks.

    Attributes:
        text: The characters that no token before it covers.
        before: The bytes at its start that belong to a character of the token before.
        after: The bytes at its end that belong to a character of the next token.
        mark: ``"special"``, ``"added"``, ``"gap"`` for characters without a token; else empty.
        instead: A note for a token without characters of its own, or an added token that is not in the text; else
            empty.
        replaced: The bytes that ``U+FFFD`` replaces, by its place in `text`.
    """

    text: str
    before: bytes = b""
    after: bytes = b""
    mark: str = ""
    instead: str = ""
    replaced: tuple[tuple[int, bytes], ...] = ()

    def shown(self) -> Iterator[DrawnText]:
        """The drawn texts. Their characters, for all parts of a text in order, are the text."""
        if self.before:
            yield DrawnText(note(self.before), "")
        place = 0
        for wrong, data in self.replaced:
            yield from _drawn(self.text[place:wrong])
            yield DrawnText("\ufffd" + note(data), "\ufffd")
            place = wrong + 1
        yield from _drawn(self.text[place:])
        if self.after:
            yield DrawnText(note(self.after), "")
        if self.instead:
            yield DrawnText(self.instead, "")


def _drawn(text: str) -> Iterator[DrawnText]:
    return (DrawnText(shown.text, shown.stands_for or shown.text) for shown in show(text))


class PicturePart(NamedTuple):
    """A token of a picture, or characters without a token.

    Attributes:
        token: The index of the token; None for characters without one.
        start: The first character.
        look: Its look.
    """

    token: int | None
    start: int
    look: TokenLook


def parts(picture: Picture, source: PictureTokens) -> Iterator[PicturePart]:
    """The tokens of one tokenizer in order, with the characters between them.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.view.pictures import picture
        >>> seen = picture({"a": bp.train({"low": 5}, vocab_size=258)}, "low é")
        >>> for part in parts(seen, seen.sources[0]):
        ...     print(part.token, part.start, "".join(shown.text for shown in part.look.shown()))
        0 0 low
        1 3 ·
        2 4 é‹c3›
        3 5 ‹a9›
    """
    text, covered = picture.text, 0
    wrong = dict(picture.replaced)
    # Most tokens occur often.
    known: dict[tuple[int, str, str], TokenLook] = {}
    following = (*source.starts, None)[1:]
    for number, (id, start, end, next_start) in enumerate(
        zip(source.ids, source.starts, source.ends, following, strict=True)
    ):
        if next_start == start and source.vocabulary[id].token == _SPACE:
            # A prefix space covers no character: the one after it belongs to the next token.
            end = start  # noqa: PLW2901 (every use below needs the new end)
        if start > covered:
            yield PicturePart(None, covered, _replaced(TokenLook(text[covered:start], mark="gap"), wrong, covered))
            covered = start
        key = id, text[covered:end], text[start:end]
        look = known.get(key)
        if look is None:
            look = known[key] = _look(source.kind, source.vocabulary[id], *key[1:])
        yield PicturePart(number, covered, _replaced(look, wrong, covered))
        covered = max(covered, end)
    if covered < len(text):
        yield PicturePart(None, covered, _replaced(TokenLook(text[covered:], mark="gap"), wrong, covered))


def _look(kind: str, entry: VocabularyEntry, shown: str, stands_for: str) -> TokenLook:
    """The look of a token that shows `shown` of the characters that it represents."""
    token = entry.token
    if entry.added:
        # An added token that is not in the text, such as the unknown token, gets a note.
        instead = "" if shown and token in shown.encode() else f"‹{quote(token)}›"
        return TokenLook(shown, mark="special" if entry.special else "added", instead=instead)
    if kind not in {"ranks", "WordLevel"} and stands_for.encode() != token and (byte := named_byte(token)):
        token = byte
    before, after = cut_off(token)
    return TokenLook(shown, before, after, instead="" if shown or before or after else f"‹{quote(token)}›")


def _replaced(look: TokenLook, wrong: dict[int, bytes], start: int) -> TokenLook:
    """The look with the bytes that ``U+FFFD`` replaces in its text."""
    if not wrong or "\ufffd" not in look.text:
        return look
    places = (place for place, character in enumerate(look.text) if character == "\ufffd")
    found = tuple((place, wrong[start + place]) for place in places if start + place in wrong)
    return look._replace(replaced=found)
