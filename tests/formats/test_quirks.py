"""One small file for each quirk of published tokenizers, beside the library that it was made for."""

from __future__ import annotations

import base64
import io
import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair import _core
from bytepair.formats import gguf, sentencepiece
from bytepair.model import byte_alphabet
from bytepair.model.models import Unigram
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

BYTES = {byte_alphabet.to_characters(bytes([byte])): byte for byte in range(256)}
TEXTS = ["", "ab‼", "‼ 😀é\n", "<x>ab<y>", "a" * 20, "中文 ab"]


def byte_level(vocab: dict[str, int], merges: list[str], added: list[dict[str, Any]], **stages: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "added_tokens": [
            {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False} | token
            for token in added
        ],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
        **stages,
    }


def loaded(path: Path, table: dict[str, Any] | bytes) -> bp.Tokenizer:
    path.write_bytes(table if isinstance(table, bytes) else json.dumps(table).encode())
    return bp.Tokenizer.from_file(path)


def check_beside(tok: bp.Tokenizer, path: Path) -> None:
    """The ids of texts, the spelling and the text of every id, here and in ``tokenizers``."""
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    assert len(tok) == library.get_vocab_size()
    for text in TEXTS:
        assert tok.encode(text, special="allow") == library.encode(text, add_special_tokens=False).ids, text
    for id in library.get_vocab().values():
        assert tok.decode([id]) == library.decode([id], skip_special_tokens=False), id


def test_tokens_outside_of_the_byte_alphabet_are_only_decoded(tmp_path: Path) -> None:
    table = byte_level(BYTES | {"‼": 256, "ab": 257, "": 258, "😀": 260, "âĢ¼": 259}, ["a b"], [])
    tok = loaded(tmp_path / "tokenizer.json", table)
    check_beside(tok, tmp_path / "tokenizer.json")
    assert tok.spec.byte_pair.unreachable == (("‼", 256), ("", 258), ("😀", 260))
    assert (tok.decode([256, 257, 258]), tok.token_bytes(258), tok.token_id("😀")) == ("‼ab", b"", 260)
    assert (tok.vocab_size, len(tok)) == (261, 261)
    for format in ("native", "tokenizer.json"):
        tok.save(tmp_path / f"as {format[:6]}", format)
        again = bp.Tokenizer.from_file(tmp_path / f"as {format[:6]}")
        assert again == tok
        assert again.decode([256]) == "‼"
    check_beside(again, tmp_path / "as tokeni" / "tokenizer.json")
    pruned = bp.prune(tok, 258)
    assert (len(pruned.tokenizer), pruned.tokenizer.encode("ab")) == (258, [256])
    table["model"]["merges"] = ["a b", "a ‼"]
    table["model"]["vocab"]["a‼"] = 300
    for added in ([], [{"content": "a‼", "id": 300}], [{"content": "‼", "id": 256}]):
        table["added_tokens"] = byte_level({}, [], added)["added_tokens"]
        with pytest.raises(bp.FormatError, match="'a‼' of a merge is not written in the byte alphabet"):
            loaded(tmp_path / "broken.json", table)
    table = byte_level(BYTES | {"ab": 256, "abc": 257}, ["ab c"], [{"content": "ab", "id": 256}])
    with pytest.raises(bp.FormatError, match="needs 'ab', which is an added token that no merge makes"):
        loaded(tmp_path / "broken.json", table)


def test_the_empty_token_of_whisper(tmp_path: Path) -> None:
    ranks = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)) + b"YWI= 256\n= 257\n"
    (tmp_path / "x.tiktoken").write_bytes(ranks)
    tok = bp.Tokenizer.from_file(tmp_path / "x.tiktoken", split="gpt2", special_tokens={"<|end|>": 258})
    assert (tok.encode("ab"), tok.decode([256, 257, 258]), len(tok)) == ([256], "ab<|end|>", 259)
    tok.save(tmp_path / "again.tiktoken", drop=("split", "special_tokens"))
    assert (tmp_path / "again.tiktoken").read_bytes() == ranks
    (tmp_path / "vocab.json").write_text(json.dumps(BYTES | {"ab": 256, "": 257}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    two = bp.Tokenizer.from_file(tmp_path / "vocab.json")
    assert (two.encode("ab"), two.decode([257]), two.token_bytes(257)) == ([256], "", b"")


def test_ids_that_the_vocabulary_gives_to_others_are_numbered_as_there(tmp_path: Path) -> None:
    vocab = BYTES | {"ab": 256, "<y>": 257}
    for added in (
        [{"id": 256, "content": "<x>"}],
        [{"id": 300, "content": "<z>", "special": True}, {"id": 97, "content": "<x>"}],
        [{"id": 1, "content": "<y>"}, {"id": 256, "content": "<x>"}, {"id": 258, "content": "<z>"}],
    ):
        with pytest.warns(bp.TokenizerWarning, match="to another token: as in `tokenizers`"):
            tok = loaded(tmp_path / "tokenizer.json", byte_level(vocab, ["a b"], added))
        check_beside(tok, tmp_path / "tokenizer.json")


def test_an_id_that_another_token_keeps_after_numbering_is_refused(tmp_path: Path) -> None:
    # The vocabulary has no 256, so that 257 is its size, the next number, and taken.
    with pytest.raises(bp.FormatError, match='"<x>" has id 257, which another token has'):
        loaded(tmp_path / "tokenizer.json", byte_level(BYTES | {"ab": 257}, ["a b"], [{"id": 257, "content": "<x>"}]))


def test_a_template_may_have_the_options_of_byte_level(tmp_path: Path) -> None:
    template: dict[str, Any] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {},
    }
    template |= {"pair": [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]}
    template |= {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tok = loaded(tmp_path / "tokenizer.json", byte_level(BYTES, [], [], post_processor=template))
    assert tok("ab").input_ids == tok.encode("ab")


def test_a_token_that_a_vocabulary_has_twice_has_its_last_id(tmp_path: Path) -> None:
    text = json.dumps(byte_level(BYTES | {"ab": 256}, ["a b"], [])).replace('"ab": 256', '"ab": 300, "ab": 256')
    with pytest.warns(bp.TokenizerWarning, match="has the token 'ab' twice: its id is 256"):
        tok = loaded(tmp_path / "tokenizer.json", text.encode())
    check_beside(tok, tmp_path / "tokenizer.json")


REPEATED: dict[str, list[str]] = {
    "version": ['"1.0"'],
    "added_tokens": ["[]"],
    "added_tokens/0/content": ['"<y>"'],
    "added_tokens/0/special": ["false"],
    "normalizer": ["null", '{"type": "NFD"}'],
    "normalizer/normalizers/1/type": ['"NFC"', "3"],
    "normalizer/normalizers/1/pattern": ['{"String": "x"}', "null"],
    "normalizer/normalizers/1/pattern/String": ['"x"'],
    "pre_tokenizer/use_regex": ["false", "[]"],
    "post_processor": ["null"],
    "post_processor/single": ["[]"],
    "post_processor/single/0/SpecialToken/type_id": ["1"],
    "post_processor/special_tokens/<x>": ['{"id": "<x>", "ids": [0], "tokens": ["<x>"]}'],
    "post_processor/special_tokens/<x>/ids": ["[0]"],
    "decoder/add_prefix_space": ["false"],
    "model": ['{"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}'],
    "model/type": ['"WordLevel"'],
    "model/vocab": ['{"b": 5}', "null"],
    "model/merges": ['["x y"]', '[["a", "b"]]'],
    "model/unk_token": ['"b"'],
    "truncation/max_length": ["3"],
}
"""Members of a file, and values that stand before theirs under the same key."""


def repeated(value: Any, target: str, first: str, place: str = "") -> str:
    """The JSON of a value in which the key at a place occurs twice."""
    match value:
        case dict():
            rows = []
            for key, inner in value.items():
                at = f"{place}/{key}".removeprefix("/")
                rows += [f"{json.dumps(key)}: {first}"] if at == target else []
                rows.append(f"{json.dumps(key)}: {repeated(inner, target, first, at)}")
            return "{" + ", ".join(rows) + "}"
        case list():
            rows = [repeated(inner, target, first, f"{place}/{row}") for row, inner in enumerate(value)]
            return f"[{', '.join(rows)}]"
    return json.dumps(value)


@pytest.mark.parametrize("target", REPEATED)
def test_a_key_twice_is_read_as_tokenizers_reads_it(tmp_path: Path, target: str) -> None:
    library = pytest.importorskip("tokenizers").Tokenizer
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"],
        "special_tokens": {"<x>": {"id": "<x>", "ids": [257], "tokens": ["<x>"]}},
    }
    replace = {"type": "Replace", "pattern": {"String": "b"}, "content": "a"}
    table = byte_level(
        BYTES | {"aa": 256},
        ["a a"],
        [{"id": 257, "content": "<x>", "special": True}],
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, replace]},
        post_processor=template,
        truncation={"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0},
    )
    table["model"]["unk_token"] = None
    once = table if "truncation" in target else table | {"truncation": None}
    for first in REPEATED[target]:
        text = repeated(once, target, first)
        assert len(text) > len(json.dumps(once))
        try:
            theirs = library.from_str(text).to_str()
        except Exception:
            with pytest.raises(bp.FormatError, match="the key occurs twice") as caught:
                loaded(tmp_path / "tokenizer.json", text.encode())
            assert caught.value.pointer == f"/{target}"
            continue
        assert theirs == library.from_str(json.dumps(once)).to_str()
        with pytest.warns(bp.TokenizerWarning, match=f"the key /{target} occurs twice: its last value counts"):
            tok = loaded(tmp_path / "tokenizer.json", text.encode())
        assert tok == loaded(tmp_path / "tokenizer.json", once)


def test_a_key_twice_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(byte_level(BYTES | {"<s>": 256}, [], [])))
    (tmp_path / "tokenizer_config.json").write_text('{"bos_token": "a", "eos_token": "b", "bos_token": "<s>"}')
    with pytest.warns(bp.TokenizerWarning, match="the key /bos_token occurs twice"):
        assert bp.load(tmp_path).spec.roles == (("bos", "<s>"), ("eos", "b"))


def test_rare_bytes_may_be_missing_in_every_format(tmp_path: Path) -> None:
    rare = {token: id for token, id in BYTES.items() if id not in (0x01, 0xF3)}
    found = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.merges": []}
    names = sorted(rare, key=lambda token: rare[token])
    (tmp_path / "x.gguf").write_bytes(models.gguf({**found, "tokenizer.ggml.tokens": names}))
    (tmp_path / "x.json").write_text(json.dumps(byte_level(rare, [], [])))
    lines = (base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in rare.values())
    (tmp_path / "x.tiktoken").write_bytes(b"".join(lines))
    for name, split in (("x.gguf", None), ("x.json", None), ("x.tiktoken", "gpt2")):
        with pytest.warns(bp.TokenizerWarning, match="no token for 2 of the bytes of UTF-8: 0x01, 0xF3"):
            tok = bp.Tokenizer.from_file(tmp_path / name, split=split)
        assert tok.decode(tok.encode("ab é")) == "ab é"
        with pytest.raises(bp.EncodeError, match="0x01 has no token"):
            tok.encode("a\x01")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert bp.Tokenizer.from_file(tmp_path / name, split=split, partial_alphabet=True) == tok


def test_scores_are_the_numbers_that_tokenizers_reads(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    scores = [-2.0122928619384766, -7.3, -5.5, -11.123456789012345, -3.1000000000000001e-3]
    vocab = [["<unk>", 0], *([f"{'ab' * place}a", score] for place, score in enumerate(scores))]
    file = json.dumps({"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}})
    tok = loaded(tmp_path / "tokenizer.json", file.encode())
    theirs = json.loads(tokenizers.Tokenizer.from_str(file).to_str())["model"]["vocab"]
    assert isinstance(tok.spec.model, Unigram)
    assert list(tok.spec.model.scores) == [score for _, score in theirs] != [0, *scores]
    tok.save(tmp_path / "saved")
    assert bp.Tokenizer.from_file(tmp_path / "saved") == tok
    # Whoever reads decimals exactly reads the same.
    assert [
        score for _, score in json.loads((tmp_path / "saved" / "tokenizer.json").read_text())["model"]["vocab"]
    ] == [score for _, score in theirs]
    assert _core.read_decimal(_core.write_decimal(scores[0])) == scores[0]


def test_scores_are_exact_on_request(tmp_path: Path) -> None:
    scores = [-2.0122928619384766, -7.3, -11.123456789012345, -3.1000000000000001e-3]
    vocab = [["<unk>", 0], *([f"{'ab' * place}a", score] for place, score in enumerate(scores))]
    table = {"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}
    path = tmp_path / "tokenizer.json"
    # What the core reads, and what Python does.
    for text in (
        json.dumps(table),
        json.dumps(table).replace('"version": "1.0"', '"version": "1.0", "version": "1.0"'),
    ):
        path.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.TokenizerWarning)
            exact, default = (bp.load(path, exact_scores=exactly) for exactly in (True, False))
        assert isinstance(exact.spec.model, Unigram)
        assert list(exact.spec.model.scores) == [0, *scores]
        assert exact != default
        exact.save(tmp_path / "saved")
        for exactly in (True, False):
            assert bp.load(tmp_path / "saved", exact_scores=exactly) == exact
    path.write_text(json.dumps(byte_level(BYTES, [], [])))
    with pytest.raises(bp.FormatError, match="exact_scores is for a Unigram"):
        bp.load(path, exact_scores=True)
    with pytest.raises(bp.FormatError, match="takes no exact scores"):
        bp.load(bp.load(path), exact_scores=True)


def test_gguf_of_phi_3_and_of_gemma_4() -> None:
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    pieces += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    pieces += [("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -3.0, 1), ("<|assistant|>", 0.0, 2), ("<|end|>", 0.0, 2)]
    tok = bp.Tokenizer(gguf.read(models.gguf_pieces(pieces, "llama")))
    assert tok.encode("a<|end|>", special="allow") == [261, 263]
    assert tok.special_tokens["<|assistant|>"] == 262
    named = (f"<0x{byte:02X}>" for byte in range(256))
    tokens = ["<unk>", "<bos>", *named, "▁", "a", "▁a", "aa", "\n", "\n\n", "<turn>"]
    table = {"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.unknown_token_id": 0}
    table |= {"tokenizer.ggml.merges": ["▁ a", "a a", "\n \n"], "tokenizer.ggml.pre": "gemma4"}
    table |= {"tokenizer.ggml.token_type": [2, 3, *[6] * 256, *[1] * 6, 4]}
    spelled = bp.Tokenizer(gguf.read(models.gguf(table)))
    ids = spelled.encode(" aaa\n\né<turn>")
    assert [tokens[id] for id in ids] == ["▁a", "aa", "\n\n", "<0xC3>", "<0xA9>", "<turn>"]
    assert spelled.decode(ids) == " aaa\n\né<turn>"
    with pytest.raises(bp.FormatError, match="has no split pattern"):
        gguf.read(models.gguf(table), "gpt2")


def train(lines: list[str], **options: Any) -> bytes:
    spm = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    options = {"model_type": "unigram", "vocab_size": 300, "minloglevel": 2, "hard_vocab_limit": False} | options
    spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **options)
    return model.getvalue()


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_a_unigram_has_the_sums_and_ties_of_sentencepiece(sources: list[str], byte_fallback: bool) -> None:
    spm = pytest.importorskip("sentencepiece")
    lines = [line for line in sources[0].splitlines() if line][:2000]
    data = train(lines, byte_fallback=byte_fallback, vocab_size=600)
    library, tok = spm.SentencePieceProcessor(model_proto=data), bp.Tokenizer(sentencepiece.read(data))
    texts = [letter * count for letter in "*/-=a" for count in range(1, 50)]
    texts += ["+------>+---+", "[2 ppp", "<unk>", "a<unk>b", "<0x41>", "中é<unk>", *lines[:200], "\n".join(lines * 4)]
    for text in texts:
        assert tok.encode(text, special="text") == library.encode(text), text
    # Sums below -100,000 begin again, so that the longest text has many ways that are nearly equal.
    assert len(texts[-1]) > 100_000
    assert tok.count(texts[-1], special="text") == len(library.encode(texts[-1]))
    with pytest.raises(bp.FormatError, match="cannot hold"):
        tok.save("never", "tokenizer.json")


def test_a_field_of_a_descendant_is_passed_over(sources: list[str]) -> None:
    spm = pytest.importorskip("sentencepiece")
    data = train(sources[0].splitlines()[:200]) + b"\x1a\x02\x38\x01"
    library, tok = spm.SentencePieceProcessor(model_proto=data), bp.Tokenizer(sentencepiece.read(data))
    assert tok.encode("Hello World") == library.encode("Hello World")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_verify_knows_the_space_in_front(sources: list[str], kind: str) -> None:
    lines = sources[0].splitlines()[:500]
    data = train(lines, model_type=kind, user_defined_symbols=["[INST]", "[/INST]"], byte_fallback=True, vocab_size=500)
    report = bp.verify(bp.Tokenizer(sentencepiece.read(data)))
    assert report.passed, str(report)


def test_vocabulary_files_with_word_ends_are_those_of_clip(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    names = [*BYTES, *(f"{name}</w>" for name in BYTES), "th", "the</w>", "lo", "low</w>"]
    special = {"<|startoftext|>": len(names), "<|endoftext|>": len(names) + 1}
    vocab = {name: id for id, name in enumerate(names)} | special
    merges = ["t h", "th e</w>", "l o", "lo w</w>"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    tok = bp.load(tmp_path / "vocab.json")
    model = {"unk_token": "<|endoftext|>", "end_of_word_suffix": "</w>", "continuing_subword_prefix": ""}
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    space = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    added = [
        {"id": id, "content": name, "special": True, "normalized": name == "<|startoftext|>"}
        for name, id in special.items()
    ]
    table = byte_level(
        vocab,
        merges,
        added,
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, space, {"type": "Lowercase"}]},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, bytes_]},
        post_processor={
            "type": "RobertaProcessing",
            "sep": ["<|endoftext|>", special["<|endoftext|>"]],
            "cls": ["<|startoftext|>", special["<|startoftext|>"]],
            "trim_offsets": False,
            "add_prefix_space": False,
        },
    )
    table["model"] |= model
    peer = tokenizers.Tokenizer.from_str(json.dumps(table))
    for text in [*TEXTS, "The low  LOW's <|startoftext|>lower 12é", "<|EndOfText|>", "it's\nlow"]:
        assert tok(text, special="allow")["input_ids"] == peer.encode(text).ids, text
        ids = tok.encode(text, special="allow")
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False)
    assert bp.load(tmp_path)("the low")["input_ids"] == peer.encode("the low").ids
    with pytest.raises(bp.FormatError, match="are those of CLIP"):
        bp.load(tmp_path / "vocab.json", split="gpt2")


def test_vocabulary_files_of_qwen_are_known_by_their_class(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps(BYTES | {"11": 256}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n1 1\n")
    assert bp.load(tmp_path).encode("11") == [256]
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')
    for path in (tmp_path, tmp_path / "vocab.json"):
        tok = bp.load(path)
        assert tok.encode("11") == [BYTES["1"]] * 2
        assert tok.spec.normalizers == ("NFC",)
        assert tok.spec.split == (bp.SPLIT_PATTERNS["qwen2"],)
    assert bp.load(tmp_path, split="gpt2").encode("11") == [256]
