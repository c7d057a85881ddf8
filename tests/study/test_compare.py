"""`compare`: a tokenizer with itself, with one that differs in one stage, against a plain oracle, on hostile text."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.errors import ArtifactError, EncodeError, SourceError, SpecialTokenError
from bytepair.model.models import BytePair, Characters, Unigram
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import split_pattern
from bytepair.study.compare import documents, texts
from bytepair.view import compared
from tests.conftest import HOSTILE

PLAIN = ["low lower", "", "the lowest café, 10000 times", "new\n\nlines", "x"]


def with_stages(tok: bp.Tokenizer, **changes: Any) -> bp.Tokenizer:
    return bp.Tokenizer(tok.spec.replace(**changes))


@pytest.fixture(scope="module")
def other(sources: list[str]) -> bp.Tokenizer:
    return bp.train(iter(sources), 1200, split="gpt2", special_tokens=["<|end|>"])


def compare(a: bp.Tokenizer, b: bp.Tokenizer, found: list[str], **options: Any) -> bp.Comparison:
    return bp.compare(a, b, {"texts": iter(found)}, **options)


def test_a_tokenizer_is_the_same_as_itself(tok: bp.Tokenizer) -> None:
    found = compare(tok, tok, [*HOSTILE, *PLAIN])
    assert found.is_same
    assert not found.differs
    assert found.first_stage is None
    assert all(stage.same for stage in found.stages)
    assert (found.vocabulary.only_a, found.vocabulary.only_b, found.vocabulary.used_a) == (0, 0, 1.0)
    assert found.merges is not None
    assert (found.merges.both, found.merges.next_a) == (found.merges.a, None)
    (source,) = found.sources
    assert source.same_ids == source.same_tokens == source.same_boundaries == source.documents
    assert (source.firsts, source.savings, source.losses, source.saved) == ((), (), (), 0)


@pytest.mark.parametrize(
    ("changes", "text", "stage"),
    [
        ({"normalizers": ("NFC",)}, "cafe\u0301 ", "normalizer"),
        ({"normalizers": ("Lowercase",)}, "a Self is", "normalizer"),
        ({"split": (split_pattern("gpt2"),)}, "f(self", "split"),
        ({"prefix_space": True}, "self is", "split"),
    ],
)
def test_the_stage_that_differs_is_named(tok: bp.Tokenizer, changes: dict[str, Any], text: str, stage: str) -> None:
    changed = with_stages(tok, **changes)
    found = compare(tok, changed, [" a", " a", text])
    assert found.first_stage == stage
    assert [one.name for one in found.stages if not one.same] == [stage]
    (first,) = found.sources[0].firsts
    assert first.document == 2
    assert first.seen_a != first.seen_b


def test_pruned_and_extended_ones_part_at_the_model(tok: bp.Tokenizer, sources: list[str]) -> None:
    smaller = bp.prune(tok, vocab_size=1500).tokenizer
    larger = bp.extend(tok, iter(sources), vocab_size=2200)
    for changed, saves in ((smaller, False), (larger, True)):
        found = compare(tok, changed, sources)
        assert found.first_stage == "model"
        assert [stage.name for stage in found.stages if not stage.same] in (["model"], ["added tokens", "model"])
        assert (found.total.saved > 0) == saves
        first = found.sources[0].firsts[0]
        assert sources[first.document][first.character :].startswith(first.text.removesuffix("…"))


def test_an_added_token_is_the_first_stage(tok: bp.Tokenizer) -> None:
    more = tok.with_added_tokens([AddedToken("<note>", tok.vocab_size, special=False)])
    found = compare(tok, more, ["a", "see <note> here"])
    assert found.first_stage == "added tokens"
    assert found.added.only_b == (("<note>", tok.vocab_size),)
    (first,) = found.sources[0].firsts
    assert (first.document, first.character, first.seen_a, first.seen_b) == (1, 3, (), ("<note>",))
    assert not compare(tok, more, ["see <note> here"], added="text").differs


def test_special_tokens_are_text_unless_allowed(tok: bp.Tokenizer, other: bp.Tokenizer) -> None:
    text = "<|user|>hello<|end|>"
    assert compare(tok, tok, [text]).total.tokens_a == tok.count(text, special="text")
    found = compare(tok, other, [text], special="allow")
    assert found.total.tokens_a == tok.count(text, special="allow")
    assert found.sources[0].firsts[0].stage == "added tokens"
    assert [content for content, *_ in found.added.other_id] == ["<|end|>"]
    with pytest.raises(SpecialTokenError, match="row 1"):
        compare(tok, other, ["x", text], special="raise")


def test_the_same_tokens_with_other_ids_part_last(tok: bp.Tokenizer) -> None:
    model = tok.spec.byte_pair
    moved = {id: id + 7 for id in model.ids}
    assert model.merges is not None
    changed = replace(
        model,
        ids=tuple(moved.values()),
        merges=tuple((moved[left], moved[right]) for left, right in model.merges),
    )
    found = compare(tok, bp.Tokenizer(TokenizerSpec(changed, split=tok.spec.split)), [*PLAIN, ""])
    (source,) = found.sources
    assert (source.same_tokens, source.same_boundaries, source.same_ids) == (6, 6, 2)
    assert (found.first_stage, found.vocabulary.both, found.vocabulary.same_id) == ("ids", len(model.ids), 0)
    assert source.firsts[0].text == "low"
    assert found.merges is not None
    assert found.merges.next_a is None


def boundaries(tok: bp.Tokenizer, text: str) -> list[int]:
    return [max(end, 1) for _, end in tok.offsets(text, special="text")]


def oracle(a: bp.Tokenizer, b: bp.Tokenizer, text: str) -> Counter[tuple[str, str]]:
    """The passages of a text, one character at a time."""
    mine, theirs = Counter(boundaries(a, text)), Counter(boundaries(b, text))
    found: Counter[tuple[str, str]] = Counter()
    start = in_a = in_b = 0
    for place in range(1, len(text) + 1):
        in_a, in_b = in_a + mine[place], in_b + theirs[place]
        if (mine[place] and theirs[place]) or place == len(text):
            if in_a != in_b:
                found[text[start:place], "times"] += 1
                found[text[start:place], "a"] += in_a
                found[text[start:place], "b"] += in_b
            start, in_a, in_b = place, 0, 0
    return found


STAGES: list[dict[str, Any]] = [
    {},
    {"normalizers": ("NFC",)},
    {"normalizers": ("NFKD", "Lowercase")},
    {"prefix_space": True},
    {"split": ()},
    {"added_tokens": (AddedToken("ab", 5000, special=False, lstrip=True, rstrip=True),)},
]


@pytest.mark.parametrize("changes", STAGES, ids=str)
def test_it_says_what_a_plain_oracle_says(tok: bp.Tokenizer, other: bp.Tokenizer, changes: dict[str, Any]) -> None:
    random_ = random.Random(repr(changes))
    letters = "aab  \n\tésfe\u0301日🦊1234'S<"
    found = ["".join(random_.choices(letters, k=random_.randrange(30))) for _ in range(150)]
    found += ["self.assertEqual(a, b)\n" * 3, *(text for text in HOSTILE if text != "<|end|")]
    changed = with_stages(other, **changes)
    result = compare(tok, changed, found, examples=10_000)
    (source,) = result.sources
    assert source.tokens_a == sum(tok.count_batch(found, special="text"))
    assert source.tokens_b == sum(changed.count_batch(found, special="text"))
    both = [(tok.encode(text, special="text"), changed.encode(text, special="text")) for text in found]
    assert source.same_ids == sum(mine == theirs for mine, theirs in both)
    assert source.same_boundaries == sum(boundaries(tok, text) == boundaries(changed, text) for text in found)
    expected: Counter[tuple[str, str]] = Counter()
    for text in found:
        expected += oracle(tok, changed, text)
    passages = {one.text: one for one in (*source.savings, *source.losses)}
    for text in {text for text, _ in expected if len(text.encode()) <= 200}:
        mine, theirs = expected[text, "a"], expected[text, "b"]
        if mine == theirs:
            assert text not in passages
        else:
            one = passages[text]
            assert (one.times, one.tokens_a, one.tokens_b) == (expected[text, "times"], mine, theirs)
    assert sum(one.saved for one in passages.values()) == source.saved
    json.dumps(result.as_dict())
    compared.text(result)
    compared.html(result)


def test_documents_of_files_are_found_again(
    tok: bp.Tokenizer, other: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["", "x", "the self", "the self again", "1234"]
    text, rows = tmp_path / "a.txt", tmp_path / "b.jsonl"
    text.write_text("\n".join(lines), "utf-8")
    rows.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), "utf-8")
    by_line = bp.compare(tok, other, {"a": text}, delimiter="\n")
    by_row = bp.compare(tok, other, {"a": [rows]})
    plain = compare(tok, other, lines)
    assert by_line.total.as_dict() == by_row.total.as_dict() | {"name": "total"}
    assert by_row.total.as_dict() == plain.total.as_dict()
    (first, *_), (same, *_) = by_line.sources[0].firsts, plain.sources[0].firsts
    assert (first.document, first.character, first.file) == (same.document, same.character, str(text))
    # Batches of any size, and a document that is longer, come to the same.
    monkeypatch.setattr(documents, "BATCH_BYTES", 4)
    assert bp.compare(tok, other, {"a": text}, delimiter="\n") == by_line
    assert bp.compare(tok, other, {"a": text}).total.tokens_a == tok.count(text.read_text("utf-8"))
    assert compare(tok, other, lines) == plain


def test_rare_passages_are_dropped_aloud(
    tok: bp.Tokenizer, other: bp.Tokenizer, sources: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_MOST_PASSAGES", 10)
    found = compare(tok, other, sources)
    assert not found.sources[0].is_exact
    assert "dropped" in compared.text(found)


def test_what_is_wrong_is_said_where_it_is(tok: bp.Tokenizer, tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.write_bytes(b"fine\n\xff\n")
    with pytest.raises(EncodeError) as raised:
        bp.compare(tok, tok, {"a": place}, delimiter="\n")
    assert (raised.value.file, raised.value.row, raised.value.byte) == (str(place), None, 5)
    assert bp.compare(tok, tok, {"a": place}, delimiter="\n", errors="replace").total.documents == 2
    with pytest.raises(EncodeError):
        compare(tok, tok, ["\ud800"])
    assert compare(tok, tok, ["\ud800"], errors="replace").total.text_bytes == 3
    with pytest.raises(SourceError):
        bp.compare(tok, tok, {"a": tmp_path / "none.txt"})
    with pytest.raises(SourceError, match="field"):
        bp.compare(tok, tok, {"a": place}, field="content")
    (tmp_path / "bad.jsonl").write_text('{"text": 1}\n')
    with pytest.raises((ArtifactError, ValueError)):
        bp.compare(tok, tok, tmp_path / "bad.jsonl")
    with pytest.raises(TypeError, match="text 0"):
        compare(tok, tok, [3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="'a' is float, not paths"):
        bp.compare(tok, tok, {"a": 3.5})
    with pytest.raises(SourceError, match="a mapping of pieces to counts"):
        bp.compare(tok, tok, {"low": 3})
    with pytest.raises(ValueError, match="examples"):
        bp.compare(tok, tok, examples=-1)


def test_text_and_page_hold_nothing_that_acts(tok: bp.Tokenizer, other: bp.Tokenizer) -> None:
    hostile = "</script><img src=x>\x1b[31m\u202elow\u0300\u0300\u200b"
    found = bp.compare(tok, other, {hostile: iter([hostile, *HOSTILE])}, names=(hostile, hostile))
    shown = compared.text(found)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    page = compared.html(found)
    assert "<img" not in page
    assert "\u202e" not in page


def load(data: Path, name: str) -> bp.Tokenizer:
    if name.endswith("k_base"):
        return bp.get_encoding(name, folder=data / "vocabs/openai")
    return bp.Tokenizer.from_file(data / "vocabs" / name / "tokenizer.json")


@pytest.mark.data
def test_real_ones_that_are_the_same_make_the_same_ids(data: Path) -> None:
    found = bp.compare(load(data, "gpt2"), load(data, "r50k_base"), {"en": data / "corpora/en_1mb.txt"})
    assert not found.is_same
    assert not found.differs
    assert found.merges is not None
    assert (found.merges.next_a, found.merges.next_b, found.vocabulary.used_a) == (None, None, 1.0)


@pytest.mark.data
@pytest.mark.parametrize(
    ("a", "b", "stages"),
    [
        ("cl100k_base", "o200k_base", {"split", "model", "ids"}),
        ("llama2", "o200k_base", {"normalizer", "split", "model", "ids"}),
        ("t5-small", "gpt2", {"normalizer", "split", "model"}),
        ("roberta-base", "gpt2", {"ids"}),
    ],
)
def test_real_ones_that_differ(data: Path, a: str, b: str, stages: set[str]) -> None:
    one, other = load(data, a), load(data, b)
    place = data / "corpora/multi_1mb.txt"
    found = bp.compare(one, other, {"multi": place}, delimiter="\n")
    text = place.read_text("utf-8").split("\n")
    assert found.total.tokens_a == sum(one.count_batch(text, special="text"))
    assert found.total.tokens_b == sum(other.count_batch(text, special="text"))
    assert {first.stage for first in found.sources[0].firsts} <= stages
    assert found.first_stage in stages
    assert compared.summary(found)


def of_characters(tokens: str, *, unk: str | None = None, **stages: Any) -> bp.Tokenizer:
    """A model without merges of some tokens, separated by spaces."""
    named = tuple(token.encode() for token in tokens.split())
    model = BytePair(named, tuple(range(len(named))), (), alphabet=Characters(unk_token=unk, fuse_unk=True))
    return bp.Tokenizer(TokenizerSpec(model, **stages))


def test_ids_can_be_the_same_of_unlike_boundaries() -> None:
    keeps, drops = (of_characters("? a", unk="?", normalizers=steps) for steps in ((), ("StripAccents",)))
    found = compare(keeps, drops, ["a", "be\u0301a", "\u0301?"])
    assert (found.total.same_ids, found.total.same_tokens, found.total.same_boundaries) == (2, 2, 1)
    (first,) = found.sources[0].firsts
    assert (first.stage, first.document) == ("normalizer", 2)


def test_characters_that_a_model_loses_are_the_models() -> None:
    a, b = of_characters("a"), of_characters("a b")
    (first,) = compare(a, b, ["abb"]).sources[0].firsts
    assert (first.stage, first.tokens_a) == ("model", ())


def test_a_token_that_the_model_makes_is_no_added_one() -> None:
    added = AddedToken("b", 1, special=False, single_word=True)
    a, b = of_characters("a b", added_tokens=(added,)), of_characters("b a", added_tokens=())
    (first,) = compare(a, b, ["ab"]).sources[0].firsts
    assert first.stage == "ids"
    merged = BytePair((b"a", b"b", b"ab"), (0, 1, 2), ((0, 1),), alphabet=Characters())
    (first,) = compare(a, bp.Tokenizer(TokenizerSpec(merged)), ["ab"]).sources[0].firsts
    assert (first.stage, first.seen_a) == ("model", ())


def test_of_one_model_a_difference_is_never_the_models() -> None:
    mark = '{"type": "Replace", "content": "▁", "pattern": {"String": " "}}'
    a, b = of_characters("? ▁ a", unk="?", normalizers=(mark,)), of_characters("? ▁ a", unk="?")
    (first,) = compare(a, b, ["a a"]).sources[0].firsts
    assert (first.stage, first.seen_a, first.seen_b) == ("normalizer", ("▁",), (" ",))
    # The mark itself is the same token, although it stands for a space in one of them.
    (first,) = compare(a, b, ["▁a a"]).sources[0].firsts
    assert (first.stage, first.character, first.seen_a, first.seen_b) == ("normalizer", 2, ("▁",), (" ",))
    # A normalizer's change can be far from the differing tokens: the best path goes through a whole piece.
    tokens = ["a", "b", "x", "y", "ab", "bx"]
    scores = (-1.0, -1.0, -9.0, -1.0, -1.5, -1.5)
    model = Unigram(tuple(token.encode() for token in tokens), tuple(range(6)), scores)
    change = '{"type": "Replace", "content": "y", "pattern": {"String": "x"}}'
    a, b = (bp.Tokenizer(TokenizerSpec(model, normalizers=steps)) for steps in ((), (change,)))
    (first,) = compare(a, b, ["abx"]).sources[0].firsts
    assert first.stage == "normalizer"


def test_a_mark_that_only_a_decoder_reads_as_a_space_is_no_change_of_the_normalizer() -> None:
    metaspace = '{"type": "Metaspace", "prepend_scheme": "never", "replacement": "▁", "split": true}'
    a, b = of_characters("▁ a", decoders=(metaspace,)), of_characters("a ▁", normalizers=("NFC",))
    (first,) = compare(a, b, ["▁"]).sources[0].firsts
    assert (first.stage, first.seen_a) == ("model", ())


def test_a_token_that_is_no_word_hides_none_that_is_looked_for_alone() -> None:
    the, hello = AddedToken("the", 6, special=False, single_word=True), AddedToken("hello", 7, special=True)
    a = of_characters("t h e l o ab", added_tokens=(the, hello), normalizers=("Lowercase",))
    found = compare(a, of_characters("t h e l o"), ["thello"], special="allow", added="text")
    assert (found.total.tokens_a, found.total.tokens_b) == (2, 6)
    assert found.first_stage == "added tokens"


def test_bytes_that_are_no_text_are_shown_as_bytes_and_are_text_in_json() -> None:
    one, other = (bp.train({"é": times, "low": 5}, vocab_size=257) for times in (1, 9))
    found = compare(one, other, ["é"], names=("a", "b"))
    shown = compared.text(found)
    assert "A tokens: ‹c3› 195  ‹a9› 169" in shown
    assert "B tokens: é 256" in shown
    assert found.as_dict()["sources"][0]["firsts"][0]["tokens_a"] == [["\\xc3", 195], ["\\xa9", 169]]
