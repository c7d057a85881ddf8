"""`PreTrainedTokenizerFast`: the tokenizer interface of ``transformers``.

It holds an immutable engine and mutable settings: named tokens, sides, templates. Adding tokens replaces the engine.
The file is long because of the arguments of the public surface; other modules implement the methods.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.call import model_inputs
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.transformers import added, arguments, batch, loading, saving, stages, words
from bytepair.compat.transformers.added import as_added
from bytepair.compat.transformers.chats import Chats
from bytepair.compat.transformers.classes import INPUTS
from bytepair.compat.transformers.decoding import clean_up, plain_ids
from bytepair.compat.transformers.kinship import Kin
from bytepair.compat.transformers.names import ROLES
from bytepair.compat.transformers.padding import Padding
from bytepair.compat.transformers.vocabulary import Vocabulary
from bytepair.formats.json_files import parse_json
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from bytepair.compat.transformers.batch import BatchEncoding

_SIDES = ("left", "right")
_NO_EFFECT = ("use_fast", "trust_remote_code", "verbose", "resume_download", "torch_dtype", "dtype")
_NEVER = ("force_download", "from_slow")
_REFUSED = ("proxies", "mirror", "config", "tokenizer_type", "use_auth_token")


class PreTrainedTokenizerFast(Padding, Chats, Vocabulary, Kin):
    """The tokenizer class of ``transformers``, without ``transformers``.

    As there, text that spells a special token is encoded as that token (unless ``split_special_tokens=True``), so a
    user's text can inject special tokens. `Tokenizer.encode_chat` prevents this.

    Named tokens are attributes, with and without ``_id``: see `SpecialTokens`. Other attributes:
    ``model_max_length``, ``padding_side``, ``truncation_side``, ``model_input_names``, ``chat_template``,
    ``clean_up_tokenization_spaces``, ``split_special_tokens``, ``name_or_path``, ``add_bos_token``, ``add_eos_token``.

    Args:
        tokenizer_object: The engine, a `bytepair.Tokenizer`; or a ``tokenizers.Tokenizer``, which is converted.
        tokenizer_file: Instead the path of a ``tokenizer.json``, or of another file that bytepair reads.
        settings: Named tokens, ``extra_special_tokens``, and any of the attributes above. Named tokens that the
            vocabulary lacks are added. Other settings of a ``tokenizer_config.json`` are kept for saving.

    Raises:
        TypeError: There is no engine, or an argument is not supported.
        ValueError: A side is neither ``"left"`` nor ``"right"``.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.transformers import PreTrainedTokenizerFast
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|end|>"])
        >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|end|>")
        >>> tokenizer.pad_token = tokenizer.eos_token
        >>> tokenizer(["lower low", "slow<|end|>"], padding=True, return_tensors="np").input_ids
        array([[257, 258,  32, 257],
               [115, 257, 259, 259]])
        >>> tokenizer.decode([115, 257, 259], skip_special_tokens=True)
        'slow'
    """

    _stem: str | None = None
    """The class in ``transformers`` whose defaults `from_pretrained` takes."""

    _settings: tuple[str, ...] = ()
    """The settings that only this class has."""

    def __init__(
        self, tokenizer_object: Any = None, tokenizer_file: str | os.PathLike[str] | None = None, **settings: Any
    ) -> None:
        listed: list[AddedToken] = settings.pop("_listed", [])
        base: int | None = settings.pop("_base", None)
        from_file = settings.pop("_from_file", False)
        if tokenizer_object is None and tokenizer_file is not None:
            parts = loading.parts(Path(tokenizer_file), by_class=False)
            tokenizer_object, base, settings = parts.engine, parts.base, {**parts.settings, **settings}
        elif not isinstance(tokenizer_object, Tokenizer) and hasattr(tokenizer_object, "to_str"):
            table = parse_json(Path("tokenizer.json"), tokenizer_object.to_str().encode())
            tokenizer_object, base, defaults = loading.of_table(table)
            settings = {**defaults, **settings}
        if not isinstance(tokenizer_object, Tokenizer):
            raise TypeError(
                "pass tokenizer_object, a bytepair.Tokenizer or a tokenizers.Tokenizer, or tokenizer_file, a path; "
                "for a tokenizer that transformers has loaded, use patch()"
            )
        self.__dict__["_named"] = {}
        self._tok = tokenizer_object
        self._base = base if base is not None else added.base_size(tokenizer_object)
        self._vocab = None
        self._set_up(settings, from_file=from_file)
        for token in (*self._named.values(), *self._extra):
            if token is not None and all(str(token) != each.content for each in listed):
                is_there = any(row[0] == str(token) for row in self._tok.spec.added_tokens)
                listed = listed if is_there else [*listed, as_added(token, special=True)]
        self._add([self._as_named(token) for token in listed])
        if self._tok.spec.post_processor is None or self._add_bos or self._add_eos:
            self._update_template()

    def _set_up(self, settings: dict[str, Any], *, from_file: bool) -> None:
        """Assign the settings to their attributes."""
        settings = dict(settings)
        extra = settings.pop("additional_special_tokens", None)
        extra = settings.pop("extra_special_tokens", None) or extra or []
        names = [key for key, value in settings.items() if key in ROLES or (_is_named(key, value))]
        self._name({key: settings.pop(key) for key in names}, extra)
        most = settings.pop("model_max_length", settings.pop("max_len", None))
        self.model_max_length = arguments.NO_LIMIT if most is None else most
        self.padding_side = settings.pop("padding_side", "right")
        self.truncation_side = settings.pop("truncation_side", "right")
        self.model_input_names = list(settings.pop("model_input_names", INPUTS))
        self.clean_up_tokenization_spaces = bool(settings.pop("clean_up_tokenization_spaces", False))
        self.split_special_tokens = bool(settings.pop("split_special_tokens", False))
        self.name_or_path = settings.pop("name_or_path", "")
        template = settings.pop("chat_template", None)
        if isinstance(template, (list, tuple)):
            template = {each["name"]: each["template"] for each in template}
        self.chat_template = template
        self._add_bos = bool(settings.pop("add_bos_token", False))
        self._add_eos = bool(settings.pop("add_eos_token", False))
        for name in ("padding_side", "truncation_side"):
            if getattr(self, name) not in _SIDES:
                raise ValueError(f'{name}={getattr(self, name)!r} is unknown; use "left" or "right"')
        if not from_file:
            settings = _without_effect(settings)
            self._tok = stages.with_settings(self._tok, None, {}, settings)
            _check_settings(settings, "tokenizer_class", *stages.ACTING)
        self.init_inputs: tuple[Any, ...] = ()
        self.init_kwargs = settings

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        subfolder: str = "",
        gguf_file: str | None = None,
        **settings: Any,
    ) -> Self:
        """Load a tokenizer from a folder, a file, or a repository of the Hugging Face hub.

        Args:
            pretrained_model_name_or_path: The folder, the file or the name of the repository.
            cache_dir: As `cache` of `Tokenizer.from_pretrained`.
            force_download: False; cached files are used.
            local_files_only: As for `Tokenizer.from_pretrained`.
            token: As for `Tokenizer.from_pretrained`.
            revision: As for `Tokenizer.from_pretrained`.
            subfolder: A subfolder.
            gguf_file: A GGUF file in the folder.
            settings: As for the constructor; they override the files. ``do_lower_case``, ``strip_accents`` and
                ``tokenize_chinese_chars`` change a BertNormalizer, ``add_prefix_space`` a byte-level model,
                ``fix_mistral_regex`` the split pattern of a Mistral model that was published with a wrong one, and
                ``legacy`` the stages of `LlamaTokenizer`. As in ``transformers`` 5, ``use_fast`` and ``torch_dtype``
                have no effect on a tokenizer. ``trust_remote_code`` is accepted, but code of a repository is never run.

        Raises:
            ArtifactError: The file or repository does not exist or cannot be fetched.
            FormatError: There is no tokenizer, it is malformed, or it has an unsupported feature.
            TypeError: An argument is not supported.
        """
        return cls._load(
            pretrained_model_name_or_path,
            settings | {"force_download": force_download},
            by_class=cls._stem is not None,
            **arguments.taken(locals(), loading.place),
        )

    @classmethod
    def _load(
        cls,
        name: str | os.PathLike[str],
        settings: dict[str, Any],
        *,
        by_class: bool,
        named: Mapping[str | None, type[Self]] | None = None,
        **where: Any,
    ) -> Self:
        """As `from_pretrained`; `by_class` with the defaults of a class, as one of `named` if there is one for it."""
        settings = _without_effect(settings)
        parts = loading.parts(loading.place(name, **where), by_class=by_class, stem=cls._stem)
        if "extra_special_tokens" in settings or "additional_special_tokens" in settings:
            parts.settings.pop("extra_special_tokens", None)
        stem = parts.stem if by_class else None
        made_class = named.get(stem, cls) if named else cls
        acting = {key: value for key, value in settings.items() if key not in made_class._settings}
        engine = stages.with_settings(parts.engine, stem, parts.settings, acting, parts.model)
        same = [key for key, value in acting.items() if parts.settings.get(key) == value]
        _check_settings(acting, *ROLES, *_KNOWN, *stages.ACTING, *same)
        merged = {**parts.settings, "name_or_path": str(name), **settings}
        made = made_class(engine, _listed=parts.added, _base=parts.base, _from_file=True, **merged)
        if stem is not None:
            # A class adds its tokens anew, and those with a name are special then.
            names = made.special_tokens_map.values()
            plain = [token for token in made.added_tokens_decoder.values() if not token.special]
            made._add([as_added(token, special=True) for token in plain if str(token) in names])
        for key in ("add_bos_token", "add_eos_token"):
            # The template of the file may add what the call does not want.
            if settings.get(key) is False:
                setattr(made, key, False)
        return made

    @property
    def add_prefix_space(self) -> bool:
        """Whether a space is prepended to texts of a byte-level model; see the setting of the same name."""
        return self._tok.spec.prefix_space

    @property
    def backend(self) -> str:
        """``"tokenizers"``, as for fast tokenizers of ``transformers``."""
        return "tokenizers"

    # Encoding; arguments may be positional, as in transformers.

    def __call__(  # noqa: PLR0917 (positions of transformers)
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
        add_special_tokens: bool = True,
        padding: Any = False,
        truncation: Any = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,  # noqa: ARG002 (nothing is logged)
        tokenizer_kwargs: dict[str, Any] | None = None,
        max_target_length: int | None = None,
        split_special_tokens: bool | None = None,
    ) -> BatchEncoding:
        """Encode texts as model inputs: post-processed, truncated and padded ids.

        As `Tokenizer.__call__`, with the names and defaults of ``transformers``; an option without effect raises an
        error. Special tokens in a text are matched, as in ``transformers``.

        Args:
            text: One text; a list of texts; a list of pairs of texts.
            text_pair: The second texts, in the same form.
            text_target: Texts for ``labels``; without `text`, they are encoded as the texts.
            text_pair_target: The second texts of the targets.
            add_special_tokens: Whether the post-processor adds its tokens.
            padding: ``True`` or ``"longest"``, ``"max_length"``, ``False`` or ``"do_not_pad"``.
            truncation: ``True`` or ``"longest_first"``, ``"only_first"``, ``"only_second"``, ``False`` or
                ``"do_not_truncate"``.
            max_length: The length for both, in ids; alone it truncates. None for ``model_max_length``: if that is
                unknown, too, rows are not truncated.
            stride: The number of ids that an overflowing row shares with the previous one.
            is_split_into_words: Whether each text is a list of words. Words are encoded one by one.
            pad_to_multiple_of: Round the padded length up to a multiple of this number.
            padding_side: The side to pad; None for ``self.padding_side``.
            return_tensors: None for lists, ``"np"`` for arrays, ``"pt"`` for tensors of torch.
            return_token_type_ids: Adds ``token_type_ids``; None if ``model_input_names`` has it.
            return_attention_mask: Adds ``attention_mask``; None if ``model_input_names`` has it.
            return_overflowing_tokens: Adds rows for the parts that truncation removes, after each text's first row.
            return_special_tokens_mask: Adds ``special_tokens_mask``.
            return_offsets_mapping: Adds ``offset_mapping``, in characters.
            return_length: Adds ``length``.
            verbose: Has no effect; nothing is logged.
            tokenizer_kwargs: More of these arguments, which override the others.
            max_target_length: As `max_length`, for the targets.
            split_special_tokens: Whether special tokens in a text stay text; None for ``self.split_special_tokens``.

        Raises:
            TypeError, ValueError: An input is not a text, or an option is unknown or has no effect.
            LimitError, EncodeError: As `Tokenizer.__call__`.
        """
        options: dict[str, Any] = {
            "add_special_tokens": add_special_tokens,
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "stride": stride,
            "is_split_into_words": is_split_into_words,
            "pad_to_multiple_of": pad_to_multiple_of,
            "padding_side": padding_side,
            "return_tensors": return_tensors,
            "return_token_type_ids": return_token_type_ids,
            "return_attention_mask": return_attention_mask,
            "return_overflowing_tokens": return_overflowing_tokens,
            "return_special_tokens_mask": return_special_tokens_mask,
            "return_offsets_mapping": return_offsets_mapping,
            "return_length": return_length,
            "split_special_tokens": split_special_tokens,
        }
        options |= tokenizer_kwargs or {}
        if text is None and text_target is None:
            raise ValueError("pass text or text_target")
        if text is not None and text_target is None and (text_pair_target is not None or max_target_length is not None):
            raise ValueError("text_pair_target and max_target_length have no effect without text_target")
        made = None if text is None else self._call(text, text_pair, **options)
        if text_target is None:
            assert made is not None
            return made
        if max_target_length is not None:
            options["max_length"] = max_target_length
        target = self._call(text_target, text_pair_target, **options)
        if made is None:
            return target
        made["labels"] = target["input_ids"]
        return made

    def _call(
        self,
        text: Any,
        pair: Any = None,
        *,
        add_special_tokens: bool = True,
        padding: Any = False,
        truncation: Any = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        split_special_tokens: bool | None = None,
    ) -> BatchEncoding:
        """As a call without targets."""
        given = arguments.texts(text, pair, is_split_into_words=is_split_into_words, is_fast=self.is_fast)
        how = arguments.lengths(self, padding, truncation, max_length, pad_to_multiple_of)
        is_text = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        texts = given.texts if given.is_batch else [given.texts]
        pairs = given.pairs if given.is_batch or given.pairs is None else [given.pairs]
        tensors = getattr(return_tensors, "value", return_tensors)
        columns = {
            "attention_mask": self._wants("attention_mask", return_attention_mask),
            "token_type_ids": self._wants("token_type_ids", return_token_type_ids),
            "special_tokens_mask": return_special_tokens_mask,
            "offset_mapping": return_offsets_mapping,
            "length": return_length,
        }
        options = model_inputs.options(
            self._tok,
            pair=pairs is not None,
            add_special_tokens=add_special_tokens,
            padding=how.padding,
            truncation=how.truncation,
            max_length=how.max_length if how.truncation or how.padding == "max_length" else None,
            stride=stride if how.truncation else 0,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_token=self.pad_token_id if how.padding else None,
            padding_side=(padding_side or self.padding_side) if how.padding else padding_side,
            truncation_side=self.truncation_side if how.truncation else None,
            overflow=return_overflowing_tokens,
            reading={"special": "text" if is_text else "allow", "added": "match", "errors": "strict"},
            threads=None,
        )
        if is_split_into_words:
            unwrap = not given.is_batch and not return_overflowing_tokens
            return words.call(self._tok, texts, pairs, options, tensors=tensors, columns=columns, unwrap=unwrap)
        made = model_inputs.call(
            self._tok, texts, pairs, options, tensors=tensors, columns=columns, unwrap=not given.is_batch
        )
        return batch.adopt(made)

    def encode(  # noqa: PLR0917 (positions of transformers)
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding: Any = False,
        truncation: Any = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: str | None = None,
        return_tensors: Any = None,
        **options: Any,
    ) -> Any:
        """Encode to ids alone; arguments, results and errors as for a call."""
        return self._call(
            text,
            text_pair,
            return_attention_mask=False,
            return_token_type_ids=False,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            padding_side=padding_side,
            return_tensors=return_tensors,
            **options,
        )["input_ids"]

    def tokenize(self, text: Any, pair: Any = None, add_special_tokens: bool = False, **options: Any) -> list[str]:
        """Tokenize a text, with tokens as spelled in the vocabulary; arguments and errors as for a call.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
            >>> PreTrainedTokenizerFast(tokenizer_object=tok).tokenize("slow low")
            ['s', 'low', 'Ġ', 'low']
        """
        return self._call(
            text, pair, add_special_tokens=add_special_tokens, **{"return_offsets_mapping": True, **options}
        ).tokens()

    # Decoding

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        """Decode ids to a text, or rows of ids to texts.

        Args:
            token_ids: An id, ids, or rows of ids: lists, or arrays of numpy or torch.
            skip_special_tokens: Whether to leave special tokens out.
            clean_up_tokenization_spaces: Whether to remove spaces before punctuation, for WordPiece; None for the
                attribute. It has no effect on BPE, with a warning.

        Raises:
            InvalidIdError: An id is unknown. (``transformers`` skips it.)
        """
        ids = plain_ids(token_ids)
        if ids and isinstance(ids[0], list):
            texts = self._tok.decode_batch(ids, skip_special_tokens=skip_special_tokens)
            return [clean_up(self, text, clean_up_tokenization_spaces) for text in texts]
        text = self._tok.decode(ids, skip_special_tokens=skip_special_tokens)
        return clean_up(self, text, clean_up_tokenization_spaces)

    def batch_decode(
        self, sequences: Any, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool | None = None
    ) -> list[str]:
        """As `decode`, but always return a list."""
        found = self.decode(sequences, skip_special_tokens, clean_up_tokenization_spaces)
        return [found] if isinstance(found, str) else found

    # Files, copies

    def _files(self) -> tuple[str, dict[str, bytes]]:
        """The format of the files that hold the engine, and their contents."""
        return "tokenizer.json", {"tokenizer.json": saving.tokenizer_json(self)}

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        save_jinja_files: bool = True,
    ) -> tuple[str, ...]:
        """Write files that ``transformers`` and bytepair can load; return their names.

        These are ``tokenizer.json``, ``tokenizer_config.json``, ``chat_template.jinja`` or files in
        ``additional_chat_templates`` if there are templates, and bytepair's ``manifest.json``.

        Args:
            save_directory: The folder.
            legacy_format: None or False; older formats are not written.
            filename_prefix: None; files have their standard names.
            push_to_hub: False; nothing is uploaded.
            save_jinja_files: Whether to write templates as separate files rather than into ``tokenizer_config.json``.

        Raises:
            FormatError: ``tokenizer.json`` cannot represent the tokenizer.
            ArtifactError: A file cannot be written.
            NotImplementedError: An argument is not supported.
        """
        for name, value in (
            ("legacy_format", legacy_format),
            ("filename_prefix", filename_prefix),
            ("push_to_hub", push_to_hub),
        ):
            if value:
                raise NotImplementedError(f"save_pretrained does not support {name}={value!r}")
        return saving.save(self, Path(save_directory), save_jinja_files=save_jinja_files)

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[Any],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: list[Any] | None = None,
        special_tokens_map: dict[str, str] | None = None,
        **options: Any,
    ) -> Self:
        """Train a tokenizer with the same stages and named tokens on other texts.

        Args:
            text_iterator: Texts, or lists of texts.
            vocab_size: The number of tokens, special tokens included.
            length: The number of texts, for progress.
            new_special_tokens: More special tokens.
            special_tokens_map: New names for special tokens.
            options: Options of the trainer of `bytepair.compat.tokenizers`.

        Raises:
            NotImplementedError: Models of this kind cannot be trained.
        """
        from bytepair.compat.transformers.training import train_new  # noqa: PLC0415 (few train)

        return train_new(self, text_iterator, vocab_size, length, new_special_tokens, special_tokens_map, **options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self).__new__(type(self))
        for name, value in self.__dict__.items():
            # The engine is immutable.
            other.__dict__[name] = value if name in ("_tok", "_vocab", "_ids") else deepcopy(value, memo)
        return other

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(name_or_path={self.name_or_path!r}, vocab_size={self.vocab_size}, "
            f"model_max_length={self.model_max_length}, padding_side={self.padding_side!r}, "
            f"truncation_side={self.truncation_side!r}, special_tokens={self.special_tokens_map})"
        )


_KNOWN = (
    *("extra_special_tokens", "additional_special_tokens", "model_max_length", "padding_side", "truncation_side"),
    *("model_input_names", "clean_up_tokenization_spaces", "split_special_tokens", "chat_template", "name_or_path"),
    *("add_bos_token", "add_eos_token", "tokenizer_class"),
)


def _without_effect(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those that have no effect on a tokenizer; others that could not act are refused."""
    for key, value in settings.items():
        if key in _REFUSED or (key in _NEVER and value):
            raise TypeError(f"{key}={value!r} is not supported")
    return {key: value for key, value in settings.items() if key not in _NO_EFFECT and key not in _NEVER}


def _check_settings(settings: dict[str, Any], *known: str) -> None:
    for key, value in settings.items():
        if callable(getattr(PreTrainedTokenizerFast, key, None)):
            raise AttributeError(f"{key} is a method of a tokenizer, not a setting")  # noqa: TRY004 (as in transformers)
        if key not in known and not _is_named(key, value):
            raise TypeError(f"{key}={value!r} is not supported")


def _is_named(key: str, value: Any) -> bool:
    """Whether a setting names a token: `image_token`, but not `add_bos_token`."""
    return key.endswith("_token") and (value is None or isinstance(value, dict) or added.is_token(value))
