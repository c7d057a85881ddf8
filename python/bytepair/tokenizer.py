"""`Tokenizer`: load it or train it, then encode, decode and count. Immutable; every option is given per call.

Long because of its docstrings: the work is done in the modules that it calls.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair.call.validity import is_valid
from bytepair.chunk import chunks
from bytepair.drawing.display import draw
from bytepair.errors import BytepairError, InvalidIdError
from bytepair.model.compiled import CompiledTokenizer

# `formats` is imported by the calls that read or write files: with pathlib it is a third of the time of
# `import bytepair`.

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.call import options
    from bytepair.call.encoding import BatchEncoding, Encoding
    from bytepair.call.options import Added, Errors, Ids, Special, TextInput
    from bytepair.call.ragged import Ragged
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
    from bytepair.prompts.cover import Cover, Healing
    from bytepair.prompts.trie import Trie


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
        exact_scores: bool = False,
        max_bytes: int | None = None,
    ) -> Tokenizer:
        """Loads a tokenizer from a file or folder; the format is detected from the content. See also `bytepair.load`.

        Args:
            path: A native file, tokenizer.json, tekken.json, .tiktoken, vocab.json (merges.txt beside it) or
                encoder.json (vocab.bpe), a model of sentencepiece, Marian's source.spm (vocab.json beside it), BERT's
                vocab.txt, codes of subword-nmt or fastBPE, GGUF, RWKV's vocabulary, CLIP's list of merges; or a folder
                with one, where tokenizer_config.json and its like count as well, and the class that they name.
            split: For files that hold none: a name or pattern. A .tiktoken file needs it, unless it is a published one,
                which its hash tells; the default of vocab.json is ``gpt2``.
            special_tokens: For files that hold none (.tiktoken, vocab.json): the special tokens and their ids. What a
                class adds to vocab.json is left out then.
            partial_alphabet: Whether bytes that UTF-8 uses may have no token: text that needs them raises EncodeError.
            exact_scores: Whether the scores of a Unigram in a tokenizer.json are those of the file. `tokenizers` reads
                some one off in the last place, which decides between ways of equal sums: its ids are the default.
            max_bytes: The most bytes of a file that is read; None for 512 MiB.

        Raises:
            ArtifactError: The file cannot be read, is no regular file, or is larger.
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

        spec = load(
            Path(path),
            split=split,
            special_tokens=special_tokens,
            partial_alphabet=partial_alphabet,
            exact_scores=exact_scores,
            max_bytes=max_bytes,
        )
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
        exact_scores: bool = False,
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
            exact_scores: As for `from_file`.

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
            "exact_scores": exact_scores,
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
        chat_template: str | Template | None = None,
    ) -> list[Path]:
        """Writes the tokenizer and ``manifest.json``, each file whole or not at all; returns their paths.

        If a bos, eos, pad or other token has a role, ``tokenizer_config.json`` and ``special_tokens_map.json`` are
        written beside ``tokenizer.json``: ``AutoTokenizer.from_pretrained`` of ``transformers`` then knows them too.

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
            chat_template: A chat template in Jinja, written as ``chat_template.jinja``; None keeps that of the folder.

        Raises:
            FormatError: The format cannot hold a feature that is not in `drop`, which is named; `padding_sides` or
                `origin` is invalid; `path` is the name of a file in another format.
            TemplateError: The chat template does not compile.
            ArtifactError: The files cannot be written. What was there before is then still there.

        Example:
            >>> import bytepair as bp, tempfile
            >>> tok = bp.train({"low": 5}, vocab_size=258, eos="<|end|>")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     print(*(path.name for path in tok.save(folder)))
            tokenizer.json tokenizer_config.json special_tokens_map.json manifest.json
        """
        from pathlib import Path  # noqa: PLC0415

        from bytepair.formats.manifest import About  # noqa: PLC0415
        from bytepair.formats.saving import save  # noqa: PLC0415

        if chat_template is not None:
            from bytepair.chat.rendering.render import program_of, template_of  # noqa: PLC0415 (few saves have one)

            template = template_of(chat_template)
            program_of(template)
            chat_template = template.source
        own = self.origin and self.origin.record()
        about = About(self, padding_sides, origin or own, chat_template=chat_template)
        return save(self.spec, Path(path), format, drop, about)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
        from bytepair.formats.native import fingerprint_of  # noqa: PLC0415

        return fingerprint_of(self)

    @property
    def vocab(self) -> dict[str, int]:
        """The tokens and their ids, as ``get_vocab`` of ``tokenizers``: a new dict of ``len(tok)`` entries.

        Tokens are spelled as the vocabulary spells them, which `encoding` and `id_to_token` do too: tokens of bytes in
        the byte alphabet (``"Ġlow"`` for ``" low"``), tokens of characters as they are, added tokens by their content.
        Of two tokens with one spelling only the added token is in it. `token_bytes` and `token_id` take tokens as bytes
        or text.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({" low": 5}, vocab_size=259, split="gpt2")
            >>> tok.vocab["Ġlow"], len(tok.vocab)
            (258, 259)
        """
        from bytepair.call.spelling import vocabulary  # noqa: PLC0415 (encoding does without)

        return dict(vocabulary(self))

    def id_to_token(self, id: int) -> str | None:
        """The token of an id as `vocab` spells it; None if there is none. `token_bytes` returns bytes, or raises.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({" low": 5}, vocab_size=259, split="gpt2")
            >>> tok.id_to_token(258), tok.id_to_token(259)
            ('Ġlow', None)
        """
        from bytepair.call.spelling import spell_tokens  # noqa: PLC0415 (as above)

        try:
            return spell_tokens(self, [index(id)])[0]
        except InvalidIdError:
            return None

    def token_to_id(self, token: str) -> int | None:
        """The id of a token that `vocab` spells so; None if there is none. `token_id` takes text or bytes, and raises.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({" low": 5}, vocab_size=259, split="gpt2")
            >>> tok.token_to_id("Ġlow"), tok.token_to_id(" low"), tok.token_id(" low")
            (258, None, 258)
        """
        from bytepair.call.spelling import vocabulary  # noqa: PLC0415 (as above)

        return vocabulary(self).get(token)

    @property
    def bos_token(self) -> str | None:
        """The token that begins a text, as the tokenizer's files name it; None if none of them names one.

        ``tokenizer_config.json`` and ``special_tokens_map.json`` of a folder name it, models of sentencepiece, GGUF,
        tekken.json and BERT's vocab.txt. `save` keeps it in the manifest. It is not compared, and not part of the
        fingerprint. A trained tokenizer has none; `TokenizerSpec.replace` sets it.

        Example:
            >>> import bytepair as bp
            >>> spec = bp.train({"low": 5}, vocab_size=258, special_tokens=["<s>"]).spec
            >>> tok = bp.Tokenizer(spec.replace(roles=(("bos", "<s>"),)))
            >>> tok.bos_token, tok.bos_token_id, tok.eos_token, tok.eos_token_id
            ('<s>', 257, None, None)
        """
        from bytepair.call import roles  # noqa: PLC0415 (encoding does without)

        return roles.token_of(self, "bos")

    @property
    def bos_token_id(self) -> int | None:
        """The id of `bos_token`; None if there is none, or it has no id: loading such a file warns."""
        from bytepair.call import roles  # noqa: PLC0415 (as above)

        return roles.id_of(self, "bos")

    @property
    def eos_token(self) -> str | None:
        """The token that ends a text, as `bos_token`."""
        from bytepair.call import roles  # noqa: PLC0415 (encoding does without)

        return roles.token_of(self, "eos")

    @property
    def eos_token_id(self) -> int | None:
        """The id of `eos_token`; None if there is none, or it has no id."""
        from bytepair.call import roles  # noqa: PLC0415 (as above)

        return roles.id_of(self, "eos")

    @property
    def pad_token(self) -> str | None:
        """The token that pads rows, as `bos_token`; a call that pads and names none uses it."""
        from bytepair.call import roles  # noqa: PLC0415 (encoding does without)

        return roles.token_of(self, "pad")

    @property
    def pad_token_id(self) -> int | None:
        """The id of `pad_token`; None if there is none, or it has no id."""
        from bytepair.call import roles  # noqa: PLC0415 (as above)

        return roles.id_of(self, "pad")

    @property
    def unk_token(self) -> str | None:
        """The token of unknown text, as `bos_token`; if no file names one, the unknown token of the model.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train_unigram({"low": 5, "lower": 3}, vocab_size=11)
            >>> tok.unk_token, tok.unk_token_id
            ('<unk>', 0)
        """
        from bytepair.call import roles  # noqa: PLC0415 (encoding does without)

        return roles.token_of(self, "unk")

    @property
    def unk_token_id(self) -> int | None:
        """The id of `unk_token`; None if there is none, or it has no id, as of a model that knows every byte."""
        from bytepair.call import roles  # noqa: PLC0415 (as above)

        return roles.id_of(self, "unk")

    def encode_batch_array(
        self,
        texts: Iterable[TextInput],
        *,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> Ragged:
        """Encodes a batch into one flat array; options and errors as `encode_batch`.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).encode_batch_array(["low", "w"]).ids
            array([257, 119], dtype=uint32)
        """
        # Imported on the first use: only arrays need it.
        from bytepair.call.ragged import Ragged  # noqa: PLC0415

        return Ragged(
            *_core.encode_batch_flat(self, texts, special=special, added=added, errors=errors, threads=threads)
        )

    def tokens(
        self, text: TextInput, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> list[bytes]:
        """Encodes a text and returns the bytes of each token; options and errors as `encode`.

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
        continue_final_message: bool | str = False,
        train_on: TrainOn = "assistant",
        train_end: bool = True,
        train_marks: bool = True,
        policy: Policy = "reject",
        reserve: str | Collection[str] = (),
        end_of_turn: str | Collection[str] | None = None,
        add_special_tokens: bool = False,
        max_length: int | None = None,
        truncation: str | None = "right",
        now: datetime.datetime | None = None,
        limits: Limits | None = None,
        cache: EncodingCache | None = None,
    ) -> ChatExample:
        """Encodes a conversation for training: ids, labels, and the source of each token.

        The rendered text is encoded as one; only text that the template itself wrote can become added tokens. A token
        is trained if it overlaps a trained span of the text.

        Args:
            messages: The messages, each with a ``role`` and the fields of the template: ``content``, ``tool_calls`` ...
            template: A `chat.Template`, the name of a built-in one such as ``"chatml"``, or Jinja source.
            tools: The tools that the model may call, as JSON schemas.
            documents: The documents that the model may look up.
            variables: Further variables of the template, such as ``{"enable_thinking": False}``.
            add_generation_prompt: Whether the text ends with the prompt for an answer.
            continue_final_message: Whether the text ends inside the last message, for a model to continue; or the field
                to continue. That message is not trained.
            train_on: The roles whose messages are trained; or a function of number and message that returns whether a
                message is; or None for nothing. All fields of a message are trained except ``role`` and ``name``; in a
                template with ``{% generation %}`` blocks, the blocks are.
            train_end: Whether the end of a turn, such as ``<|im_end|>``, is trained too.
            train_marks: Whether the template's text that a model must write is trained too, such as ``<tool_call>`` and
                ``</think>``, from where the prompt for generation ends.
            policy: The treatment of content that spells a reserved token, one that is special or that the template
                writes: ``"reject"`` raises, ``"text"`` encodes it as text, ``"allow"`` makes it a token; ``"escape"``
                rewrites every added token (`chat.escape`).
            reserve: The names of more added tokens to reserve; ``"all"`` for all.
            end_of_turn: The tokens that end a turn; None for what the template writes after the last message of a
                conversation.
            add_special_tokens: Whether the post-processor adds its tokens. Most templates write them.
            max_length: The most tokens; None for no limit.
            truncation: The side that is cut off a longer text: ``"right"``, ``"left"``, or None to raise.
            now: The time that the template reads; None for the current time.
            limits: The limits of the template's work.
            cache: A cache of encodings.

        Raises:
            TemplateError: The messages cannot be rendered or traced, nothing is trained, or jinja2 is not installed.
            SpecialTokenError: Content spells a reserved token; message, role, field and character are named.
            EncodeError: Content holds a lone surrogate, or a character that the vocabulary lacks.
            LimitError: Truncation would leave nothing that is trained, or the text is too long and `truncation` is
                None.
            ValueError: An option is unknown, or there is nothing to continue.

        Time is linear in the text, plus that of the template.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"Hello": 5}, vocab_size=262, special_tokens=["<|im_start|>", "<|im_end|>"])
            >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
            >>> example = tok.encode_chat(chat, "chatml", train_end=False)
            >>> [example.text[start:end] for start, end in example.offsets[example.labels >= 0]]
            ['Hello']
        """
        # Imported on the first use: only chats need it.
        from bytepair.chat.encoding import example  # noqa: PLC0415

        settings = example.ChatOptions(
            template=template,
            tools=tools,
            documents=documents,
            variables=variables,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            train_on=train_on,
            train_end=train_end,
            train_marks=train_marks,
            policy=policy,
            reserve=reserve,
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
        padding_side: options.Side | None = None,
        truncation_side: options.Side | None = None,
        return_tensors: str | None = None,
        return_attention_mask: bool = True,
        return_token_type_ids: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_overflowing_tokens: bool = False,
        return_length: bool = False,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> BatchEncoding:
        """Model inputs: the ids of texts with the tokens of the post-processor, truncated and padded.

        Options have the names of ``transformers``, but none is ignored: an option without effect raises. Columns that
        are not requested are not computed; offsets and overflowing parts are slower than ids.

        Args:
            text: One text, ``str`` or ``bytes``; or an iterable of texts. A single text with `Control` is a list in a
                list: ``tok([[bp.Control("<|user|>"), "hello"]])``.
            pair: A second text for each, in the same form.
            add_special_tokens: Whether the post-processor adds its tokens.
            padding: ``True`` or ``"longest"`` pads rows to the longest one, ``"max_length"`` to `max_length`.
            truncation: ``True`` or ``"longest_first"`` cuts rows to `max_length` ids, added ones included; of a pair
                the longer text first. ``"only_first"`` and ``"only_second"`` cut one text of a pair.
            max_length: The length for these.
            stride: The number of ids that an overflowing part shares with the part before it.
            pad_to_multiple_of: Rounds the length of padded rows up.
            pad_token: The pad token, or its id; None for `Tokenizer.pad_token`, else the added token that is called
                ``[PAD]``, ``<pad>``, ``<|pad|>`` or ``<|padding|>``.
            padding_side: The padded side; None for ``"right"``.
            truncation_side: The side that is cut off; None for ``"right"``.
            return_tensors: None for lists, ``"np"`` for arrays of int64, ``"pt"`` for tensors of torch.
            return_attention_mask: Adds ``attention_mask``: 0 for padding, else 1.
            return_token_type_ids: Adds ``token_type_ids``, from the post-processor.
            return_special_tokens_mask: Adds ``special_tokens_mask``: 1 for added ids and padding.
            return_offsets_mapping: Adds ``offset_mapping``: (start, end) for each id, as `offsets`, but without white
                space at the ends where the post-processor trims it.
            return_overflowing_tokens: Adds a row for each part that truncation cuts off, after the row of its text, and
                ``overflow_to_sample_mapping``: the number of the text of each row.
            return_length: Adds ``length``: that of each row.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `encode`.
            threads: As for `encode_batch`; offsets are computed by one thread.

        Returns:
            A dict of columns, ``input_ids`` first. For one text as lists a column is a row, else a list of rows or a
            tensor of shape ``(rows, length)``. ``encodings`` has an `Encoding` for each row.

        Raises:
            ValueError: An option has no effect, or the rows of a tensor differ in length.
            LimitError: `max_length` has no room for the added ids, or a row cannot be cut as `truncation` requires.
            SpecialTokenError: There is no pad token; or as `encode`, whose other errors are raised as well, with their
                row.

        Time is linear in the texts and the result.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=261, special_tokens=["<pad>", "<|end|>"])
            >>> tok(["low lower", "slow"], padding=True, return_tensors="np").input_ids
            array([[257,  32, 257, 258],
                   [115, 257, 259, 259]])
            >>> tok("low lower", truncation=True, max_length=2, stride=1, return_overflowing_tokens=True).input_ids
            [[257, 32], [32, 257], [257, 258]]
        """
        # Imported on the first use: `import bytepair` and `encode` do without it.
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
                reading={"special": special, "added": added, "errors": errors},
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
        truncation_side: options.Side | None = None,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> Encoding:
        """Encodes one text or pair with offsets, tokens and words; options and errors as a call of the tokenizer.

        ``overflowing`` has the parts that truncation cuts off.

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
        self, text: TextInput, *, special: Special = "raise", added: Added = "match", errors: Errors = "strict"
    ) -> list[tuple[int, int]]:
        """The interval (start, end) of the text for each id of `encode`; options and errors as `encode`.

        In characters of ``str``, in bytes of ``bytes``, and in characters of a joined list; always of the given text,
        before normalizers and before ``errors="replace"``. Starts and ends never decrease. An id for a part of a
        character has the interval of the whole character.

        Example:
            >>> import bytepair as bp
            >>> bp.train({"low": 5}, vocab_size=258).offsets("low é")
            [(0, 3), (3, 4), (4, 5), (4, 5)]
        """
        from bytepair.call import offsets  # noqa: PLC0415 (as above)

        return offsets.located(self, text, {"special": special, "added": added, "errors": errors})[1]

    def is_valid(self, ids: Ids) -> bool:
        """Whether ids are the encoding of their own text: decoding and encoding returns the same ids.

        A special id is its token, and the text between two special ids never becomes one, whatever it spells: the text
        is encoded as ``tok.encode([text, Control(token), text])``. So all ids of ``encode`` are valid, with any
        options, and so is the training data of a language model. Sampled ids often are not: a model can spell a word
        with other tokens.

        Text that a stage removes is not in the decoded text. White space that a special token takes (``lstrip``,
        ``rstrip``) may be missing; an added token that is not special must be found again in the decoded text, and is
        not where it took the space that a ``single_word`` needs. Normalizers see their own result: the ids of
        ``encode`` are valid if normalizing twice is normalizing once, as for the normal forms of Unicode and lower
        case. A space that a stage adds in front is tried both ways. Unknown text is lost: ids with the unknown token
        are valid only if the token's own text encodes to it.

        Args:
            ids: A list of ints or an array of integers.

        Raises:
            InvalidIdError: The tokenizer does not have an id.
            TypeError: `ids` are not ids: text, floats, bools.

        Time is that of decoding and encoding.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> tok.encode("lower"), tok.is_valid([257, 258]), tok.is_valid([257, 101, 114])
            ([257, 258], True, False)
        """
        return is_valid(self, ids)

    def with_added_tokens(self, tokens: Iterable[str | AddedToken], *, special: bool = False) -> Tokenizer:
        """Returns a tokenizer with further added tokens; this one does not change.

        All ids stay the same, so that a model needs at most new rows: `resize_embeddings` makes them, for the embedding
        and the output layer.

        Args:
            tokens: Texts, which get the ids from ``vocab_size`` on, in order and after all ids that are given; or
                `AddedToken` with an id of its own. An existing added token is kept if nothing would change. An
                `AddedToken` with the id and the text of a token of the vocabulary is that token, matched before
                everything else.
            special: Whether the texts are special tokens. An `AddedToken` has its own flag.

        Raises:
            FormatError: A token exists with another id or other flags, or is in the vocabulary and no id is given; it
                is empty or too long; its id is that of another token.
            TypeError: `tokens` is one text, or holds something other than texts and `AddedToken`.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5}, vocab_size=258)
            >>> more = tok.with_added_tokens(["<|user|>", "<|bot|>"], special=True)
            >>> more.special_tokens, more.vocab_size, more.with_added_tokens(["<|bot|>"], special=True) == more
            ({'<|user|>': 258, '<|bot|>': 259}, 260, True)
        """
        # Imported on the first use: few programs add tokens.
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
        added: Added = "match",
        errors: Errors = "strict",
    ) -> list[Chunk]:
        """Splits a text into chunks of at most `limit` tokens each, which end at the best places.

        The chunks cover the text in order, and ``tok.count(text[start:end])`` of each is its ``tokens``. Chunks end at
        places of several kinds, from strong to weak; the named kind comes first and all weaker ones follow:

        - ``"markdown"``: before a heading of one to six ``#`` that is not in fenced code;
        - ``"paragraph"``: after a blank line;
        - ``"line"``: after the end of a line;
        - ``"sentence"``: between sentences of UAX #29, after the white space that follows the first;
        - ``"word"``: between words of UAX #29, before white space and not after it, since in most vocabularies a word's
          token begins with its space;
        - ``"character"``: anywhere;
        - a callable of the text that returns places in it: these come first, then the kinds from ``"line"`` on.

        A chunk could reach from its start to the end of the longest prefix that fits. If that is the end of the text,
        it does. Otherwise it ends at the last place of the strongest kind in the second half of that prefix at which it
        fits (a shorter text can have more tokens), or of the next weaker kind, or at the end of the prefix. Halves are
        measured in bytes of UTF-8, so that ``str`` and ``bytes`` have the same chunks.

        With an `overlap` the next chunk starts before the end of this one. Take the longest suffix of the chunk without
        its first character that has at most `overlap` tokens: the next chunk starts at the first place of the strongest
        kind in the first half of that suffix from which at most `overlap` tokens are shared, or of the next weaker
        kind, or at the start of the suffix. It ends after this one; if that is impossible, they share nothing.

        In lines of more than 4096 bytes sentences and words are found in parts, so that a sentence of thousands of
        bytes can be seen as two. A chunk can end inside the text of an added token, as inside any other; if the rest is
        another token, which the call does not allow, that raises.

        Args:
            text: ``str``, whose chunks are in characters; or UTF-8 ``bytes``, whose chunks are in bytes.
            limit: The most tokens of a chunk.
            overlap: The most tokens of the text that a chunk shares with the one before, less than `limit`.
            boundary: The strongest kind of place, or a callable.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `encode`. With ``"replace"`` places are still those of the given text, and tokens those of
                ``tok.count(text[start:end], errors="replace")``; no chunk ends within bytes that become one U+FFFD, or
                within a surrogate pair.

        Raises:
            LimitError: A single character has more tokens than `limit`; or `overlap` is not less than `limit`.
            SpecialTokenError: The text holds a token that the call does not allow.
            EncodeError: The text is not Unicode, or a byte of it has no token.
            ValueError: The boundary is unknown, or a place of the callable is not between two characters.

        Time is linear in the chunks. Ctrl-C ends a call while it runs.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> text = "low low. Lower low"
            >>> [text[start:end] for start, end, tokens in tok.chunks(text, 7)]
            ['low low. ', 'Lower low']
            >>> tok.chunks("low low low", 3, boundary="word", overlap=1)
            [Chunk(start=0, end=7, tokens=3), Chunk(start=4, end=11, tokens=3)]
        """
        return chunks.chunks(
            self, text, limit, overlap=overlap, boundary=boundary, special=special, added=added, errors=errors
        )

    def chunks_batch(
        self,
        texts: Iterable[str | bytes],
        limit: int,
        *,
        overlap: int = 0,
        boundary: Boundary = "sentence",
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[list[Chunk]]:
        """Splits each text of a batch into chunks, on several threads; options as `chunks`, errors with their row.

        Args:
            texts: A sequence of texts.
            limit: The most tokens of a chunk.
            overlap: As for `chunks`.
            boundary: As for `chunks`; a callable is called for each text in order, before the work begins.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `chunks`.
            threads: The most threads; None for all cores. Each text is split by one thread.

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
            errors=errors,
            threads=threads,
        )

    def chunk_parts(
        self,
        parts: Iterable[str] | Iterable[bytes],
        limit: int,
        *,
        overlap: int = 0,
        boundary: Kind = "sentence",
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> Iterator[tuple[Chunk, str]]:
        """Splits a text in parts into chunks, each with its text: those of `chunks` for the joined parts.

        A chunk is yielded as soon as no text to come can change it: memory holds a part, a few chunks and some thousand
        bytes, for a text of any length, if the text can be cut. With a split pattern that needs backtracking, for one,
        later text can change all chunks, and the whole text is held.

        Args:
            parts: Parts of the text, which may be cut anywhere: all ``str``, or all UTF-8 ``bytes``.
            limit: The most tokens of a chunk.
            overlap: As for `chunks`.
            boundary: The strongest kind of place, as for `chunks`; not a callable, which would need the whole text.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `chunks`; the texts hold U+FFFD.

        Raises:
            LimitError: As `chunks`; its other errors as well, with the part that contains them. Their places are in the
                whole text.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> [text for chunk, text in tok.chunk_parts(["low lo", "w. Low", "er low"], 7)]
            ['low low. ', 'Lower low']
        """
        return chunks.chunk_parts(
            self, parts, limit, overlap=overlap, boundary=boundary, special=special, added=added, errors=errors
        )

    def trie(self) -> Trie:
        """The tokens of the model by their bytes, as a trie of flat arrays; added tokens are not in it.

        The bytes of a token of characters are those of the text that it represents: a space for U+2581, a byte for
        ``<0x0A>``. So it is there for every model, made once and kept.

        Example:
            >>> import bytepair as bp
            >>> trie = bp.train({"low": 5, "lower": 2}, vocab_size=259).trie()
            >>> trie.under(b"lo").tolist(), trie.labels.dtype, trie.labels.flags.writeable
            ([256, 257], dtype('uint8'), False)
        """
        from bytepair.prompts.trie import trie  # noqa: PLC0415 (few programs walk through tokens)

        return trie(self)

    def cover(self, text: str | bytes) -> Cover:
        r"""The shortest sequences of ids that the encoding of a text can begin with, if that text begins with `text`.

        T is `encode` with added tokens as text. For each text x that begins with `text`, the shortest beginning of T(x)
        whose bytes begin with `text` is in the cover, and nothing else is: its last id alone reaches the end of `text`,
        or past it. So each continuation of `text` begins with exactly one of them, and the probability that a language
        model gives to `text` as a beginning is the sum of theirs. Behind a normal form, x and `text` are taken in it.

        Args:
            text: The beginning; as UTF-8 ``bytes`` it may end inside of a character.

        Raises:
            EncodeError: No text begins with these bytes.
            FormatError: No exact answer is known for this tokenizer, as for `next_mask`.

        Time is that of encoding `text` up to the last place where pieces certainly end, and of the ways to spell the
        rest.
        Source: Vieira et al., "From Language Models over Tokens to Language Models over Characters", 2024.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259, split="gpt2")
            >>> [[tok.decode([id]) for id in ids] for ids in tok.cover("a lo")]
            [['a', ' ', 'lo'], ['a', ' ', 'low']]
        """
        from bytepair.prompts.cover import cover  # noqa: PLC0415 (as above)

        return cover(self, text)

    def heal(self, ids: Ids) -> Healing:
        """How to go on behind a prompt that was cut anywhere, so that the whole can be the encoding of a text.

        The last ids of a prompt can be others in the encoding of a longer text: behind ``"lo"`` comes no ``"w"`` if
        ``"low"`` is a token. So some ids are taken back, the fewest that leave what the encodings of all longer texts
        begin with, and the model writes them again: its first id is one of a mask, and while bytes of `prefix` are
        left, ``tok.next_mask(ids, prefix)`` has the ids after that.

        Args:
            ids: The prompt, whose text begins behind its last added token.

        Returns:
            `back`, the number of ids to take back; `prefix`, the bytes that they spell, as of `trie`; `mask`, as of
            `next_mask`.

        Raises:
            InvalidIdError: No token has this id.
            EncodeError: No text begins with the bytes of the ids.
            FormatError: No exact answer is known for this tokenizer, as for `next_mask`.

        Time is that of `cover`.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259, split="gpt2")
            >>> healing = tok.heal(tok.encode("a lo"))
            >>> healing.back, healing.prefix
            (1, b'lo')
        """
        from bytepair.prompts.cover import heal  # noqa: PLC0415 (as above)

        return heal(self, ids)

    def encode_parts(
        self,
        parts: Iterable[str] | Iterable[bytes],
        *,
        special: Special = "raise",
        added: Added = "match",
        errors: Errors = "strict",
    ) -> Iterator[NDArray[np.uint32]]:
        """Encodes a text in parts: the ids of `encode` for the joined parts, without holding the text.

        `encode_stream` is the same as an object to push parts into, and documents how much text is held.

        Args:
            parts: Parts of the text, which may be cut anywhere: all ``str``, or all UTF-8 ``bytes``.
            special: As for `encode`.
            added: As for `encode`.
            errors: As for `encode`.

        Yields:
            Ids in order, as soon as no text to come can change them; never an empty array.

        Raises:
            SpecialTokenError: As `encode`; its other errors as well, with the part that makes them certain. Their
                places are in the whole text.

        Example:
            >>> import bytepair as bp
            >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
            >>> [ids.tolist() for ids in tok.encode_parts(["low lo", "wer", " low"])]
            [[257], [32, 257, 258, 32, 257]]
        """
        stream = self.encode_stream(special=special, added=added, errors=errors)
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
