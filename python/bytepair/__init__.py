"""Byte-pair tokenization: train, encode, decode and count, exactly, with a Rust core.

Example:
    >>> import bytepair as bp
    >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    >>> tok.encode("lower"), tok.count("lower low"), tok.decode([257, 258])
    ([257, 258], 4, 'lower')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._core import (
    Appender,
    Control,
    DecodeStream,
    DecodeStreamBatch,
    Encoder,
    EncodeStream,
    Mark,
    PrefixCache,
    Prepender,
    TextIndex,
    __version__,
)
from bytepair.chunk.chunks import Chunk
from bytepair.errors import (
    ArtifactError,
    BusyError,
    BytepairError,
    CorpusError,
    EncodeError,
    FormatError,
    IntegrityError,
    InvalidIdError,
    LimitError,
    PatternError,
    SourceError,
    SpecialTokenError,
    TemplateError,
    TokenizerWarning,
    TrainingError,
)
from bytepair.model.split_patterns import SPLIT_PATTERNS
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bytepair import chat, lowlevel
    from bytepair.alignment.result import Alignment, AlignmentBatch
    from bytepair.alignment.texts import align, align_batch
    from bytepair.alignment.vocabularies import align_vocabularies
    from bytepair.call.ragged import Ragged
    from bytepair.check.lint import Finding, Lint, lint
    from bytepair.check.verify import Check, Checklist, verify
    from bytepair.model.models import BytePair
    from bytepair.model.spec import AddedToken, TokenizerSpec
    from bytepair.progress import Progress, RunProgress
    from bytepair.resolver import encoding_for_model, get_encoding, load
    from bytepair.shards.count_corpus import count_corpus
    from bytepair.shards.sharding import shard
    from bytepair.shards.summaries import ShardSummary
    from bytepair.shards.verify import Verified, verify_shards
    from bytepair.study.compare import Comparison, compare
    from bytepair.study.explain import Explanation, explain
    from bytepair.study.report import CorpusReport, report
    from bytepair.study.residues import Residue, Residues, residues
    from bytepair.training.byte_pairs import train, train_merges, train_with_statistics
    from bytepair.training.counts import Counted, Counts
    from bytepair.training.embeddings import resize_embeddings
    from bytepair.training.extending import extend
    from bytepair.training.interrupted import TrainingInterrupted
    from bytepair.training.learning import Merge
    from bytepair.training.parity import Parity
    from bytepair.training.pruning import Pruned, prune
    from bytepair.training.trained import Statistics, Trained
    from bytepair.training.transplanting import transplant
    from bytepair.training.unigram import train_unigram
    from bytepair.training.wordpiece import train_wordpiece

__all__ = [
    "SPLIT_PATTERNS",
    "AddedToken",
    "Alignment",
    "AlignmentBatch",
    "Appender",
    "ArtifactError",
    "BusyError",
    "BytePair",
    "BytepairError",
    "Check",
    "Checklist",
    "Chunk",
    "Comparison",
    "Control",
    "CorpusError",
    "CorpusReport",
    "Counted",
    "Counts",
    "DecodeStream",
    "DecodeStreamBatch",
    "EncodeError",
    "EncodeStream",
    "Encoder",
    "Explanation",
    "Finding",
    "FormatError",
    "IntegrityError",
    "InvalidIdError",
    "LimitError",
    "Lint",
    "Mark",
    "Merge",
    "Parity",
    "PatternError",
    "PrefixCache",
    "Prepender",
    "Progress",
    "Pruned",
    "Ragged",
    "Residue",
    "Residues",
    "RunProgress",
    "ShardSummary",
    "SourceError",
    "SpecialTokenError",
    "Statistics",
    "TemplateError",
    "TextIndex",
    "Tokenizer",
    "TokenizerSpec",
    "TokenizerWarning",
    "Trained",
    "TrainingError",
    "TrainingInterrupted",
    "Verified",
    "__version__",
    "align",
    "align_batch",
    "align_vocabularies",
    "chat",
    "compare",
    "count_corpus",
    "encoding_for_model",
    "explain",
    "extend",
    "get_encoding",
    "lint",
    "load",
    "lowlevel",
    "prune",
    "report",
    "residues",
    "resize_embeddings",
    "shard",
    "train",
    "train_merges",
    "train_unigram",
    "train_with_statistics",
    "train_wordpiece",
    "transplant",
    "verify",
    "verify_shards",
]

# Imported on the first use: loading and encoding do without them, and dataclasses alone would take half of the time of
# `import bytepair`.
_LATER = {
    "AddedToken": "model.spec",
    "Alignment": "alignment.result",
    "AlignmentBatch": "alignment.result",
    "BytePair": "model.models",
    "Check": "check.verify",
    "Checklist": "check.verify",
    "Comparison": "study.compare",
    "CorpusReport": "study.report",
    "Counted": "training.counts",
    "Counts": "training.counts",
    "Explanation": "study.explain",
    "Finding": "check.lint",
    "Lint": "check.lint",
    "Merge": "training.learning",
    "Parity": "training.parity",
    "Progress": "progress",
    "Pruned": "training.pruning",
    "Ragged": "call.ragged",
    "Residue": "study.residues",
    "Residues": "study.residues",
    "RunProgress": "progress",
    "ShardSummary": "shards.summaries",
    "Statistics": "training.trained",
    "TokenizerSpec": "model.spec",
    "Trained": "training.trained",
    "TrainingInterrupted": "training.interrupted",
    "Verified": "shards.verify",
    "align": "alignment.texts",
    "align_batch": "alignment.texts",
    "align_vocabularies": "alignment.vocabularies",
    "compare": "study.compare",
    "count_corpus": "shards.count_corpus",
    "encoding_for_model": "resolver",
    "explain": "study.explain",
    "extend": "training.extending",
    "get_encoding": "resolver",
    "lint": "check.lint",
    "load": "resolver",
    "prune": "training.pruning",
    "report": "study.report",
    "residues": "study.residues",
    "resize_embeddings": "training.embeddings",
    "shard": "shards.sharding",
    "train": "training.byte_pairs",
    "train_merges": "training.byte_pairs",
    "train_unigram": "training.unigram",
    "train_with_statistics": "training.byte_pairs",
    "train_wordpiece": "training.wordpiece",
    "transplant": "training.transplanting",
    "verify": "check.verify",
    "verify_shards": "shards.verify",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 (only lazy names need it)

    if name in ("chat", "lowlevel"):
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
