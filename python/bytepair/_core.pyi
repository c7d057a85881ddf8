# The compiled core, as Python sees it. Kept by hand; `make check` compares it with the module (mypy's stubtest).

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal, SupportsIndex, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer, Self, disjoint_base

from bytepair.call.options import Added, Errors, Ids, Side, Special, TextInput
from bytepair.errors import BytepairError

_Text = TypeVar("_Text", str, bytes)
_Row = TypeVar("_Row")

__all__ = [
    "UNICODE_VERSION",
    "Appender",
    "ChunkStream",
    "Columns",
    "Control",
    "CoreTokenizer",
    "DecodeStream",
    "DecodeStreamBatch",
    "EncodeStream",
    "Encoder",
    "FileVocab",
    "JsonMerges",
    "Mark",
    "PieceCounter",
    "PieceCounts",
    "Pieces",
    "PrefixCache",
    "Prepender",
    "Tables",
    "TextIndex",
    "__version__",
    "align_tokens",
    "cache_memory",
    "canonical_merges",
    "check_step",
    "chunks",
    "chunks_batch",
    "decode_tokens",
    "encode_batch_flat",
    "encode_buffer",
    "find_added",
    "find_all",
    "json_fields",
    "learn",
    "learn_bytes",
    "learn_parity",
    "learn_unigram",
    "learn_wordpiece",
    "limit_cache_memory",
    "locate",
    "locate_batch",
    "locate_bytes",
    "locate_trusted",
    "may_change",
    "may_match_nothing",
    "normalize",
    "place_lists",
    "places",
    "pre_tokenize",
    "read_byte_alphabet",
    "read_decimal",
    "read_json_model",
    "read_lines",
    "read_pieces",
    "read_rank_file",
    "read_scored",
    "read_spelled",
    "read_strings",
    "read_words",
    "require_memory",
    "split_patterns",
    "text_lengths",
    "token_lengths",
    "token_trie",
    "unicode_version",
    "write_decimal",
]

__version__: str

UNICODE_VERSION: MappingProxyType[str, str]

@final
class Tables:
    @staticmethod
    def open(memory: Buffer, start: int, owner: bytes) -> Tables | None: ...

@final
class Columns:
    def __new__(
        cls,
        tokens: Sequence[bytes],
        ids: Sequence[int],
        merges: Sequence[tuple[int, int]] | None,
        scores: Sequence[float] | None = None,
        unreachable: Sequence[tuple[str, int]] = ...,
    ) -> Self: ...
    @staticmethod
    def trained(symbols: Sequence[bytes], merges: Sequence[tuple[int, int, int]], first: int) -> Columns: ...
    @staticmethod
    def unpack(
        data: Buffer,
        tokens: int,
        merges: int | None,
        scores: bool = False,
        unreachable: Sequence[tuple[str, int]] = ...,
        tables: Tables | None = None,
    ) -> Columns: ...
    def pack(self) -> bytes: ...
    def tokens(self) -> tuple[bytes, ...]: ...
    def ids(self) -> tuple[int, ...]: ...
    def unreachable(self) -> list[tuple[str, int]]: ...
    def merges(self) -> tuple[tuple[int, int], ...] | None: ...
    def scores(self) -> tuple[float, ...] | None: ...
    @property
    def has_scores(self) -> bool: ...
    @property
    def merge_count(self) -> int | None: ...
    def single_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...

def check_step(stage: str, step: str) -> None: ...

@final
class Control:
    def __new__(cls, token: str) -> Self: ...
    @property
    def token(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Control], tuple[str]]: ...

@final
class FileVocab:
    @property
    def is_list(self) -> bool: ...
    def get(self, token: str) -> int | None: ...
    def lacks_ids(self, ids: set[int]) -> bool: ...
    def is_of_bytes(self, others: Sequence[str]) -> bool: ...
    def to_python(self) -> Any: ...
    def __contains__(self, token: str, /) -> bool: ...
    def __len__(self) -> int: ...

@final
class Pieces:
    def __new__(cls, rows: Sequence[tuple[str, float, int]]) -> Self: ...
    def rows(self) -> list[tuple[str, float, int]]: ...
    def are_sound(self, byte_fallback: bool, merges: bool) -> bool: ...
    def of_kinds(self, kinds: Sequence[int]) -> list[tuple[str, int, int]]: ...
    def kind_of(self, text: str) -> int | None: ...
    def lowest(self) -> float: ...
    def scored(self, kinds: Sequence[int]) -> Columns: ...
    def merged(self, kinds: Sequence[int], has_merges: bool) -> tuple[Columns, int, int, str | None]: ...
    def __len__(self) -> int: ...

@final
class JsonMerges:
    def to_python(self) -> list[Any]: ...
    def __len__(self) -> int: ...

@final
class DecodeStreamBatch:
    def push(
        self,
        ids: Iterable[SupportsIndex | Iterable[SupportsIndex] | None],
        rows: Iterable[SupportsIndex] | None = None,
    ) -> list[str]: ...
    @overload
    def finish(self, row: None = None) -> list[str]: ...
    @overload
    def finish(self, row: int) -> str: ...
    def reset(self, row: int | None = None) -> None: ...
    @property
    def pending(self) -> list[bytes]: ...
    def __len__(self) -> int: ...

@final
class DecodeStream:
    def push(self, ids: SupportsIndex | Iterable[SupportsIndex]) -> str: ...
    def finish(self) -> str: ...
    @property
    def pending(self) -> bytes: ...

@final
class TextIndex:
    def count(self, start: int | None = None, end: int | None = None) -> int: ...
    def ids(self, start: int | None = None, end: int | None = None) -> list[int]: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

@final
class Mark: ...

@final
class Appender:
    def append(self, text: str | bytes) -> None: ...
    def count(self) -> int: ...
    def ids(self) -> list[int]: ...
    def mark(self) -> Mark: ...
    def rollback(self, mark: Mark) -> None: ...
    def fits(self, text: str | bytes, limit: int) -> bool: ...
    @property
    def text(self) -> str: ...
    @property
    def pending(self) -> bytes: ...

@final
class Prepender:
    def prepend(self, text: str | bytes) -> None: ...
    def count(self) -> int: ...
    def ids(self) -> list[int]: ...
    def mark(self) -> Mark: ...
    def rollback(self, mark: Mark) -> None: ...
    def fits(self, text: str | bytes, limit: int) -> bool: ...
    @property
    def text(self) -> str: ...

@final
class Encoder:
    @property
    def name(self) -> str: ...
    @property
    def exact(self) -> bool: ...
    def encode(
        self, text: str | bytes, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> list[int]: ...
    def encode_array(
        self, text: str | bytes, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> NDArray[np.uint32]: ...
    def count(
        self, text: str | bytes, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> int: ...
    def encode_piece(self, piece: bytes) -> list[int]: ...

@disjoint_base
class CoreTokenizer:
    def __new__(
        cls,
        *,
        columns: Columns,
        ignore_merges: bool,
        added: Sequence[tuple[str, int, bool, bool, bool, bool, bool]],
        normalizers: Sequence[str],
        prefix_space: bool,
        patterns: Sequence[str],
        pre_tokenizers: Sequence[str],
        decoders: Sequence[str],
        model: str | None,
    ) -> Self: ...
    def _tables(self, owner: bytes) -> bytes | None: ...
    def encode(
        self,
        text: TextInput,
        *,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[int]: ...
    def sample(
        self,
        text: str | bytes,
        n: int,
        alpha: float,
        *,
        seed: int | None = None,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> list[list[int]]: ...
    def encode_array(
        self,
        text: TextInput,
        *,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> NDArray[np.uint32]: ...
    @property
    def reserved_tokens(self) -> dict[str, int]: ...
    def count(
        self,
        text: TextInput,
        *,
        special: Special = "text",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> int: ...
    def count_until(
        self,
        text: str | bytes,
        limit: int,
        *,
        special: Special = "text",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> int | None: ...
    def index(
        self, text: str | Buffer, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> TextIndex: ...
    def appender(
        self, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> Appender: ...
    def prepender(
        self, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> Prepender: ...
    def fit(
        self,
        text: _Text,
        limit: int,
        side: Side = "left",
        *,
        special: Special = "text",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> _Text: ...
    def fit_batch(
        self,
        texts: Iterable[_Text],
        limit: int,
        side: Side = "left",
        *,
        special: Special = "text",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[_Text]: ...
    def encode_batch(
        self,
        texts: Iterable[TextInput],
        *,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[list[int]]: ...
    def count_batch(
        self,
        texts: Iterable[TextInput],
        *,
        special: Special = "text",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[int]: ...
    def pieces(
        self, text: str | bytes, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> list[str]: ...
    def decode(self, ids: Ids, errors: str = "replace", *, skip_special_tokens: bool = False) -> str: ...
    def decode_batch(
        self, rows: Iterable[Ids], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> list[str]: ...
    def decode_bytes(self, ids: Ids, *, skip_special_tokens: bool = False) -> bytes: ...
    def decode_stream(self, *, skip_special_tokens: bool = False) -> DecodeStream: ...
    def decode_stream_batch(self, rows: int, *, skip_special_tokens: bool = False) -> DecodeStreamBatch: ...
    def encode_stream(
        self, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> EncodeStream: ...
    def encoder(self, name: str) -> Encoder: ...
    def next_mask(self, ids: Ids, prefix: str | bytes | None = None) -> NDArray[np.uint32]: ...
    def _cover(
        self, text: str | bytes
    ) -> tuple[
        NDArray[np.uint32],
        tuple[NDArray[np.uint32], NDArray[np.int64]],
        tuple[NDArray[np.uint32], NDArray[np.int64]],
    ]: ...
    def _heal(self, ids: Ids) -> tuple[int, bytes, NDArray[np.uint32]]: ...
    def token_bytes(self, id: int) -> bytes: ...
    def token_id(self, token: str | bytes) -> int: ...
    def _find_token(self, token: str) -> int | None: ...
    @property
    def vocab_size(self) -> int: ...
    def __len__(self) -> int: ...

@final
class PrefixCache:
    def __new__(
        cls,
        tok: CoreTokenizer,
        *,
        bytes: int = 268435456,  # noqa: A002 (named as users say it)
        special: Special = "raise",
        added: Added = "match",
    ) -> Self: ...
    def encode(self, text: str | bytes) -> NDArray[np.uint32]: ...
    def count(self, text: str | bytes) -> int: ...
    def figures(self) -> dict[str, int]: ...
    def clear(self) -> None: ...

@final
class PieceCounter:
    def __new__(
        cls,
        pattern: str,
        special_tokens: Sequence[str],
        *,
        normalizers: Sequence[str] = ...,
        memory: int | None = None,
    ) -> Self: ...
    @staticmethod
    def of(tokenizer: CoreTokenizer, *, memory: int | None = None) -> PieceCounter: ...
    def count(self, texts: Sequence[str | bytes], options: dict[str, Any]) -> None: ...
    def count_buffer(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64], options: dict[str, Any], *, gap: int = 0
    ) -> None: ...
    def count_file(
        self, path: str | PathLike[str], options: dict[str, Any], *, json_field: str | None = None
    ) -> None: ...
    def count_chunks(
        self, chunks: Iterable[bytes], options: dict[str, Any], *, json_field: str | None = None
    ) -> None: ...
    def add(self, piece: str | bytes, count: int) -> None: ...
    def add_columns(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        groups: NDArray[np.uint16],
        counts: NDArray[np.uint64],
        firsts: NDArray[np.uint64],
    ) -> None: ...
    def add_counts(
        self, counts: PieceCounts, *, groups: Sequence[int], multipliers: Sequence[int], least: int = 1
    ) -> None: ...
    def start_at(self, position: int) -> None: ...
    @property
    def end(self) -> int: ...
    def finish(self, *, threads: int | None = None) -> PieceCounts: ...

@final
class PieceCounts:
    def __len__(self) -> int: ...
    @property
    def is_on_disk(self) -> bool: ...
    @property
    def spilled(self) -> tuple[int, int]: ...
    def totals(self) -> list[tuple[int, int, int, int]]: ...
    def columns(
        self,
        take: Callable[
            [NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint64], NDArray[np.uint64]], object
        ],
        rows: int,
    ) -> None: ...
    def rows(self) -> list[tuple[bytes, int, int, int]]: ...
    def top(self, most: int) -> list[tuple[bytes, int, int, int]]: ...
    def token_uses(self, tokenizer: CoreTokenizer) -> list[int]: ...

def learn(
    counts: PieceCounts,
    *,
    alphabet: bytes | CoreTokenizer | None,
    end_of_word_suffix: str | None,
    merges: int,
    ties: str,
    min_frequency: int,
    max_token_length: int | None,
    max_words: int | None,
    threads: int | None,
    replay: Sequence[tuple[int, int, int]],
    learned: list[tuple[int, int, int]],
    tell: Callable[[int], object],
) -> tuple[list[bytes], int]: ...
def learn_bytes(counts: PieceCounts, *, merges: int, threads: int | None) -> int: ...
def learn_parity(
    counts: PieceCounts,
    *,
    development: PieceCounts,
    sizes: Sequence[int],
    alphabet: bytes,
    merges: int,
    ties: str,
    min_frequency: int,
    max_token_length: int | None,
    max_words: int | None,
    after: int,
    window: tuple[int, int],
    learned: list[tuple[int, int, int]],
    tell: Callable[[int], object],
) -> tuple[list[int], int, list[int]]: ...
def learn_wordpiece(
    counts: PieceCounts,
    *,
    vocab_size: int,
    score: str,
    special_tokens: Sequence[str],
    prefix: str,
    min_frequency: int,
    limit_alphabet: int | None,
    initial_alphabet: Sequence[str],
    bert: tuple[bool, bool, bool | None, bool] | None,
    tell: Callable[[int], object],
) -> list[str]: ...
def learn_unigram(
    counts: PieceCounts,
    *,
    vocab_size: int,
    reserved: int,
    character_coverage: float,
    required_chars: Sequence[str],
    max_piece_length: int,
    seed_size: int,
    shrinking_factor: float,
    sub_iterations: int,
    split_by_unicode_script: bool,
    split_by_number: bool,
    split_digits: bool,
    dummy_prefix: bool,
    threads: int | None,
    tell: Callable[[int], object],
) -> list[tuple[str, float]]: ...

@final
class EncodeStream:
    def push(self, part: str | bytes) -> NDArray[np.uint32]: ...
    def finish(self) -> NDArray[np.uint32]: ...

def locate(
    tokenizer: CoreTokenizer,
    text: str | bytes,
    *,
    special: Special = "raise",
    added: Added = "match",
    errors: Errors = "strict",
) -> tuple[list[int], list[tuple[int, int]], list[int], dict[int, str]]: ...
def may_change(tokenizer: CoreTokenizer, text: TextInput) -> NDArray[np.int64] | None: ...
def text_lengths(
    tokenizer: CoreTokenizer,
    text: TextInput,
    ids: NDArray[np.uint32],
    of: NDArray[np.uint8],
    changes: NDArray[np.int64],
    *,
    special: Special,
    added: Added,
) -> NDArray[np.uint8] | None: ...
def locate_bytes(
    tokenizer: CoreTokenizer, text: TextInput, *, special: Special, added: Added
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def locate_batch(
    tokenizer: CoreTokenizer,
    texts: Sequence[str | bytes],
    *,
    special: Special,
    added: Added,
    errors: Errors,
    threads: int | None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], dict[int, str]]: ...
def place_lists(places: NDArray[np.int64], starts: NDArray[np.int64]) -> list[list[tuple[int, int]]]: ...
def locate_trusted(
    tokenizer: CoreTokenizer, text: str, trusted: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32] | NDArray[np.int64]]: ...
def find_added(
    tokenizer: CoreTokenizer, text: str, trusted: Sequence[tuple[int, int]] | None = None
) -> list[tuple[int, int, int]]: ...
def token_trie(
    tokens: Sequence[bytes], ids: Sequence[int]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
def align_tokens(
    a: tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int64]],
    b: tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def token_lengths(
    ids: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    of: NDArray[np.uint8],
    prefixed: NDArray[np.bool_],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]: ...
def encode_batch_flat(
    tokenizer: CoreTokenizer,
    texts: Iterable[TextInput],
    *,
    special: Special = "raise",
    added: Added = "match",
    errors: Errors = "strict",
    threads: int | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def encode_buffer(
    tokenizer: CoreTokenizer,
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    special: Special = "raise",
    added: Added = "match",
    errors: Errors = "strict",
    prefix: Ids = (),
    suffix: Ids = (),
    gap: int = 0,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], list[tuple[int, BytepairError]]]: ...
def find_all(data: NDArray[np.uint8], wanted: bytes) -> NDArray[np.int64]: ...
def json_fields(
    data: bytes, field: str, id_field: str | None, *, errors: str = "strict", first: bool = False
) -> tuple[
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8] | None,
    NDArray[np.int64] | None,
    list[tuple[int, int, BytepairError]],
]: ...

@final
class ChunkStream:
    def __new__(
        cls,
        tokenizer: CoreTokenizer,
        limit: int,
        *,
        overlap: int,
        boundary: str,
        special: Special,
        added: Added,
        errors: Errors,
    ) -> Self: ...
    def push(self, part: str | bytes) -> list[tuple[tuple[int, int, int], str]]: ...
    def finish(self) -> list[tuple[tuple[int, int, int], str]]: ...

def chunks(
    tokenizer: CoreTokenizer,
    text: str | bytes,
    limit: int,
    *,
    row: type[_Row],
    overlap: int,
    boundary: str,
    places: Sequence[int],
    special: Special,
    added: Added,
    errors: Errors,
) -> list[_Row]: ...
def chunks_batch(
    tokenizer: CoreTokenizer,
    texts: Sequence[str | bytes],
    limit: int,
    *,
    row: type[_Row],
    overlap: int,
    boundary: str,
    places: Sequence[Sequence[int]],
    special: Special,
    added: Added,
    errors: Errors,
    threads: int | None,
) -> list[list[_Row]]: ...
def places(text: str | bytes, boundary: str) -> list[int]: ...
@overload
def normalize(steps: Sequence[str], text: str, offsets: Literal[False] = False) -> str: ...
@overload
def normalize(steps: Sequence[str], text: str, offsets: Literal[True]) -> tuple[str, list[tuple[int, int]]]: ...
def pre_tokenize(
    steps: Sequence[str], text: str, normalizers: Sequence[str] | None = None
) -> list[tuple[str, tuple[int, int]]]: ...
def decode_tokens(steps: Sequence[str], tokens: Sequence[str]) -> str: ...
def canonical_merges(tokens: Sequence[bytes], ids: Sequence[int]) -> list[tuple[int, int]]: ...
def may_match_nothing(pattern: str) -> bool: ...
def require_memory(size: int) -> None: ...
def cache_memory() -> tuple[int, int]: ...
def limit_cache_memory(thread: int | None = None, process: int | None = None) -> None: ...
def read_byte_alphabet(
    vocab: FileVocab | dict[str, Any], merges: JsonMerges | list[Any], added: Sequence[str]
) -> Columns | None: ...
def read_decimal(text: str) -> float: ...
def read_json_model(data: bytes, exact_scores: bool) -> tuple[FileVocab, JsonMerges | None, bytes] | None: ...
def read_lines(data: bytes) -> FileVocab | None: ...
def read_pieces(data: bytes) -> tuple[Pieces, list[tuple[int, int]]] | None: ...
def read_rank_file(data: bytes) -> Columns: ...
def read_scored(vocab: FileVocab, special: Sequence[str], unk: int | None) -> Columns | None: ...
def read_spelled(
    vocab: FileVocab | dict[str, Any],
    merges: JsonMerges | list[Any],
    special: Sequence[str],
    unk: str | None,
    prefix: str,
    suffix: str,
) -> Columns | None: ...
def read_strings(data: Buffer, start: int, count: int) -> tuple[list[str], int] | None: ...
def read_words(vocab: FileVocab | dict[str, Any], special: Sequence[str], unk: str | None) -> Columns | None: ...
def split_patterns() -> dict[str, str]: ...
def unicode_version() -> str: ...
def write_decimal(number: float) -> str: ...
