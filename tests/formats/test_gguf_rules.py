"""Facts that a GGUF file does not hold, and llama.cpp takes for granted: the ids are those that it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.formats import gguf, sentencepiece
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

BYTES = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
BASE = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]


def read(table: dict[str, Any], general: dict[str, str] | None = None) -> bp.Tokenizer:
    """The tokenizer of a file with these keys, which may lack bytes."""
    keys = {f"general.{key}": value for key, value in (general or {}).items()}
    keys |= {f"tokenizer.ggml.{key}": value for key, value in table.items()}
    spec = gguf.read(models.gguf(keys))
    return bp.Tokenizer(spec.replace(model=spec.packed._replace(partial_alphabet=spec.packed.is_byte_level)))


def of_pieces(pieces: list[tuple[str, float, int]], kind: str, **more: Any) -> dict[str, Any]:
    tokens, scores, types = (list(column) for column in zip(*pieces, strict=True))
    return {"model": kind, "tokens": tokens, "scores": scores, "token_type": types, **more}


def of_merges(pre: str, tokens: tuple[str, ...] = (), types: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """A vocabulary of bytes: a, b, ab, the special token <s>, then `tokens`."""
    table = {"model": "gpt2", "pre": pre, "tokens": ["a", "b", "ab", "<s>", *tokens], "merges": ["a b"]}
    return {**table, "token_type": [1, 1, 1, 3, *types], "bos_token_id": 3, **more}


@pytest.mark.parametrize(
    ("pre", "said", "ids"),
    [
        ("llama-bpe", None, [3, 2]),
        ("tekken", None, [3, 2]),
        ("llama-bpe", False, [2]),
        ("qwen2", None, [2]),
        ("qwen2", True, [3, 2]),
    ],
)
def test_a_text_begins_as_the_split_pattern_has_it(pre: str, said: bool | None, ids: list[int]) -> None:
    table = of_merges(pre)
    assert read(table if said is None else {**table, "add_bos_token": said})("ab")["input_ids"] == ids


def test_a_text_begins_and_ends_as_the_kind_of_model_has_it() -> None:
    pieces = [*BASE, *BYTES, ("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -0.5, 1)]
    assert read(of_pieces(pieces, "llama"))("a")["input_ids"] == [1, 261]
    assert read(of_pieces(pieces, "llama", add_bos_token=False, add_eos_token=True))("a")["input_ids"] == [261, 2]
    end_first = [pieces[0], pieces[2], pieces[1], *pieces[3:]]
    assert read(of_pieces(end_first, "t5"))("a")["input_ids"] == [260, 1]
    assert read(of_pieces(end_first, "t5", add_space_prefix=True))("a")["input_ids"] == [261, 1]
    # White space is removed with a space before each word, whatever add_space_prefix says.
    removing = read(of_pieces(end_first, "t5", add_space_prefix=False, remove_extra_whitespaces=True))
    assert removing(" a  a ")["input_ids"] == [261, 261, 1]
    named = [token for token, _, _ in BYTES]
    table: dict[str, Any] = {"model": "gemma4", "tokens": ["<unk>", "<bos>", *named, "▁", "a"], "merges": ["▁ a"]}
    table |= {"tokens": [*table["tokens"], "▁a"], "token_type": [2, 3, *[6] * 256, 1, 1, 1], "unknown_token_id": 0}
    assert read({**table, "bos_token_id": 1, "add_bos_token": False})("a")["input_ids"] == [1, 259]


@pytest.mark.parametrize("key", ["model", "pre"])
def test_a_name_that_is_none_is_an_error(key: str) -> None:
    for value in (["gpt2"], 3, True):
        table = {f"tokenizer.ggml.{name}": held for name, held in {**of_merges("qwen2"), key: value}.items()}
        for reading in (gguf.read, gguf.chat):
            with pytest.raises(bp.FormatError, match=rf"{key} is .*pointer tokenizer\.ggml\.{key}"):
                reading(models.gguf(table))


def test_a_file_too_short_for_the_usual_ids_has_none() -> None:
    tok = read(of_pieces([("<unk>", 0.0, 2), ("a", -1.0, 1)], "t5", eos_token_id=0xFFFFFFFF))
    assert tok.eos_token is None
    assert read(of_pieces([("<unk>", 0.0, 2)], "llama")).spec.roles == ()


def test_added_tokens_take_white_space_by_the_name_of_the_model() -> None:
    pieces = [*BASE, *BYTES, ("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -0.5, 1)]
    pieces += [("<|end|>", 0.0, 3), ("<mask>", 0.0, 3), ("<|endoftext|>", 0.0, 3)]
    table = of_pieces(pieces, "llama")
    end, mask, a, space = 262, 263, 261, 259
    text = "<|end|>\n<s> a <mask>"
    plain = [end, space, 3 + 0x0A, 1, space, a, space, mask]
    assert read(table).encode(text, special="allow") == plain
    phi_3 = read(table, {"name": "Phi-3-mini-4k-instruct"})
    assert phi_3.encode(text, special="allow") == [end, 1, space, a, space, mask]
    for general in ({"architecture": "nomic-bert-moe"}, {"architecture": "jina-bert-v3"}):
        assert read(table, general).encode(text, special="allow") == [*plain[:-2], mask]
    words = of_merges("jina-v2-code", ("<mask>", "[MASK]", "Ġ"), (3, 3, 1))
    assert read(words).encode("ab <mask> [MASK]", special="allow") == [2, 4, 6, 5]
    modern = read({**words, "pre": "modern-bert"}, {"name": "ModernBERT base, modern-bert"})
    assert modern.encode("ab <mask> [MASK]", special="allow") == [2, 6, 4, 5]


def test_an_ordinary_token_that_ends_a_turn_is_special() -> None:
    with pytest.warns(bp.TokenizerWarning, match=r"has '<\|im_end\|>' among its ordinary tokens"):
        tok = read(of_merges("qwen2", ("<|im_end|>", "</s>"), (1, 1)))
    assert tok.special_tokens == {"<s>": 3, "<|im_end|>": 4}
    assert tok.encode("a<|im_end|>", special="allow") == [0, 4]
    # A token of the type 4, found in every text, stays one.
    assert read(of_merges("qwen2", ("<|im_end|>",), (4,))).special_tokens == {"<s>": 3}


def test_a_piece_that_is_a_token_is_taken_whole() -> None:
    tokens = ("aba",)
    assert read(of_merges("qwen2", tokens, (1,))).encode("aba") == [2, 0]
    assert [read(of_merges(pre, tokens, (1,))).encode("aba") for pre in ("glm4", "glm5", "llama-bpe")] == [[4]] * 3


def test_bert_keeps_capitals_and_accents_as_the_file_says() -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "▁A", "▁e", "▁é", "▁É"]
    table = {"model": "bert", "tokens": tokens, "cls_token_id": 2, "seperator_token_id": 3}
    text = "a A É é"
    assert read({**table, "normalizer.lowercase": True}).encode(text) == [4, 4, 6, 6]
    assert read({**table, "normalizer.lowercase": False}).encode(text) == [4, 5, 8, 7]
    kept = {**table, "normalizer.lowercase": True, "normalizer.strip_accents": False}
    assert read(kept).encode(text) == [4, 4, 7, 7]
    with pytest.raises(bp.FormatError, match=r"normalizer.lowercase is 1"):
        read({**table, "normalizer.lowercase": 1})


def test_scores_may_be_whole_numbers() -> None:
    pieces = [*BASE, *BYTES, ("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -3.0, 1)]
    table = of_pieces(pieces, "llama")
    whole = {**table, "scores": [int(score) for score in table["scores"]]}
    assert read(whole).encode("a") == read(table).encode("a") == [261]


def test_sums_of_a_unigram_are_not_rounded() -> None:
    # In 32 bits the way that is found first, a and bb, is as good as ab and b: -1 - 2**-24 is rounded to -1.
    pieces = [*BASE, ("a", -(2.0**-24), 1), ("bb", -1.0, 1), ("ab", -0.25, 1), ("b", -0.75, 1)]
    assert read(of_pieces(pieces, "t5", unknown_token_id=0)).encode("abb") == [5, 6]
    assert bp.Tokenizer(sentencepiece.read(models.model(pieces, kind=1))).encode("abb")[-2:] == [3, 4]


def test_no_text_becomes_the_unknown_token_of_a_unigram() -> None:
    letters = [(letter, -3.0, 1) for letter in "▁<unk>a"]
    tok = read(of_pieces([*BASE, *letters], "t5", unknown_token_id=0))
    assert tok.encode("a<unk>é", special="text") == [9, 4, 5, 6, 7, 8, 0]


OF_PLAMO = [("<|plamo:unk|>", 0.0, 2), ("<|plamo:bos|>", 0.0, 3), ("<|plamo:eos|>", 0.0, 3), ("<|plamo:pad|>", 0.0, 3)]


def of_plamo(*pieces: tuple[str, float], **more: Any) -> dict[str, Any]:
    """A model as PLaMo 2 has it: four special tokens, all bytes from 4 on, and pieces from 260 on."""
    return of_pieces([*OF_PLAMO, *BYTES, *((piece, score, 1) for piece, score in pieces)], "plamo2", **more)


def test_plamo_takes_the_longest_first_token_of_equal_sums() -> None:
    # From the left, "aa" and "a" of the same sum would be "a" and "aa".
    tok = read(of_plamo(("a", -2.0), ("aa", -3.0), ("b", -2.0)))
    assert [tok.encode(text) for text in ("aaa", "aaab", "b a")] == [[261, 260], [261, 260, 262], [262, 36, 260]]
    assert [tok.decode(ids) for ids in ([261, 260], [262, 36, 260])] == ["aaa", "b a"]
    assert [tok.count(text) for text in ("aaa", "b a")] == [2, 3]
    # Scores are whole ten-thousandths, half of one up: 1.00005 and 0.99994 are 1.0001 and 0.9999.
    close = [("ab", -1.0), ("c", -0.99994), ("a", -1.00005), ("bc", -0.99986)]
    assert read(of_plamo(*close)).encode("abc") == [260, 261]


def test_plamo_has_bytes_for_other_characters_and_no_mark_at_the_beginning() -> None:
    tok = read(of_plamo(("a", -2.0), add_bos_token=True))
    assert tok("a")["input_ids"] == [1, 260]
    assert tok.encode("\ufeffa\ufeffé") == [260, 4 + 0xEF, 4 + 0xBB, 4 + 0xBF, 4 + 0xC3, 4 + 0xA9]
    assert tok.encode("<|plamo:eos|>a", special="allow") == [2, 260]


WITHOUT_SCORES = {key: value for key, value in of_plamo(("a", -1.0)).items() if key != "scores"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (of_pieces([*OF_PLAMO, *BYTES[1:]], "plamo2"), "the vocabulary has no <0x00>"),
        (WITHOUT_SCORES, "the vocabulary has no scores"),
        (of_plamo(("a", -1000.0)), "a Unigram from_end has the score -1000"),
    ],
)
def test_a_file_of_plamo_lacks_nothing(table: dict[str, Any], message: str) -> None:
    with pytest.raises(bp.FormatError, match=message):
        read(table)


def test_plamo_is_saved_in_the_native_format_alone(tmp_path: Path) -> None:
    tok = read(of_plamo(("a", -2.0), ("aa", -3.0)))
    tok.save(tmp_path / "saved", "native")
    assert bp.load(tmp_path / "saved").spec == tok.spec
    for name in ("tokenizer.json", "sentencepiece"):
        with pytest.raises(bp.FormatError, match="a Unigram from_end"):
            tok.save(tmp_path / "other", name)


def of_words(*tokens: str, merges: tuple[str, ...] = ("a b",), **more: Any) -> dict[str, Any]:
    """A model that merges the characters of words: the special token <s>, a, b and ab, then `tokens`."""
    table = {"model": "whitespace", "pre": "whitespace", "tokens": ["<s>", "a", "b", "ab", *tokens], "bos_token_id": 0}
    return {**table, "token_type": [3] + [1] * (3 + len(tokens)), "merges": list(merges), **more}


def test_words_between_white_space_leave_out_characters_without_a_token() -> None:
    tok = read(of_words())
    # Nothing merges across such a character.
    assert [tok.encode(text) for text in ("ab a\u3000b\nab", "axb", "x", "Ab")] == [[3, 1, 2, 3], [1, 2], [], [2]]
    assert tok.decode([3, 1]) == "aba"
    small = read({**of_words("i"), "normalizer.lowercase": True})
    assert small.encode("AB aB \u0130") == [3, 3, 4]
    assert read(of_words(*(name for name, _, _ in BYTES))).encode("aéb") == [1, 4 + 0xC3, 4 + 0xA9, 2]
    with pytest.raises(bp.FormatError, match="the vocabulary has no <0x01>"):
        read(of_words("<0x00>"))


def test_words_may_have_many_letters() -> None:
    letters = [chr(code) for code in range(0x4E00, 0x9F00, 2)]
    tok = read(of_words(*letters))
    assert tok.encode("一丂丁 a") == [4, 5, 1]
