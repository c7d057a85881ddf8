"""Named special tokens such as ``pad_token``, and their ids, as attributes."""

from __future__ import annotations

from typing import Any

from bytepair.compat.transformers.added import as_added, is_token

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""The names in every tokenizer."""

_EXTRA = ("extra_special_tokens", "additional_special_tokens")


class SpecialTokens:
    """The named tokens of a tokenizer.

    ``bos_token``, ``eos_token``, ``unk_token``, ``sep_token``, ``pad_token``, ``cls_token``, ``mask_token``, names that
    a model adds (``image_token``), and each of these with ``_id``. An unset name is None; setting one does not change
    the vocabulary. ``extra_special_tokens``, also called ``additional_special_tokens``, lists special tokens without a
    name.
    """

    _named: dict[str, Any]
    _extra: list[Any]

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Convert tokens to ids; see `Vocabulary.convert_tokens_to_ids`."""
        raise NotImplementedError

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        """Convert ids to tokens; see `Vocabulary.convert_ids_to_tokens`."""
        raise NotImplementedError

    def _name(self, named: dict[str, Any], extra: Any) -> None:
        """Set the named and the extra tokens; a dict of extra tokens names them."""
        table: dict[str, Any] = dict.fromkeys(ROLES)
        self.__dict__.update(_named=table, _extra=[])
        if isinstance(extra, dict):
            named, extra = {**named, **extra}, []
        for name, token in named.items():
            table[name] = _checked(name, token)
        if not isinstance(extra, (list, tuple)):
            raise TypeError(f"extra_special_tokens is a list of tokens, or a dict of tokens by name, not {extra!r}")
        self._extra.extend(_checked("extra_special_tokens", token) for token in extra if token is not None)

    def __getattr__(self, name: str) -> Any:
        named = self.__dict__.get("_named", {})
        token, wants_id = _split(name)
        if token in _EXTRA:
            extra = [str(each) for each in self.__dict__.get("_extra", ())]
            return self.convert_tokens_to_ids(extra) if wants_id else extra
        if token not in named:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if named[token] is None:
            return None
        return self.convert_tokens_to_ids(str(named[token])) if wants_id else str(named[token])

    def __setattr__(self, name: str, value: Any) -> None:
        token, wants_id = _split(name)
        if token in _EXTRA:
            listed = [] if value is None else value
            if not isinstance(listed, (list, tuple)):
                raise ValueError(f"{name} is a list of tokens, not {value!r}")
            listed = [self.convert_ids_to_tokens(each) if wants_id else each for each in listed]
            self.__dict__["_extra"] = [_checked(name, each) for each in listed]
        elif token in self.__dict__.get("_named", ()):
            if wants_id and value is not None:
                found = self.convert_ids_to_tokens(value)
                if found is None:
                    raise ValueError(f"{name}={value!r} is not an id of the vocabulary")
                value = found
            self._named[token] = _checked(name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The named tokens by name."""
        return {name: str(token) for name, token in self._named.items() if token is not None}

    @property
    def all_special_tokens(self) -> list[str]:
        """The named and the extra tokens, without repetition."""
        return list(dict.fromkeys([*self.special_tokens_map.values(), *map(str, self._extra)]))

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`."""
        ids: list[int] = self.convert_tokens_to_ids(self.all_special_tokens)
        return ids

    def get_special_tokens_mask(
        self,
        token_ids_0: list[int],
        token_ids_1: list[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """Return 1 for each id in `all_special_ids`, else 0.

        Args:
            token_ids_0: The ids of a row.
            token_ids_1: None; a row contains both texts of a pair.
            already_has_special_tokens: True; for texts, call with ``return_special_tokens_mask=True``.

        Raises:
            ValueError: There is a second list of ids.
            NotImplementedError: ``already_has_special_tokens`` is false.
        """
        if not already_has_special_tokens:
            raise NotImplementedError(
                "get_special_tokens_mask of ids without special tokens is not supported; "
                "use tokenizer(text, return_special_tokens_mask=True)"
            )
        if token_ids_1 is not None:
            raise ValueError("a row contains both texts of a pair: leave token_ids_1 out")
        special = set(self.all_special_ids)
        return [int(int(id) in special) for id in token_ids_0]


def _split(name: str) -> tuple[str, bool]:
    """The name of a token, and whether the attribute is its id."""
    for ending in ("_ids", "_id"):
        if name.endswith(ending):
            return name.removesuffix(ending), True
    return name, False


def _checked(name: str, token: Any) -> Any:
    if isinstance(token, dict):
        return as_added({key: value for key, value in token.items() if key != "__type"}, special=True)
    if token is None or is_token(token):
        return token
    raise ValueError(f"{name} is {token!r}, which is neither a str nor an AddedToken")
