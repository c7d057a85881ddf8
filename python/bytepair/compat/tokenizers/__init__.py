"""What ``tokenizers`` has, with bytepair inside: change the import, and keep the code.

``from bytepair.compat import tokenizers`` in place of ``import tokenizers``. The package itself is not needed. What
differs is in ``docs/compat-tokenizers.md``.

Example:
    >>> from bytepair.compat.tokenizers import Tokenizer, models, pre_tokenizers, trainers
    >>> tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    >>> trainer = trainers.BpeTrainer(vocab_size=12, special_tokens=["[UNK]"], show_progress=False)
    >>> tokenizer.train_from_iterator(["low lower lowest"], trainer)
    >>> tokenizer.encode("low lower").tokens
    ['low', 'lowe', 'r']
"""

from bytepair.compat.tokenizers import (
    decoders,
    implementations,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.tokenizers.encoding import Encoding
from bytepair.compat.tokenizers.implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)
from bytepair.compat.tokenizers.models import Token
from bytepair.compat.tokenizers.tokenizer import Tokenizer
from bytepair.compat.tokenizers.unsupported import (
    NormalizedString,
    OffsetReferential,
    OffsetType,
    PreTokenizedString,
    SplitDelimiterBehavior,
)
from bytepair.compat.tokenizers.values import Regex

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "Encoding",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "Token",
    "Tokenizer",
    "decoders",
    "implementations",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "trainers",
]
