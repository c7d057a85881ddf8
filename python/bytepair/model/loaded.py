"""A tokenizer as a file held it: all that a `TokenizerSpec` says, without a Python object for each token.

Loading hands this to the core, so that nobody waits for plain data that few look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from bytepair._core import Columns
from bytepair.model.checks import check_added_ids, check_alphabet, check_post_processor, check_steps

if TYPE_CHECKING:
    from bytepair.model.spec import AddedToken, Model, TokenizerSpec


class AddedRow(NamedTuple):
    """The fields of an `AddedToken`, as the core takes them."""

    content: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


def added_row(token: AddedToken) -> AddedRow:
    """The fields of an added token."""
    return AddedRow(
        token.content, token.id, token.special, token.single_word, token.lstrip, token.rstrip, token.normalized
    )


class Loaded(NamedTuple):
    """The fields of a `TokenizerSpec` and of its model, with tokens, ids, merges and scores in the core's columns."""

    columns: Columns
    ignore_merges: bool = False
    partial_alphabet: bool = False
    split: tuple[str, ...] = ()
    added: tuple[AddedRow, ...] = ()
    normalizers: tuple[str, ...] = ()
    prefix_space: bool = False
    post_processor: str | None = None
    pre_tokenizers: tuple[str, ...] = ()
    decoders: tuple[str, ...] = ()
    model: str | None = None
    """What `model_options` says of a model that is spelled in characters; None for one of bytes."""

    def core_options(self) -> str | None:
        """`model`, with what else the core has to know of it."""
        if self.model is None or not self.ignore_merges:
            return self.model
        return _canonical({**_parse(self.model), "ignore_merges": True})

    @property
    def semantics(self) -> str:
        """``"ranks"`` or ``"merges"``; of models that merge nothing their type."""
        if self.model is not None and self.columns.merge_count is None:
            return str(_parse(self.model)["type"])
        return "ranks" if self.columns.merge_count is None else "merges"

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {content: id for content, id, special, *_ in self.added if special}

    def check(self) -> None:
        """As `TokenizerSpec.check`, raises FormatError."""
        check_added_ids([row[1] for row in self.added])
        check_post_processor(self.post_processor)
        if self.normalizers or self.pre_tokenizers or self.decoders:
            check_steps(
                self.normalizers,
                self.pre_tokenizers,
                self.decoders,
                has_split=bool(self.split) or self.prefix_space,
                is_byte_level=self.model is None,
            )
        if self.model is None and not self.partial_alphabet:
            check_alphabet(self.columns.single_bytes())

    def spec(self) -> TokenizerSpec:
        """The same as plain data."""
        from bytepair.model.spec import AddedToken, TokenizerSpec  # noqa: PLC0415 (here it is wanted)

        return TokenizerSpec(
            _model(self),
            split=self.split,
            added_tokens=tuple(AddedToken(*row) for row in self.added),
            normalizers=self.normalizers,
            prefix_space=self.prefix_space,
            post_processor=self.post_processor,
            pre_tokenizers=self.pre_tokenizers,
            decoders=self.decoders,
        )


def unload(spec: TokenizerSpec) -> Loaded:
    """The same as the core's columns.

    Raises:
        OverflowError: An id is out of range.

    Example:
        >>> from bytepair.model.spec import BytePair, TokenizerSpec
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2)))
        >>> unload(spec).spec() == spec
        True
    """
    from bytepair.model.spec import BytePair, Unigram  # noqa: PLC0415 (as above)

    model = spec.model
    pairs = model if isinstance(model, BytePair) else BytePair((), ())
    scores = model.scores if isinstance(model, Unigram) else None
    return Loaded(
        Columns(model.tokens, model.ids, pairs.merges, scores),
        ignore_merges=pairs.ignore_merges,
        partial_alphabet=pairs.partial_alphabet,
        split=spec.split,
        added=tuple(map(added_row, spec.added_tokens)),
        normalizers=spec.normalizers,
        prefix_space=spec.prefix_space,
        post_processor=spec.post_processor,
        pre_tokenizers=spec.pre_tokenizers,
        decoders=spec.decoders,
        model=model_options(model),
    )


def model_options(model: Model) -> str | None:
    """What there is to say of a model besides its columns, as JSON with sorted keys; None for bytes that merge.

    Example:
        >>> from bytepair.model.spec import WordLevel
        >>> model_options(WordLevel((b"a", b"?"), (0, 1), unk_token="?"))
        '{"type": "WordLevel", "unk_token": "?"}'
    """
    from dataclasses import asdict, fields  # noqa: PLC0415 (few models need it)

    from bytepair.model.spec import BytePair  # noqa: PLC0415 (as above)

    if not isinstance(model, BytePair):
        columns = ("tokens", "ids", "scores")
        options = {field.name: getattr(model, field.name) for field in fields(model) if field.name not in columns}
        return _canonical({"type": type(model).__name__, **options})
    return None if model.alphabet is None else _canonical({"type": "BPE", **asdict(model.alphabet)})


def _model(loaded: Loaded) -> Model:
    from bytepair.model.spec import BytePair, Characters, Unigram, WordLevel, WordPiece  # noqa: PLC0415 (as above)

    columns = loaded.columns
    tokens, ids = columns.tokens(), columns.ids()
    pairs = (tokens, ids, columns.merges(), loaded.ignore_merges, loaded.partial_alphabet)
    if loaded.model is None:
        return BytePair(*pairs)
    options = _parse(loaded.model)
    match options.pop("type"):
        case "BPE":
            return BytePair(*pairs, Characters(**options))
        case "WordPiece":
            return WordPiece(tokens, ids, **options)
        case "Unigram":
            return Unigram(tokens, ids, columns.scores() or (), **options)
        case "WordLevel":
            return WordLevel(tokens, ids, **options)
        case kind:
            raise ValueError(f"the model {kind!r} is unknown")


def _canonical(options: dict[str, Any]) -> str:
    import json  # noqa: PLC0415 (few models need it)

    return json.dumps(options, sort_keys=True, ensure_ascii=False)


def _parse(options: str) -> dict[str, Any]:
    import json  # noqa: PLC0415 (as above)

    return cast("dict[str, Any]", json.loads(options))
