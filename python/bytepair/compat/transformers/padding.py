"""`pad`: encoded rows -> rows of one length, as data collators call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bytepair.compat.transformers import arguments
from bytepair.compat.transformers.batch import BatchEncoding
from bytepair.compat.transformers.state import State


class Padding(State):
    """The method ``pad`` of a tokenizer, which data collators call."""

    def pad(  # noqa: PLR0917 (positions of transformers)
        self,
        encoded_inputs: Any,
        padding: Any = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: Any = None,
        verbose: bool = True,  # noqa: ARG002 (nothing is logged)
    ) -> BatchEncoding:
        """Pad encoded rows: one row, columns of several rows, or a list of rows.

        Args:
            encoded_inputs: A dict of columns, or a list of dicts that are rows; lists, or arrays of numpy or torch.
            padding: As for a call.
            max_length: As for a call.
            pad_to_multiple_of: As for a call.
            padding_side: As for a call.
            return_attention_mask: Adds ``attention_mask`` if there is none; None if ``model_input_names`` has it.
            return_tensors: As for a call; None for the kind of the input.
            verbose: Has no effect; nothing is logged.

        Raises:
            ValueError: There are no ids, or columns do not match; or as for a call.
        """
        return_tensors = getattr(return_tensors, "value", return_tensors)
        if isinstance(encoded_inputs, (list, tuple)) and encoded_inputs and isinstance(encoded_inputs[0], Mapping):
            names = encoded_inputs[0].keys()
            for row, example in enumerate(encoded_inputs):
                if example.keys() != names:
                    raise ValueError(f"row {row} has the columns {list(example)}, but the first row has {list(names)}")
            encoded_inputs = {name: [example[name] for example in encoded_inputs] for name in names}
        main = self.model_input_names[0]
        if not isinstance(encoded_inputs, Mapping) or main not in encoded_inputs:
            given = list(encoded_inputs) if isinstance(encoded_inputs, Mapping) else type(encoded_inputs).__name__
            raise ValueError(f"pad takes rows with {main}, not {given}")
        if return_tensors is None and len(encoded_inputs[main]):
            return_tensors = _kind(encoded_inputs[main]) or _kind(encoded_inputs[main][0])
        columns = {name: _plain(column) for name, column in encoded_inputs.items()}
        is_one = bool(columns[main]) and not isinstance(columns[main][0], list)
        if is_one:
            columns = {name: [column] for name, column in columns.items()}
        rows = columns[main]
        for name, column in columns.items():
            if len(column) != len(rows):
                raise ValueError(f"{name} has {len(column)} rows, and {main} has {len(rows)}")
        if self._wants("attention_mask", return_attention_mask) and "attention_mask" not in columns:
            columns["attention_mask"] = [[1] * len(row) for row in rows]
        how = arguments.lengths(self, padding, None if padding else False, max_length)
        if how.padding:
            width = max(map(len, rows), default=0) if how.padding == "longest" else how.max_length or 0
            multiple = pad_to_multiple_of or 1
            _fill(self, columns, main, width + -width % multiple, padding_side or self.padding_side)
        elif max_length is not None or pad_to_multiple_of is not None:
            raise ValueError("max_length and pad_to_multiple_of have no effect with padding=False")
        if is_one:
            columns = {name: column[0] for name, column in columns.items()}
        return BatchEncoding(columns).convert_to_tensors(return_tensors)


def _fill(tokenizer: State, columns: dict[str, Any], main: str, width: int, side: str) -> None:
    if side not in ("left", "right"):
        raise ValueError(f'padding_side={side!r} is unknown; use "left" or "right"')
    fillings = {
        main: arguments.pad_token(tokenizer),
        "attention_mask": 0,
        "token_type_ids": 0,
        "special_tokens_mask": 1,
    }
    lengths = [len(row) for row in columns[main]]
    for name, filling in fillings.items():
        if name not in columns:
            continue
        columns[name] = [
            [*row, *more] if side == "right" else [*more, *row]
            for row, length in zip(columns[name], lengths, strict=True)
            for more in [[filling] * (width - length)]
        ]


def _kind(value: Any) -> str | None:
    """The kind of a tensor, or None."""
    if isinstance(value, (Sequence, int)):
        return None
    module = type(value).__module__.partition(".")[0]
    kinds = {"numpy": "np", "torch": "pt"}
    if module not in kinds:
        raise ValueError(f"a row is a {type(value).__name__}; use lists of int, or arrays of numpy or torch")
    return kinds[module]


def _plain(column: Any) -> Any:
    """Convert an array, or a list of arrays, to lists."""
    if hasattr(column, "tolist"):
        return column.tolist()
    return [_plain(each) for each in column] if isinstance(column, (list, tuple)) else column
