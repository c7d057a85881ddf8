from __future__ import annotations

from argparse import ArgumentParser
from typing import NoReturn

import pytest

import bytepair as bp
from bytepair.cli.arguments import add_models, load_models


def _load(*arguments: str, names: tuple[str, ...] = ()) -> dict[str, bp.Tokenizer]:
    parser = ArgumentParser()
    add_models(parser, *names, required=False)
    parser.set_defaults(usage_error=_wrong_usage)
    return load_models(parser.parse_args(arguments))


class _UsageError(Exception):
    pass


def _wrong_usage(message: str) -> NoReturn:
    raise _UsageError(message)


def test_several_models_have_names_that_differ(tok: bp.Tokenizer) -> None:
    for folder in ("a/b", "c/b", "d"):
        tok.save(folder)
    options = [f"-m{path}" for path in ("a/b", "./c/b/", "d/tokenizer.json", "d", "a/../d", "d")]
    found = _load(*options)
    assert list(found) == ["a/b", "c/b", "d/tokenizer.json", "d", "d (2)", "d (3)"]
    assert all(model == tok for model in found.values())
    assert list(_load("a/b", "d", names=("A", "B"))) == ["b", "d"]
    assert _load() == {}


def test_what_bare_files_lack_is_for_files_and_folders_of_encodings_for_encodings(tok: bp.Tokenizer) -> None:
    tok.save("bare.tiktoken", drop=("split", "special_tokens"))
    bare = ["--split", "gpt2", "--special-token", "<|end|>=289"]
    assert _load("-mbare.tiktoken", *bare)["bare.tiktoken"].encode("low") == tok.encode("low")
    with pytest.raises(_UsageError, match="gpt2, o200k_base are encodings"):
        _load("-mgpt2", "-mo200k_base", *bare)
    with pytest.raises(_UsageError, match=r"bare\.tiktoken, model are none"):
        _load("-mbare.tiktoken", "-mmodel", "--encodings", ".")
    with pytest.raises(_UsageError, match="twice"):
        _load("-mbare.tiktoken", *bare, *bare[2:])
