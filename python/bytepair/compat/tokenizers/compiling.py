"""The JSON of a model and its stages -> a `bytepair.Tokenizer`, by the reader of ``tokenizer.json`` in `formats`."""

from __future__ import annotations

from typing import Any

from bytepair.errors import FormatError
from bytepair.formats import hf_json, hf_stages
from bytepair.model.checks import check_alphabet
from bytepair.model.spec import TokenizerSpec
from bytepair.model.steps import parse_step
from bytepair.tokenizer import Tokenizer

Json = Any


def compile_core(
    model: dict[str, Json],
    added: list[dict[str, Json]],
    stages: dict[str, Json],
    post_processor: Json = None,
    *,
    special_apart: bool = False,
) -> Tokenizer:
    """Compile a model, added tokens and stages.

    A vocabulary that lacks bytes is treated as one of characters, and characters without a token are dropped, as in
    ``tokenizers``.

    Args:
        model: The model; its dropout is ignored, since calls pass it.
        added: The added tokens.
        stages: The normalizer, the pre-tokenizer and the decoder, by these names; each may be missing.
        post_processor: The post-processor.
        special_apart: Whether text cannot become special tokens, as in bytepair and unlike ``tokenizers``.

    Raises:
        FormatError: A part is not supported; ``pointer`` names it.
    """
    if model.get("dropout"):
        model = {**model, "dropout": None}
    table = {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": stages.get("normalizer"),
        "pre_tokenizer": stages.get("pre_tokenizer"),
        "post_processor": post_processor,
        "decoder": stages.get("decoder"),
        "model": model,
    }
    return Tokenizer(_load(table, special_apart=special_apart))


def _load(table: dict[str, Json], *, special_apart: bool) -> TokenizerSpec:
    decoder = table["decoder"]
    steps = hf_stages.read_steps("decoder", decoder)
    if [parse_step(step)["type"] for step in steps] != ["ByteLevel"]:
        return hf_json.read(table, special_apart=special_apart)
    try:
        spec = hf_json.read(table, special_apart=special_apart)
        if spec.is_byte_level:
            check_alphabet(spec.packed.columns.single_bytes())
    except FormatError:
        if table["model"].get("type") != "BPE":
            raise
    else:
        return spec
    # Without a decoder the vocabulary is read as one of characters.
    spec = hf_json.read({**table, "decoder": None}, special_apart=special_apart)
    return spec.replace(decoders=steps)
