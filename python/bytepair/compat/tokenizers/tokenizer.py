"""`Tokenizer` of ``tokenizers``: mutable parts and settings around an immutable `bytepair.Tokenizer`.

The file is long because ``tokenizers`` has many methods; other modules implement them.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from bytepair import files
from bytepair._core import read_decimal
from bytepair.call.post_processing import PostProcessor as Processing
from bytepair.compat.tokenizers.added_tokens import AddedToken, AddedTokens, tokens_of
from bytepair.compat.tokenizers.compiling import compile_core
from bytepair.compat.tokenizers.components import Changes, Component, read
from bytepair.compat.tokenizers.custom import Stages
from bytepair.compat.tokenizers.decoders import Decoder
from bytepair.compat.tokenizers.encoding import Encoding, copies
from bytepair.compat.tokenizers.inputs import batch_input, one_input
from bytepair.compat.tokenizers.limits import PaddingParams, TruncationParams
from bytepair.compat.tokenizers.models import Model, Unigram
from bytepair.compat.tokenizers.normalizers import Normalizer
from bytepair.compat.tokenizers.pre_tokenizers import PreTokenizer
from bytepair.compat.tokenizers.processors import PostProcessor, _shown
from bytepair.compat.tokenizers.rows import Ready
from bytepair.compat.tokenizers.spelling import spell
from bytepair.compat.tokenizers.values import boolean, id_number, text
from bytepair.errors import FormatError, InvalidIdError
from bytepair.formats import hf_models
from bytepair.formats.hf_common import list_of, shown, unsupported
from bytepair.formats.hf_json import _read_added

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bytepair.compat.tokenizers.trainers import Trainer
    from bytepair.tokenizer import Tokenizer as Core

T = TypeVar("T")
C = TypeVar("C", bound=Component)
Json = Any

_STAGES: dict[str, type[Component]] = {
    "normalizer": Normalizer,
    "pre_tokenizer": PreTokenizer,
    "post_processor": PostProcessor,
    "decoder": Decoder,
}
_BEFORE = ("normalizer", "pre_tokenizer")
_KEYS = {"version", "truncation", "padding", "added_tokens", "model", *_STAGES}


class _Engine(NamedTuple):
    """A compiled tokenizer, and the parts it was compiled from."""

    changes: int
    parts: tuple[Json, ...]
    vocab: tuple[Any, Any, int]
    core: Core
    processor: Processing


class _Part(Generic[C]):
    """The property of a stage: a component of one kind, or None."""

    def __init__(self, kind: type[C]) -> None:
        self.__doc__ = f"The {kind.__name__}, or None."

    def __set_name__(self, owner: type, stage: str) -> None:
        self._stage = stage

    def __get__(self, tokenizer: Tokenizer | None, owner: type) -> Any:
        return self if tokenizer is None else tokenizer._parts[self._stage]

    def __set__(self, tokenizer: Tokenizer, part: C | None) -> None:
        tokenizer._set_part(self._stage, part)


class Tokenizer:
    """The `Tokenizer` of ``tokenizers``, which encodes and decodes with bytepair.

    Args:
        model: The model; the other parts are set later.

    Example:
        >>> from bytepair.compat.tokenizers import Tokenizer, models, pre_tokenizers
        >>> tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "low": 1}, unk_token="[UNK]"))
        >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> tokenizer.enable_padding(pad_token="[UNK]", length=3)
        >>> tokenizer.encode("so low").ids, tokenizer.encode("so low").attention_mask
        ([0, 1, 0], [1, 1, 0])
    """

    def __init__(self, model: Model) -> None:
        self._parts: dict[str, Component | None] = dict.fromkeys(_STAGES)
        self._added = AddedTokens()
        self._added_changes = 0
        self._truncation: TruncationParams | None = None
        self._padding: PaddingParams | None = None
        self._encode_special_tokens = False
        self._compiled: _Engine | None = None
        self._last: tuple[_Engine, Ready] | None = None
        self.model = model

    # Parts.

    @property
    def model(self) -> Any:
        """The model."""
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a model is a Model, not {type(model).__name__}")
        self._model = model
        self._compiled = None

    def _set_part(self, stage: str, part: Any) -> None:
        if part is not None and not isinstance(part, _STAGES[stage]):
            raise TypeError(f"{stage} is a {_STAGES[stage].__name__} or None, not {type(part).__name__}")
        self._parts[stage] = part
        Changes.tell()

    normalizer = _Part(Normalizer)
    pre_tokenizer = _Part(PreTokenizer)
    post_processor = _Part(PostProcessor)
    decoder = _Part(Decoder)

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in texts are encoded as text; False by default."""
        return self._encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._encode_special_tokens = boolean("encode_special_tokens", value)
        self._last = None

    def _stages(self) -> dict[str, Json]:
        """The parts apart from the model, as read."""
        return {stage: None if part is None else part._raw() for stage, part in self._parts.items()}

    def _is_python(self, *stages: str) -> bool:
        """Whether one of these stages is written in Python."""
        return any(part is not None and part._has_custom for part in map(self._parts.get, stages))

    def _in_python(self, added: list[dict[str, Json]]) -> Stages:
        """The stages before the model, run one by one."""
        normalizer, pre_tokenizer = map(self._parts.get, _BEFORE)
        return Stages(normalizer, pre_tokenizer, self._model.tokenize, added)  # type: ignore[arg-type]

    def _rows_in_python(self, rows: list[tuple[Any, ...]], *, add: bool) -> list[Encoding]:
        if getattr(self._model, "dropout", None):
            raise NotImplementedError(
                "dropout with stages written in Python is not supported: set model.dropout to None"
            )
        added = [token for token in self._added.table() if not (self._encode_special_tokens and token["special"])]
        return self._in_python(added).rows(self._ready(), rows, add=add)

    def _engine(self) -> _Engine:
        """The compiled tokenizer; compiled again only if a part has changed."""
        before = self._compiled
        changes = Changes.count
        if before is not None and before.changes == changes:
            return before
        # Stages written in Python run outside of the core, and so do those between them.
        outside = [stage for stages in (_BEFORE, ("decoder",)) if self._is_python(*stages) for stage in stages]
        kept = {stage: part for stage, part in self._parts.items() if stage not in outside}
        parts = {stage: None if part is None else part._raw() for stage, part in kept.items()}
        table = self._model._table
        options = {key: value for key, value in table.items() if key not in ("vocab", "merges")}
        processed = parts.pop("post_processor")
        key = (*parts.values(), options, processed)
        vocab = (table.get("vocab"), table.get("merges"), self._added_changes)
        same = before is not None and all(new is old for new, old in zip(vocab, before.vocab, strict=True))
        if before is not None and same and key[:-1] == before.parts[:-1]:
            core = before.core
        else:
            core = compile_core(table, self._added.table(), parts)
        processor = None if before is None or processed != before.parts[-1] else before.processor
        self._compiled = _Engine(changes, key, vocab, core, processor or Processing(processed))
        return self._compiled

    def _check_drawing(self) -> None:
        model = self._model
        if isinstance(model, Unigram) and (model.alpha is not None or model.nbest_size is not None):
            raise NotImplementedError(
                "alpha and nbest_size of a Unigram are not supported: set them to None, and sample with "
                "tokenizer.to_bytepair().sample(text, n, alpha)"
            )

    def _ready(self) -> Ready:
        engine = self._engine()
        last = self._last
        if last is not None and last[0] is engine:
            return last[1]
        self._check_drawing()
        dropout = getattr(self._model, "dropout", None)
        padding = self._padding
        ready = Ready(
            engine.core,
            engine.processor,
            "text" if self._encode_special_tokens else "allow",
            None if self._truncation is None else self._truncation.rule(),
            None if padding is None else padding.rule(),
            0 if padding is None else padding.pad_type_id,
            dropout or None,
        )
        self._last = (engine, ready)
        return ready

    def to_bytepair(self) -> Core:
        """Convert to an immutable `bytepair.Tokenizer`, without truncation and padding.

        Raises:
            FormatError: A part is not supported; ``pointer`` names it.
        """
        parts = self._stages()
        return compile_core(self._model._table, self._added.table(), parts, parts["post_processor"], special_apart=True)

    # Files.

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Read the text of a ``tokenizer.json``.

        Raises:
            FormatError: The text is malformed or has an unsupported feature; ``pointer`` names the place.
        """
        return _parse(text("json", json))

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """As `from_str`, from bytes."""
        if not isinstance(buffer, (bytes, bytearray)):
            raise TypeError(f"buffer is bytes, not {type(buffer).__name__}")
        return _parse(bytes(buffer))

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Tokenizer:
        """As `from_str`, from a file.

        Raises:
            ArtifactError: The file cannot be read.
            FormatError: As `from_str`.
        """
        content = files.read(Path(path))
        try:
            return _parse(content, read_decimal)
        except FormatError as error:
            error.file = error.file or str(path)
            raise

    @staticmethod
    def from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """As `from_file`, from the ``tokenizer.json`` of a repository of the Hugging Face hub.

        Raises:
            ArtifactError: ``huggingface_hub`` is not installed, or the file cannot be fetched.
            FormatError: As `from_str`.
        """
        from bytepair.formats import hub  # noqa: PLC0415 (only loading from the hub needs it)

        origin = hub.snapshot(identifier, revision=revision, token=token)
        return Tokenizer.from_file(origin.folder / "tokenizer.json")

    def _json(self) -> dict[str, Json]:
        return {
            "version": "1.0",
            "truncation": None if self._truncation is None else self._truncation.table(),
            "padding": None if self._padding is None else self._padding.table(),
            "added_tokens": self._added.table(),
            **{stage: None if part is None else part._json() for stage, part in self._parts.items()},
            "model": self._model._json(),
        }

    def to_str(self, pretty: bool = False) -> str:
        """Format as ``tokenizer.json``; `pretty` adds line breaks and indentation."""
        table = self._json()
        if boolean("pretty", pretty):
            return json.dumps(table, ensure_ascii=False, indent=2)
        return json.dumps(table, ensure_ascii=False, separators=(",", ":"))

    def save(self, path: str | os.PathLike[str], pretty: bool = True) -> None:
        """Write its ``tokenizer.json`` atomically.

        Raises:
            ArtifactError: The file cannot be written.
            FormatError: A part is written in Python.
        """
        content = self.to_str(pretty).encode()
        with files.replacing(Path(path)) as place:
            place.write_bytes(content)

    def __getstate__(self) -> bytes:
        return self.to_str().encode()

    def __setstate__(self, state: bytes) -> None:
        self.__dict__ = _restore(state).__dict__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.__getstate__(),)

    def _spell(self, most: int) -> str:
        table = self._json()
        if table["post_processor"] is not None:
            table["post_processor"] = _shown(table["post_processor"])
        for name, kind in (("truncation", "TruncationParams"), ("padding", "PaddingParams")):
            if table[name] is not None:
                table[name] = {"type": kind, **table[name]}
        table["model"] = self._model._shown()
        return spell({"type": "Tokenizer", **table}, most)

    def __repr__(self) -> str:
        return object.__repr__(self) if self._is_python(*_STAGES) else self._spell(100)

    def __str__(self) -> str:
        return object.__repr__(self) if self._is_python(*_STAGES) else self._spell(6)

    # Vocabulary.

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """The tokens and their ids."""
        return {**self._model._ids(), **(self._added.ids if boolean("with_added_tokens", with_added_tokens) else {})}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """The number of tokens."""
        boolean("with_added_tokens", with_added_tokens)
        ids = self._model._ids()
        size = len(self._model._table["vocab"]) if isinstance(self._model, Unigram) else len(ids)
        return size + (sum(token not in ids for token in self._added.ids) if with_added_tokens else 0)

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id."""
        return {id: token._fixed() for id, token in sorted(self._added.by_id.items())}

    def token_to_id(self, token: str) -> int | None:
        """The id of a token; None if it does not exist."""
        id = self._added.ids.get(text("token", token))
        return self._model.token_to_id(token) if id is None else id

    def id_to_token(self, id: int) -> str | None:
        """The token of an id; None if it does not exist."""
        token = self._added.by_id.get(id_number("id", id))
        return self._model.id_to_token(id) if token is None else token.content

    def add_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """Add tokens that are matched in texts before all other stages.

        Returns:
            The number of tokens that are new or have changed flags.

        Raises:
            TypeError: An item is neither a string nor an AddedToken.
        """
        return self._add(tokens_of(tokens, special=False))

    def add_special_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """As `add_tokens`; the tokens are special, so that decoding can leave them out."""
        return self._add(tokens_of(tokens, special=True))

    def _add(self, tokens: list[AddedToken]) -> int:
        count = self._added.add(tokens, self._model._ids())
        if count:
            self._added_changes += 1
            Changes.tell()
        return count

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """The number of tokens that the post-processor adds to a text or to a pair."""
        boolean("is_pair", is_pair)
        part = self._parts["post_processor"]
        return 0 if part is None else Processing(part._raw()).added(pair=is_pair)

    # Truncation and padding.

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Truncate the rows of all later calls.

        Args:
            max_length: The maximum number of tokens in a row, added tokens included.
            stride: The number of tokens that an overflowing part shares with the previous part.
            strategy: ``longest_first``, ``only_first`` or ``only_second``.
            direction: The side to remove.

        Raises:
            ValueError: `stride` leaves no room, or a value is unknown.
        """
        params = TruncationParams(max_length, stride, strategy, direction).checked()
        room = params.max_length - self.num_special_tokens_to_add(is_pair=False)
        if room < params.stride:
            raise ValueError(
                f"stride={params.stride} leaves no room: of max_length={params.max_length} the post-processor takes "
                f"{params.max_length - room}"
            )
        self._truncation = params
        self._last = None

    def no_truncation(self) -> None:
        """Disable truncation."""
        self._truncation = None
        self._last = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of `enable_truncation`; None if disabled."""
        return None if self._truncation is None else self._truncation._asdict()

    def enable_padding(  # noqa: PLR0917 (the order of tokenizers)
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
        max_length: int | None = None,
    ) -> None:
        """Pad the rows of all later calls.

        Args:
            direction: The side to pad.
            pad_id: The id of padding.
            pad_type_id: The type id of padding.
            pad_token: The token of padding.
            length: The padded length; None for the longest row of a batch.
            pad_to_multiple_of: Round the length up to a multiple of this number.
            max_length: The former name of `length`.

        Raises:
            ValueError: The side is unknown.
        """
        if max_length is not None:
            warnings.warn("max_length of enable_padding is called length", DeprecationWarning, stacklevel=2)
            length = max_length
        self._padding = PaddingParams(length, pad_to_multiple_of, pad_id, pad_token, pad_type_id, direction).checked()
        self._last = None

    def no_padding(self) -> None:
        """Disable padding."""
        self._padding = None
        self._last = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The arguments of `enable_padding`; None if disabled."""
        return None if self._padding is None else self._padding._asdict()

    # Texts and ids.

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Encode a text or a pair.

        Args:
            sequence: A text, or its words if `is_pretokenized`.
            pair: A second text, in the same form.
            is_pretokenized: Whether texts are lists of words. Each word is encoded alone, with offsets inside the word.
            add_special_tokens: Whether the post-processor adds its tokens.

        Raises:
            TypeError: A text has another type, or is not valid Unicode.
            LimitError: Truncation leaves no room for added tokens.
        """
        row = one_input(sequence, pair, boolean("is_pretokenized", is_pretokenized))
        add = boolean("add_special_tokens", add_special_tokens)
        if self._is_python(*_BEFORE):
            return self._rows_in_python([row], add=add)[0]
        return Encoding._later(self._ready().rows([row], add=add)[0])

    def encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Encode texts and pairs on several threads; a pair is a tuple or list of two.

        ``TOKENIZERS_PARALLELISM=false`` and ``RAYON_NUM_THREADS`` set the number of threads, as in ``tokenizers``.

        Raises:
            TypeError, LimitError: As `encode`.
        """
        rows = batch_input(input, boolean("is_pretokenized", is_pretokenized))
        add = boolean("add_special_tokens", add_special_tokens)
        if self._is_python(*_BEFORE):
            return self._rows_in_python(rows, add=add)
        return [Encoding._later(row) for row in self._ready().rows(rows, add=add, threads=_threads())]

    def encode_batch_fast(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch`, which computes offsets only on access."""
        return self.encode_batch(input, is_pretokenized, add_special_tokens)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncate, post-process and pad one or two encodings into a new one.

        Raises:
            LimitError: Truncation leaves no room for added tokens.
        """
        add = boolean("add_special_tokens", add_special_tokens)
        return Encoding._of(self._ready().finish(copies(encoding, pair), add=add, width=None))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Decode ids to text; unknown ids are left out."""
        return self.decode_batch([ids], skip_special_tokens)[0]

    def decode_batch(self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Decode rows of ids to texts; unknown ids are left out."""
        rows = [list(row) for row in sequences]
        if self._is_python("decoder"):
            return [self._decode_in_python(row, skip_special_tokens) for row in rows]
        core = self._engine().core
        try:
            return core.decode_batch(rows, skip_special_tokens=skip_special_tokens)
        except InvalidIdError:
            known = [[id for id in row if self.id_to_token(id) is not None] for row in rows]
            return core.decode_batch(known, skip_special_tokens=skip_special_tokens)

    def _decode_in_python(self, ids: list[int], skip_special_tokens: bool) -> str:
        skipped = {id for id, token in self._added.by_id.items() if token.special and skip_special_tokens}
        tokens = [self.id_to_token(id) for id in ids if id not in skipped]
        return str(self.decoder.decode([token for token in tokens if token is not None]))

    async def async_encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """As `encode`, in another thread."""
        return await _in_thread(self.encode, sequence, pair, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch`, in another thread."""
        return await _in_thread(self.encode_batch, input, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch_fast`, in another thread."""
        return await self.async_encode_batch(input, is_pretokenized, add_special_tokens)

    async def async_decode_batch(
        self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """As `decode_batch`, in another thread."""
        return await _in_thread(self.decode_batch, sequences, skip_special_tokens)

    # Training.

    def train(self, files: Sequence[str], trainer: Trainer | None = None) -> None:
        """Train the model on the lines of files, and add the trainer's special tokens.

        Raises:
            TypeError: The trainer is for another model.
            ArtifactError: A file cannot be read.
            TrainingError: The texts are empty, or a setting is out of range.
        """
        from bytepair.compat.tokenizers.counting import lines  # noqa: PLC0415 (few train)

        self._train(lines(files), trainer)

    def train_from_iterator(self, iterator: Any, trainer: Trainer | None = None, length: int | None = None) -> None:
        """As `train`, on texts or batches of texts; `length` is their number, for the progress bar."""
        from bytepair.compat.tokenizers.counting import texts  # noqa: PLC0415 (few train)

        self._train(texts(iterator), trainer, length)

    def _train(self, sequences: Iterable[str | bytes], trainer: Trainer | None, length: int | None = None) -> None:
        from bytepair.compat.tokenizers import training  # noqa: PLC0415 (few train)

        stages: dict[str, Any] | Stages
        if self._is_python(*_BEFORE):
            stages = self._in_python(self._added.table())
        else:
            parts = map(self._parts.get, _BEFORE)
            stages = {name: part and part._raw() for name, part in zip(_BEFORE, parts, strict=True)}
        self.add_special_tokens(training.train(self._model, stages, self._added, sequences, trainer, length))


async def _in_thread(call: Callable[..., T], *args: Any) -> T:
    import asyncio  # noqa: PLC0415 (imported on first use)

    return await asyncio.to_thread(call, *args)


def _restore(state: bytes) -> Tokenizer:
    return Tokenizer.from_buffer(state)


def _threads() -> int | None:
    parallelism = os.environ.get("TOKENIZERS_PARALLELISM")
    if parallelism is not None and parallelism.lower() in ("off", "false", "f", "no", "n", "0", ""):
        return 1
    count = os.environ.get("RAYON_NUM_THREADS", "")
    return int(count) if count.isascii() and count.isdigit() and int(count) else None


def _parse(content: str | bytes, decimal: Callable[[str], float] = float) -> Tokenizer:
    # Text that another tokenizer made has its exact numbers; a file is read as the library reads it.
    try:
        table = json.loads(content, parse_float=decimal)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from error
    if not isinstance(table, dict) or not isinstance(table.get("model"), dict):
        raise FormatError("this is not a tokenizer.json", pointer="/model", remedy="use an object with a model")
    for key in table.keys() - _KEYS:
        raise unsupported(key, f"/{key}")
    if table.get("version", "1.0") != "1.0":
        raise unsupported(f"version {shown(table['version'])}", "/version")
    kind = hf_models.kind_of_model(table["model"])
    model: Any = read(Model._kinds, {**table["model"], "type": kind}, "/model")
    tokenizer = Tokenizer(model)
    for stage, base in _STAGES.items():
        if table.get(stage) is not None:
            tokenizer._parts[stage] = read(base._kinds, table[stage], f"/{stage}")
    for place, given in enumerate(list_of(table, "added_tokens", "")):
        row = _read_added(given, f"/added_tokens/{place}")
        flags = {name: value for name, value in row._asdict().items() if name != "id"}
        if row.id in tokenizer._added.by_id:
            raise FormatError(f"two added tokens have the id {row.id}", pointer=f"/added_tokens/{place}/id")
        tokenizer._added.put(row.id, AddedToken(**flags))
    # Report errors now rather than on first use.
    tokenizer._engine()
    if table.get("truncation") is not None:
        tokenizer._truncation = TruncationParams.read(table["truncation"])
    if table.get("padding") is not None:
        tokenizer._padding = PaddingParams.read(table["padding"])
    return tokenizer
