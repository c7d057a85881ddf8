"""Post-processors: results as in ``tokenizers``, and errors for broken ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers

import bytepair as bp
from bytepair.call.post_processing import PostProcessor
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

SPECIAL = ["<s>", "</s>", "[CLS]", "[SEP]", "[PAD]", "<mask>"]


def piece(kind: str, name: str, type_id: int = 0) -> dict[str, Any]:
    return {kind: {"id": name, "type_id": type_id}}


def template(single: list[dict[str, Any]], pair: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": {
            "[CLS]": {"id": "[CLS]", "ids": [402], "tokens": ["[CLS]"]},
            "[SEP]": {"id": "[SEP]", "ids": [403], "tokens": ["[SEP]"]},
            "two": {"id": "two", "ids": [400, 401], "tokens": ["<s>", "</s>"]},
        },
    }


A, B = piece("Sequence", "A"), piece("Sequence", "B", 1)
CLS, SEP, SEP1 = piece("SpecialToken", "[CLS]"), piece("SpecialToken", "[SEP]"), piece("SpecialToken", "[SEP]", 1)
BERT_TEMPLATE = template([CLS, A, SEP], [CLS, A, SEP, B, SEP1])
BERT = {"type": "BertProcessing", "sep": ["[SEP]", 403], "cls": ["[CLS]", 402]}


def byte_level(trim: bool = True, prefix: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": True}


def roberta(trim: bool, prefix: bool) -> dict[str, Any]:
    ends = {"sep": ["</s>", 401], "cls": ["<s>", 400]}
    return {"type": "RobertaProcessing", **ends, "trim_offsets": trim, "add_prefix_space": prefix}


def sequence(*processors: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "processors": [*processors]}


PROCESSORS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "byte_level": byte_level(),
    "byte_level_untrimmed": byte_level(trim=False),
    "byte_level_prefix": byte_level(prefix=True),
    "bert": BERT,
    "roberta": roberta(trim=True, prefix=False),
    "roberta_prefix": roberta(trim=True, prefix=True),
    "roberta_untrimmed": roberta(trim=False, prefix=True),
    "template": BERT_TEMPLATE,
    "template_bos": template([piece("SpecialToken", "two", 3), A], [piece("SpecialToken", "two"), A, B]),
    "template_swapped": template([A, CLS], [piece("Sequence", "B", 2), CLS, piece("Sequence", "A", 5), SEP]),
    "template_twice": template([A, CLS, piece("Sequence", "A", 4)], [A, B, piece("Sequence", "A", 7), SEP]),
    "template_without_texts": template([CLS], [CLS, B]),
    "template_empty": template([], []),
    "sequence": sequence(byte_level(), BERT_TEMPLATE),
    "sequence_nested": sequence(sequence(byte_level(prefix=True)), sequence(BERT, sequence())),
    "sequence_odd": sequence(BERT_TEMPLATE, byte_level()),
    "sequence_odder": sequence(BERT_TEMPLATE, roberta(trim=True, prefix=True)),
    "sequence_twice": sequence(roberta(trim=True, prefix=False), BERT),
    "sequence_templates": sequence(template([A], [B, A]), BERT_TEMPLATE),
    "sequence_empty": sequence(),
}
"""Post-processors that files have, and others that they could have."""


@pytest.fixture(scope="session")
def plain(sources: list[str]) -> bp.Tokenizer:
    """Few tokens, so that most pieces are several; six special ones, one of which takes the white space before it."""
    spec = bp.train(iter(sources), 400, split="gpt2").spec
    added = [bp.AddedToken(name, 400 + place, lstrip=name == "<mask>") for place, name in enumerate(SPECIAL)]
    return bp.Tokenizer(spec.replace(added_tokens=tuple(added)))


def with_processor(plain: bp.Tokenizer, processor: dict[str, Any] | None, folder: Path) -> tuple[bp.Tokenizer, Any]:
    """A tokenizer with a post-processor, and the peer's from the same file."""
    text = None if processor is None else json.dumps(processor, ensure_ascii=False)
    tok = bp.Tokenizer(plain.spec.replace(post_processor=text))
    tok.save(folder)
    return tok, tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


def fields(encoding: Any) -> dict[str, Any]:
    """All columns of an ``Encoding``, ours or the peer's."""
    names = ["ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask"]
    names += ["sequence_ids", "n_sequences"]
    return {name: getattr(encoding, name) for name in names} | {"overflowing": [*map(fields, encoding.overflowing)]}


TEXTS = [*HOSTILE, "Hello  <mask> wörld 🦊  x", "[CLS]a b[SEP]", " <mask><mask>\n", "  two  spaces  "]


@pytest.mark.parametrize("name", PROCESSORS)
def test_encodings_are_those_of_tokenizers(plain: bp.Tokenizer, tmp_path: Path, name: str) -> None:
    tok, peer = with_processor(plain, PROCESSORS[name], tmp_path)
    for row, text in enumerate(TEXTS):
        other = TEXTS[row - 1]
        for add in (True, False):
            mine = tok.encoding(text, add_special_tokens=add, special="allow")
            assert fields(mine) == fields(peer.encode(text, add_special_tokens=add))
            mine = tok.encoding(text, other, add_special_tokens=add, special="allow")
            assert fields(mine) == fields(peer.encode(text, other, add_special_tokens=add))


@pytest.mark.parametrize("name", PROCESSORS)
def test_what_it_adds_is_what_tokenizers_counts(plain: bp.Tokenizer, tmp_path: Path, name: str) -> None:
    _, peer = with_processor(plain, PROCESSORS[name], tmp_path)
    processor = PostProcessor(PROCESSORS[name])
    for pair in (False, True):
        assert processor.added(pair=pair) == peer.num_special_tokens_to_add(pair)


def test_encode_adds_nothing(plain: bp.Tokenizer, tmp_path: Path) -> None:
    tok, _ = with_processor(plain, BERT, tmp_path)
    assert tok.encode("a") == [97]
    assert tok.count("a") == 1
    assert tok.fit("a b", 1) == "a"
    assert tok("a").input_ids == [402, 97, 403]


def put(table: Any, path: str, value: Any) -> dict[str, Any]:
    """A copy of a table with another value at a place."""
    table = json.loads(json.dumps(table))
    *steps, last = path.split("/")[1:]
    inner = table
    for step in steps:
        inner = inner[int(step) if isinstance(inner, list) else step]
    if isinstance(inner, list):
        inner[int(last)] = value
    else:
        inner[last] = value
    return dict(table)


WRONG: list[tuple[dict[str, Any], str, Any]] = [
    (BERT, "/type", "BERT"),
    (BERT, "/type", None),
    (BERT, "/sep", "[SEP]"),
    (BERT, "/sep", ["[SEP]"]),
    (BERT, "/cls/1", "402"),
    (BERT, "/cls/1", -1),
    (BERT, "/cls/1", 2**32),
    (BERT, "/cls/1", True),
    (BERT, "/extra", 1),
    (byte_level(), "/trim_offsets", None),
    (byte_level(), "/add_prefix_space", 0),
    (byte_level(), "/use_regex", 1),
    (roberta(trim=True, prefix=True), "/trim_offsets", "yes"),
    (BERT_TEMPLATE, "/single", "[CLS] $A [SEP]"),
    (BERT_TEMPLATE, "/pair/3/Sequence/id", "C"),
    (BERT_TEMPLATE, "/pair/3/Sequence/type_id", -1),
    (BERT_TEMPLATE, "/single/1/Sequence/id", "B"),
    (BERT_TEMPLATE, "/single/0/SpecialToken/id", "[NOPE]"),
    (BERT_TEMPLATE, "/single/0/SpecialToken", 5),
    (BERT_TEMPLATE, "/single/0", {"Special": {}}),
    (BERT_TEMPLATE, "/special_tokens", []),
    (BERT_TEMPLATE, "/special_tokens/two/ids/1", None),
    (BERT_TEMPLATE, "/special_tokens/two/tokens", ["<s>"]),
    (BERT_TEMPLATE, "/special_tokens/two/ids", 5),
    (sequence(BERT, BERT), "/processors/1/sep", []),
    (sequence(BERT), "/processors", {}),
]


@pytest.mark.parametrize(("table", "path", "value"), WRONG)
def test_what_is_broken_is_refused_with_its_place(
    plain: bp.Tokenizer, table: dict[str, Any], path: str, value: Any
) -> None:
    broken = json.dumps(put(table, path, value), ensure_ascii=False)
    with pytest.raises(bp.FormatError) as caught:
        bp.Tokenizer(plain.spec.replace(post_processor=broken))
    place = "/post_processor" + ("" if path.endswith("type") else path)
    assert caught.value.pointer in (place, f"{place}/id")


def test_templates_that_do_not_fit_together_are_refused(plain: bp.Tokenizer) -> None:
    for first, parts in ((BERT_TEMPLATE, 3), (template([CLS], [A]), 0)):
        text = json.dumps(sequence(first, BERT_TEMPLATE), ensure_ascii=False)
        with pytest.raises(bp.FormatError, match=f"makes {parts} parts") as caught:
            bp.Tokenizer(plain.spec.replace(post_processor=text))
        assert caught.value.pointer == "/post_processor"


def test_nesting_is_bounded(plain: bp.Tokenizer) -> None:
    def nested(depth: int) -> str:
        return '{"type": "Sequence", "processors": [' * depth + "]}" * depth

    assert bp.Tokenizer(plain.spec.replace(post_processor=nested(50)))("a").input_ids == [97]
    for depth in (70, 300, 100_000):
        with pytest.raises(bp.FormatError):
            bp.Tokenizer(plain.spec.replace(post_processor=nested(depth)))
