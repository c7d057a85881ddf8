"""Helpers for the tests of `bytepair.compat.tokenizers`: the library, and all columns of an encoding."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import tokenizers as peer

from bytepair.compat import tokenizers as face

if TYPE_CHECKING:
    from collections.abc import Callable


def same(observe: Callable[[Any], Any]) -> Any:
    """An observation of the face, checked to equal that of the library."""
    modules: list[ModuleType] = [peer, face]
    expected, found = (observe(module) for module in modules)
    assert found == expected
    return found


def dump(encoding: Any) -> dict[str, Any]:
    """All attributes of an encoding and of its overflowing parts."""
    columns = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask")
    more = ("sequence_ids", "n_sequences")
    said = {name: getattr(encoding, name) for name in (*columns, *more)}
    return {**said, "length": len(encoding), "overflowing": [dump(each) for each in encoding.overflowing]}


def walk(encoding: Any, characters: int) -> list[Any]:
    """The results of the methods of an encoding, also for positions out of range."""
    said = []
    for sequence in range(encoding.n_sequences):
        said.append([encoding.char_to_token(place, sequence) for place in range(characters)])
        said.append([encoding.char_to_word(place, sequence) for place in range(characters)])
        said.append([encoding.word_to_tokens(word, sequence) for word in range(characters)])
        said.append([encoding.word_to_chars(word, sequence) for word in range(characters)])
    places = range(len(encoding) + 2)
    said.append([encoding.token_to_sequence(place) for place in places])
    said.append([encoding.token_to_chars(place) for place in places])
    said.append([encoding.token_to_word(place) for place in places])
    return said


def named(m: Any) -> Any:
    """A tokenizer of five added tokens and nothing else."""
    tokenizer = m.Tokenizer(m.models.BPE())
    tokenizer.add_tokens(["my", "name", "is", "john", "pair"])
    return tokenizer


TEXT = [
    "The sea was calm that morning, and the boats went out early.",
    "Hello, y'all! How are you? I'm fine, thank you.",
    "He counted 12 gulls; she counted 345 of them on the old pier.",
    "Où êtes-vous allés? À la mer, bien sûr.",
    'They wrote: "Simple things should be simple, complex things should be possible."',
    "boats, nets and more boats: the harbour was full of boats.",
] * 3
"""The training text of the tokenizers."""


def trained(m: Any, kind: str) -> Any:
    """A tokenizer of a kind, trained on `TEXT`; both libraries train the same."""
    models, pre, processors = m.models, m.pre_tokenizers, m.processors
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    quiet = {"show_progress": False, "special_tokens": special}
    if kind == "bytes":
        tokenizer = m.Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = m.decoders.ByteLevel()
        tokenizer.post_processor = processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1))
        trainer = m.trainers.BpeTrainer(vocab_size=400, initial_alphabet=pre.ByteLevel.alphabet(), **quiet)
    elif kind == "few bytes":
        tokenizer = m.Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = m.decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
        trainer = m.trainers.BpeTrainer(vocab_size=200, **quiet)
    elif kind == "characters":
        tokenizer = m.Tokenizer(models.BPE(unk_token="[UNK]"))
        tokenizer.normalizer = m.normalizers.NFKC()
        tokenizer.pre_tokenizer = pre.Metaspace()
        tokenizer.decoder = m.decoders.Metaspace()
        trainer = m.trainers.BpeTrainer(vocab_size=200, **quiet)
        tokenizer.post_processor = template(m)
    elif kind == "words":
        tokenizer = m.Tokenizer(models.WordLevel(unk_token="[UNK]"))
        tokenizer.normalizer = m.normalizers.Sequence(
            [m.normalizers.NFD(), m.normalizers.StripAccents(), m.normalizers.Lowercase()]
        )
        tokenizer.pre_tokenizer = pre.Sequence([pre.Whitespace(), pre.Digits(individual_digits=True)])
        trainer = m.trainers.WordLevelTrainer(vocab_size=60, **quiet)
        tokenizer.post_processor = template(m)
    else:
        vocab = [
            *special,
            *"abcdefghijklmnopqrstuvwxyz",
            *["##" + c for c in "abcdefghijklmnopqrstuvwxyz"],
            "the",
            "sea",
        ]
        tokenizer = m.Tokenizer(models.WordPiece({token: id for id, token in enumerate(vocab)}, unk_token="[UNK]"))
        tokenizer.normalizer = m.normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre.BertPreTokenizer()
        tokenizer.decoder = m.decoders.WordPiece()
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
        tokenizer.add_special_tokens(special)
        return tokenizer
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def template(m: Any) -> Any:
    """BERT's template."""
    return m.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )


KINDS = ("bytes", "few bytes", "characters", "words", "pieces")
