"""A tokenizer -> a smaller one, without its last merges or without the tokens that a text uses least."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytepair.errors import FormatError, SourceError, TrainingError
from bytepair.model.models import BytePair, Unigram
from bytepair.model.semantics import to_ranks
from bytepair.model.token_spelling import joined, without_marks
from bytepair.progress import reporter
from bytepair.resolver import TokenizerLike, load
from bytepair.sources.source import Reading
from bytepair.tokenizer import Tokenizer
from bytepair.training.extending import count_pieces, proved_merges

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from typing import Literal

    from numpy.typing import NDArray

    from bytepair.model.models import Model
    from bytepair.progress import Report
    from bytepair.training.inputs import TrainingSource


_MOST_ROWS = 1 << 28
_BYTE = re.compile("<0x[0-9A-F]{2}>")


class Pruned(NamedTuple):
    """The result of `prune`.

    Attributes:
        tokenizer: The smaller tokenizer.
        ids: int64, shape ``(old vocab_size,)``: the new id of each old id, -1 for ids without a token in the result.
    """

    tokenizer: Tokenizer
    ids: NDArray[np.int64]


def prune(  # noqa: D417 (some arguments are those of `train`)
    tokenizer: TokenizerLike,
    vocab_size: int | None = None,
    source: TrainingSource | None = None,
    *,
    remove: Iterable[int] | None = None,
    keep_ids: bool = False,
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | str | Report = False,
) -> Pruned:
    """Removes tokens from a vocabulary until ``vocab_size`` are left, or those of a list.

    Added tokens, those of the post-processor and single bytes stay; in a model of characters, tokens of one
    character and the unknown token do, so that no more text becomes unknown. Only leaves are removed: tokens in no
    merge of a remaining token, so that merges still make every token that they made before. Leaf pruning repeats
    one step: remove the leaf with the fewest uses and add its uses to the two tokens of its first merge; ties
    remove a token that no merge makes, else the one whose first merge ranks last. The uses of a token are its
    occurrences in the encoded source. Without a source all are 0, and the last merges are removed: the result
    equals training to the smaller size.

    A list (`remove`), such as that of `bytepair.residues`, loses its leaves until it has none: a token that a remaining
    one is made of stays, and has a new id in the result. Every model takes a list: without merges, all of it goes that
    need not stay. BPE of characters takes ``vocab_size`` too, without a source.

    The new ids are dense, in the order of the old ones, unless they are kept. Ranks are converted to merges and back,
    which takes a proof. The ids in the ``post_processor`` are renumbered.

    Arguments that are not listed are those of `train`.

    Args:
        tokenizer: The tokenizer to prune, which does not change; or any name that `bytepair.load` takes.
        vocab_size: The number of tokens left, and with new ids the ``vocab_size`` of the result.
        source: As for `train`; a mapping of pieces to counts is not split. It is counted as in `extend`.
        remove: The ids of tokens to remove, in place of ``vocab_size`` and a source.
        keep_ids: Whether remaining tokens keep their ids. Removed ones then leave holes, and rows of an embedding stay
            where they are.

    Raises:
        TrainingError: ``vocab_size`` is above the number of tokens, or below that of the tokens that must stay; as
            `train`; ranks are not proved to be merges; the largest id is above 2^28.
        InvalidIdError: An id of `remove` has no token.
        FormatError: The post-processor is of an unknown kind; the model does not take ``vocab_size``, or a source.
        EncodeError, ArtifactError, PatternError: As `train`; or a byte of the text has no token.

    Time: a few operations on a heap for each merge, and encoding each distinct piece once.

    Example:
        >>> from bytepair import train
        >>> tok = train({"low": 5, "new": 4, "newer": 3}, vocab_size=261, special_tokens=["<|end|>"])
        >>> smaller, ids = prune(tok, 259, source={"newer": 1})
        >>> smaller.tokens("newer low"), smaller.special_tokens, ids[-5:].tolist()
        ([b'new', b'e', b'r', b' ', b'l', b'o', b'w'], {'<|end|>': 258}, [256, 257, -1, -1, 258])
    """
    tokenizer = load(tokenizer)
    spec = tokenizer.spec
    if (vocab_size is None) == (remove is None):
        raise TypeError("prune takes vocab_size, or remove with the ids of tokens")
    if vocab_size is not None and vocab_size > len(tokenizer):
        raise TrainingError(
            f"a vocabulary of {len(tokenizer)} tokens cannot be pruned to {vocab_size}",
            remedy=f"use {len(tokenizer)} or less; bytepair.extend makes vocabularies larger",
            cli_remedy=f"use {len(tokenizer)} or less; `bytepair extend` makes vocabularies larger",
        )
    if tokenizer.vocab_size > _MOST_ROWS:
        raise TrainingError(
            f"the largest id is {tokenizer.vocab_size - 1}, and the map of ids has at most {_MOST_ROWS:,} rows",
            remedy="give the tokens smaller ids first",
        )
    of_bytes = vocab_size is not None and not (isinstance(spec.model, BytePair) and source is None)
    model = spec.byte_pair if of_bytes else spec.model
    if isinstance(model, BytePair) and model.alphabet is None:
        model = proved_merges(model)
    elif isinstance(model, BytePair) and model.alphabet and model.alphabet.unlisted:
        raise TrainingError(
            "a model whose merges make texts that are no tokens cannot be pruned", remedy="use it as it is"
        )
    named = _Named()
    _renumbered_post_processor(spec.post_processor, named)
    needed = _alphabet(model) | set(named)
    uses: Sequence[int] = [0] * len(model.ids)
    reading = Reading(field=field, delimiter=delimiter)
    if source is None and reading != Reading():
        raise SourceError(
            "field and delimiter have no effect without a source", remedy="name a source, or leave them out"
        )
    if source is not None:
        if remove is not None:
            raise SourceError("a list of tokens to remove needs no source", remedy="leave the source out")
        report = reporter(progress)
        counts = count_pieces(
            tokenizer, source, reading=reading, errors=errors, threads=threads, memory=memory, report=report
        )
        uses = counts.token_uses(tokenizer)
    added = {token.id for token in spec.added_tokens}
    # No text has them.
    unreachable = [id for _, id in model.unreachable if id not in added] if isinstance(model, BytePair) else []
    if vocab_size is None:
        listed = _listed(tokenizer, remove or (), added, needed)
        stay, excess = {*model.ids, *added} - listed | needed, len(listed)
        gone = _leaves(model, dict(zip(model.ids, uses, strict=True)), stay, excess) | listed.intersection(unreachable)
    else:
        excess = len(tokenizer) - vocab_size
        spare = unreachable[max(0, len(unreachable) - excess) :]
        wanted = excess - len(spare)
        gone = _leaves(model, dict(zip(model.ids, uses, strict=True)), added | needed, wanted)
        if len(gone) < wanted:
            raise TrainingError(
                f"only {len(gone)} tokens can be removed: bytes or characters, added tokens and their parts stay",
                remedy=f"use a vocabulary size that is {wanted - len(gone)} higher",
            )
        gone |= set(spare)
    kept = sorted({*model.ids, *unreachable, *added} - gone)
    new = dict(zip(kept, kept if keep_ids else range(len(kept)), strict=True))
    ids = np.full(tokenizer.vocab_size, -1, np.int64)
    ids[kept] = list(new.values())
    pruned = _renumbered(model, new)
    if isinstance(spec.model, BytePair) and isinstance(pruned, BytePair) and spec.model.semantics == "ranks":
        # This proof cannot fail: the merges that leave a token's bytes in two are those of its parts, which stayed.
        pruned = to_ranks(pruned)
    result = spec.replace(
        model=pruned,
        added_tokens=tuple(token._replace(id=new[token.id]) for token in spec.added_tokens),
        post_processor=_renumbered_post_processor(spec.post_processor, new),
    )
    return Pruned(Tokenizer(result), ids)


def _alphabet(model: Model) -> set[int]:
    """The ids of the tokens without which some text could not be encoded, or would become unknown."""
    if isinstance(model, BytePair) and model.alphabet is None:
        return {id for token, id in zip(model.tokens, model.ids, strict=True) if len(token) == 1}
    spelling = model.alphabet if isinstance(model, BytePair) else model
    bare = without_marks(model)
    unknown = getattr(spelling, "unk_token", None)
    has_bytes = getattr(spelling, "byte_fallback", False)
    found = {model.unk_id} if isinstance(model, Unigram) and model.unk_id is not None else set()
    for spelled, id in zip(model.tokens, model.ids, strict=True):
        token = spelled.decode()
        is_one = len(bare(spelled).decode()) == 1 or len(token) == 1
        if is_one or token == unknown or (has_bytes and _BYTE.fullmatch(token)):
            found.add(id)
    return found


def _listed(tokenizer: Tokenizer, remove: Iterable[int], added: Set[int], needed: Set[int]) -> set[int]:
    listed = set(remove)
    for id in sorted(listed):
        # Raises for an id without a token.
        token = tokenizer.token_bytes(id)
        if id in added or (tokenizer.spec.is_byte_level and id in needed):
            kind = "an added token" if id in added else "a single byte"
            raise TrainingError(
                f"the token {token!r} with the id {id} is {kind}, and stays", remedy="leave it out of the list"
            )
    return listed


def _leaves(model: Model, uses: dict[int, int], stay: Set[int], excess: int) -> set[int]:
    """The ids of up to `excess` tokens to remove; those of `stay` are none."""
    if not isinstance(model, BytePair):
        return set(model.ids) - stay
    tokens = dict(zip(model.ids, model.tokens, strict=True))
    id_of = {token: id for id, token in tokens.items()}
    merges, join = model.merges or (), joined(model)
    pairs: dict[int, list[tuple[int, int]]] = {}
    # Tokens without a merge rank after those with one.
    rank = {id: len(merges) + id for id in model.ids}
    needed: Counter[int] = Counter()
    for place, pair in enumerate(merges):
        made = id_of[join(tokens[pair[0]], tokens[pair[1]])]
        if made not in pairs:
            rank[made] = place
        pairs.setdefault(made, []).append(pair)
        needed.update(pair)
    queue = [(uses[id], -rank[id], id) for id in model.ids if not needed[id] and id not in stay]
    heapify(queue)
    gone: set[int] = set()
    while queue and len(gone) < excess:
        used, order, id = heappop(queue)
        if used < uses[id]:
            # Uses only grow: the true place is further back.
            heappush(queue, (uses[id], order, id))
            continue
        gone.add(id)
        for place, pair in enumerate(pairs.get(id, ())):
            for part in pair:
                uses[part] += used if place == 0 else 0
                needed[part] -= 1
                if not needed[part] and part not in stay:
                    heappush(queue, (uses[part], -rank[part], part))
    return gone


def _renumbered(model: Model, new: Mapping[int, int]) -> Model:
    tokens = dict(zip(model.ids, model.tokens, strict=True))
    kept = {id: token for id, token in tokens.items() if id in new}
    model = replace(model, tokens=tuple(kept.values()), ids=tuple(new[id] for id in kept))
    if isinstance(model, Unigram):
        scores = tuple(score for id, score in zip(tokens, model.scores, strict=True) if id in new)
        return replace(model, scores=scores, unk_id=None if model.unk_id is None else new[model.unk_id])
    if not isinstance(model, BytePair):
        return model
    made, join = set(kept.values()), joined(model)
    merges = [pair for pair in model.merges or () if join(tokens[pair[0]], tokens[pair[1]]) in made]
    return replace(
        model,
        merges=tuple((new[left], new[right]) for left, right in merges),
        unreachable=tuple((token, new[id]) for token, id in model.unreachable if id in new),
    )


class _Named(dict[int, int]):
    """The ids that were looked up, each of which stays as it is."""

    def __missing__(self, id: int) -> int:
        self[id] = id
        return id


def _renumbered_post_processor(text: str | None, new: Mapping[int, int]) -> str | None:
    if text is None:
        return None
    processor = json.loads(text)
    try:
        _renumber_processor(processor, new)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
        raise FormatError(
            "the post-processor is of an unknown kind, or names an id without a token",
            remedy="remove it first: bp.Tokenizer(tok.spec.replace(post_processor=None))",
            cli_remedy="remove the post-processor from the file first",
        ) from error
    return json.dumps(processor, ensure_ascii=False)


def _renumber_processor(processor: dict[str, Any], new: Mapping[int, int]) -> None:
    kind = processor["type"]
    if kind == "Sequence":
        for inner in processor["processors"]:
            _renumber_processor(inner, new)
    elif kind == "TemplateProcessing":
        for token in processor["special_tokens"].values():
            token["ids"] = [new[id] for id in token["ids"]]
    elif kind in ("BertProcessing", "RobertaProcessing"):
        for name in ("sep", "cls"):
            processor[name][1] = new[processor[name][1]]
    elif kind != "ByteLevel":
        raise KeyError(kind)
