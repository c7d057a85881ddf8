"""The special tokens that files name for a role: read from each format, kept by saving, never compared."""

from __future__ import annotations

import json
import lzma
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair.compat import transformers
from bytepair.formats import configs, gguf, hf_json, manifest, native, protobuf, sentencepiece, tekken, vocab_txt
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

Ids = tuple[int | None, int | None, int | None, int | None]


def names(tok: bp.Tokenizer) -> tuple[str | None, str | None, str | None, str | None]:
    return tok.bos_token, tok.eos_token, tok.pad_token, tok.unk_token


def ids(tok: bp.Tokenizer) -> Ids:
    return tok.bos_token_id, tok.eos_token_id, tok.pad_token_id, tok.unk_token_id


@pytest.fixture(scope="module")
def plain() -> bp.Tokenizer:
    return bp.train({"low": 5, "lower": 2}, vocab_size=262, special_tokens=["<s>", "</s>", "<pad>"])


@pytest.fixture(scope="module")
def named(plain: bp.Tokenizer) -> bp.Tokenizer:
    return bp.Tokenizer(plain.spec.replace(roles=(("bos", "<s>"), ("eos", "</s>"), ("pad", "</s>"), ("cls", "<s>"))))


def test_without_a_file_that_names_them_there_are_none(plain: bp.Tokenizer, tmp_path: Path) -> None:
    plain.save(tmp_path)
    for tok in (plain, bp.Tokenizer.from_file(tmp_path)):
        assert names(tok) == ids(tok) == (None, None, None, None)
    assert "roles" not in json.loads((tmp_path / "manifest.json").read_text())


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_the_files_of_a_folder(plain: bp.Tokenizer, tmp_path: Path, file: str) -> None:
    plain.save(tmp_path)
    (tmp_path / "manifest.json").unlink()
    table = {"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False}, "pad_token": None, "unk_token": ""}
    (tmp_path / file).write_text(json.dumps(table))
    tok = bp.Tokenizer.from_file(tmp_path)
    assert names(tok) == ("<s>", "</s>", None, None)
    assert ids(tok) == (259, 260, None, None)
    # One file by its name is that file alone.
    assert names(bp.Tokenizer.from_file(tmp_path / "tokenizer.json")) == (None, None, None, None)


def test_a_named_token_without_an_id(plain: bp.Tokenizer, tmp_path: Path) -> None:
    plain.save(tmp_path)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "[none]"}')
    with pytest.warns(configs.TokenWithoutIdWarning, match="'\\[none\\]' of tokenizer_config.json has no id"):
        tok = bp.Tokenizer.from_file(tmp_path)
    assert (tok.pad_token, tok.pad_token_id) == ("[none]", None)
    # Rows are padded with the token that has a known name.
    assert tok(["low", "low low"], padding=True).input_ids[0][-1] == 261


def test_the_padding_of_tokenizer_json(plain: bp.Tokenizer, tmp_path: Path) -> None:
    table = json.loads(plain.save(tmp_path)[0].read_text())
    with pytest.warns(bp.TokenizerWarning, match="padding is not applied"):
        spec = hf_json.read({**table, "padding": {"pad_token": "</s>", "pad_id": 260}})
    assert bp.Tokenizer(spec).pad_token_id == 260


def with_trainer(pieces: list[tuple[str, float, int]], *settings: tuple[int, str]) -> bytes:
    """A model of sentencepiece with further settings of the trainer; the parts of a message are one message."""
    return models.model(pieces) + protobuf.write((2, protobuf.write(*settings)))


def test_sentencepiece_names_pieces() -> None:
    pieces = [*models.pair_pieces(), ("<begin>", 0.0, 3), ("<pad>", 0.0, 3)]
    last = len(pieces) - 1
    tok = bp.Tokenizer(sentencepiece.read(with_trainer(pieces)))
    assert ids(tok) == (1, 2, last, 0)
    data = with_trainer(pieces, (46, "<begin>"), (47, "lo"), (48, "<none>"))
    tok = bp.Tokenizer(sentencepiece.read(data))
    # A piece of text has no role, and neither has one that is not there.
    assert names(tok) == ("<begin>", None, None, "<unk>")
    assert ids(tok) == (last - 1, None, None, 0)


def test_sentencepiece_reports_the_same_ids() -> None:
    peer = pytest.importorskip("sentencepiece")
    pieces = [*models.pair_pieces(), ("<begin>", 0.0, 3), ("<fill>", 0.0, 3), ("<pad>", 0.0, 3)]

    def theirs(data: bytes) -> list[int]:
        model = peer.SentencePieceProcessor(model_proto=data)
        return [model.bos_id(), model.eos_id(), model.pad_id(), model.unk_id()]

    for settings in ((), ((46, "<begin>"),), ((48, "<fill>"), (47, "<s>")), ((46, "lo"), (47, "<none>"), (48, ""))):
        data = with_trainer(pieces, *settings)
        tok = bp.Tokenizer(sentencepiece.read(data))
        assert [-1 if id is None else id for id in ids(tok)] == theirs(data)
        if None not in ids(tok):
            assert theirs(sentencepiece.write(tok.spec)) == theirs(data)


def test_gguf_names_ids() -> None:
    table: dict[str, Any] = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2"}
    table |= {"tokenizer.ggml.tokens": ["a", "b", "ab", "<s>", "<x>"], "tokenizer.ggml.token_type": [1, 1, 1, 3, 3]}
    table |= {"tokenizer.ggml.merges": ["a b"], "tokenizer.ggml.bos_token_id": 3, "tokenizer.ggml.padding_token_id": 4}
    table["tokenizer.ggml.unknown_token_id"] = 0

    def read(**keys: int) -> bp.Tokenizer:
        more = {f"tokenizer.ggml.{key}": value for key, value in keys.items()}
        spec = gguf.read(models.gguf(table | more))
        return bp.Tokenizer(spec.replace(model=spec.packed._replace(partial_alphabet=True)))

    # A token of the vocabulary may have a role as well.
    assert (names(read()), ids(read())) == (("<s>", None, "<x>", "a"), (3, None, 4, 0))
    assert read(padding_token_id=0xFFFFFFFF).pad_token is None
    assert dict(read(separator_token_id=4).spec.roles)["sep"] == "<x>"
    with pytest.warns(bp.TokenizerWarning, match=r"tokenizer.ggml.padding_token_id is 5.*no token is named"):
        assert read(padding_token_id=5).pad_token is None
    pieces = gguf.read(models.gguf_pieces(models.pair_pieces(), "llama"))
    # The second one is that of llama.cpp, where the file names none.
    assert pieces.roles == (("bos", "<s>"), ("eos", "</s>"))
    bert = bp.Tokenizer(gguf.read(models.gguf_bert()))
    assert (ids(bert), dict(bert.spec.roles)["sep"]) == ((None, None, 0, 1), "[SEP]")


def test_tekken_and_vocab_txt_have_fixed_names() -> None:
    assert tekken.read(models.small_tekken()).roles == (("bos", "<s>"),)
    spec = vocab_txt.read(models.VOCAB_TXT.replace(b"[PAD]", b"<fill>"), {"pad_token": "<fill>"})
    assert spec.roles == (("pad", "<fill>"), ("unk", "[UNK]"), ("cls", "[CLS]"), ("sep", "[SEP]"), ("mask", "[MASK]"))
    assert ids(bp.Tokenizer(spec)) == (None, None, 0, 1)


def test_the_unknown_token_of_the_model() -> None:
    spec = vocab_txt.read(models.VOCAB_TXT).replace(roles=())
    assert (bp.Tokenizer(spec).unk_token, bp.Tokenizer(spec).unk_token_id) == ("[UNK]", 1)
    other = bp.Tokenizer(spec.replace(roles=(("unk", "[MASK]"),)))
    assert (other.unk_token, other.unk_token_id) == ("[MASK]", 4)


@pytest.mark.parametrize("format", ["native", "tokenizer.json", "tiktoken", "vocab+merges"])
def test_saving_keeps_them(named: bp.Tokenizer, tmp_path: Path, format: str) -> None:
    files = named.save(tmp_path, format, drop=("split", "special_tokens"))
    assert json.loads((tmp_path / "manifest.json").read_text())["roles"] == dict(named.spec.roles)
    bare: dict[str, Any] = {} if format in ("native", "tokenizer.json") else {"special_tokens": named.special_tokens}
    bare |= {"split": "none"} if format == "tiktoken" else {}
    for path in (tmp_path, files[0]):
        again = bp.Tokenizer.from_file(path, **bare)
        assert (again.spec.roles, ids(again)) == (named.spec.roles, (259, 260, 260, None))


@pytest.mark.parametrize("name", ["sentencepiece", "vocab.txt", "tekken.json"])
def test_saving_keeps_those_of_other_formats(tmp_path: Path, name: str) -> None:
    spec = models.specs()[name]
    last = spec.added_tokens[-1].content
    tok = bp.Tokenizer(spec.replace(roles=(("eos", last), ("pad", last))))
    tok.save(tmp_path, name, drop=("post_processor",))
    assert bp.Tokenizer.from_file(tmp_path).spec.roles == tok.spec.roles


def test_a_damaged_manifest(named: bp.Tokenizer, tmp_path: Path) -> None:
    named.save(tmp_path)
    place = tmp_path / "manifest.json"
    table = json.loads(place.read_text())
    del table["manifest_sha256"]
    for roles in ({"chief": "<s>"}, {"bos": ""}, {"bos": 3}, ["bos"], "bos", None):
        text = json.dumps(table | {"roles": roles}, indent=2)
        place.write_bytes(manifest.seal(text.encode()))
        with pytest.raises(bp.FormatError, match="are not pairs of a role and its token") as caught:
            bp.Tokenizer.from_file(tmp_path)
        assert caught.value.file == str(place)


def test_they_are_data_beside_the_tokenizer(plain: bp.Tokenizer, named: bp.Tokenizer) -> None:
    assert plain == named
    assert hash(plain.spec) == hash(named.spec)
    assert plain.fingerprint == named.fingerprint
    assert native.write(plain.spec) == native.write(named.spec)
    assert pickle.loads(pickle.dumps(named)).spec.roles == named.spec.roles
    assert named.with_added_tokens(["<x>"]).eos_token_id == 260
    with pytest.raises(AttributeError):
        named.bos_token = "x"  # type: ignore[misc]


@pytest.mark.parametrize("roles", [(("begin", "x"),), (("bos", "x"), ("bos", "y")), (("bos", ""),), ("bos",), (1,)])
def test_roles_are_checked(plain: bp.Tokenizer, roles: Any) -> None:
    with pytest.raises(bp.FormatError, match="are not pairs of a role and its token"):
        bp.Tokenizer(plain.spec.replace(roles=roles))


def test_rows_are_padded_with_the_named_token(plain: bp.Tokenizer, named: bp.Tokenizer) -> None:
    rows = ["low", "low low"]
    assert plain(rows, padding=True).input_ids[0][-1] == 261
    assert named(rows, padding=True).input_ids[0][-1] == 260
    assert named(rows, padding=True, return_offsets_mapping=True).input_ids[0][-1] == 260
    assert named(rows, padding=True, pad_token="<s>").input_ids[0][-1] == 259


def test_the_face_of_transformers_saves_its_own(plain: bp.Tokenizer, tmp_path: Path) -> None:
    plain.save(tmp_path)
    face = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"), bos_token="<s>")
    face.pad_token = "<pad>"
    face.save_pretrained(str(tmp_path / "again"))
    assert ids(bp.Tokenizer.from_file(tmp_path / "again")) == (259, None, 261, None)


@pytest.mark.data
@pytest.mark.parametrize(
    ("path", "expected", "found"),
    [
        ("llama2", ("<s>", "</s>", None, "<unk>"), (1, 2, None, 0)),
        ("llama2/tokenizer.model", ("<s>", "</s>", None, "<unk>"), (1, 2, None, 0)),
        ("gguf/ggml-vocab-llama-spm.gguf", ("<s>", "</s>", None, "<unk>"), (1, 2, None, 0)),
        ("bert-base-uncased/vocab.txt", (None, None, "[PAD]", "[UNK]"), (None, None, 0, 100)),
        ("gguf/ggml-vocab-bert-bge.gguf", (None, None, "[PAD]", "[UNK]"), (None, None, 0, 100)),
        ("t5-small/tokenizer.json", (None, None, None, "<unk>"), (None, None, None, 2)),
    ],
)
def test_real_files(data: Path, path: str, expected: tuple[str | None, ...], found: Ids) -> None:
    tok = bp.Tokenizer.from_file(data / "vocabs" / path)
    assert (names(tok), ids(tok)) == (expected, found)


@pytest.mark.data
def test_qwen_pads_with_a_token_of_no_known_name(data: Path, tmp_path: Path) -> None:
    folder = data / "vocabs/qwen2"
    (tmp_path / "tokenizer.json").write_bytes(lzma.decompress((folder / "tokenizer.json.xz").read_bytes()))
    (tmp_path / "tokenizer_config.json").write_bytes((folder / "tokenizer_config.json").read_bytes())
    tok = bp.Tokenizer.from_file(tmp_path)
    assert (names(tok), ids(tok)) == ((None, "<|endoftext|>", "<|endoftext|>", None), (None, 151643, 151643, None))
    assert tok(["a", "a b"], padding=True).input_ids[0][-1] == 151643
