"""The tokenizer in a GGUF file of llama.cpp; the format is read, not written.

Of its keys only those that begin with ``tokenizer.`` are used, and the names of the model and of its architecture; no
tensors. The kinds are ``gpt2`` (BPE of bytes, with a split pattern by name), ``llama`` (BPE of scores, as
`sentencepiece` has it), ``gemma4`` and ``whitespace`` (BPE of characters with merges), ``bert`` (WordPiece), ``t5`` and
``plamo2`` (Unigram) and ``rwkv`` (the longest token first). A normalizer that the published tokenizer has, such as
Qwen's NFC, is not in the file, and llama.cpp does without.

Long because each kind of model is read from the same table of metadata.

Source: ``docs/gguf.md`` of ggml; ``src/llama-vocab.cpp`` of llama.cpp.
"""

from __future__ import annotations

import math
import struct
import warnings
from array import array
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bytepair._core import Pieces, read_strings
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats import configs, gguf_rules, hf_json, hf_spelled, rwkv, sentencepiece, vocab_txt
from bytepair.formats.gguf_patterns import IGNORE_MERGES, PATTERNS, SPELLED
from bytepair.formats.protobuf import damaged
from bytepair.formats.sentencepiece import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from bytepair.model.models import Unigram
from bytepair.model.packed import PackedModel, parse_options, spell_options
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import SPLIT_PATTERNS, split_pattern
from bytepair.model.steps import spell_replace, spell_step
from bytepair.model.token_spelling import name_of_byte

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from mmap import mmap

MAGIC = b"GGUF"
_PREFIX = "tokenizer.ggml."
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LISTS: dict[str, set[type]] = {"tokens": {str}, "merges": {str}, "scores": {float, int}, "token_type": {int}}
_GENERAL = ("general.name", "general.architecture")
_TEMPLATE = "chat_template"
_BLANK = "\u2581"
_NORMALIZER_OPTIONS = {"normalizer.lowercase": "do_lower_case", "normalizer.strip_accents": "strip_accents"}
# The small letter of U+0130 is one character to llama.cpp.
_LOWERCASE = (spell_replace("\u0130", "i"), "Lowercase")
# A text may begin with a byte order mark.
_WITHOUT_MARK = (spell_replace("^\ufeff", "", "Regex"),)
_ROLES = {
    "bos": ("bos",),
    "eos": ("eos",),
    "unk": ("unknown",),
    "pad": ("padding",),
    # The misspelling is that of the format.
    "sep": ("seperator", "separator"),
    "cls": ("cls",),
    "mask": ("mask",),
}
"""The names of the roles in keys such as ``bos_token_id``; the first that is there counts."""


def looks_like(data: bytes | mmap) -> bool:
    """Whether the file begins as GGUF does."""
    return data[:4] == MAGIC


class _Reader:
    """Numbers, strings and arrays, one after another; each is known to be there before it is taken."""

    def __init__(self, data: bytes | mmap) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0

    def number(self, kind: int) -> Any:
        code = _NUMBERS.get(kind)
        if code is None:
            raise damaged(f"there is no type {kind}", self.at)
        return self.numbers(code, 1)[0]

    def numbers(self, code: str, count: int) -> tuple[Any, ...]:
        size = struct.calcsize("<" + code)
        self.room(count, size)
        values = struct.unpack_from(f"<{count}{code}", self.data, self.at)
        self.at += size * count
        return values

    def string(self) -> str:
        at = self.at
        (size,) = self.numbers("Q", 1)
        self.room(size, 1)
        self.at += size
        try:
            return self.data[self.at - size : self.at].decode()
        except UnicodeDecodeError as error:
            raise damaged(f"a string is not UTF-8: {error.reason}", at) from error

    def strings(self, count: int) -> list[str]:
        self.room(count, 8)
        if (found := read_strings(self.data, self.at, count)) is not None:
            strings, self.at = found
            return strings
        # One of them is at fault: which?
        return [self.string() for _ in range(count)]

    def room(self, count: int, size: int) -> None:
        if count > (self.size - self.at) // size:
            raise damaged(f"the file ends before {count} values of {size} bytes", self.at)

    def value(self) -> Any:
        (kind,) = self.numbers("I", 1)
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(kind)
        inner, count = self.numbers("I", 1)[0], self.numbers("Q", 1)[0]
        if inner == _STRING:
            return self.strings(count)
        if inner not in _NUMBERS:
            raise damaged(f"an array of the type {inner} is not supported", self.at)
        return list(self.numbers(_NUMBERS[inner], count))


def metadata(data: bytes | mmap) -> dict[str, Any]:
    """The metadata of the tokenizer: names without ``tokenizer.``, with numbers, strings and lists of these.

    With them are ``general.name`` and ``general.architecture``.

    Raises:
        FormatError: It is of another version, cut short or damaged; ``byte`` locates the fault.
    """
    reader = _Reader(data)
    reader.at = len(MAGIC)
    (version,) = reader.numbers("I", 1)
    if version not in (2, 3):
        # In a file of the other byte order the version is a huge number.
        raise damaged(f"not supported: version {version} of GGUF, or another byte order", 4)
    _, count = reader.numbers("Q", 2)
    # A key, a type and a value have 13 bytes or more.
    reader.room(count, 13)
    found: dict[str, Any] = {}
    keys: set[str] = set()
    for _ in range(count):
        at = reader.at
        key = reader.string()
        if key in keys:
            raise damaged(f"the key {key!r} occurs twice", at)
        keys.add(key)
        value = reader.value()
        if key.startswith("tokenizer.") or key in _GENERAL:
            found[key.removeprefix("tokenizer.")] = value
    return found


def read(data: bytes | mmap, split: str | None = None) -> TokenizerSpec:
    """Reads the tokenizer.

    Args:
        data: The file, or a map of it.
        split: A split pattern or its name, for a file whose ``pre`` is unknown.

    Raises:
        FormatError: The file is damaged (``byte`` locates the fault), or has something that is not supported.
    """
    found = metadata(data)
    table = _table(found)
    kind, tokens = table.get("model"), table["tokens"]
    if kind == "gpt2" and (split is not None or table.get("pre") not in SPELLED):
        spec = _read_pairs(table, split)
    elif not isinstance(kind, str) or kind not in _READERS:
        raise FormatError(f"not supported: the tokenizer {kind!r}", pointer=f"{_PREFIX}model")
    elif split is not None:
        raise FormatError(
            f"a tokenizer of the kind {kind} has no split pattern",
            remedy="leave split out",
            cli_remedy="leave --split out",
        )
    else:
        spec = _READERS[kind](table)
    if spec.post_processor is None:
        spec = spec.replace(post_processor=_template(table, tokens))
    model, architecture = (str(found.get(key, "")) for key in _GENERAL)
    spec = spec.replace(added_tokens=gguf_rules.flagged(spec.added_tokens, model, architecture, table.get("pre") or ""))
    return spec if kind == "bert" else spec.replace(roles=tuple(_roles(table, tokens).items()))


def chat(data: bytes | mmap) -> tuple[dict[str, str], dict[str, str]]:
    """Reads the chat templates by name, and the special tokens by role.

    Raises:
        FormatError: As for `read`. Or a template is no string; ``pointer`` names it.
    """
    found = metadata(data)
    templates: dict[str, str] = {}
    for key, value in found.items():
        if key == _TEMPLATE or key.startswith(f"{_TEMPLATE}."):
            if not isinstance(value, str):
                raise FormatError(f"the chat template is {str(value)[:80]!r}", pointer=f"tokenizer.{key}")
            templates[key.removeprefix(_TEMPLATE).removeprefix(".") or "default"] = value
    table = _table(found)
    return templates, _roles(table, table["tokens"])


def _table(found: dict[str, Any]) -> dict[str, Any]:
    """The metadata of the tokenizer by names without ``ggml.``, with all that llama.cpp takes for granted."""
    table = {key.removeprefix("ggml."): value for key, value in found.items() if key.startswith("ggml.")}
    for name in ("model", "pre"):
        if not isinstance(table.get(name), str | None):
            raise _wrong(name, table[name])
    for name, items in _LISTS.items():
        # The items of a list are of one type.
        if name in table and not (isinstance(table[name], list) and {type(item) for item in table[name][:1]} <= items):
            raise _wrong(name, table[name])
    tokens = table.get("tokens")
    if not tokens:
        raise FormatError("the file holds no tokenizer", pointer=f"{_PREFIX}tokens")
    for name in ("scores", "token_type"):
        if name in table and len(table[name]) != len(tokens):
            raise FormatError(f"{name} has {len(table[name])} values for {len(tokens)} tokens", pointer=_PREFIX + name)
    return gguf_rules.completed(table)


def _read_pairs(table: dict[str, Any], split: str | None) -> TokenizerSpec:
    name = table.get("pre")
    if split is not None:
        pattern = split_pattern(split)
        patterns: tuple[str, ...] = (pattern,) if pattern else ()
    elif isinstance(name, str) and name in PATTERNS:
        patterns = PATTERNS[name]
    else:
        what = "names no split pattern" if name is None else f"has the split pattern {name!r}, which is not known"
        known = ", ".join(SPLIT_PATTERNS)
        raise FormatError(
            f"the file {what}",
            pointer=f"{_PREFIX}pre",
            remedy=f'name that of the model it is from, one of {known} or a pattern: bp.load(path, split="gpt2")',
            cli_remedy=f"name that of the model it is from, one of {known} or a pattern: --split gpt2",
        )
    vocab, added = _vocabulary(table)
    # "õ" can be the letter, as an added token, or the byte 0xF5, which only a merge could use.
    apart = {row.content for row in added if len(row.content) == 1}
    if apart:
        apart -= {part for merge in table.get("merges") or () for part in merge.split(" ")}
    columns = hf_json.read_model(
        {token: id for token, id in vocab.items() if token not in apart} if apart else vocab,
        table.get("merges"),
        added={row.content: row.id for row in added},
        vocab_pointer=f"{_PREFIX}tokens",
        merge_place=lambda row: {"pointer": f"{_PREFIX}merges/{row}"},
    )
    ignore = split is None and name in IGNORE_MERGES
    return TokenizerSpec(PackedModel(columns, ignore_merges=ignore), split=patterns, added_tokens=added)


def _vocabulary(table: dict[str, Any]) -> tuple[dict[str, int], tuple[AddedToken, ...]]:
    """The tokens of a model with merges, and the added ones by id."""
    tokens, kinds = table["tokens"], table.get("token_type") or [NORMAL] * len(table["tokens"])
    # Unused tokens pad the vocabulary to the number of rows in the embedding.
    unused = kinds.count(UNUSED)
    rows = zip(tokens, range(len(tokens)), strict=True)
    vocab = {token: id for token, id in rows if kinds[id] != UNUSED} if unused else dict(rows)
    if len(vocab) < len(tokens) - unused:
        raise FormatError("a token occurs twice", pointer=f"{_PREFIX}tokens")
    apart = (id for id, kind in enumerate(kinds) if kind in (CONTROL, UNKNOWN, USER_DEFINED))
    return vocab, tuple(AddedToken(tokens[id], id, special=kinds[id] != USER_DEFINED) for id in apart)


def _read_spelled(table: dict[str, Any]) -> TokenizerSpec:
    # The stages are those of the published tokenizers, and llama.cpp has the same rules in its own code.
    vocab, added = _vocabulary(table)
    unk = _id(table, "unknown_token_id", table["tokens"])
    model = {
        "type": "BPE",
        "vocab": vocab,
        "merges": table.get("merges"),
        "unk_token": None if unk is None else table["tokens"][unk],
        "fuse_unk": True,
        "byte_fallback": True,
    }
    return TokenizerSpec(
        hf_spelled.read(model, {token.content for token in added if token.special}),
        added_tokens=added,
        normalizers=(sentencepiece.REPLACE,),
        decoders=sentencepiece.decoder_steps(strip=False, unknown=None),
    )


def _read_words(table: dict[str, Any]) -> TokenizerSpec:
    vocab, added = _vocabulary(table)
    has_bytes = name_of_byte(0) in vocab
    if has_bytes:
        _check_bytes(vocab)
    model = {"type": "BPE", "vocab": vocab, "merges": table.get("merges"), "byte_fallback": has_bytes}
    steps = ["WhitespaceSplit"]
    if not has_bytes:
        # A character without a token is left out, and nothing merges across it.
        unknown = {"Regex": f"{_outside(token for token in vocab if len(token) == 1)}+"}
        steps.append(spell_step({"type": "Split", "pattern": unknown, "behavior": "Removed", "invert": False}))
    return TokenizerSpec(
        hf_spelled.read(model, {token.content for token in added if token.special}),
        added_tokens=added,
        normalizers=_LOWERCASE if _flag(table, "normalizer.lowercase", default=False) else (),
        pre_tokenizers=tuple(steps),
        decoders=("Fuse",),
    )


def _outside(characters: Iterable[str]) -> str:
    """A regular expression for every other character."""
    codes = sorted(map(ord, characters))
    groups = groupby(enumerate(codes), lambda row: row[1] - row[0])
    runs = [[code for _, code in group] for _, group in groups]
    spelled = "".join(rf"\x{{{run[0]:x}}}" + (rf"-\x{{{run[-1]:x}}}" if len(run) > 1 else "") for run in runs)
    return f"[^{spelled}]" if spelled else r"[\s\S]"


def _check_bytes(vocab: Container[str]) -> None:
    lacking = next((name for name in map(name_of_byte, range(256)) if name not in vocab), None)
    if lacking is not None:
        raise FormatError(f"the vocabulary has no {lacking}", pointer=f"{_PREFIX}tokens")


def _read_from_end(table: dict[str, Any]) -> TokenizerSpec:
    tokens, kinds = table["tokens"], table["token_type"]
    vocab, added = _vocabulary(table)
    _check_bytes(vocab)
    scores = table.get("scores") or []
    if len(scores) != len(tokens):
        raise FormatError("the vocabulary has no scores", pointer=f"{_PREFIX}scores")
    unk = _id(table, "unknown_token_id", tokens) or 0
    apart = {token.id for token in added}
    ids = tuple(id for id in sorted(vocab.values()) if id == unk or id not in apart)
    model = Unigram(
        tokens=tuple(tokens[id].encode() for id in ids),
        ids=ids,
        # No text becomes the unknown token or the token of a byte by its score.
        scores=tuple(-math.inf if id == unk or kinds[id] == BYTE else float(scores[id]) for id in ids),
        unk_id=unk,
        byte_fallback=True,
        from_end=True,
    )
    return TokenizerSpec(model, added_tokens=added, normalizers=_WITHOUT_MARK, decoders=("ByteFallback", "Fuse"))


def _read_pieces(table: dict[str, Any]) -> TokenizerSpec:
    unigram = table["model"] == "t5"
    tokens, given = table["tokens"], table["token_type"]
    weights = table.get("scores") or [0.0] * len(tokens)
    for id, (token, score, kind) in enumerate(zip(tokens, weights, given, strict=True)):
        if not NORMAL <= kind <= BYTE or not token or not abs(score) < math.inf:
            raise FormatError(
                f"the token {token!r} has the type {kind} and the score {score}", pointer=f"{_PREFIX}tokens/{id}"
            )
    # llama.cpp matches user-defined symbols in the text itself, before normalization. To it, pieces of the unknown type
    # but for one are control tokens: Phi-3 has many. No text becomes the unknown token by its score.
    unk = _unknown(table, given)
    controls = (USER_DEFINED, UNKNOWN)
    kinds = [CONTROL if kind in controls and id != unk else kind for id, kind in enumerate(given)]
    scores = [-math.inf if unigram and id == unk else float(score) for id, score in enumerate(weights)]
    rows = list(zip(tokens, scores, kinds, strict=True))
    try:
        pieces: Pieces | list[sentencepiece.Piece] = Pieces(rows)
    except ValueError:
        # Two are equal, which building it reports.
        pieces = [sentencepiece.Piece(*row) for row in rows]
    charsmap = table.get("precompiled_charsmap") or []
    try:
        # They are numbers with a sign or without one.
        rules = array("b", charsmap).tobytes() if min(charsmap, default=0) < 0 else bytes(charsmap)
    except (TypeError, ValueError, OverflowError) as error:
        raise _wrong("precompiled_charsmap", charsmap) from error
    # Where llama.cpp removes white space, it puts a space before each word.
    removes = unigram and _flag(table, "remove_extra_whitespaces", default=False)
    begins = _flag(table, "add_space_prefix", default=not unigram) or removes
    normalizer = sentencepiece.Normalizer(rules if unigram else b"", begins, removes)
    trainer = sentencepiece.TrainerSettings(1 if unigram else 2, BYTE in kinds)
    spec = sentencepiece.build(pieces, normalizer, trainer)
    if unigram:
        # llama.cpp does not round sums to 32 bits as sentencepiece does.
        options = parse_options(spec.packed.options or "") | {"unk_score": None}
        spec = spec.replace(model=spec.packed._replace(options=spell_options(options)))
    added = tuple(token._replace(special=given[token.id] != USER_DEFINED) for token in spec.added_tokens)
    return spec.replace(added_tokens=added)


def _unknown(table: dict[str, Any], kinds: list[int]) -> int | None:
    """The id of the unknown piece: the one that the file names, if it is of that type, or the first."""
    named = _id(table, "unknown_token_id", kinds)
    if named is not None and kinds[named] == UNKNOWN:
        return named
    return kinds.index(UNKNOWN) if UNKNOWN in kinds else None


def _read_bert(table: dict[str, Any]) -> TokenizerSpec:
    # In the file, tokens that begin words start with U+2581, and continuations do not; names in brackets stay.
    tokens = [
        token[1:] if token.startswith(_BLANK) else token if token[:1] == "[" and token[-1:] == "]" else "##" + token
        for token in table["tokens"]
    ]
    bad = next((token for token in tokens if "\n" in token), None)
    if bad is not None:
        raise FormatError(f"the token {bad!r} has a line end", pointer=f"{_PREFIX}tokens")
    roles = _roles(table, tokens)
    options = {option: _flag(table, key, default=True) for key, option in _NORMALIZER_OPTIONS.items() if key in table}
    config = {**{f"{role}_token": token for role, token in roles.items()}, **options}
    spec = vocab_txt.read("".join(f"{token}\n" for token in tokens).encode(), config)
    return spec.replace(roles=tuple((dict(spec.roles) | roles).items()))


def _read_rwkv(table: dict[str, Any]) -> TokenizerSpec:
    vocab, added = _vocabulary(table)
    apart = {token.id for token in added}
    rows: dict[int, bytes] = {}
    for spelled, id in vocab.items():
        if id in apart:
            continue
        token = rwkv.unescaped(spelled)
        if not token:
            raise FormatError(f"the token {spelled!r} is not escaped as RWKV's are", pointer=f"{_PREFIX}tokens/{id}")
        rows[id] = token
    return rwkv.build(rows, added)


_READERS: dict[Any, Callable[[dict[str, Any]], TokenizerSpec]] = {
    "gpt2": _read_spelled,
    "gemma4": _read_spelled,
    "llama": _read_pieces,
    "t5": _read_pieces,
    "bert": _read_bert,
    "plamo2": _read_from_end,
    "rwkv": _read_rwkv,
    "whitespace": _read_words,
}
"""The readers of the kinds, but for GPT-2's with a split pattern."""


def _roles(table: dict[str, Any], tokens: list[str]) -> dict[str, str]:
    """The tokens whose ids the file names for a role."""
    found: dict[str, str] = {}
    for role, names in _ROLES.items():
        for name in names:
            try:
                id = _id(table, f"{name}_token_id", tokens)
            except FormatError as error:
                # llama.cpp does without such a token as well.
                warnings.warn(f"{_PREFIX}{error}: no token is named", TokenizerWarning, stacklevel=3)
                continue
            if id is not None:
                found.setdefault(role, tokens[id])
    return found


def _template(table: dict[str, Any], tokens: list[str]) -> str | None:
    """The post-processor that adds bos and eos as the file specifies."""
    chosen: dict[str, str] = {}
    ids = {}
    for side in ("bos", "eos"):
        id = _id(table, f"{side}_token_id", tokens)
        if _flag(table, f"add_{side}_token", default=False) and id is not None:
            chosen[side] = tokens[id]
            ids[tokens[id]] = id
    return configs.template(chosen.get("bos"), chosen.get("eos"), ids) if chosen else None


def _flag(table: dict[str, Any], name: str, *, default: bool) -> bool:
    value = table.get(name, default)
    if not isinstance(value, bool):
        raise _wrong(name, value)
    return value


def _id(table: dict[str, Any], name: str, tokens: list[Any]) -> int | None:
    value = table.get(name)
    if value is None or value == 0xFFFFFFFF:
        return None
    if type(value) is not int or not 0 <= value < len(tokens):
        raise _wrong(name, value)
    return value


def _wrong(name: str, value: object) -> FormatError:
    return FormatError(
        f"{name} is {str(value)[:80]}", pointer=_PREFIX + name, remedy="is the file whole? fetch it again"
    )
