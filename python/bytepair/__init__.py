"""Byte-pair tokenization: train, encode, decode and count, exactly, with a Rust core.

Example:
    >>> import bytepair as bp
    >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
    >>> tok.encode("lower"), tok.count("lower low"), tok.decode([257, 258])
    ([257, 258], 4, 'lower')
"""

from __future__ import annotations

from bytepair._core import Control, Encoder, StreamDecoder, __version__
from bytepair.encoding import Ragged
from bytepair.errors import (
    ArtifactError,
    BytepairError,
    EncodeError,
    FormatError,
    IntegrityError,
    InvalidIdError,
    PatternError,
    SpecialTokenError,
    TokenizerWarning,
    TrainingError,
)
from bytepair.hub import get_encoding
from bytepair.progress import Progress
from bytepair.spec import SPLIT_PATTERNS, AddedToken, BytePair, TokenizerSpec
from bytepair.tokenizer import Tokenizer
from bytepair.training import Merge, train, train_merges

__all__ = [
    "SPLIT_PATTERNS",
    "AddedToken",
    "ArtifactError",
    "BytePair",
    "BytepairError",
    "Control",
    "EncodeError",
    "Encoder",
    "FormatError",
    "IntegrityError",
    "InvalidIdError",
    "Merge",
    "PatternError",
    "Progress",
    "Ragged",
    "SpecialTokenError",
    "StreamDecoder",
    "Tokenizer",
    "TokenizerSpec",
    "TokenizerWarning",
    "TrainingError",
    "__version__",
    "get_encoding",
    "train",
    "train_merges",
]
