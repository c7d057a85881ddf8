"""``.model`` of ``sentencepiece``: BPE, Unigram and single characters, read and written.

The ids are those of `sentencepiece`: its normalizer is one step, ``{"type": "SentencePiece", ...}``, in the core, or
two of ``tokenizer.json`` if they do the same (`with_prefix_once` for classes that put a space at the start of a text
alone); its BPE merges the pair whose product has the greatest score, ties
left to right, which becomes a list of merges; control symbols are special tokens, which text never becomes by
default; user-defined symbols are added tokens of a BPE, found in the normalized text, and in a Unigram tokens that
score by their length, whatever the file says. Decoding differs where no step of ``tokenizers`` does the same: bytes
that are not UTF-8 are U+FFFD for a whole run of byte tokens; and of several spaces in front, or one that comes from a
byte, one is dropped.

Long because a file is read and written, of three kinds of models, by the same tables of its fields.

Source: ``sentencepiece_model.proto``, ``model_interface.cc``, ``bpe_model.cc``, ``unigram_model.cc``.
"""

from __future__ import annotations

import math
import re
import struct
import warnings
from itertools import chain
from typing import Any, NamedTuple, cast

from bytepair._core import Columns, Pieces, read_pieces
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats import protobuf
from bytepair.model.models import BytePair, Characters, Unigram, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import parse_step, spell_replace, spell_step

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
_UNIGRAM, _BPE, _WORD, _CHAR = range(1, 5)
UNKNOWN_PENALTY = 10.0
"""How much less an unknown character scores than the lowest piece."""
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_STEP = "SentencePiece"
_BLANK = "\u2581"


class Piece(NamedTuple):
    """A piece of the vocabulary, whose id is its place."""

    content: str
    score: float
    kind: int


class Normalizer(NamedTuple):
    """The settings of the normalizer, which runs before pieces are matched."""

    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


class TrainerSettings(NamedTuple):
    """The trainer's settings that decide ids and the text of an unknown token."""

    model_type: int = _UNIGRAM
    byte_fallback: bool = False
    treat_whitespace_as_suffix: bool = False
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"


_ROLES = {45: "unk", 46: "bos", 47: "eos", 48: "pad"}
"""The fields of the trainer's settings that name a piece."""

# A model whose normalizer does nothing but these two steps.
_PLAIN = Normalizer(remove_extra_whitespaces=False)
PREPEND = spell_step({"type": "Prepend", "prepend": _BLANK})
_STRIP = spell_step({"type": "Strip", "content": " ", "start": 1, "stop": 0})
REPLACE = spell_replace(" ", _BLANK)
_FIRST = spell_step({"type": "Metaspace", "replacement": _BLANK, "prepend_scheme": "first", "split": False})
_NORMALIZER = {1: "name", 2: "precompiled_charsmap", 3: "add_dummy_prefix", 4: "remove_extra_whitespaces"}
_NORMALIZER |= {5: "escape_whitespaces", 6: "normalization_rule_tsv"}
# A descendant of sentencepiece has this field, and sentencepiece passes over it.
_NORMALIZER |= {7: "encode_case"}


def looks_like(data: bytes) -> bool:
    """Whether the file starts with a piece: a message in which a string comes first."""
    # Field 1 with a length, then field 1 of it with a length that fits.
    return data[:1] == b"\x0a" and len(data) > 4 and data[2 + (data[1] > 0x7F)] == 0x0A and data[1] != 0


def read(data: bytes) -> TokenizerSpec:
    """Reads a model.

    Raises:
        FormatError: It is damaged (``byte`` locates the fault), or has an unsupported feature, which is named.
    """
    # Unusual files are read again by slow code, which locates the fault.
    found = read_pieces(data)
    others = found[1] if found else [(0, len(data))]
    pieces: list[Piece] = []
    parts: dict[int, list[tuple[bytes, int]]] = {2: [], 3: [], 5: []}
    for number, value, at in chain.from_iterable(protobuf.fields(data, start, end) for start, end in others):
        if number == 1:
            pieces.append(_read_piece(protobuf.raw(value, at), at))
        elif number in parts:
            parts[number].append((protobuf.raw(value, at), at))
        elif number != 4:
            raise _unsupported(f"field {number} of a model", at)
    trainer = _read_trainer(parts[2])
    normalizer = _read_normalizer(parts[3])
    if _read_normalizer(parts[5]).precompiled_charsmap:
        raise _unsupported("a denormalizer", parts[5][0][1])
    return build(found[0] if found else pieces, normalizer, trainer)


def _read_piece(message: bytes, place: int) -> Piece:
    content, score, kind = "", 0.0, NORMAL
    for number, value, at in protobuf.fields(message):
        if number == 1:
            content = protobuf.text(value, place + at)
        elif number == 2:
            score = protobuf.single(value, place + at)
        elif number == 3:
            kind = protobuf.number(value, place + at)
        else:
            raise _unsupported(f"field {number} of a piece", place)
    if not content:
        raise protobuf.damaged("a piece is empty", place)
    if not NORMAL <= kind <= BYTE:
        raise _unsupported(f"a piece of the type {kind}", place)
    if not math.isfinite(score):
        raise protobuf.damaged(f"the score of {content!r} is {score}", place)
    return Piece(content, score, kind)


def _read_trainer(messages: list[tuple[bytes, int]]) -> TrainerSettings:
    # Fields about the training decide no ids. A message in several parts is one; the last value of a field counts.
    read = {3: "model_type", 24: "treat_whitespace_as_suffix", 35: "byte_fallback"}
    found: dict[str, Any] = {}
    for message, place in messages:
        for number, value, at in protobuf.fields(message):
            if number in read:
                kind = protobuf.number if number == 3 else protobuf.flag
                found[read[number]] = kind(value, place + at)
            elif number == 44:
                found["unk_surface"] = protobuf.text(value, place + at)
            elif number in _ROLES and (piece := protobuf.text(value, place + at)):
                found[f"{_ROLES[number]}_piece"] = piece
            elif number == 53 and value:
                raise _unsupported("pretokenization_delimiter", place)
    return TrainerSettings(**found)


def _read_normalizer(messages: list[tuple[bytes, int]]) -> Normalizer:
    found: dict[str, Any] = {}
    for message, place in messages:
        for number, value, at in protobuf.fields(message):
            name = _NORMALIZER.get(number)
            if name is None:
                raise _unsupported(f"field {number} of a normalizer", place)
            if name in Normalizer._fields:
                found[name] = (protobuf.raw if number == 2 else protobuf.flag)(value, place + at)
    normalizer = Normalizer(**found)
    charsmap = normalizer.precompiled_charsmap
    if charsmap and not 4 <= int.from_bytes(charsmap[:4], "little") + 4 < len(charsmap):
        raise protobuf.damaged("the table of the normalizer is longer than the file says", messages[-1][1])
    return normalizer


def build(pieces: Pieces | list[Piece], normalizer: Normalizer, trainer: TrainerSettings) -> TokenizerSpec:
    """The tokenizer of a model's parts; FormatError if they are not a model of `sentencepiece`."""
    is_bpe = trainer.model_type == _BPE
    if isinstance(pieces, list) or not pieces.are_sound(trainer.byte_fallback, is_bpe):
        _check(pieces if isinstance(pieces, list) else [Piece(*row) for row in pieces.rows()], trainer)
    if trainer.model_type not in (_UNIGRAM, _BPE, _CHAR):
        name = "word" if trainer.model_type == _WORD else str(trainer.model_type)
        raise FormatError(f"not supported: the model type {name}", remedy="load it with sentencepiece")
    unigram = trainer.model_type == _UNIGRAM
    # Of what has no fault there are no two equal pieces.
    packed = pieces if isinstance(pieces, Pieces) else Pieces(pieces)
    ((unknown, unk, _),) = packed.of_kinds([UNKNOWN])
    # A Unigram matches user-defined symbols like its pieces; the other models match them first.
    kinds = [NORMAL, UNKNOWN, BYTE, USER_DEFINED] if unigram else [NORMAL, UNKNOWN, BYTE]
    added = [
        AddedToken(content, id, special=kind != USER_DEFINED, normalized=kind == USER_DEFINED)
        for content, id, kind in packed.of_kinds([UNKNOWN, CONTROL] if unigram else [UNKNOWN, CONTROL, USER_DEFINED])
    ]
    symbols = [content for content, _, _ in packed.of_kinds([USER_DEFINED])]
    if unigram:
        columns = packed.scored(kinds)
        options = model_options(
            Unigram((), (), (), unk, trainer.byte_fallback, in_32_bits(packed.lowest() - UNKNOWN_PENALTY)),
        )
    else:
        columns = _merged(packed, kinds, has_merges=is_bpe)
        options = model_options(BytePair((), (), (), alphabet=_alphabet(unknown, trainer.byte_fallback)))
    steps = normalizer_steps(normalizer, symbols, suffix=trainer.treat_whitespace_as_suffix)
    return TokenizerSpec(
        PackedModel(columns, options),
        added_tokens=tuple(added),
        normalizers=steps,
        decoders=_decoders(steps, normalizer, trainer, unknown),
        roles=_roles(packed, trainer),
    )


def in_32_bits(number: float) -> float:
    """A number rounded to 32 bits."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def _roles(pieces: Pieces, trainer: TrainerSettings) -> tuple[tuple[str, str], ...]:
    """The pieces that `sentencepiece` reports as ``bos_id()`` and its like: found by name, if of the right type."""
    named = {role: getattr(trainer, f"{role}_piece") for role in _ROLES.values()}
    fits = {role: UNKNOWN if role == "unk" else CONTROL for role in named}
    return tuple((role, content) for role, content in named.items() if pieces.kind_of(content) == fits[role])


def _alphabet(unk: str, byte_fallback: bool) -> Characters:
    return Characters(unk_token=unk, fuse_unk=True, byte_fallback=byte_fallback)


def _check(pieces: list[Piece], trainer: TrainerSettings) -> None:
    """Raises FormatError for a model that `sentencepiece` refuses to load, or that is not supported."""
    unknown = [piece.content for piece in pieces if piece.kind == UNKNOWN]
    if len(unknown) != 1:
        raise FormatError(f"the model has {len(unknown)} unknown pieces and needs one", remedy="fetch it again")
    seen: dict[str, int] = {}
    for id, piece in enumerate(pieces):
        if seen.setdefault(piece.content, id) != id:
            raise FormatError(
                f"the pieces {seen[piece.content]} and {id} are both {piece.content!r}",
                remedy="load it with sentencepiece",
            )
        if piece.kind == BYTE and (not trainer.byte_fallback or not _BYTE.fullmatch(piece.content)):
            raise FormatError(
                f"the byte piece {piece.content!r} is none, or byte_fallback is off", remedy="fetch it again"
            )
    if trainer.model_type == _BPE:
        # A long piece is not cut at each place, but only where both sides are as long as a piece.
        lengths = {len(piece.content) for piece in pieces}
        for content in (piece.content for piece in pieces if piece.kind == UNUSED):
            cuts = (cut for cut in lengths if len(content) - cut in lengths)
            # sentencepiece makes such a piece and splits it again; it has no effect if no merge makes it.
            if any(content[:cut] in seen and content[cut:] in seen for cut in cuts):
                raise FormatError(
                    f"not supported: the unused piece {content!r} of a BPE", remedy="load it with sentencepiece"
                )
    if trainer.byte_fallback and sum(piece.kind == BYTE for piece in pieces) != 256:
        raise FormatError("the model has byte_fallback and not all of the 256 byte pieces", remedy="fetch it again")


def _merged(pieces: Pieces, kinds: list[int], *, has_merges: bool) -> Columns:
    """The columns of a BPE, whose scores become a list of merges.

    `sentencepiece` merges the adjacent pair whose product is a token with the greatest score; ties go left to right. A
    merge list is equivalent if no two products have the same score, and if the order among the splits of one product
    does not matter. It matters if two overlap, such as ``(ab, a)`` and ``(a, ba)`` in ``ab a ba``, which an order can
    settle; and if, of two products side by side, merging one first lets a neighbour merge elsewhere. Real models have
    such tokens, most of them runs of one character; in 300,000 texts made only of their parts no difference was found.
    So only tokens with equal scores are reported.

    Time: one look-up for each split of each token.
    """
    columns, equal, strange, first = pieces.merged(kinds, has_merges)
    if equal:
        warnings.warn(
            f"{equal} tokens have the score of another one, and sentencepiece merges the leftmost of equals: "
            "a text could have other ids than it gives",
            TokenizerWarning,
            stacklevel=2,
        )
    if strange:
        warnings.warn(
            f"{strange} tokens, such as {first!r}, have a character that is no token: sentencepiece can make "
            "them of it all the same, and here text never becomes them",
            TokenizerWarning,
            stacklevel=2,
        )
    return columns


def normalizer_steps(normalizer: Normalizer, symbols: list[str], *, suffix: bool = False) -> tuple[str, ...]:
    """The steps that normalize as a model does: those of ``tokenizer.json`` where they do the same."""
    import base64  # noqa: PLC0415 (few formats need it)

    if normalizer._replace(add_dummy_prefix=True) == _PLAIN and not symbols and not suffix:
        return (PREPEND, REPLACE) if normalizer.add_dummy_prefix else (REPLACE,)

    step: dict[str, Any] = {
        "type": _STEP,
        "precompiled_charsmap": base64.b64encode(normalizer.precompiled_charsmap).decode(),
        "add_dummy_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
        "escape_whitespaces": normalizer.escape_whitespaces,
        "treat_whitespace_as_suffix": suffix,
    }
    return (spell_step(step | ({"user_defined_symbols": symbols} if symbols else {})),)


def _decoders(
    steps: tuple[str, ...], normalizer: Normalizer, trainer: TrainerSettings, unknown: str
) -> tuple[str, ...]:
    """The decoding step of a model; those of ``tokenizer.json`` if its normalizer is made of such steps too."""
    if parse_step(steps[0])["type"] != _STEP:
        # With byte pieces nothing is unknown.
        surface = None if trainer.byte_fallback else (unknown, trainer.unk_surface)
        return decoder_steps(strip=normalizer.add_dummy_prefix, unknown=surface)
    step = {
        "type": _STEP,
        "unk_piece": unknown,
        "unk_surface": trainer.unk_surface,
        "byte_fallback": trainer.byte_fallback,
        "add_dummy_prefix": normalizer.add_dummy_prefix,
        "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
    }
    return (spell_step(step),)


def without_prefix(spec: TokenizerSpec) -> TokenizerSpec:
    """The tokenizer of a model as if it put no space before a text."""

    def without(step: str) -> str:
        parsed = parse_step(step)
        return spell_step(parsed | {"add_dummy_prefix": False}) if parsed["type"] == _STEP else step

    return spec.replace(
        normalizers=tuple(without(step) for step in spec.normalizers if step != PREPEND),
        decoders=tuple(without(step) for step in spec.decoders if step != _STRIP),
    )


def with_prefix_once(spec: TokenizerSpec) -> TokenizerSpec | None:
    """The tokenizer of a model as if it put a space at the start of a text alone, and none behind added tokens in it.

    White space before the text between two of them is one space then, as elsewhere. None if the model does not mark
    spaces, or does at the ends of words: no such steps are known.
    """
    if PREPEND in spec.normalizers:
        return spec.replace(normalizers=(), pre_tokenizers=(_FIRST,))
    step = parse_step(spec.normalizers[0])
    if not step.get("add_dummy_prefix"):
        return spec
    if step["treat_whitespace_as_suffix"] or not step["escape_whitespaces"]:
        return None
    bare = spell_step(step | {"add_dummy_prefix": False, "keep_leading_space": True})
    return spec.replace(normalizers=(bare,), pre_tokenizers=(_FIRST,))


def decoder_steps(*, strip: bool, unknown: tuple[str, str] | None) -> tuple[str, ...]:
    """The decoding steps from pieces to text, for a model with or without a space in front.

    Args:
        strip: Whether there is a space in front.
        unknown: The unknown token and its text; None for a model with bytes.
    """
    replace = spell_replace(_BLANK, " ")
    first = (replace, "ByteFallback") if unknown is None else (spell_replace(*unknown), replace)
    return (*first, "Fuse", *((_STRIP,) if strip else ()))


def write(spec: TokenizerSpec) -> bytes:
    """Writes a model that `sentencepiece` loads, with the same ids.

    Of a BPE the scores are the order of its merges. The roles bos, eos and pad are those of the tokenizer; without
    them the library takes ``<s>``, ``</s>`` and ``<pad>`` if they are there.

    Raises:
        FormatError: The tokenizer has a feature that a model cannot hold; the error names it.
    """
    model = spec.model
    if not isinstance(model, Unigram) and not (isinstance(model, BytePair) and model.alphabet is not None):
        raise _cannot(f"a model of the kind {type(model).__name__}, or of bytes")
    if isinstance(model, Unigram) and model.from_end:
        raise _cannot("a Unigram from_end")
    if isinstance(model, Unigram) and (model.unlisted or -math.inf in model.scores):
        raise _cannot("tokens that no text becomes, or texts that become the unknown token")
    normalizer, suffix, symbols = _parse_step(spec)
    pieces, byte_fallback = _unigram_pieces(spec, model, symbols) if isinstance(model, Unigram) else _pair_pieces(spec)
    kind = _UNIGRAM if isinstance(model, Unigram) else _BPE
    unk = next((id for id, piece in enumerate(pieces) if piece.kind == UNKNOWN), None)
    if unk is None:
        raise _cannot("a vocabulary without an unknown token")
    place = {piece.content: id for id, piece in enumerate(pieces) if piece.kind == CONTROL}
    named = {role: content for role, content in spec.roles if content in place}
    bos, eos, pad = named.get("bos", "<s>"), named.get("eos", "</s>"), named.get("pad", "<pad>")
    written = [
        protobuf.write((1, protobuf.write((1, piece.content), (2, piece.score), (3, piece.kind)))) for piece in pieces
    ]
    settings = protobuf.write(
        (3, kind),
        (4, len(pieces)),
        (24, suffix),
        (35, byte_fallback),
        (40, unk),
        (41, place.get(bos, -1)),
        (42, place.get(eos, -1)),
        (43, place.get(pad, -1)),
        (44, _unk_surface(spec)),
        (45, pieces[unk].content),
        (46, bos if bos != "<s>" else None),
        (47, eos if eos != "</s>" else None),
        (48, pad if pad != "<pad>" else None),
    )
    flags = (normalizer.add_dummy_prefix, normalizer.remove_extra_whitespaces, normalizer.escape_whitespaces)
    normal = protobuf.write((2, normalizer.precompiled_charsmap), *enumerate(flags, 3))
    return b"".join(written) + protobuf.write((2, settings), (3, normal))


def _parse_step(spec: TokenizerSpec) -> tuple[Normalizer, bool, list[str]]:
    import base64  # noqa: PLC0415 (as above)

    if spec.normalizers in ((PREPEND, REPLACE), (REPLACE,)):
        return _PLAIN._replace(add_dummy_prefix=len(spec.normalizers) == 2), False, []
    step = parse_step(spec.normalizers[0]) if len(spec.normalizers) == 1 else {}
    if step.get("type") != _STEP or step.get("keep_leading_space"):
        raise _cannot("normalizers other than that of sentencepiece")
    charsmap = base64.b64decode(step["precompiled_charsmap"])
    options = [step[name] for name in Normalizer._fields[1:]]
    return Normalizer(charsmap, *options), step["treat_whitespace_as_suffix"], step.get("user_defined_symbols", [])


def _unk_surface(spec: TokenizerSpec) -> str | None:
    step = parse_step(spec.decoders[0]) if spec.decoders else {}
    if step.get("type") == _STEP:
        return str(step["unk_surface"])
    surface = step.get("content") if step.get("type") == "Replace" and "ByteFallback" not in spec.decoders else None
    return surface if isinstance(surface, str) else None


def _unigram_pieces(spec: TokenizerSpec, model: Unigram, symbols: list[str]) -> tuple[list[Piece], bool]:
    chosen = set(symbols)
    pieces = {token.id: Piece(token.content, 0.0, CONTROL) for token in spec.added_tokens}
    for token, id, score in zip(model.tokens, model.ids, model.scores, strict=True):
        content = token.decode()
        kind = UNKNOWN if id == model.unk_id else USER_DEFINED if content in chosen else NORMAL
        kind = BYTE if model.byte_fallback and _BYTE.fullmatch(content) else kind
        pieces[id] = Piece(content, score, kind)
    return _in_a_row(pieces), model.byte_fallback


def _pair_pieces(spec: TokenizerSpec) -> tuple[list[Piece], bool]:
    model = cast("BytePair", spec.model)
    alphabet = cast("Characters", model.alphabet)
    if alphabet.separator or alphabet.unlisted:
        raise _cannot("a separator, or texts that are no tokens")
    pieces = {
        token.id: Piece(token.content, 0.0, CONTROL if token.special else USER_DEFINED) for token in spec.added_tokens
    }
    spelled = {id: token.decode() for token, id in zip(model.tokens, model.ids, strict=True)}
    order: dict[str, float] = {}
    for left, right in model.merges or ():
        order.setdefault(spelled[left] + spelled[right], float(-len(order)))
    for id, content in spelled.items():
        kind = UNKNOWN if content == alphabet.unk_token else NORMAL
        kind = BYTE if alphabet.byte_fallback and _BYTE.fullmatch(content) else kind
        pieces[id] = Piece(content, 0.0 if kind != NORMAL else order.get(content, float(-len(order))), kind)
    return _in_a_row(pieces), alphabet.byte_fallback


def _in_a_row(pieces: dict[int, Piece]) -> list[Piece]:
    # Ids are positions: an unused piece fills each hole.
    if len(pieces) < (size := max(pieces, default=-1) + 1):
        if size > 2 * len(pieces) + 256:
            raise _cannot("ids with such large holes")
        names = {piece.content for piece in pieces.values()}
        for id in range(size):
            if id not in pieces:
                pieces[id] = Piece(
                    next(n for n in (f"<{'-' * k}{id}>" for k in range(size)) if n not in names), 0.0, UNUSED
                )
    return [pieces[id] for id in range(size)]


def _cannot(what: str) -> FormatError:
    return FormatError(f"a model of sentencepiece cannot hold {what}", remedy="save as the native format")


def _unsupported(what: str, place: int) -> FormatError:
    return FormatError(f"not supported: {what}", byte=place, remedy="load it with sentencepiece")
