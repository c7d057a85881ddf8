"""The models of ``tokenizer.json`` that are spelled in characters <-> columns and options.

A special token in the vocabulary that no merge needs is kept as an added token only: ordinary text never becomes it.
The unknown token stays in the model, and so does one that is not matched inside words.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bytepair._core import Columns, FileVocab, JsonMerges, read_scored, read_spelled, read_words
from bytepair.errors import FormatError
from bytepair.formats.hf_common import Json, flag, pointer_to, shown, text_or_none
from bytepair.formats.hf_models import in_python, is_list, is_object, kind_of_model, warn_of_dropout
from bytepair.model.checks import MOST_IDS
from bytepair.model.models import BytePair, Characters, Unigram, WordLevel, WordPiece, model_options
from bytepair.model.packed import PackedModel

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bytepair.model.models import Model
    from bytepair.model.spec import AddedToken


def read(model: Mapping[str, Json], special: Collection[str]) -> PackedModel:
    """Reads a model.

    Raises:
        FormatError: It is broken; ``pointer`` locates the fault.
    """
    kind = kind_of_model(model)
    if kind == "Unigram":
        return _read_unigram(model, special)
    unk = text_or_none(model, "unk_token", "/model")
    if kind == "BPE":
        return _read_characters(model, unk, special)
    vocab = _object(model.get("vocab"))
    if isinstance(vocab, dict):
        _check_ids(vocab)
    options: Model
    if kind == "WordPiece":
        prefix = text_or_none(model, "continuing_subword_prefix", "/model")
        most = model.get("max_input_chars_per_word", 100)
        if type(most) is not int or not 0 <= most < 2**32:
            raise FormatError(f"max_input_chars_per_word is {shown(most)}", pointer="/model/max_input_chars_per_word")
        options = WordPiece((), (), "[UNK]" if unk is None else unk, "##" if prefix is None else prefix, most)
    else:
        options = WordLevel((), (), "<unk>" if unk is None else unk)
    _check_unk(vocab, options.unk_token)
    columns = read_words(vocab, list(special), options.unk_token)
    if columns is None:
        kept = in_python(vocab).items()
        columns = _columns({token: id for token, id in kept if token not in special or token == options.unk_token})
    return PackedModel(columns, model_options(options))


def _read_characters(model: Mapping[str, Json], unk: str | None, special: Collection[str]) -> PackedModel:
    warn_of_dropout(model)
    prefix = text_or_none(model, "continuing_subword_prefix", "/model") or None
    alphabet = Characters(
        unk_token=unk,
        fuse_unk=flag(model, "fuse_unk", "/model", default=False),
        byte_fallback=flag(model, "byte_fallback", "/model", default=False),
        continuing_subword_prefix=prefix,
        end_of_word_suffix=text_or_none(model, "end_of_word_suffix", "/model") or None,
    )
    vocab, merges = _object(model.get("vocab")), model.get("merges")
    if not isinstance(merges, list | JsonMerges):
        raise FormatError("the merges are not a list", pointer="/model/merges")
    if unk is not None:
        _check_unk(vocab, unk)
    columns = read_spelled(vocab, merges, list(special), unk, prefix or "", alphabet.end_of_word_suffix or "")
    if columns is None:
        columns = _read_carefully(_check_ids(in_python(vocab)), in_python(merges), special, alphabet)
    ignore_merges = flag(model, "ignore_merges", "/model", default=False)
    return PackedModel(columns, model_options(BytePair((), (), (), alphabet=alphabet)), ignore_merges)


def _read_carefully(
    vocab: dict[str, int], merges: list[Json], special: Collection[str], alphabet: Characters
) -> Columns:
    """As `read_spelled`, but slow: it locates faults."""
    cut = len(alphabet.continuing_subword_prefix or "")
    pairs: list[tuple[int, int]] = []
    used: set[str] = set()
    for row, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2:
            raise FormatError(f"{shown(merge)} is not a merge of two tokens", pointer=f"/model/merges/{row}")
        try:
            pairs.append((vocab[parts[0]], vocab[parts[1]]))
            product = parts[0] + parts[1][cut:]
            vocab[product]
        except (KeyError, TypeError) as error:
            raise FormatError(
                f"the merge {shown(merge)} needs {shown(error.args[0])}, which is not in the vocabulary",
                pointer=f"/model/merges/{row}",
                remedy="is the file whole? fetch it again",
            ) from None
        used.update((parts[0], parts[1], product))
    kept = {
        token: id
        for token, id in vocab.items()
        if token not in special or token == alphabet.unk_token or token in used or _is_character(token, alphabet)
    }
    return _columns(kept, pairs)


def _is_character(token: str, alphabet: Characters) -> bool:
    """Whether merging may begin with this token."""
    bare = token.removeprefix(alphabet.continuing_subword_prefix or "").removesuffix(alphabet.end_of_word_suffix or "")
    return len(token) == 1 or len(bare) == 1


def _read_unigram(model: Mapping[str, Json], special: Collection[str]) -> PackedModel:
    vocab, unk_id = model.get("vocab"), model.get("unk_id")
    if vocab is None or not is_list(vocab):
        raise FormatError("the vocabulary is not a list", pointer="/model/vocab")
    if unk_id is not None and (type(unk_id) is not int or not 0 <= unk_id < len(vocab)):
        raise FormatError(f"unk_id is {shown(unk_id)}", pointer="/model/unk_id")
    byte_fallback = flag(model, "byte_fallback", "/model", default=False)
    options = model_options(Unigram((), (), (), unk_id, byte_fallback))
    if isinstance(vocab, FileVocab) and (columns := read_scored(vocab, list(special), unk_id)) is not None:
        return PackedModel(columns, options)
    tokens, ids, scores = [], [], []
    for id, entry in enumerate(in_python(vocab)):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            raise FormatError(f"{shown(entry)} is not a token and its score", pointer=f"/model/vocab/{id}")
        token, score = entry
        if not isinstance(score, int | float) or isinstance(score, bool) or not _is_finite(score):
            raise FormatError(f"the score of {shown(token)} is {shown(score)}", pointer=f"/model/vocab/{id}/1")
        if token not in special or id == unk_id:
            tokens.append(token.encode())
            ids.append(id)
            scores.append(float(score))
    return PackedModel(Columns(tokens, ids, None, scores), options)


def _is_finite(score: float) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:
        # A whole number in JSON may have any number of digits.
        return False


def _object(vocab: Json) -> dict[str, Json] | FileVocab:
    if not is_object(vocab):
        raise FormatError("the vocabulary is not an object", pointer="/model/vocab")
    found: dict[str, Json] | FileVocab = vocab
    return found


def _check_ids(vocab: dict[str, Json]) -> dict[str, int]:
    for token, id in vocab.items():
        if type(id) is not int or not 0 <= id < MOST_IDS:
            raise FormatError(f"the id of {shown(token)} is {shown(id)}", pointer=pointer_to("/model/vocab", token))
    return vocab


def _check_unk(vocab: Mapping[str, int] | FileVocab, unk: str) -> None:
    if unk not in vocab:
        raise FormatError(f"unk_token is {shown(unk)}, which is not a token", pointer="/model/unk_token")


def _columns(vocab: dict[str, int], pairs: list[tuple[int, int]] | None = None) -> Columns:
    by_id = sorted(vocab.items(), key=lambda item: item[1])
    for (_, id), (token, following) in pairwise(by_id):
        if id == following:
            raise FormatError(f"two tokens have the id {id}", pointer=pointer_to("/model/vocab", token))
    return Columns([token.encode() for token, _ in by_id], [id for _, id in by_id], pairs)


def _check_unigram(model: Unigram, vocab: Mapping[str, int]) -> None:
    """Raises FormatError if ``tokenizer.json`` cannot hold a Unigram with these tokens."""
    if model.from_end:
        raise FormatError("tokenizer.json cannot hold a Unigram from_end", remedy="save as the native format")
    if model.unlisted or -math.inf in model.scores:
        raise FormatError(
            "a Unigram model has tokens that it never finds or texts without an id, which tokenizer.json cannot hold",
            remedy="save as the native format",
        )
    if model.unk_score is not None:
        raise FormatError(
            "tokenizer.json cannot hold a Unigram of sentencepiece: `tokenizers` has sums of 64 bits, and text "
            "that spells the unknown token becomes it",
            remedy="save as sentencepiece or as the native format, or set unk_score to None",
        )
    if list(vocab.values()) != list(range(len(vocab))):
        raise FormatError(
            "the ids of a Unigram model have holes, which tokenizer.json cannot hold",
            remedy="save as the native format",
        )


def write(model: Model, added: Sequence[AddedToken]) -> dict[str, Any]:
    """A model, with the added tokens that its vocabulary must contain.

    Raises:
        FormatError: Two tokens are spelled alike; an added token that is not special would have to become a token of
            the model; or the ids of a Unigram model have holes.
    """
    spelled = {id: token.decode() for token, id in zip(model.tokens, model.ids, strict=True)}
    ids = {token: id for id, token in spelled.items()}
    outside = [token for token in added if token.id not in spelled]
    for token in outside:
        if token.content in ids:
            raise FormatError(
                f"the added token {token.content!r} is spelled like the token with id {ids[token.content]}",
                remedy="save as the native format, which holds both",
            )
    # `tokenizers` numbers added tokens outside the vocabulary from its size on, and ignores the ids in the file.
    size = len(spelled) + len(outside)
    while outside and outside[-1].id == size - 1:
        outside.pop()
        size -= 1
    for token in outside:
        if not token.special or token.single_word:
            raise FormatError(
                f"tokenizer.json would make the added token {token.content!r} one of the model, for ids have holes",
                remedy="save as the native format",
            )
        ids[token.content] = token.id
    vocab = dict(sorted(ids.items(), key=lambda item: item[1]))
    match model:
        case BytePair(alphabet=Characters() as alphabet):
            if alphabet.separator or alphabet.unlisted:
                raise FormatError(
                    "tokenizer.json cannot hold a BPE with a separator, or with texts that are no tokens",
                    remedy="save as the native format",
                )
            return {
                "type": "BPE",
                "dropout": None,
                "unk_token": alphabet.unk_token,
                "continuing_subword_prefix": alphabet.continuing_subword_prefix,
                "end_of_word_suffix": alphabet.end_of_word_suffix,
                "fuse_unk": alphabet.fuse_unk,
                "byte_fallback": alphabet.byte_fallback,
                "ignore_merges": model.ignore_merges,
                "vocab": vocab,
                "merges": [[spelled[left], spelled[right]] for left, right in model.merges or ()],
            }
        case WordPiece():
            return {
                "type": "WordPiece",
                "unk_token": model.unk_token,
                "continuing_subword_prefix": model.continuing_subword_prefix,
                "max_input_chars_per_word": model.max_input_chars_per_word,
                "vocab": vocab,
            }
        case WordLevel():
            return {"type": "WordLevel", "vocab": vocab, "unk_token": model.unk_token}
        case Unigram():
            _check_unigram(model, vocab)
            scores = dict(zip(model.ids, model.scores, strict=True))
            return {
                "type": "Unigram",
                "unk_id": model.unk_id,
                "vocab": [[token, scores.get(id, 0.0)] for token, id in vocab.items()],
                "byte_fallback": model.byte_fallback,
            }
        case _:
            raise TypeError("a model of bytes is written by hf_json")
