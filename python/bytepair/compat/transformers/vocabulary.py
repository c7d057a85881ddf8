"""The vocabulary of a tokenizer: tokens and ids, added tokens, and the tokens around texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair._core import decode_tokens
from bytepair.call.post_processing import post_processor
from bytepair.call.spelling import spell_tokens
from bytepair.compat.tokenizers.added_tokens import AddedToken
from bytepair.compat.transformers import added
from bytepair.compat.transformers.added import as_added
from bytepair.compat.transformers.decoding import plain_ids
from bytepair.compat.transformers.state import State
from bytepair.formats import configs, hf_stages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.tokenizer import Tokenizer


class Vocabulary(State):
    """The methods of a tokenizer for its vocabulary. Adding tokens replaces the immutable engine."""

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Convert a token or a list of tokens to ids; an unknown token has the id of ``unk_token`` or None."""
        vocab = self._spelled()
        named = self._named.get("unk_token")
        unknown = None if named is None else vocab.get(str(named))
        if isinstance(tokens, str):
            return vocab.get(tokens, unknown)
        return [vocab.get(str(token), unknown) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """Convert an id or a list of ids to tokens; None for an unknown id."""
        plain = plain_ids(ids)
        is_one = not isinstance(ids, (list, tuple)) and not getattr(ids, "shape", None)
        skipped = set(self.all_special_ids) if skip_special_tokens and not is_one else set()
        known = self._known()
        found = [spell_tokens(self._tok, [id])[0] if id in known else None for id in plain if id not in skipped]
        return found[0] if is_one else found

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Decode tokens to text by the tokenizer's decoders.

        Example:
            >>> import bytepair as bp
            >>> from bytepair.compat.transformers import PreTrainedTokenizerFast
            >>> tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
            >>> PreTrainedTokenizerFast(tokenizer_object=tok).convert_tokens_to_string(['s', 'low', 'Ġ'])
            'slow '
        """
        spec = self._tok.spec
        steps = spec.decoders or ((json.dumps(hf_stages.byte_level()),) if spec.is_byte_level else ())
        return decode_tokens(steps, tokens) if steps else " ".join(tokens)

    # The vocabulary

    def _spelled(self) -> dict[str, int]:
        if self._vocab is None:
            ids = sorted({*self._tok.spec.packed.all_ids(), *(token.id for token in self._tok.spec.added_tokens)})
            self.__dict__["_vocab"] = dict(zip(spell_tokens(self._tok, ids), ids, strict=True))
        assert self._vocab is not None
        return self._vocab

    def _known(self) -> set[int]:
        if "_ids" not in self.__dict__:
            self.__dict__["_ids"] = set(self._spelled().values())
        known: set[int] = self.__dict__["_ids"]
        return known

    def get_vocab(self) -> dict[str, int]:
        """Return all tokens as spelled in the vocabulary, with their ids."""
        return dict(self._spelled())

    @property
    def vocab(self) -> dict[str, int]:
        """As `get_vocab`."""
        return self.get_vocab()

    def __len__(self) -> int:
        return len(self._tok)

    def __bool__(self) -> bool:
        return True

    @property
    def is_fast(self) -> bool:
        """True."""
        return True

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id."""
        return added.decoder(self._tok)

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The added tokens and their ids, in the order of ids."""
        return {token.content: token.id for token in self._tok.spec.added_tokens}

    def get_added_vocab(self) -> dict[str, int]:
        """As `added_tokens_encoder`."""
        return self.added_tokens_encoder

    def add_tokens(self, new_tokens: Any, special_tokens: bool = False) -> int:
        """Add tokens with the next free ids; a token of the vocabulary keeps its id and is matched whole.

        Args:
            new_tokens: A token or a list of tokens: ``str`` or `AddedToken`.
            special_tokens: Whether they are special.

        Returns:
            The number of tokens that are new or changed. A model then needs `len(tokenizer)` rows.
        """
        listed = new_tokens if isinstance(new_tokens, (list, tuple)) else [new_tokens] if new_tokens else []
        return self._add([as_added(token, special=True if special_tokens else None) for token in listed])

    def add_special_tokens(self, special_tokens_dict: dict[str, Any], replace_extra_special_tokens: bool = True) -> int:
        """Name tokens, and add those that the vocabulary lacks.

        Args:
            special_tokens_dict: Tokens by name; ``extra_special_tokens`` is a list of tokens.
            replace_extra_special_tokens: Whether that list replaces the existing one.

        Returns:
            The number of tokens that are new or changed.

        Raises:
            ValueError: A name is unknown.

        Example:
            >>> import bytepair as bp
            >>> from bytepair.compat.transformers import PreTrainedTokenizerFast
            >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=bp.train({"low": 5}, vocab_size=258))
            >>> tokenizer.add_special_tokens({"pad_token": "[PAD]"}), tokenizer.pad_token_id, len(tokenizer)
            (1, 258, 259)
        """
        given = dict(special_tokens_dict)
        if "additional_special_tokens" in given and not given.get("extra_special_tokens"):
            given["extra_special_tokens"] = given.pop("additional_special_tokens")
        tokens: list[AddedToken] = []
        named: dict[str, AddedToken] = {}
        extra = self._extra
        for name, value in given.items():
            if name == "extra_special_tokens":
                if not isinstance(value, (list, tuple)) or not all(map(added.is_token, value)):
                    raise ValueError(f"{name} is a list of str or AddedToken, not {value!r}")
                known = () if replace_extra_special_tokens else self.extra_special_tokens
                new = [as_added(token, special=True) for token in value if str(token) not in known]
                extra = [*new] if replace_extra_special_tokens and new else [*self._extra, *new]
                tokens += new
            elif name not in self._named:
                names = ", ".join((*self._named, "extra_special_tokens"))
                raise ValueError(f"{name} is not the name of a special token; names are {names}")
            elif not added.is_token(value):
                raise ValueError(f"{name} is a str or an AddedToken, not {value!r}")
            else:
                named[name] = as_added(value, special=True)
                tokens.append(named[name])
        changed = self._add(tokens)
        # Set only now, so that an error leaves the names unchanged.
        self._named.update(named)
        self.__dict__["_extra"] = extra
        return changed

    def _as_named(self, token: AddedToken) -> AddedToken:
        is_named = any(str(each) == token.content for each in self._named.values() if each is not None)
        return as_added(token, special=True) if is_named else token

    def _add(self, tokens: Iterable[AddedToken]) -> int:
        tokens = list(tokens)
        if not tokens:
            return 0
        engine, changed = added.with_tokens(self._tok, self._spelled(), self._base, tokens)
        self._use(engine)
        return changed

    def _use(self, engine: Tokenizer) -> None:
        self.__dict__.pop("_ids", None)
        self._tok, self._vocab = engine, None

    # Tokens around texts

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """The number of ids that the post-processor adds to a text or to a pair."""
        return post_processor(self._tok).added(pair=pair)

    @property
    def max_len_single_sentence(self) -> int:
        """The maximum number of ids of a text, without added tokens."""
        return self.model_max_length - self.num_special_tokens_to_add()

    @property
    def max_len_sentences_pair(self) -> int:
        """The maximum number of ids of a pair, without added tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=True)

    @property
    def pad_token_type_id(self) -> int:
        """The padding of ``token_type_ids``: 0."""
        return 0

    @property
    def add_bos_token(self) -> bool:
        """Whether ``bos_token`` is added before each text; setting it replaces the post-processor."""
        return self._add_bos

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._add_bos = bool(value)
        self._update_template()

    @property
    def add_eos_token(self) -> bool:
        """Whether ``eos_token`` is added after each text; setting it replaces the post-processor."""
        return self._add_eos

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._add_eos = bool(value)
        self._update_template()

    def _update_template(self) -> None:
        bos, eos = (self.bos_token if self._add_bos else None), (self.eos_token if self._add_eos else None)
        self._add_bos, self._add_eos = bos is not None, eos is not None
        step = configs.template(bos, eos, self._spelled())
        self._use(type(self._tok)(self._tok.spec.replace(post_processor=step)))
