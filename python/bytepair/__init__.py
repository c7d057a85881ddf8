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
    Encoder,
    EncodingStream,
    Mark,
    Prepender,
    StreamBatch,
    StreamDecoder,
    TextIndex,
    __version__,
)
from bytepair.chunking import Chunk
from bytepair.errors import (
    ArtifactError,
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
    TrainingInterrupted,
)
from bytepair.hub import get_encoding
from bytepair.patterns import SPLIT_PATTERNS
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bytepair import chat
    from bytepair.comparing import Comparison, compare
    from bytepair.corpus.checking import Verified, verify_shards
    from bytepair.corpus.counting import count_corpus
    from bytepair.corpus.sharding import shard
    from bytepair.corpus.summaries import Summary
    from bytepair.counts import Counted, Counts
    from bytepair.embeddings import resize_embeddings
    from bytepair.encoding import Ragged
    from bytepair.explaining import Explanation, explain
    from bytepair.extending import extend
    from bytepair.learning import Merge
    from bytepair.linting import Finding, Lint, lint
    from bytepair.progress import Progress, RunProgress
    from bytepair.pruning import Pruned, prune
    from bytepair.reporting import CorpusReport, report
    from bytepair.spec import AddedToken, BytePair, TokenizerSpec
    from bytepair.training import Statistics, Trained, train, train_merges, train_report
    from bytepair.unigram import train_unigram
    from bytepair.verifying import Check, Report, verify
    from bytepair.wordpiece import train_wordpiece

__all__ = [
    "SPLIT_PATTERNS",
    "AddedToken",
    "Appender",
    "ArtifactError",
    "BytePair",
    "BytepairError",
    "Check",
    "Chunk",
    "Comparison",
    "Control",
    "CorpusError",
    "CorpusReport",
    "Counted",
    "Counts",
    "EncodeError",
    "Encoder",
    "EncodingStream",
    "Explanation",
    "Finding",
    "FormatError",
    "IntegrityError",
    "InvalidIdError",
    "LimitError",
    "Lint",
    "Mark",
    "Merge",
    "PatternError",
    "Prepender",
    "Progress",
    "Pruned",
    "Ragged",
    "Report",
    "RunProgress",
    "SourceError",
    "SpecialTokenError",
    "Statistics",
    "StreamBatch",
    "StreamDecoder",
    "Summary",
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
    "chat",
    "compare",
    "count_corpus",
    "explain",
    "extend",
    "get_encoding",
    "lint",
    "prune",
    "report",
    "resize_embeddings",
    "shard",
    "train",
    "train_merges",
    "train_report",
    "train_unigram",
    "train_wordpiece",
    "verify",
    "verify_shards",
]

# Loading and encoding do without these, which are imported when they are first asked for: dataclasses alone would take
# half of the time of `import bytepair`.
_LATER = {
    "AddedToken": "spec",
    "BytePair": "spec",
    "Check": "verifying",
    "Comparison": "comparing",
    "CorpusReport": "reporting",
    "Counted": "counts",
    "Counts": "counts",
    "Explanation": "explaining",
    "Finding": "linting",
    "Lint": "linting",
    "Merge": "learning",
    "Progress": "progress",
    "Pruned": "pruning",
    "Ragged": "encoding",
    "Report": "verifying",
    "RunProgress": "progress",
    "Statistics": "training",
    "Summary": "corpus.summaries",
    "TokenizerSpec": "spec",
    "Trained": "training",
    "Verified": "corpus.checking",
    "compare": "comparing",
    "count_corpus": "corpus.counting",
    "explain": "explaining",
    "extend": "extending",
    "lint": "linting",
    "prune": "pruning",
    "report": "reporting",
    "resize_embeddings": "embeddings",
    "shard": "corpus.sharding",
    "train": "training",
    "train_merges": "training",
    "train_report": "training",
    "train_unigram": "unigram",
    "train_wordpiece": "wordpiece",
    "verify": "verifying",
    "verify_shards": "corpus.checking",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 (not needed until something is asked for)

    # A module that was imported is an attribute from then on; so these always are.
    if name == "chat" or name in _LATER.values():
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
