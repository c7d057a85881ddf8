"""The interface of ``tokenizers`` on bytepair: change the import and keep the code.

Replace ``import tokenizers`` by ``from bytepair.compat import tokenizers``. The package need not be installed.
``docs/compat-tokenizers.md`` lists the differences.

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
    tools,
    trainers,
)
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.tokenizers.encoding import Encoding
from bytepair.compat.tokenizers.enums import OffsetReferential, OffsetType, SplitDelimiterBehavior
from bytepair.compat.tokenizers.implementations import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)
from bytepair.compat.tokenizers.inputs import (
    EncodeInput,
    InputSequence,
    Offsets,
    PreTokenizedEncodeInput,
    PreTokenizedInputSequence,
    TextEncodeInput,
    TextInputSequence,
)
from bytepair.compat.tokenizers.models import Token
from bytepair.compat.tokenizers.strings import NormalizedString, PreTokenizedString
from bytepair.compat.tokenizers.tokenizer import Tokenizer
from bytepair.compat.tokenizers.values import Regex

__version__ = "0.23.3"
"""The version of ``tokenizers`` whose interface is implemented."""

__all__ = [
    "AddedToken",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "EncodeInput",
    "Encoding",
    "InputSequence",
    "NormalizedString",
    "OffsetReferential",
    "OffsetType",
    "Offsets",
    "PreTokenizedEncodeInput",
    "PreTokenizedInputSequence",
    "PreTokenizedString",
    "Regex",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
    "SplitDelimiterBehavior",
    "TextEncodeInput",
    "TextInputSequence",
    "Token",
    "Tokenizer",
    "__version__",
    "decoders",
    "implementations",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "tools",
    "trainers",
]
