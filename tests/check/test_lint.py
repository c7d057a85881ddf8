"""Each fault in a file that has it, made from the tokenizer.json of a trained tokenizer without any.

Long because there is a test for each kind of finding.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.check.lint import Lint, lint, lint_and_load
from bytepair.errors import ArtifactError, FormatError
from bytepair.model.models import BytePair, Characters, Unigram, WordLevel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

Craft = Callable[..., Lint]


@pytest.fixture(scope="module")
def trained(sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A tokenizer.json without a fault."""
    tok = bp.train(iter(sources), 600, split="cl100k", special_tokens=["<|bos|>", "<|eos|>"])
    folder = tmp_path_factory.mktemp("trained")
    tok.save(folder)
    table: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    return table


@pytest.fixture
def craft(trained: dict[str, Any], tmp_path: Path) -> Craft:
    """Changes a copy of it, writes it to a file and lints it; `beside` are other files of the folder."""

    def run(
        change: Callable[[dict[str, Any]], object], *, beside: dict[str, Any] | None = None, **options: Any
    ) -> Lint:
        table = json.loads(json.dumps(trained))
        change(table)
        (tmp_path / "tokenizer.json").write_text(json.dumps(table), "utf-8")
        for name, content in (beside or {}).items():
            (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return lint(tmp_path if beside is not None else tmp_path / "tokenizer.json", **options)

    return run


def nothing(table: dict[str, Any]) -> None:
    """No change."""


def added(content: str, id: int = 600, **flags: bool) -> Callable[[dict[str, Any]], object]:
    """One more added token."""
    row = {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False}
    row |= {"normalized": False, "special": False, **flags}
    return lambda table: table["added_tokens"].append(row)


def test_what_was_trained_has_no_fault(craft: Craft, sources: list[str]) -> None:
    assert craft(nothing).findings == ()
    assert craft(nothing, beside={}).findings == ()
    text = sources[:2]
    assert lint(bp.train(iter(text), 400, split="gpt2")).findings == ()
    assert lint(bp.train(iter(text), 400, split="o200k", normalizers=["NFC"])).findings == ()
    assert lint(bp.train_wordpiece(iter(text), 600)).findings == ()
    assert lint(bp.train_unigram(iter(text), 400)).codes in ((), ("unreachable-token",))


# Faults that a loader refuses: each, and all of its kind.


def test_duplicate_ids(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        vocab = table["model"]["vocab"]
        first, second, third, fourth = list(vocab)[300:304]
        vocab[second], vocab[fourth] = vocab[first], vocab[third]

    found = craft(change)
    assert found.codes[0] == "does-not-load"
    assert "two tokens have the id" in found["does-not-load"].what
    assert (found["duplicate-id"].count, len(found["duplicate-id"].ids)) == (2, 2)
    assert found["duplicate-id"].pointer.startswith("/model/vocab/")
    assert " and " in found["duplicate-id"].examples[0]


def test_an_added_token_with_the_id_of_another(craft: Craft) -> None:
    found = craft(added("<|more|>", id=300))
    assert found["duplicate-id"].ids == (300,)
    assert "'<|more|>'" in found["duplicate-id"].examples[0]
    found = craft(added("<|more|>", id=599))
    assert found["duplicate-id"].ids == (599,)


def test_an_added_token_twice(craft: Craft) -> None:
    found = craft(added("<|eos|>"))
    assert found["duplicate-token"].examples == ("'<|eos|>'",)


def test_duplicate_keys(trained: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    text = json.dumps(trained)
    path.write_text(
        text.replace('"vocab": {', '"vocab": {"!": 7, ', 1).replace('{"version"', '{"model": 1, "version"'), "utf-8"
    )
    found = lint(path)
    assert found["duplicate-key"].examples == ("/model", "/model/vocab/!")
    # It loads, as in `tokenizers`, but for a key that the library refuses.
    assert "twice" in found["passed-over"].what
    assert "does-not-load" not in found.codes
    path.write_text(text.replace('"special": ', '"special": false, "special": ', 1), "utf-8")
    found = lint(path)
    assert found["duplicate-key"].examples == ("/added_tokens/0/special",)
    assert "twice" in found["does-not-load"].what


def test_merges_of_absent_tokens(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        vocab = table["model"]["vocab"]
        left, right = table["model"]["merges"][5]
        del vocab[left + right]

    found = craft(change)
    assert found["does-not-load"].severity == "error"
    finding = found["merge-of-absent-token"]
    assert finding.pointer == "/model/merges/5"
    assert finding.count >= 1


def test_missing_bytes(craft: Craft, tmp_path: Path) -> None:
    def without(characters: str) -> Callable[[dict[str, Any]], None]:
        def change(table: dict[str, Any]) -> None:
            model = table["model"]
            for byte in characters:
                model["vocab"].pop(byte)
            model["merges"] = [pair for pair in model["merges"] if not set(characters) & set("".join(pair))]

        return change

    # 0xBF, one that UTF-8 has no use for, and a letter, without which it does not load.
    found = craft(without("¿À~"))
    assert found["missing-bytes"].severity == "error"
    assert "0xBF" in found["missing-bytes"].examples
    # It loads in part, so that the rest is looked at too.
    assert "does-not-load" in found.codes
    assert "merge-of-absent-token" not in found.codes
    known = lint(tmp_path / "tokenizer.json", partial_alphabet=True)
    assert (known["missing-bytes"].severity, known.errors) == ("warning", ())
    rare = craft(without("¿À"))
    assert (rare["missing-bytes"].severity, rare.errors) == ("warning", ())


def test_several_faults_at_once(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        table["model"]["vocab"]["¿"] = 5
        del table["model"]["vocab"]["z"]
        added("the")(table)
        table["pre_tokenizer"] = {
            "type": "Split",
            "pattern": {"String": r"\s+"},
            "behavior": "Isolated",
            "invert": False,
        }

    codes = craft(change).codes
    assert {"does-not-load", "duplicate-id", "missing-bytes", "literal-pattern"} <= set(codes)


def test_ids_that_are_none(craft: Craft) -> None:
    found = craft(lambda table: table["model"]["vocab"].update(low=-3, lower="7"))
    assert (found["wrong-id"].count, found["wrong-id"].pointer) == (2, "/model/vocab/low")


def test_an_unknown_token_that_is_not_there(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        table["decoder"] = None
        table["model"]["unk_token"] = "<unk>"

    assert craft(change)["unknown-missing"].pointer == "/model/unk_token"


def test_files_that_are_cut_short(trained: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(trained)[:5000], "utf-8")
    found = lint(path)
    assert found.codes == ("does-not-load",)
    assert "not JSON" in found["does-not-load"].what
    (tmp_path / "x.json").write_text("[1]")
    assert lint(tmp_path / "x.json").codes == ("does-not-load",)
    with pytest.raises(ArtifactError, match="is not a file or folder"):
        lint(tmp_path / "none")


ODD: list[Any] = [None, True, -1, 2**40, 0.5, "", "x", [], [None], [["a", 1]], {}, {"type": "Sequence"}, {"a": 1}]


def places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Containers and keys of a file's content; only the first item of a long container."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    found = [(value, key) for key in keys[:9]]
    return found + [each for key in keys[:9] for each in places(value[key], depth + 1)]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_whatever_stands_in_a_file_there_are_findings_and_no_exception(
    trained: dict[str, Any], tmp_path: Path, number: int
) -> None:
    small = json.loads(json.dumps(trained))
    small["model"]["vocab"] = dict(list(small["model"]["vocab"].items())[:300])
    small["model"]["merges"] = small["model"]["merges"][:20]
    small["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|bos|>": {"id": "<|bos|>", "ids": [3], "tokens": ["<|bos|>"]}},
    }
    path = tmp_path / "tokenizer.json"
    for container, key in places(small):
        kept, container[key] = container[key], ODD[number]
        path.write_text(json.dumps(small), "utf-8")
        assert isinstance(lint(path), Lint)
        container[key] = kept


def test_rank_files(tmp_path: Path) -> None:
    ranks = [bytes([byte]) for byte in range(256)] + [b"ab", b"ab", b"cd"]
    import base64

    lines = [b"%s %d" % (base64.b64encode(token), min(rank, 257)) for rank, token in enumerate(ranks)]
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = lint(path, split="gpt2")
    assert found["duplicate-id"].ids == (257,)
    assert "lines 257 and 258" in found["duplicate-token"].examples[0]
    path.write_bytes(b"\n".join(lines[:257]) + b"\n")
    assert lint(path, split="gpt2").findings == ()
    # Without a pattern nothing is known of the stages, which is said.
    assert lint(path).codes == ("stages-unknown",)
    assert lint_and_load(path).tokenizer is None


def test_a_token_a_line(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nlow\n##er\nlow\n")
    found = lint(path)
    assert found.codes == ("does-not-load", "duplicate-token")
    assert found["duplicate-token"].examples == ("'low' in lines 5 and 7",)
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nlow\n##er\n")
    assert lint(path).findings == ()


# The model.


def test_unreachable_tokens_and_merges(craft: Craft) -> None:
    def both(table: dict[str, Any]) -> None:
        table["model"]["vocab"] |= {"zqzq": 600, "<unused3>": 601}

    found = craft(both)
    assert found.codes == ("unreachable-token", "reserved-token")
    assert (found["unreachable-token"].examples, found["unreachable-token"].severity) == (("600 'zqzq'",), "warning")
    assert found["reserved-token"].ids == (601,)

    def shadowed(table: dict[str, Any]) -> None:
        model = table["model"]
        left, right = next(pair for pair in model["merges"] if len(pair[0] + pair[1]) == 3)
        made = left + right
        other = [made[:1], made[1:]] if len(left) == 2 else [made[:2], made[2:]]
        model["vocab"].setdefault(made[1:] if len(left) == 2 else made[:2], 600)
        model["merges"].append(other)

    found = craft(shadowed)
    assert "unreachable-merge" in found.codes
    assert found["unreachable-merge"].examples[0].startswith("merge ")
    assert found.errors == ()


def test_tokens_that_the_normalizer_takes_away(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        model = table["model"]
        model["vocab"] |= {"eÌ": 600, "eÌģ": 601}  # e and U+0301
        model["merges"] += [["e", "Ì"], ["eÌ", "ģ"]]
        table["normalizer"] = {"type": "NFC"}

    found = craft(change)
    assert found.codes == ("normalized-token",)
    assert found["normalized-token"].ids == (601,)
    assert found["normalized-token"].pointer == "/normalizer"


def test_tokens_that_no_piece_holds(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        model = table["model"]
        model["vocab"] |= {"12": 600, "123": 601, "1234": 602} if "12" not in model["vocab"] else {}
        model["merges"] += [["1", "2"], ["12", "3"], ["123", "4"]]

    found = craft(change)
    # cl100k has at most three digits in a piece.
    assert found["unreached-token"].severity == "note"
    assert "602 '1234'" in found["unreached-token"].examples
    assert found["unreached-token"].count == 1


def test_tokens_that_are_no_text(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        table["model"]["vocab"]["ÃÃ"] = 600  # two leading bytes
        table["model"]["merges"].append(["Ã", "Ã"])

    assert craft(change).codes == ("not-utf8-token",)


def test_holes(craft: Craft) -> None:
    found = craft(added("<x>", id=603, special=True))
    assert found.codes == ("id-holes",)
    assert found["id-holes"].ids == (600, 601, 602)


def test_models_of_characters() -> None:
    letters = tuple(letter.encode() for letter in "ab▁")
    bare = BytePair(letters, (0, 1, 2), (), alphabet=Characters())
    assert lint(bp.Tokenizer(TokenizerSpec(bare))).codes == ("unknown-missing",)
    some_bytes = tuple(f"<0x{byte:02X}>".encode() for byte in range(200))
    fallback = BytePair((*letters, *some_bytes), tuple(range(203)), (), alphabet=Characters(byte_fallback=True))
    found = lint(bp.Tokenizer(TokenizerSpec(fallback)))
    assert found.codes == ("byte-fallback-incomplete",)
    assert found["byte-fallback-incomplete"].count == 56
    scores = (0.0, -1.0, -1.0, -9.0)
    unigram = Unigram((b"<unk>", b"a", b"b", b"ab"), (0, 1, 2, 3), scores, unk_id=0)
    assert lint(bp.Tokenizer(TokenizerSpec(unigram)))["unreachable-token"].ids == (3,)
    assert lint(bp.Tokenizer(TokenizerSpec(replace(unigram, scores=(0.0, -1.0, -1.0, -2.0))))).codes == ()
    assert "unknown-missing" in lint(bp.Tokenizer(TokenizerSpec(replace(unigram, unk_id=None)))).codes
    words = WordLevel((b"<unk>", b"low", b"er"), (0, 1, 2))
    assert lint(bp.Tokenizer(TokenizerSpec(words, pre_tokenizers=("Whitespace",)))).codes == ()


# Added tokens.


@pytest.mark.parametrize(
    ("content", "flags", "code", "severity"),
    [
        ("the", {}, "shadowing-token", "warning"),
        (" the", {"lstrip": True}, "shadowing-token", "warning"),
        ("ü", {"normalized": True}, "shadowing-token", "warning"),
        ("the", {"special": True}, "shadowing-token", "error"),
        ("the", {"single_word": True}, "shadowing-word", "note"),
        ("<|call|>", {}, "unmarked-control-token", "note"),
    ],
)
def test_added_tokens_that_take_ordinary_text(
    craft: Craft, content: str, flags: dict[str, bool], code: str, severity: str
) -> None:
    found = craft(added(content, **flags))
    assert code in found.codes
    assert found[code].severity == severity
    assert found[code].pointer == "/added_tokens/2"
    assert (600, f"600 '{content}'") == (found[code].ids[0], found[code].examples[0])
    assert set(found.codes) <= {code, "special-from-text", "duplicate-token"}


@pytest.mark.parametrize("content", ["<tool_call>", "\n\n", "   ", "[INST]", "<table>", "<|x|>", "__pad__", "▁▁"])
def test_added_tokens_that_take_none(craft: Craft, content: str) -> None:
    assert set(craft(added(content, special=content == "<|x|>")).codes) <= {"duplicate-token"}


def test_added_tokens_that_another_hides() -> None:
    tok = bp.train({"low": 5}, vocab_size=258)
    # Added tokens matched in the original text come before those matched in normalized text.
    rows = (AddedToken("<a", 258), AddedToken("<a>", 259, normalized=True))
    spec = tok.spec.replace(added_tokens=rows, normalizers=("Lowercase",))
    found = lint(bp.Tokenizer(spec))
    assert (found.codes, found["hidden-token"].ids) == (("hidden-token",), (259,))
    equal = AddedToken("<B>", 258, normalized=True), AddedToken("<b>", 259, normalized=True)
    found = lint(bp.Tokenizer(spec.replace(added_tokens=equal)))
    assert (found.codes, found["hidden-token"].ids) == (("hidden-token",), (259,))
    found = lint(bp.Tokenizer(spec.replace(added_tokens=(rows[0], AddedToken("<a>", 259)))))
    assert found.codes == ()


def test_a_token_of_the_model_once_more() -> None:
    tok = bp.train({"low": 5}, vocab_size=258)
    twice = bp.Tokenizer(tok.spec.replace(added_tokens=(AddedToken("low", 258, special=False),)))
    finding = lint(twice)["duplicate-token"]
    assert (finding.examples, finding.ids, finding.severity) == (("'low': 258 and 257",), (258,), "warning")


def test_special_tokens_that_text_becomes(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        added("self", table["model"]["vocab"]["self"], special=True)(table)

    found = craft(change)
    assert found.codes == ("shadowing-token", "special-from-text")


# Stages.


@pytest.mark.parametrize("text", [r"\s+|\p{L}+", r"(?i:'s|'t)", "[^a-z]", r"[0-9]+", r" ?\d{1,3}"])
def test_a_pattern_that_is_a_string(craft: Craft, text: str) -> None:
    def change(table: dict[str, Any]) -> None:
        split = {"type": "Split", "pattern": {"String": text}, "behavior": "Isolated", "invert": False}
        table["pre_tokenizer"]["pretokenizers"][0] = split

    found = craft(change)
    finding = found["literal-pattern"]
    assert (finding.severity, finding.pointer) == ("error", "/pre_tokenizer/pretokenizers/0/pattern/String")


def test_a_pattern_that_is_a_string_without_its_file(craft: Craft, tmp_path: Path) -> None:
    test_a_pattern_that_is_a_string(craft, r"\s+")
    tok = bp.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert lint(tok)["literal-pattern"].examples == (r"'\s+'",)


@pytest.mark.parametrize("text", [" ", "▁", "...", "(", "a.b", "C++ ", "?!", "-", "\n"])
def test_a_string_that_is_meant(craft: Craft, text: str) -> None:
    def change(table: dict[str, Any]) -> None:
        split = {"type": "Split", "pattern": {"String": text}, "behavior": "Isolated", "invert": False}
        table["pre_tokenizer"]["pretokenizers"].insert(0, split)

    assert "literal-pattern" not in craft(change).codes


def test_a_decoder_that_is_missing(craft: Craft) -> None:
    found = craft(lambda table: table.update(decoder=None))
    assert found["decoder-missing"].severity == "error"
    assert "Ġ" in found["decoder-missing"].what


def test_a_split_that_never_cuts_and_text_that_is_deleted() -> None:
    replace_space = spell_step({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})
    delete = spell_step({"type": "Replace", "pattern": {"Regex": "[0-9]"}, "content": ""})
    split = spell_step({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False})
    model = BytePair((b"<unk>", b"a", "▁".encode()), (0, 1, 2), (), alphabet=Characters(unk_token="<unk>"))
    back = spell_step({"type": "Replace", "pattern": {"String": "▁"}, "content": " "})
    spec = TokenizerSpec(model, normalizers=(delete, replace_space), pre_tokenizers=(split,), decoders=(back, "Fuse"))
    assert lint(bp.Tokenizer(spec)).codes == ("idle-split", "deleting-normalizer")


def test_a_post_processor_with_other_ids(craft: Craft) -> None:
    def change(table: dict[str, Any]) -> None:
        parts = [{"SpecialToken": {"id": "<|bos|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
        special = {"<|bos|>": {"id": "<|bos|>", "ids": [3], "tokens": ["<|bos|>"]}}
        table["post_processor"] = {
            "type": "TemplateProcessing",
            "single": parts,
            "pair": [*parts, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": special,
        }

    found = craft(change)
    assert found["post-processor-id"].severity == "error"
    assert found["post-processor-id"].ids == (3,)


def test_a_model_of_berts_kind_without_its_frame(sources: list[str], tmp_path: Path) -> None:
    tok = bp.train_wordpiece(iter(sources[:1]), 400)
    tok.save(tmp_path, "tokenizer.json")
    assert lint(tmp_path).findings == ()
    bare = bp.Tokenizer(tok.spec.replace(post_processor=None))
    finding = lint(bare)["post-processor-lacks-token"]
    assert (finding.severity, finding.count) == ("warning", 2)


# Other files in the folder.


def test_settings(craft: Craft) -> None:
    config: dict[str, Any] = {"eos_token": "<|eos|>", "bos_token": "<|bos|>", "model_max_length": 1e30}
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
    fine = {"tokenizer_config.json": {**config, "chat_template": template}}
    assert craft(nothing, beside=fine).findings == ()
    wrong = {**config, "pad_token": "<|pad|>", "model_max_length": 0, "add_bos_token": True}
    found = craft(nothing, beside={"tokenizer_config.json": wrong})
    assert found.codes == ("settings-token-unknown", "post-processor-lacks-token", "length-nonsense")
    assert found["settings-token-unknown"].examples == ("pad_token '<|pad|>'",)
    assert found["settings-token-unknown"].pointer == "/pad_token"
    decoder = {"598": {"content": "<|bos|>", "special": True, "lstrip": True}}
    found = craft(nothing, beside={"tokenizer_config.json": {**config, "added_tokens_decoder": decoder}})
    assert found.codes == ("settings-flag-differs", "settings-lack-token")
    assert found["settings-flag-differs"].examples == ("598 '<|bos|>': lstrip",)
    decoder = {"3": {"content": "<|bos|>", "special": True}}
    found = craft(nothing, beside={"tokenizer_config.json": {**config, "added_tokens_decoder": decoder}})
    assert "has the id" in found["does-not-load"].what
    found = craft(nothing, beside={"tokenizer_config.json": {"eos_token": 7}})
    assert found.codes == ("does-not-load", "settings-broken")


def test_chat_templates(craft: Craft) -> None:
    config = {"eos_token": "<|eos|>"}
    text = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    found = craft(nothing, beside={"tokenizer_config.json": config, "chat_template.jinja": text})
    assert found.codes == ("template-token-unknown", "template-without-eos")
    assert found["template-token-unknown"].examples == ("'<|im_end|>'", "'<|im_start|>'")
    assert found["template-token-unknown"].file.endswith("chat_template.jinja")
    found = craft(nothing, beside={"tokenizer_config.json": config, "chat_template.jinja": "{% for %}<|eos|>"})
    assert found.codes == ("template-broken",)


def test_dropout_and_the_like_are_said(craft: Craft) -> None:
    found = craft(lambda table: table["model"].update(dropout=0.1))
    assert found.codes == ("not-applied",)


# Rows of the embedding.


def test_embeddings(tmp_path: Path) -> None:
    tok = bp.train({"low": 5}, vocab_size=258)
    assert lint(tok, embeddings=258).findings == ()
    assert lint(tok, embeddings=257)["embedding-too-small"].severity == "error"
    assert "multiple of 64" in lint(tok, embeddings=320)["embedding-padded"].meaning
    assert "No padding" in lint(tok, embeddings=333)["embedding-padded"].meaning
    head = json.dumps(
        {"model.embed_tokens.weight": {"dtype": "F32", "shape": [200, 4], "data_offsets": [0, 0]}}
    ).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head)
    (tmp_path / "config.json").write_text('{"vocab_size": 384}')
    found = lint(tok, embeddings=tmp_path)
    assert found.codes == ("embedding-too-small", "embedding-padded")
    assert "model.embed_tokens.weight" in found["embedding-too-small"].what
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="neither"):
        lint(tok, embeddings=tmp_path / "empty")


def test_plain_data_and_text(craft: Craft) -> None:
    found = craft(added("the\u202e<script>" * 0 + "the"), embeddings=100)
    said = found.as_dict()
    assert json.loads(json.dumps(said)) == said
    assert said["counts"] == {"error": 1, "warning": len(found) - 1, "note": 0}
    assert str(found).splitlines()[-1] == f"1 error, {len(found) - 1} warning{'s' * (len(found) != 2)}, 0 notes"
    assert found.findings[0].severity == "error"
    with pytest.raises(KeyError):
        found["none"]
