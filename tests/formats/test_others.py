"""Formats against the programs that they were made for, and round trips."""

from __future__ import annotations

import io
import json
import lzma
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytepair as bp
from bytepair import _core, formats
from bytepair.errors import FormatError
from bytepair.formats import codes, detection, gguf, hf_json, loading, sentencepiece, vocab_txt
from tests.conftest import HOSTILE
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path


def content(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


@pytest.mark.parametrize("name", ["sentencepiece", "vocab.txt", "codes", "tekken.json"])
def test_saved_and_loaded_again_it_is_equal(tmp_path: Path, name: str) -> None:
    spec = models.specs()[name]
    written = models.save(spec, tmp_path, name, ())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [file.name for file in written] == [*formats.FILES[name], "manifest.json"]
    for place in (tmp_path, written[0]):
        again = loading.load(place)
        assert again == spec
        assert formats.native.fingerprint(again) == manifest["fingerprint"]
    assert detection.detect(tmp_path).format == name
    (tmp_path / "manifest.json").unlink()
    assert detection.detect(written[0]).format == name
    assert loading.load(written[0]) == spec


@pytest.mark.parametrize("name", ["sentencepiece", "vocab.txt", "codes", "tekken.json"])
def test_a_model_of_another_kind_is_refused(tmp_path: Path, name: str) -> None:
    for other, spec in models.specs().items():
        if other == name or {other, name} == {"codes", "sentencepiece"}:
            continue
        with pytest.raises(bp.FormatError, match=f"{name} cannot hold a "):
            models.save(spec, tmp_path / "out", name, ())
    for other in ("tiktoken", "vocab+merges"):
        if name != "tekken.json":
            with pytest.raises(bp.FormatError, match="cannot hold a "):
                models.save(models.specs()[name], tmp_path / "out", other, ())
    assert not (tmp_path / "out").exists()


def test_what_is_lost_is_named_and_can_be_dropped(tmp_path: Path) -> None:
    spec = models.byte_spec().replace(normalizers=("NFC",), prefix_space=True)
    with pytest.raises(bp.FormatError, match=r"tekken\.json cannot hold normalizers, prefix_space"):
        models.save(spec, tmp_path, "tekken.json", ())
    models.save(spec, tmp_path, "tekken.json", ("normalizers", "prefix_space"))
    assert json.loads((tmp_path / "manifest.json").read_text())["dropped"] == ["normalizers", "prefix_space"]
    cased = vocab_txt.read(models.VOCAB_TXT)
    with pytest.raises(bp.FormatError, match=r"vocab\.txt cannot hold decoders"):
        models.save(cased.replace(decoders=("Fuse",)), tmp_path, "vocab.txt", ())
    model = replace(cased.model, ids=tuple(id + 1 for id in cased.model.ids))
    added = tuple(token._replace(id=token.id + 1) for token in cased.added_tokens)
    with pytest.raises(bp.FormatError, match="ids with holes"):
        models.save(cased.replace(model=model, added_tokens=added), tmp_path, "vocab.txt", ())


def test_tekken_equals_mistral_common(tmp_path: Path, tok: bp.Tokenizer) -> None:
    tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    special = tuple(bp.AddedToken(name, id) for id, name in enumerate(["<unk>", "<s>", "</s>", "<SPECIAL_3>"]))
    model = replace(tok.spec.byte_pair, merges=None, ids=tuple(range(4, 4 + len(tok.spec.byte_pair.tokens))))
    mine = bp.Tokenizer(tok.spec.replace(model=model, added_tokens=special))
    mine.save(tmp_path, "tekken.json")
    library = tekkenizer.from_file(tmp_path / "tekken.json")
    assert bp.Tokenizer.from_file(tmp_path) == mine
    for text in HOSTILE:
        assert mine.encode(text, special="text") == library.encode(text, bos=False, eos=False)
    # Fewer are used than there are, and more are reserved than are named.
    table = json.loads((tmp_path / "tekken.json").read_text())
    table["config"] |= {"default_vocab_size": 1000, "default_num_special_tokens": 10}
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "tekken.json").write_text(json.dumps(table))
    small, library = (
        bp.Tokenizer.from_file(tmp_path / "small"),
        tekkenizer.from_file(tmp_path / "small" / "tekken.json"),
    )
    assert len(small) == 1000
    assert small.special_tokens["<SPECIAL_9>"] == 9
    for text in HOSTILE:
        assert small.encode(text, special="text") == library.encode(text, bos=False, eos=False)


@pytest.mark.parametrize("name", ["tekken_240718.json.xz", "tekken_240911.json.xz"])
def test_real_tekken(data: Path, tmp_path: Path, name: str) -> None:
    tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    (tmp_path / "tekken.json").write_bytes(content(data / "vocabs/mistral" / name))
    mine, library = bp.Tokenizer.from_file(tmp_path), tekkenizer.from_file(tmp_path / "tekken.json")
    for text in (*HOSTILE, (data / "corpora/multi_1mb.txt").read_text()[:100_000]):
        assert mine.encode(text, special="text") == library.encode(text, bos=False, eos=False)


def test_codes_equal_subword_nmt(sources: list[str]) -> None:
    learn, apply = (pytest.importorskip(f"subword_nmt.{name}") for name in ("learn_bpe", "apply_bpe"))
    learned = io.StringIO()
    learn.learn_bpe(io.StringIO(sources[0]), learned, 200)
    spec = codes.read(learned.getvalue().encode())
    assert codes.write(spec)[0] == learned.getvalue().encode()
    tok, program = bp.Tokenizer(spec), apply.BPE(io.StringIO(learned.getvalue()))
    known = {token.decode().removesuffix("</w>") for token in spec.model.tokens}
    seen = 0
    for line in [*sources[1].splitlines()[:2000], *HOSTILE]:
        words = [word for word in re.split("[ \n\r]+", line) if set(word) <= known]
        printed = [token.decode() for token in tok.tokens(" ".join(words), special="text")]
        shown = [token.removesuffix("</w>") if token.endswith("</w>") else f"{token}@@" for token in printed]
        if "<unk>@@" not in shown:
            seen += len(shown)
            assert shown == program.segment(" ".join(words)).split(), words
    assert seen > 1000


def test_fast_bpe_has_counts_and_a_vocabulary_says_the_ids(tmp_path: Path) -> None:
    counted = b"l o 12\nlo w</w> 7\nw e 5\ne r</w> 3\n"
    assert codes.read(counted, models.VOCAB) == codes.read(models.CODES, models.VOCAB)
    spec = codes.read(counted, models.VOCAB)
    assert spec.model.tokens[:4] == (b"low</w>", b"lo", b"l", b"r</w>")
    (tmp_path / "codes").write_bytes(counted)
    (tmp_path / "vocab").write_bytes(models.VOCAB)
    assert loading.load(tmp_path / "codes") == spec
    for broken, message in {
        b"#version: 0.1\nl o</w>\n": r"codes of version: 0\.1",
        b"#version: 0.2\nl</w> o\n": "ends a word and cannot merge",
        b"l o x\nlo w</w> 3\n": "is not a merge",
    }.items():
        with pytest.raises(bp.FormatError, match=message):
            codes.read(broken)


def test_vocab_txt_equals_tokenizers(tmp_path: Path, sources: list[str]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    peer = tokenizers.BertWordPieceTokenizer()
    peer.train_from_iterator(sources, vocab_size=800, show_progress=False)
    peer.save_model(str(tmp_path))
    mine = bp.Tokenizer.from_file(tmp_path)
    for text in HOSTILE:
        assert mine.encode(text, special="text") == peer.encode(text, add_special_tokens=False).ids, text
    cased = b"[UNK]\nLow\nlow\n"
    assert '"lowercase": false' in vocab_txt.read(cased).normalizers[0]
    assert '"lowercase": true' in vocab_txt.read(cased, {"do_lower_case": True}).normalizers[0]
    assert '"lowercase": true' in vocab_txt.read(models.VOCAB_TXT).normalizers[0]
    for config, message in {"do_lower_case": "yes", "unk_token": 3}.items():
        with pytest.raises(bp.FormatError, match=config):
            vocab_txt.read(cased, {config: message})


@given(
    st.lists(
        st.sampled_from([b"[UNK]", b"[CLS]", b"a", b"##a", b"B", b"\xc3\xa9B", b"\xff", b"", b"\r", b"\n", b"\r\n"])
    )
)
def test_lines_of_a_vocabulary_are_read_alike_in_both_ways(parts: list[bytes]) -> None:
    data = b"".join(parts)
    read = _core.read_lines(data)
    try:
        expected = vocab_txt.ids_of_lines(data)
    except FormatError:
        assert read is None
        return
    assert read is not None
    assert read.to_python() == {token.decode(): id for token, id in expected.items()}


@given(st.lists(st.sampled_from(["[UNK]", "[CLS]", "[unk]", "a", "B", "éB", "é", "\r\n", "\n"])))
def test_a_capital_letter_is_that_of_a_line_of_ascii(parts: list[str]) -> None:
    text = "".join(parts)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    capital = any(line.isascii() and line != line.lower() and line not in ("[UNK]", "[CLS]") for line in lines)
    assert vocab_txt._has_capital(text.encode(), {b"[UNK]", b"[CLS]"}) == capital


def test_real_vocab_txt_is_its_tokenizer_json(data: Path) -> None:
    folder = data / "vocabs/bert-base-uncased"
    spec = vocab_txt.read((folder / "vocab.txt").read_bytes())
    table = json.loads((folder / "tokenizer.daulet.json").read_bytes())
    ids = {token.decode(): id for token, id in zip(spec.model.tokens, spec.model.ids, strict=True)}
    assert ids | spec.special_tokens == table["model"]["vocab"]
    again = hf_json.read(json.loads(hf_json.write(spec)))
    assert again == spec
    assert vocab_txt.write(spec)[0] == (folder / "vocab.txt").read_bytes()
    assert json.loads(spec.normalizers[0]) == table["normalizer"]
    assert json.loads(str(spec.post_processor)) == table["post_processor"]
    assert json.loads(spec.decoders[0]) == table["decoder"]
    assert [(token.id, token.content) for token in spec.added_tokens] == [
        (token["id"], token["content"]) for token in table["added_tokens"]
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("gpt-2.gguf", "gpt2/tokenizer.json"),
        ("llama-bpe.gguf.xz", "llama3/tokenizer.json.xz"),
        ("qwen2.gguf.xz", "qwen2/tokenizer.json.xz"),
    ],
)
def test_gguf_of_bytes_equals_the_published_tokenizer(data: Path, name: str, other: str) -> None:
    mine = gguf.read(content(data / "vocabs/gguf" / f"ggml-vocab-{name}"))
    published = hf_json.read(json.loads(content(data / "vocabs" / other)))
    assert (mine.model, mine.split) == (published.model, published.split)
    assert mine.special_tokens == published.special_tokens


def test_gguf_of_pieces_equals_the_published_files(data: Path) -> None:
    folder = data / "vocabs"
    mine = gguf.read(content(folder / "gguf/ggml-vocab-llama-spm.gguf"))
    model = sentencepiece.read((folder / "llama2/tokenizer.model").read_bytes())
    assert mine.replace(post_processor=None) == model
    assert json.loads(str(mine.post_processor))["single"][0] == {"SpecialToken": {"id": "<s>", "type_id": 0}}
    bert = gguf.read(content(folder / "gguf/ggml-vocab-bert-bge.gguf"))
    assert bert == vocab_txt.read((folder / "bert-base-uncased/vocab.txt").read_bytes())
    coder = gguf.read(content(folder / "gguf/ggml-vocab-deepseek-coder.gguf"))
    assert coder.split[0] == "[\r\n]"
    assert {row.content for row in coder.added_tokens} >= {"õ", "<｜begin▁of▁sentence｜>"}


def test_gguf_says_what_it_cannot_do(tmp_path: Path) -> None:
    base = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"], "tokenizer.ggml.merges": ["a b"]}
    cases = {
        "has the split pattern 'smile', which is not known": models.gguf({**base, "tokenizer.ggml.pre": "smile"}),
        "the file names no split pattern .* one of cl100k, gpt2": models.gguf(base),
        "not supported: the tokenizer 'hybriddna'": models.gguf({**base, "tokenizer.ggml.model": "hybriddna"}),
        "needs 'ab', which is not in the vocabulary": models.gguf({**base, "tokenizer.ggml.pre": "gpt-2"}),
        "token_type has 1 values for 2 tokens": models.gguf({**base, "tokenizer.ggml.token_type": [1]}),
        "holds no tokenizer": models.gguf({"general.name": "x"}),
        "not supported: version 1 ": b"GGUF\x01\0\0\0" + bytes(40),
    }
    for message, data in cases.items():
        with pytest.raises(bp.FormatError, match=message):
            gguf.read(data)
    (tmp_path / "model.gguf").write_bytes(models.gguf_pairs() + b"tensors" * 1000)
    assert loading.load(tmp_path, partial_alphabet=True).split == (bp.SPLIT_PATTERNS["gpt2"],)
    named = loading.load(tmp_path / "model.gguf", split="qwen2", partial_alphabet=True)
    assert named.split == (bp.SPLIT_PATTERNS["qwen2"],)
    with pytest.raises(bp.FormatError, match="holds its own special tokens"):
        loading.load(tmp_path, special_tokens={"<s>": 3})
