"""`Tokenizer`: load it or train it, then encode, decode and count. Immutable; every option is given per call.

Long because of the docstrings of the public surface; what is done stands in the modules that are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.call.validity import is_valid
from bytepair.chunk import chunks
from bytepair.drawing.display import draw
from bytepair.errors import BytepairError
from bytepair.model.compiled import CompiledTokenizer

# `formats` is imported by the calls that read or write files: with pathlib and hashlib it is a third of the time of
# `import bytepair`.

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.call.encoding import BatchEncoding, Encoding
    from bytepair.call.ragged import Ids, Ragged, Special, TextInput
    from bytepair.chat.encoding.cache import EncodingCache
    from bytepair.chat.encoding.example import ChatExample
    from bytepair.chat.encoding.labels import TrainOn
    from bytepair.chat.encoding.reserved import Policy
    from bytepair.chat.limits import Limits
    from bytepair.chat.template import Template
    from bytepair.chunk.chunks import Boundary, Chunk, Kind
    from bytepair.formats.hub import Origin
    from bytepair.formats.manifest import Side
    from bytepair.model.spec import AddedToken, TokenizerSpec


class Tokenizer(CompiledTokenizer):
    """A tokenizer: immutable, shared by threads, picklable, safe across forks.

    Args:
        spec: What it is compiled from.

    Raises:
        FormatError: The spec does not make a tokenizer: a byte without a token, an id or token that occurs twice, a
            merge of unknown tokens.
        PatternError: A split pattern does not compile.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> tok.encode("lower low")
        [257, 258, 32, 257]
        >>> tok.decode([257, 258])
        'lower'
    """

    def __new__(cls, spec: TokenizerSpec) -> Self:  # noqa: D102 (the class documents it)
        self = super().__new__(cls, spec)
        if spec.post_processor is not None:
            # A broken post-processor is an error of the file, not of the first call. Few files have one.
            from bytepair.call.post_processing import post_processor  # noqa: PLC0415

            post_processor(self)
        return self

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        split: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        partial_alphabet: bool = False,
    ) -> Tokenizer:
        """Loads a tokenizer from a file or folder; the format is detected from the content. See also `bytepair.load`.

        Args:
            path: A native file, tokenizer.json, tekken.json, .tiktoken, vocab.json (merges.txt beside it), a model of
                sentencepiece, BERT's vocab.txt, codes of subword-nmt or fastBPE, GGUF; or a folder with one, where
                tokenizer_config.json and its like count as well.
            split: For files that hold none: a name or pattern. A .tiktoken file needs it; the default of vocab.json is
                ``gpt2``.
            special_tokens: For files that hold none (.tiktoken, vocab.json): the special tokens and their ids.
            partial_alphabet: Whether bytes that UTF-8 uses may have no token: text that needs them raises EncodeError.

        Raises:
            ArtifactError: The file cannot be read.
            FormatError: It is broken, or holds something that is not supported; ``pointer`` says where.
            IntegrityError: A manifest beside it records another hash.

        Example:
            >>> import bytepair as bp, tempfile
            >>> tok = bp.train({"low": 5}, vocab_size=258)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     files = tok.save(folder)
            ...     bp.Tokenizer.from_file(folder) == tok
            True
        """
        from pathlib import Path  # noqa: PLC0415

        from bytepair.formats.loading import load  # noqa: PLC0415

        spec = load(Path(path), split=split, special_tokens=special_tokens, partial_alphabet=partial_alphabet)
        try:
            return cls(spec)
        except BytepairError as error:
            # Some errors show only when the parts are compiled together.
            error.file = error.file or str(path)
            raise

    @classmethod
    def from_pretrained(
        cls,
        name: str,
        *,
        revision: str = "main",
        local_files_only: bool = False,
        token: str | bool | None = None,
        cache: str | os.PathLike[str] | None = None,
        split: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        partial_alphabet: bool = False,
    ) -> Tokenizer:
        """Loads the tokenizer of a repository of Hugging Face's hub, through ``huggingface_hub`` (``bytepair[hub]``).

        Files in its cache are used without the network; otherwise the files of the tokenizer, and no others, are
        fetched. `origin` records the commit and the hashes of the files. See also `bytepair.load`.

        Args:
            name: The repository, such as ``"openai-community/gpt2"``; or a local folder, as for `from_file`.
            revision: A branch, a tag or a commit; only a commit is always the same.
            local_files_only: Whether to do without the network; ``HF_HUB_OFFLINE`` does the same.
            token: For a repository that needs one; None for the token of ``huggingface_hub``.
            cache: The folder of the cache; None for that of ``huggingface_hub``.
            split: As for `from_file`.
            special_tokens: As for `from_file`.
            partial_alphabet: As for `from_file`.

        Raises:
            ArtifactError: ``huggingface_hub`` is not installed, or the files cannot be fetched.
            FormatError: There is no tokenizer among them, it is broken, or holds something that is not supported.
        """
        from pathlib import Path  # noqa: PLC0415

        from bytepair import files  # noqa: PLC0415
        from bytepair.formats import hub  # noqa: PLC0415

        options: dict[str, Any] = {
            "split": split,
            "special_tokens": special_tokens,
            "partial_alphabet": partial_alphabet,
        }
        if files.is_folder(Path(name)):
            return cls.from_file(name, **options)
        origin = hub.snapshot(name, revision=revision, local_files_only=local_files_only, token=token, cache=cache)
        return cls._from_origin(origin, **options)

    @classmethod
    def _from_origin(cls, origin: Origin, **options: Any) -> Tokenizer:
        """Loads the files of a repository."""
        from bytepair.formats import hub  # noqa: PLC0415

        self = cls(hub.read(origin, **options))
        self.__dict__["_origin"] = origin
        return self

    @property
    def origin(self) -> Origin | None:
        """The repository it was loaded from, if by `from_pretrained`; not part of equality, pickles and saved files."""
        origin: Origin | None = self.__dict__.get("_origin")
        return origin

    def save(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        drop: Collection[str] = (),
        padding_sides: tuple[Side, Side] = ("right", "left"),
        origin: str | Mapping[str, Any] | None = None,
    ) -> list[Path]:
        """Writes the tokenizer and ``manifest.json``, each file whole or not at all; returns their paths.

        A folder is for one writer at a time: loading refuses files of two.

        Args:
            path: A folder, or a file whose name says its format.
            format: ``tokenizer.json`` (the default for a folder), ``native``, ``tekken.json``, ``tiktoken``,
                ``vocab+merges``, ``sentencepiece``, ``vocab.txt`` or ``codes``. Ranks become merges, or merges ranks,
                where a format needs it and every text is proved to keep its ids.
            drop: Features that may be lost, such as ``("split", "special_tokens")`` for a bare rank file.
            padding_sides: For the manifest: the sides on which sequences are padded for training and for generation.
            origin: For the manifest: the origin of the tokenizer, as a text or as a table that JSON can hold; the
                default for a tokenizer from a hub is the name, the commit and the hashes of `Tokenizer.origin`.

        Raises:
            FormatError: The format cannot hold a feature that is not in `drop`, which is named; `padding_sides` or
                `origin` is invalid.
            ArtifactError: The files cannot be written. What was there before is then still there.
        """
        from pathlib import Path  # noqa: PLC0415

        from bytepair.formats.manifest import About  # noqa: PLC0415
        from bytepair.formats.saving import save  # noqa: PLC0415

        about = About(self, padding_sides, origin or (self.origin and self.origin.record()))
        return save(self.spec, Path(path), format, drop, about)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
        from bytepair.formats.native import fingerprint_of  # noqa: PLC0415

        return fingerprint_of(self)

    def encode_batch_array(
        self,
        texts: Iterable[TextInput],
        *,
        special: Special = "raise",
        added: str = "match",
        errors: str = "strict",
        threads: int | None = None,
    ) -> Ragged:
        """The ids of each text of a batch in one flat array; options and errors as `encode_batch`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).encode_batch_array(["low", "w"]).ids
            array([257, 119], dtype=uint32)
        """
        # Only those who want arrays wait for this import.
        from bytepair.call.ragged import Ragged  # noqa: PLC0415

        return Ragged(*self.encode_batch_flat(texts, special=special, added=added, errors=errors, threads=threads))

    def tokens(
        self, text: TextInput, *, special: Special = "raise", added: str = "match", errors: str = "strict"
    ) -> list[bytes]:
        """The bytes of each token of a text; options and errors as `encode`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).tokens("slow")
            [b's', b'low']
        """
        return [self.token_bytes(id) for id in self.encode(text, special=special, added=added, errors=errors)]

    def encode_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        template: Template | str,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        add_generation_prompt: bool = False,
        train_on: TrainOn = "assistant",
        train_end: bool = True,
        train_marks: bool = False,
        policy: Policy = "reject",
        end_of_turn: str | Collection[str] | None = None,
        add_special_tokens: bool = False,
        max_length: int | None = None,
        truncation: str | None = "right",
        now: datetime.datetime | None = None,
        limits: Limits | None = None,
        cache: EncodingCache | None = None,
    ) -> ChatExample:
        """A conversation as a model is trained on it: ids, labels, and where each token is from.

        The text that the template makes is encoded as one; of it only what the template itself wrote may become added
        tokens. Labels follow from where tokens stand: one is trained on if it overlaps what is trained on.

        Args:
            messages: What was said, each with a ``role`` and what its template knows: ``content``, ``tool_calls`` ...
            template: A `chat.Template`, the name of a built-in one such as ``"chatml"``, or Jinja source.
            tools: What the model may call, as JSON schemas.
            documents: What it may look up.
            variables: What else the template asks for, such as ``{"enable_thinking": False}``.
            add_generation_prompt: Whether the text ends with what has a model answer.
            train_on: The roles whose messages are trained on; or a function of number and message that says whether
                one is; or None for nothing. A message's fields are trained on, but for ``role`` and ``name``; where
                the template has ``{% generation %}`` blocks, these are.
            train_end: Whether what ends a turn, such as ``<|im_end|>``, is trained on too.
            train_marks: Whether also what the template writes within a turn is, such as ``<tool_call>`` and
                ``</think>``: from the prompt to the end of the turn. Who trains calls of tools wants it.
            policy: What becomes of added tokens that content spells, special or not: ``"reject"`` raises, ``"text"``
                encodes them as text, ``"escape"`` rewrites them (`chat.escape`), ``"allow"`` lets them be tokens.
            end_of_turn: What ends a turn; None for what is known to, and the template's ``eos_token``.
            add_special_tokens: Whether the post-processor adds its tokens. Most templates write them.
            max_length: The most tokens; None for no limit.
            truncation: What is cut off beyond that: ``"right"``, ``"left"``, or None to refuse.
            now: The time that the template is told; None for the real one.
            limits: How much a template may do.
            cache: Where encodings are kept.

        Raises:
            TemplateError: The messages cannot be rendered or traced, nothing is trained on, or jinja2 is not installed.
            SpecialTokenError: Content holds a reserved literal; message, role, field and character are named.
            EncodeError: Content holds a lone surrogate, or a character that the vocabulary lacks.
            LimitError: Truncation would leave nothing that is trained on, or is needed and refused.
            ValueError: An option is unknown.

        Time is linear in the text, and what the template takes.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"Hello": 5}, vocab_size=262, special_tokens=["<|im_start|>", "<|im_end|>"])
            >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
            >>> example = tok.encode_chat(chat, "chatml", train_end=False)
            >>> [example.text[start:end] for start, end in example.offsets[example.labels >= 0]]
            ['Hello']
        """
        # Only those who have chats wait for this import.
        from bytepair.chat.encoding import example  # noqa: PLC0415

        settings = example.ChatOptions(
            template=template,
            tools=tools,
            documents=documents,
            variables=variables,
            add_generation_prompt=add_generation_prompt,
            train_on=train_on,
            train_end=train_end,
            train_marks=train_marks,
            policy=policy,
            end_of_turn=end_of_turn,
            add_special_tokens=add_special_tokens,
            max_length=max_length,
            truncation=truncation,
            now=now,
            limits=limits,
        )
        return example.encode_chat(self, messages, settings, cache)

    def __call__(
        self,
        text: TextInput | Iterable[TextInput],
        pair: TextInput | Iterable[TextInput] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        stride: int = 0,
        pad_to_multiple_of: int | None = None,
        pad_token: str | int | None = None,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        return_tensors: str | None = None,
        return_attention_mask: bool = True,
        return_token_type_ids: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_overflowing_tokens: bool = False,
        return_length: bool = False,
        special: Special = "raise",
        added: str = "match",
        errors: str = "strict",
        threads: int | None = None,
    ) -> BatchEncoding:
        """What a model takes: the ids of texts with what the post-processor adds, cut and filled as the call says.

        Options are called as in ``transformers``, but nothing is passed over: an option that has no effect beside the
        others raises. What is not asked for is not computed; offsets and what overflows are slower than ids.

        Args:
            text: One text, ``str`` or ``bytes``; or an iterable of texts. A list with `Control` that is one text stands
                in a list of its own: ``tok([[bp.Control("<|user|>"), "hello"]])``.
            pair: A second text for each, in the same form.
            add_special_tokens: Whether the post-processor adds its tokens.
            padding: ``True`` or ``"longest"`` fills rows up to the longest one, ``"max_length"`` up to `max_length`.
            truncation: ``True`` or ``"longest_first"`` cuts rows to `max_length`, ids that are added among them: of a
                pair the longer text first. ``"only_first"`` and ``"only_second"`` cut one text of a pair.
            max_length: The length for these.
            stride: How many ids a row that overflowed shares with the one before.
            pad_to_multiple_of: Rounds the length of rows that are filled up.
            pad_token: The token, or its id, that fills rows; None for the added token that is called ``[PAD]``,
                ``<pad>``, ``<|pad|>`` or ``<|padding|>``.
            padding_side: The side that is filled; None for ``"right"``.
            truncation_side: The side that is cut off; None for ``"right"``.
            return_tensors: None for lists, ``"np"`` for arrays of int64, ``"pt"`` for tensors of torch.
            return_attention_mask: Adds ``attention_mask``: 0 for what fills rows, else 1.
            return_token_type_ids: Adds ``token_type_ids``, as the post-processor says.
            return_special_tokens_mask: Adds ``special_tokens_mask``: 1 for what was added or fills rows.
            return_offsets_mapping: Adds ``offset_mapping``: (start, end) for each id, as `offsets`, but
                without white space at the ends where the post-processor trims it.
            return_overflowing_tokens: Rows for what truncation cuts off follow each text's first, and
                ``overflow_to_sample_mapping`` says which text a row is of.
            return_length: Adds ``length``: that of each row.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `encode`.
            threads: As for `encode_batch`; offsets are found by one thread.

        Returns:
            A dict of columns, ``input_ids`` first. Of one text as lists a column is a row, else a list of rows or a
            tensor of shape ``(rows, length)``. ``encodings`` has an `Encoding` for each row.

        Raises:
            ValueError: An option has no effect, or the rows of a tensor differ in length.
            LimitError: `max_length` has no room for what is added, or a row cannot be cut as `truncation` says.
            SpecialTokenError: There is no token for padding; or as `encode`, whose other errors are raised as well,
                with their row.

        Time is linear in the texts and what is returned.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=261, special_tokens=["<pad>", "<|end|>"])
            >>> tok(["low lower", "slow"], padding=True, return_tensors="np").input_ids
            array([[257,  32, 257, 258],
                   [115, 257, 259, 259]])
            >>> tok("low lower", truncation=True, max_length=2, stride=1, return_overflowing_tokens=True).input_ids
            [[257, 32], [32, 257], [257, 258]]
        """
        # Only those who call wait for this import.
        from bytepair.call import model_inputs  # noqa: PLC0415

        is_one = isinstance(text, (str, bytes))
        if pair is not None and is_one != isinstance(pair, (str, bytes)):
            raise TypeError("text and pair are both one text, or both a sequence of texts")
        texts, pairs = ([text], pair if pair is None else [pair]) if is_one else (text, pair)
        return model_inputs.call(
            self,
            texts,
            pairs,
            model_inputs.options(
                self,
                pair=pair is not None,
                add_special_tokens=add_special_tokens,
                padding=padding,
                truncation=truncation,
                max_length=max_length,
                stride=stride,
                pad_to_multiple_of=pad_to_multiple_of,
                pad_token=pad_token,
                padding_side=padding_side,
                truncation_side=truncation_side,
                overflow=return_overflowing_tokens,
                said={"special": special, "added": added, "errors": errors},
                threads=threads,
            ),
            tensors=return_tensors,
            columns={
                "attention_mask": return_attention_mask,
                "token_type_ids": return_token_type_ids,
                "special_tokens_mask": return_special_tokens_mask,
                "offset_mapping": return_offsets_mapping,
                "length": return_length,
            },
            unwrap=is_one,
        )

    def encoding(
        self,
        text: TextInput,
        pair: TextInput | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: bool | str = False,
        max_length: int | None = None,
        stride: int = 0,
        truncation_side: str | None = None,
        special: Special = "raise",
        added: str = "match",
        errors: str = "strict",
    ) -> Encoding:
        """One text or pair with all that is known of its ids; options and errors as a call of the tokenizer.

        What truncation cuts off is in ``overflowing``.

        Example:
            >>> import bytepair as bp
            >>> one = bp.train({"low": 5}, vocab_size=258, split="gpt2").encoding("low mañana")
            >>> one.tokens[:4], one.offsets[4:8], one.char_to_token(6)
            (['low', 'Ġ', 'm', 'a'], [(6, 7), (6, 7), (7, 8), (8, 9)], 4)
        """
        return self(
            [text],
            pair if pair is None else [pair],
            add_special_tokens=add_special_tokens,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            truncation_side=truncation_side,
            return_overflowing_tokens=True,
            special=special,
            added=added,
            errors=errors,
        ).encodings[0]

    def offsets(
        self, text: TextInput, *, special: Special = "raise", added: str = "match", errors: str = "strict"
    ) -> list[tuple[int, int]]:
        """Which characters of a text each id of `encode` stands for, as (start, end); options and errors as `encode`.

        In characters of ``str``, in bytes of ``bytes``, and in characters of a joined list; of the text as it was
        given, whatever a normalizer makes of it. Neither starts nor ends ever go back, and all lie in the text. Ids
        that are parts of a character have all of it.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).offsets("low é")
            [(0, 3), (3, 4), (4, 5), (4, 5)]
        """
        from bytepair.call import offsets  # noqa: PLC0415 (only those who call wait for this import)

        return offsets.located(self, text, 0, {"special": special, "added": added, "errors": errors}).offsets

    def is_valid(self, ids: Ids) -> bool:
        """Whether ids are the encoding of their own text: decoded and encoded again, they come back.

        A special id stands for its token wherever it is, and the text between two of them never becomes one, whatever
        it spells: such a text is encoded as ``tok.encode([text, Control(token), text])`` encodes it. So the ids of
        ``encode`` are valid, with any of its options, and so are those that a language model was trained on; of ids
        that a model samples many are not, for it may spell a word otherwise than the tokenizer.

        What a stage takes from the text is not in the text that comes back. White space that an added token takes
        (``lstrip``, ``rstrip``) need not be there: ids are valid with and without it, if the token is special; one that
        is not special has to be found again where it stands, and is not where it took the space that a ``single_word``
        needs. Normalizers see their own result, so that the ids of ``encode`` are valid if normalizing twice is
        normalizing once, which the normal forms of Unicode and lower case keep to. A space that a stage puts in front
        is looked for with and without. What was unknown is gone: ids with an unknown token in them are valid only where
        the token itself, in the place of the text, gives them.

        Raises:
            InvalidIdError: The tokenizer does not have an id.

        Time is that of decoding and encoding.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> tok.encode("lower"), tok.is_valid([257, 258]), tok.is_valid([257, 101, 114])
            ([257, 258], True, False)
        """
        return is_valid(self, ids)

    def with_added_tokens(self, tokens: Iterable[str | AddedToken], *, special: bool = False) -> Tokenizer:
        """The same tokenizer with further added tokens; this one stays as it is.

        All ids stay what they are, so that a model needs new rows at most: `resize_embeddings` makes them, for the
        embedding and the output layer alike.

        Args:
            tokens: Texts, which get the ids from ``vocab_size`` on, in order and behind all ids that are given; or
                `AddedToken` with an id of its own. An added token that is there already is kept if nothing of it
                would change. One with the id of a token of the vocabulary and with the same text is that token, found
                before everything else.
            special: Whether the texts are special tokens. An `AddedToken` says that itself.

        Raises:
            FormatError: A token is there with another id or other flags, or in the vocabulary and no id is given; it is
                empty or too long; its id is that of another token.
            TypeError: `tokens` is one text, or holds what is neither.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258)
            >>> more = tok.with_added_tokens(["<|user|>", "<|bot|>"], special=True)
            >>> more.special_tokens, more.vocab_size, more.with_added_tokens(["<|bot|>"], special=True) == more
            ({'<|user|>': 258, '<|bot|>': 259}, 260, True)
        """
        # Few do this.
        from bytepair.model.added_tokens import with_added_tokens  # noqa: PLC0415

        return type(self)(with_added_tokens(self, tokens, special=special))

    def chunks(
        self,
        text: str | bytes,
        limit: int,
        *,
        overlap: int = 0,
        boundary: Boundary = "sentence",
        special: Special = "raise",
        added: str = "match",
    ) -> list[Chunk]:
        """A text in chunks of at most `limit` tokens each, which end at the best places.

        The chunks cover the text in order, and ``tok.count(text[start:end])`` of each is its ``tokens``. There are
        kinds of places, from strong to weak; the one named comes first and all weaker ones follow:

        - ``"markdown"``: before a heading of one to six ``#`` that is not in fenced code;
        - ``"paragraph"``: after a blank line;
        - ``"line"``: after the end of a line;
        - ``"sentence"``: between sentences of UAX #29, after the white space that follows the first;
        - ``"word"``: between words of UAX #29, before white space and not after it, since in most vocabularies a word's
          token begins with its space;
        - ``"character"``: anywhere;
        - a callable, which is given the text and gives places in it: these come first, then those from ``"line"`` on.

        From its start a chunk could reach to the end of the longest prefix that fits. If that is the end of the text,
        it does. Else it ends at the last place of the strongest kind in the second half of that prefix at which it
        fits (a shorter text can have more tokens), or of the next weaker kind, or at the end of the prefix. Halves are
        of bytes of UTF-8, so that ``str`` and ``bytes`` have the same chunks.

        With an `overlap` the next chunk starts before the end of this one. Of the chunk without its first character
        take the longest suffix of at most so many tokens: the next chunk starts at the first place of the strongest
        kind in the first half of that suffix from which at most so many tokens are shared, or of the next weaker kind,
        or where the suffix starts. It ends behind this one; if it could not, they share nothing.

        In lines of more than 4096 bytes sentences and words are looked for in parts, so that a sentence of thousands
        of bytes may be seen as two. A chunk may end inside the text of an added token, as inside any
        other; if what is left of it is another token, which the call does not allow, that raises.

        Args:
            text: ``str``, whose chunks are in characters; or UTF-8 ``bytes``, whose chunks are in bytes.
            limit: The most tokens of a chunk.
            overlap: The most tokens of the text that a chunk shares with the one before, less than `limit`.
            boundary: The strongest kind of place, or a callable.
            special: As for `encode`.
            added: As for `encode`.

        Raises:
            LimitError: A character alone has more tokens than `limit`; or `overlap` is not less than `limit`.
            SpecialTokenError: The text holds a token that the call does not allow.
            EncodeError: The text is not Unicode, or a byte of it has no token.
            ValueError: There is no such boundary, or a place of the callable is not between two characters.

        Time is linear in the chunks. From ten million bytes on, Ctrl-C is heard.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> text = "low low. Lower low"
            >>> [text[start:end] for start, end, tokens in tok.chunks(text, 7)]
            ['low low. ', 'Lower low']
            >>> tok.chunks("low low low", 3, boundary="word", overlap=1)
            [Chunk(start=0, end=7, tokens=3), Chunk(start=4, end=11, tokens=3)]
        """
        return chunks.chunks(self, text, limit, overlap=overlap, boundary=boundary, special=special, added=added)

    def chunks_batch(
        self,
        texts: Iterable[str | bytes],
        limit: int,
        *,
        overlap: int = 0,
        boundary: Boundary = "sentence",
        special: Special = "raise",
        added: str = "match",
        threads: int | None = None,
    ) -> list[list[Chunk]]:
        """The chunks of each text of a batch, on several threads; options as `chunks`, errors with their row.

        Args:
            texts: A sequence of texts.
            limit: The most tokens of a chunk.
            overlap: As for `chunks`.
            boundary: As for `chunks`; a callable is called for each text in order, before the work begins.
            special: As for `encode`.
            added: As for `encode`.
            threads: Up to how many threads; None for all cores. One text is the work of one thread.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258)
            >>> [len(chunks) for chunks in tok.chunks_batch(["low low low", "", "low"], 2)]
            [3, 0, 1]
        """
        return chunks.chunks_batch(
            self,
            texts,
            limit,
            overlap=overlap,
            boundary=boundary,
            special=special,
            added=added,
            threads=threads,
        )

    def chunk_stream(
        self,
        parts: Iterable[str] | Iterable[bytes],
        limit: int,
        *,
        overlap: int = 0,
        boundary: Kind = "sentence",
        special: Special = "raise",
        added: str = "match",
    ) -> Iterator[tuple[Chunk, str]]:
        """The chunks of a text that comes in parts, each with its text: those of `chunks` for the parts joined.

        A chunk comes as soon as no text to come can change it, so that memory is for a part, a few chunks and some
        thousand bytes, however long the text is. Tokenizers with normalizers, ``prefix_space``, added tokens that take
        white space, or a split pattern that needs backtracking could change their mind until the end: then the whole
        text is held.

        Args:
            parts: Parts of the text, which may be cut anywhere: all ``str``, or all UTF-8 ``bytes``.
            limit: The most tokens of a chunk.
            overlap: As for `chunks`.
            boundary: The strongest kind of place, as for `chunks`; no callable, which would need the whole text.
            special: As for `encode`.
            added: As for `encode`.

        Raises:
            LimitError: As `chunks`, and so are the other errors, when the part comes that they are in. Their places are
                in the whole text.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> [text for chunk, text in tok.chunk_stream(["low lo", "w. Low", "er low"], 7)]
            ['low low. ', 'Lower low']
        """
        return chunks.chunk_stream(self, parts, limit, overlap=overlap, boundary=boundary, special=special, added=added)

    def encode_stream(
        self,
        parts: Iterable[str] | Iterable[bytes],
        *,
        special: Special = "raise",
        added: str = "match",
        errors: str = "strict",
    ) -> Iterator[NDArray[np.uint32]]:
        """The ids of a text that comes in parts: those of ``encode`` for the parts joined, without holding the text.

        Ids come as soon as no text to come can change them; `encoding_stream` says how much is held until then.

        Args:
            parts: Parts of the text, which may be cut anywhere: all ``str``, or all UTF-8 ``bytes``.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `encode`.

        Yields:
            Some ids, in order; never an empty array.

        Raises:
            SpecialTokenError: As `encode`, and so are the other errors, with the part that makes them certain. Their
                places are in the whole text.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> [ids.tolist() for ids in tok.encode_stream(["low lo", "wer", " low"])]
            [[257], [32, 257, 258, 32, 257]]
        """
        stream = self.encoding_stream(special=special, added=added, errors=errors)
        for part in parts:
            if (ids := stream.push(part)).size:
                yield ids
        if (ids := stream.finish()).size:
            yield ids

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Tokenizer: {len(self)} tokens, {self.spec.semantics}, {len(self.special_tokens)} special>"

    def _repr_html_(self) -> str:
        """Sizes, stages and special tokens as HTML for a notebook."""
        return draw(self, "pipeline.card")
