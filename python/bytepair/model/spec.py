"""`TokenizerSpec`: the whole of a tokenizer as immutable data.

Formats read and write it; the core is compiled from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytepair.errors import FormatError
from bytepair.model.checks import check_added_ids, check_alphabet, check_post_processor, check_roles, check_steps
from bytepair.model.packed import PackedModel

# `models` needs dataclasses, which takes longer to import than the rest of bytepair: loading a file does without.

if TYPE_CHECKING:
    from typing_extensions import Self

    from bytepair.model.models import BytePair, Model

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
"""The Unicode normal forms, which are normalizers by these names."""

Step: TypeAlias = str
"""One step of a stage, as in ``tokenizer.json``: its name if it has no options (``"NFC"``, ``"Lowercase"``), else its
JSON object as `bytepair.model.steps.spell_step` writes it."""


class AddedToken(NamedTuple):
    """A token that is matched in the text before everything else, leftmost-longest.

    Attributes:
        content: Its text.
        id: Its id.
        special: Whether it is a control token (bos, eos, role marks), which user text cannot become by default.
        single_word: Matched only outside longer words.
        lstrip: Includes the white space before it.
        rstrip: Includes the white space after it.
        normalized: Matched in the normalized text instead of the original.
    """

    content: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


_FIELDS = (
    *("model", "split", "added_tokens", "normalizers", "prefix_space"),
    *("post_processor", "pre_tokenizers", "decoders", "roles"),
)
_TUPLES = ("split", "added_tokens", "normalizers", "pre_tokenizers", "decoders", "roles")


class TokenizerSpec:
    """Everything that decides the ids of a text, and the tokens that its post-processor would add.

    Immutable; compared and hashed by its fields without `roles`, pickled with all. `replace` makes a changed copy.

    Args:
        model: Tokens, and the rule that finds them; plain data, or the core's columns.
        split: Split patterns, each applied to the pieces of the one before; empty for none.
        added_tokens: Added tokens by id, special ones included.
        normalizers: Steps that change the text between added tokens, in order.
        prefix_space: Whether a space is put before text between added tokens that does not start with one.
        post_processor: The post-processor of ``tokenizer.json`` as JSON; never run by ``encode``.
        pre_tokenizers: Instead of `split` and `prefix_space`: steps of any kind that cut text into pieces, in order.
        decoders: Steps that turn tokens spelled in characters into text, in order. Without any, such tokens are joined
            by spaces. Tokens that are bytes need none.
        roles: Pairs of a role (``"bos"``, ``"eos"``, ``"pad"``, ``"unk"``, ``"cls"``, ``"sep"``, ``"mask"``) and the
            token that the files name for it. They decide no ids of a text, and most formats cannot hold them: they are
            not compared, and saved in the manifest.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2), partial_alphabet=True))
        >>> spec.is_byte_level, spec.replace(normalizers=("NFC",)).normalizers
        (True, ('NFC',))
    """

    __slots__ = ("_model", "_packed", *_FIELDS[1:])

    split: tuple[str, ...]
    added_tokens: tuple[AddedToken, ...]
    normalizers: tuple[Step, ...]
    prefix_space: bool
    post_processor: str | None
    pre_tokenizers: tuple[Step, ...]
    decoders: tuple[Step, ...]
    roles: tuple[tuple[str, str], ...]
    _model: Model | None
    _packed: PackedModel | None

    def __init__(  # noqa: PLR0917 (data, as plain as a dataclass)
        self,
        model: Model | PackedModel,
        split: tuple[str, ...] = (),
        added_tokens: tuple[AddedToken, ...] = (),
        normalizers: tuple[Step, ...] = (),
        prefix_space: bool = False,
        post_processor: str | None = None,
        pre_tokenizers: tuple[Step, ...] = (),
        decoders: tuple[Step, ...] = (),
        roles: tuple[tuple[str, str], ...] = (),
    ) -> None:
        is_packed = isinstance(model, PackedModel)
        self._set("_model", None if is_packed else model)
        self._set("_packed", model if is_packed else None)
        self._set("split", split)
        self._set("added_tokens", added_tokens)
        self._set("normalizers", normalizers)
        self._set("prefix_space", prefix_space)
        self._set("post_processor", post_processor)
        self._set("pre_tokenizers", pre_tokenizers)
        self._set("decoders", decoders)
        self._set("roles", roles)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def model(self) -> Model:
        """The model as plain data; for a loaded tokenizer made on first access."""
        if self._model is None:
            from bytepair.model.models import unpack  # noqa: PLC0415

            assert self._packed is not None
            self._set("_model", unpack(self._packed))
            assert self._model is not None
        return self._model

    @property
    def vocabulary(self) -> Model:
        """The model, perhaps without its merges: of a loaded tokenizer, unpacking them takes most of the time."""
        if self._model is not None:
            return self._model
        from bytepair.model.models import unpack  # noqa: PLC0415

        return unpack(self.packed, merges=False)

    @property
    def packed(self) -> PackedModel:
        """The model in the core's columns, made on first access.

        Raises:
            TypeError: A column of the model is not a tuple.
            FormatError: An id of the model is out of range.
        """
        if self._packed is None:
            from bytepair.model.models import pack  # noqa: PLC0415

            assert self._model is not None
            self._set("_packed", pack(self._model))
            assert self._packed is not None
        return self._packed

    @property
    def is_byte_level(self) -> bool:
        """Whether merging begins from bytes: tokens are then bytes, and decoding joins them."""
        return getattr(self._packed or self._model, "is_byte_level", False)

    @property
    def semantics(self) -> str:
        """``"ranks"`` or ``"merges"``; the type of a model that does not merge."""
        return getattr(self._packed or self._model, "semantics", type(self._model).__name__)

    @property
    def byte_pair(self) -> BytePair:
        """The model, if it merges bytes.

        Raises:
            FormatError: It is of another kind.
        """
        from bytepair.model.models import BytePair  # noqa: PLC0415

        model = self.model
        if isinstance(model, BytePair) and model.alphabet is None:
            return model
        kind = "a BytePair of characters" if isinstance(model, BytePair) else f"a {type(model).__name__}"
        raise FormatError(f"this needs a model that merges bytes, not {kind}")

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids, by id."""
        return {token.content: token.id for token in self.added_tokens if token.special}

    def check(self) -> None:
        """Validates what the Rust core does not.

        Raises:
            TypeError: A column is not a tuple: it could change, or differ from itself when it is loaded again.
            FormatError: An id is out of range; added tokens are not by id; the post-processor or a step is not JSON, or
                not in the spelling of ``json.dumps``; a byte that text can hold has no token; stages exclude each
                other; a role is unknown, or has two tokens.
        """
        for name in _TUPLES:
            column = getattr(self, name)
            if not isinstance(column, tuple):
                raise TypeError(f"{name} is a tuple, not {type(column).__name__}")
        packed = self.packed
        check_added_ids([token.id for token in self.added_tokens])
        check_post_processor(self.post_processor)
        check_steps(
            self.normalizers,
            self.pre_tokenizers,
            self.decoders,
            has_split=bool(self.split) or self.prefix_space,
            is_byte_level=packed.is_byte_level,
        )
        check_roles(self.roles)
        if packed.is_byte_level and not packed.partial_alphabet:
            check_alphabet(packed.columns.single_bytes())

    def replace(self, **changes: Any) -> Self:
        """A copy with other values for some of the fields.

        Raises:
            TypeError: There is no such field.
        """
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS[1:]}
        copy = type(self)(**{"model": self._packed or self._model, **fields, **changes})
        if "model" not in changes:
            # Forms of the model that exist already are reused.
            copy._set("_model", self._model)
        return copy

    __replace__ = replace

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TokenizerSpec is immutable; use spec.replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a TokenizerSpec is immutable")

    def _values(self) -> tuple[Any, ...]:
        return (*(getattr(self, name) for name in _FIELDS[1:] if name != "roles"), self.model)

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, TokenizerSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        return f"TokenizerSpec({', '.join(f'{name}={getattr(self, name)!r}' for name in _FIELDS)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in _FIELDS)
