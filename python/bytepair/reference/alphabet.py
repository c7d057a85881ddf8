"""Alphabets: the symbols that a piece consists of before the first merge.

The one idea: byte-pair encoding leaves the choice of symbols open. With ``bytes`` there are always the same 256 of them
and no text is out of reach. With ``characters`` (Sennrich) the alphabet is the characters of the corpus, and a suffix
such as ``</w>``, a symbol of its own, distinguishes ``est`` at the end of a word from ``est`` within it. Either way a
symbol is stored as its bytes, and a token is identified by its bytes joined.

Complexity: each piece is read once. Biggest weakness: a character that training never saw has no id.

Source: "Neural Machine Translation of Rare Words with Subword Units" (Sennrich, Haddow, Birch, 2016) for characters
and suffix; "Language Models are Unsupervised Multitask Learners" (Radford et al., 2019) for bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterable

ALPHABETS = ("bytes", "characters")


def check_alphabet(alphabet: str) -> None:
    """Refuse an alphabet that does not exist.

    Args:
        alphabet: The name of an alphabet.

    Raises:
        ValueError: There is no such alphabet; the message names those there are.

    Complexity: O(1).

    Example:
        >>> check_alphabet("words")
        Traceback (most recent call last):
        ValueError: unknown alphabet 'words'; use one of bytes, characters
    """
    if alphabet not in ALPHABETS:
        raise ValueError(f"unknown alphabet {alphabet!r}; use one of {', '.join(ALPHABETS)}")


def initial_symbols(
    piece: bytes | str, *, alphabet: str = "bytes", end_of_word_suffix: str | None = None
) -> list[bytes]:
    r"""Cut a piece into its initial symbols.

    Args:
        piece: The piece, as text or as UTF-8 (with the alphabet ``bytes``, as any bytes).
        alphabet: ``bytes`` (each symbol a byte) or ``characters`` (each symbol a character's UTF-8 bytes).
        end_of_word_suffix: Appended as one more symbol; None or empty appends nothing.

    Raises:
        ValueError: The alphabet is unknown.
        EncodeError: The text holds a lone surrogate, or bytes to be cut into characters are not UTF-8.

    Complexity: O(bytes).

    Example:
        >>> initial_symbols("né")
        [b'n', b'\xc3', b'\xa9']
        >>> initial_symbols("né", alphabet="characters", end_of_word_suffix="</w>")
        [b'n', b'\xc3\xa9', b'</w>']
    """
    check_alphabet(alphabet)
    try:
        if alphabet == "characters":
            text = piece.decode() if isinstance(piece, bytes) else piece
            symbols = [character.encode() for character in text]
        else:
            data = piece.encode() if isinstance(piece, str) else piece
            symbols = [bytes([byte]) for byte in data]
    except UnicodeDecodeError as error:
        remedy = 'train on bytes: alphabet="bytes"'
        raise EncodeError(f"the piece {piece!r} is not UTF-8", byte=error.start, remedy=remedy) from error
    except UnicodeEncodeError as error:
        remedy = 'replace it: piece.encode(errors="replace")'
        raise EncodeError(f"the piece {piece!r} holds a lone surrogate", remedy=remedy) from error
    return symbols + ([end_of_word_suffix.encode()] if end_of_word_suffix else [])


def alphabet_ids(
    pieces: Iterable[Iterable[bytes]], *, alphabet: str = "bytes", end_of_word_suffix: str | None = None
) -> dict[bytes, int]:
    """Number the initial symbols; the tokens that training adds go on from there.

    Bytes are their own ids, whether used or not. Characters are numbered in the order of their code points (which is
    also the order of their UTF-8 bytes), only those in use. The suffix comes last.

    Args:
        pieces: The initial symbols of each piece.
        alphabet: ``bytes`` or ``characters``.
        end_of_word_suffix: The suffix that the pieces were given, if any.

    Returns:
        Symbol -> id, in the order of the ids, without holes.

    Raises:
        ValueError: The alphabet is unknown.

    Complexity: O(symbols of all pieces), and sorting the characters.

    Example:
        >>> alphabet_ids([[b"n", b"a", b"</w>"]], alphabet="characters", end_of_word_suffix="</w>")
        {b'a': 0, b'n': 1, b'</w>': 2}
        >>> alphabet_ids([[b"n", b"a"]])[b"n"]
        110
    """
    check_alphabet(alphabet)
    suffix = {end_of_word_suffix.encode()} if end_of_word_suffix else set()
    if alphabet == "bytes":
        symbols = [bytes([byte]) for byte in range(256)]
    else:
        symbols = sorted({symbol for piece in pieces for symbol in piece} - suffix)
    return {symbol: number for number, symbol in enumerate([*symbols, *suffix])}
