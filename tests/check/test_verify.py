"""Each check passes where it should, and fails where its subject is broken.

Long because each check has a subject of its own that is broken.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.check.verify import embedding_size, running, texts
from bytepair.check.verify.checklist import quoted
from bytepair.formats import manifest, probes
from tests.conftest import WHOLE, share
from tests.formats import models

WORDS = {"low": 5, "lower": 2, " the": 9, " new": 7, "newest": 3, "widest": 3}
TEMPLATE = "{{ bos_token }}{% for m in messages %}<|user|>{{ m }}<|end|>{% endfor %}"


@pytest.fixture(scope="module")
def small() -> bp.Tokenizer:
    return bp.train(WORDS, vocab_size=275, special_tokens=["<|end|>", "<|user|>", "<pad>"], split="gpt2")


@pytest.fixture
def folder(tmp_path: Path, small: bp.Tokenizer) -> Path:
    config = {"chat_template": TEMPLATE, "bos_token": "<|user|>", "eos_token": {"content": "<|end|>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    small.save(tmp_path)
    return tmp_path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips checks that start a process, for tests that verify one tokenizer many times."""
    monkeypatch.setattr(running, "checks", lambda _: [])


def reseal(folder: Path, **changes: Any) -> None:
    place = folder / manifest.NAME
    table = {**json.loads(place.read_text("utf-8")), **changes}
    del table["manifest_sha256"]
    table = {key: value for key, value in table.items() if value != "gone"}
    place.write_bytes(manifest.seal(json.dumps(table, indent=2).encode()))


def names(report: bp.Checklist, status: str = "fail") -> list[str]:
    return [check.name for check in report.checks if check.status == status]


def test_a_saved_folder_passes(folder: Path) -> None:
    report = bp.verify(folder)
    assert report.passed, str(report)
    assert set(names(report, "not applicable")) == {"added tokens are atomic", "embedding size"}
    assert report["file hashes"].detail == "tokenizer.json and the manifest itself"
    assert "1.00 a byte" in report["fertility: Han"].detail
    assert len([check for check in report.checks if check.name.startswith("fertility: ")]) == len(probes.SENTENCES) > 20
    assert len({check.name for check in report.checks}) == len(report.checks)
    assert bp.verify(folder / "tokenizer.json").passed
    assert str(bp.verify(str(folder))).splitlines()[-1].endswith("not applicable")
    assert json.loads(json.dumps(report.as_dict()))["passed"] is True
    with pytest.raises(KeyError):
        report["nothing"]


def test_what_is_given_as_a_tokenizer_has_no_files(small: bp.Tokenizer) -> None:
    report = bp.verify(small)
    assert report.passed
    assert {"file hashes", "fingerprint", "behaviour", "chat template fits"} <= set(names(report, "not applicable"))


def test_files_without_a_manifest(folder: Path) -> None:
    (folder / manifest.NAME).unlink()
    report = bp.verify(folder)
    assert report.passed
    assert report["file hashes"].status == report["behaviour"].status == "not applicable"
    with pytest.raises(bp.ArtifactError, match="is not a file or folder"):
        bp.verify(folder / "nothing")


def test_files_that_are_not_what_was_saved(folder: Path, small: bp.Tokenizer) -> None:
    place, whole = folder / "tokenizer.json", (folder / "tokenizer.json").read_bytes()
    place.write_bytes(whole.replace(b'"ignore_merges": false', b'"ignore_merges": true'))
    report = bp.verify(folder)
    assert names(report) == ["file hashes", "loads"]
    assert "tokenizer.json is not the file that was saved" in report["file hashes"].detail
    assert str(report).splitlines()[-1] == "2 of 2 failed"
    place.write_bytes(whole)
    said = (folder / manifest.NAME).read_bytes()
    (folder / manifest.NAME).write_bytes(said.replace(b'"library"', b'"libraty"'))
    assert names(bp.verify(folder)) == ["file hashes", "loads"]
    (folder / manifest.NAME).write_bytes(said[:-5])
    assert names(bp.verify(folder)) == ["file hashes", "loads"]
    (folder / manifest.NAME).write_bytes(said)
    # A second file that loading does not need to look at.
    reseal(folder, files={**json.loads(said)["files"], "other.txt": "0" * 64})
    assert names(bp.verify(folder)) == ["file hashes"]
    (folder / "other.txt").write_bytes(b"x")
    assert bp.verify(folder)["file hashes"].detail == "other.txt is not the file that was saved"
    (folder / manifest.NAME).write_bytes(said)
    small.save(folder.joinpath("mine.bytepair"))
    assert bp.verify(folder / "tokenizer.json")["file hashes"].status == "not applicable"


@pytest.mark.usefixtures("quick")
def test_a_manifest_that_says_otherwise(folder: Path) -> None:
    said = (folder / manifest.NAME).read_bytes()
    failing: list[tuple[dict[str, Any], str]] = [
        ({"fingerprint": "0"}, "fingerprint"),
        ({"behaviour": {"probes": probes.VERSION, "sha256": "0"}}, "behaviour"),
        ({"unicode": {"split": "15.0.0"}}, "Unicode version"),
        ({"unicode": 5}, "Unicode version"),
        ({"chat_template": "0"}, "chat template hash"),
    ]
    for changes, name in failing:
        reseal(folder, **changes)
        assert names(bp.verify(folder)) == [name]
        (folder / manifest.NAME).write_bytes(said)
    silent: list[tuple[dict[str, Any], str]] = [
        ({"behaviour": {"probes": 0, "sha256": "0"}}, "behaviour"),
        ({"behaviour": 5}, "behaviour"),
        ({"behaviour": "gone"}, "behaviour"),
        ({"unicode": "gone"}, "Unicode version"),
        ({"chat_template": "gone"}, "chat template hash"),
        ({"chat_template": None}, "chat template hash"),
    ]
    for changes, name in silent:
        reseal(folder, **changes)
        assert bp.verify(folder)[name].status == "not applicable"
        assert bp.verify(folder).passed
        (folder / manifest.NAME).write_bytes(said)
    reseal(folder, fingerprint="0", dropped=["split"])
    assert bp.verify(folder)["fingerprint"].detail.endswith("; split was dropped and must be passed again")


def test_dropped_features_are_said_again(tmp_path: Path, small: bp.Tokenizer) -> None:
    small.save(tmp_path, "tiktoken", drop=("split", "special_tokens"))
    assert names(bp.verify(tmp_path)) == ["loads"]
    assert bp.verify(tmp_path, split="gpt2", special_tokens=small.special_tokens).passed
    other = bp.verify(tmp_path, split="none", special_tokens=small.special_tokens)
    assert {"fingerprint", "behaviour"} >= set(names(other)) >= {"fingerprint"}


def test_round_trips(small: bp.Tokenizer) -> None:
    class Losing(bp.Tokenizer):
        def decode(self, ids: Any, errors: str = "replace", **options: bool) -> str:
            return super().decode(ids, errors, **options).replace("🦊", "")

    assert [check.name for check in texts.checks(Losing(small.spec)) if check.status == "fail"] == ["round trip: emoji"]
    for spec, reason in [
        (small.spec.replace(normalizers=("NFKC",)), "normalizers"),
        (small.spec.replace(prefix_space=True), "prefix_space"),
    ]:
        report = bp.verify(bp.Tokenizer(spec))
        assert report.passed, str(report)
        assert report["round trip: Unicode"].status == "not applicable"
        assert report["round trip: Unicode"].detail.endswith(f"then stay as they are; by {reason}")

    class Unstable(bp.Tokenizer):
        def decode(self, ids: Any, errors: str = "replace", **options: bool) -> str:
            return super().decode(ids, errors, **options) + "!"

    unstable = Unstable(small.spec.replace(normalizers=("NFC",)))
    assert bp.verify(unstable)["round trip: code"].status == "fail"
    partial = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a", b"b"), (0, 1), partial_alphabet=True)))
    report = bp.verify(partial)
    assert report.passed
    assert "0x54 has no token" in report["fertility: Latin"].detail
    taking = small.with_added_tokens([bp.AddedToken("€", 300, special=False, lstrip=True)])
    report = bp.verify(taking)
    assert report.passed, str(report)
    assert "'€', which takes white space" in report["round trip: Unicode"].detail


def test_fertility_is_bounded(small: bp.Tokenizer) -> None:
    class Wordy(bp.Tokenizer):
        def encode(self, text: Any, **options: Any) -> list[int]:
            return super().encode(text, **options) * (2 if "今" in text else 1)

    failing = [check.name for check in texts.checks(Wordy(small.spec)) if check.status == "fail"]
    assert {name for name in failing if "fertility" in name} == {"fertility: Han", "fertility: Kana and Han"}


def test_special_and_added_tokens(small: bp.Tokenizer) -> None:
    many = small.with_added_tokens(
        [
            *(
                bp.AddedToken(token, 300 + row, special=False)
                for row, token in enumerate(["\n", "\n\n", "wörd", "<|en"])
            ),
            bp.AddedToken("<m>", 310, lstrip=True, rstrip=True),
            bp.AddedToken("alone", 311, single_word=True),
            bp.AddedToken("\x1b[2J", 312),
        ]
    )
    report = bp.verify(many)
    assert report.passed, str(report)
    assert "where another token overlaps are left out" in report["added tokens are atomic"].detail

    class Blind(bp.Tokenizer):
        def encode(self, text: Any, **options: Any) -> list[int]:
            return super().encode(text, special="text", added="text", threads=options.get("threads"))

    report = bp.verify(Blind(many.spec))
    assert {"special tokens are atomic", "added tokens are atomic", "reserved literals raise"} <= set(names(report))
    assert "6 of 6 are not found as their id: '<|end|>', '<|user|>'" in report["special tokens are atomic"].detail
    assert quoted(["\x1b[2J", "é"]) == "'\\x1b[2J', 'é'"

    class Trusting(bp.Tokenizer):
        def encode(self, text: Any, **options: Any) -> list[int]:
            return super().encode(text, **{**options, "special": "allow"})

    report = bp.verify(Trusting(small.spec))
    assert {"special tokens do not come from text", "reserved literals raise"} <= set(names(report))


QUIRKS: dict[str, dict[str, Any]] = {
    # Mistral v7: control symbols behind the space that is put in front.
    "control": {"control_symbols": ["[INST]", "[/INST]"], "byte_fallback": True, "remove_extra_whitespaces": False},
    # Nerdstash: runs of spaces as user-defined symbols.
    "runs": {
        "user_defined_symbols": ["▁▁", "▁▁▁▁", "\n", "7"],
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
    },
    # ChatGLM: a Unigram, white space as symbols of its own, and models whose leading space is lost.
    "symbols": {"model_type": "unigram", "user_defined_symbols": ["<n>", "<|tab|>", "[MASK]"], "byte_fallback": True},
    "stripped": {"add_dummy_prefix": False, "byte_fallback": True},
    "shorter": {"add_dummy_prefix": False, "remove_extra_whitespaces": True, "byte_fallback": True},
    "suffix": {"treat_whitespace_as_suffix": True, "user_defined_symbols": ["<x>"]},
}


@pytest.mark.parametrize("quirk", QUIRKS)
@pytest.mark.usefixtures("quick")
def test_quirks_of_a_model_are_no_faults(tmp_path: Path, quirk: str) -> None:
    spm = pytest.importorskip("sentencepiece")
    lines = ["the quick brown fox  jumps over the lazy dog", "hello   world", "[INST] a 12 [/INST]"] * 20
    written = io.BytesIO()
    rule = "nmt_nfkc" if quirk in ("symbols", "suffix") else "identity"
    settings = {"vocab_size": 340, "model_type": "bpe", "minloglevel": 3, "hard_vocab_limit": False, **QUIRKS[quirk]}
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, normalization_rule_name=rule, **settings
    )
    path = tmp_path / "tokenizer.model"
    path.write_bytes(written.getvalue())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        report = bp.verify(path)
    assert not names(report), [check for check in report.checks if check.status == "fail"]


def test_offsets(small: bp.Tokenizer) -> None:
    class Located(bp.Tokenizer):
        shift = 0

        def offsets(self, text: Any, **options: Any) -> list[tuple[int, int]]:
            places, at, data = [], 0, text.encode()
            for id in self.encode(text, **options):
                end = at + len(self.token_bytes(id))
                first = len(data[:at].decode("utf-8", "ignore"))
                last = len((data[:end] + data[end : end + 4]).decode("utf-8", "ignore"))
                while last and len(text[: last - 1].encode()) >= end:
                    last -= 1
                places.append((first, last + self.shift))
                at = end
            return places

    assert texts.offsets_check(Located(small.spec)).status == "pass"
    for wrong in (1, -1):
        broken = type("Shifted", (Located,), {"shift": wrong})(small.spec)
        assert texts.offsets_check(broken).status == "fail"
    places = [(0, 1), (1, 3)]
    assert texts._wrong_places(3, 2, places, covers=True) == ""
    assert "3 ids" in texts._wrong_places(3, 3, places, covers=False)
    assert "no id covers (3, 4)" in texts._wrong_places(4, 2, places, covers=True)
    assert texts._wrong_places(4, 2, places, covers=False) == ""
    assert "not in the text" in texts._wrong_places(2, 2, places, covers=False)
    assert "comes behind" in texts._wrong_places(3, 2, places[::-1], covers=False)
    assert "no id covers (1, 2)" in texts._wrong_places(3, 2, [(0, 1), (2, 3)], covers=True)


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ({"chat_template": "{{ x }}"}, "pass", "0 control tokens"),
        ({"chat_template": "<|user|>{% generation %}{{ x }}{% endgeneration %}<|end|>"}, "pass", "2 control tokens"),
        ({"chat_template": "<|nobody|>"}, "fail", "spells '<|nobody|>', which are not added tokens"),
        ({"chat_template": "<｜User｜>"}, "fail", "are not added tokens"),
        ({"chat_template": "{{ bos_token }}", "bos_token": "<s>"}, "fail", "uses bos_token, which is '<s>'"),
        ({"chat_template": "{% for %}"}, "fail", "cannot be parsed"),
        ({"chat_template": [{"name": "default", "template": "<|user|>"}]}, "pass", "1 control token"),
        ({"chat_template": [{"name": "default"}]}, "fail", "is empty, or no text"),
        ({"chat_template": 5}, "fail", "neither a text nor a list"),
        ({}, "not applicable", "no chat template"),
    ],
)
def test_chat_templates(tmp_path: Path, small: bp.Tokenizer, settings: dict[str, Any], status: str, said: str) -> None:
    small.save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    if "cannot be parsed" in said:
        pytest.importorskip("jinja2")
    check = bp.verify(tmp_path)["chat template fits"]
    assert (check.status, said in check.detail) == (status, True), check


@pytest.mark.parametrize(
    ("template", "status", "said"),
    [
        ("{% for m in messages %}{{ m.content | trim }}{% endfor %}", "pass", "keeps content, takes tools"),
        ("{{ raise_exception('nothing') }}", "fail", "nothing"),
    ],
)
def test_what_a_chat_template_does(tmp_path: Path, small: bp.Tokenizer, template: str, status: str, said: str) -> None:
    pytest.importorskip("jinja2")
    small.save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    check = bp.verify(tmp_path)["chat template does"]
    assert (check.status, said in check.detail) == (status, True), check


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"chat_template": "{{ bos_token }}{{ messages }}"}, "pass", "0 control tokens"),
        ({"chat_template": "<|nobody|>"}, "fail", "spells '<|nobody|>', which are not added tokens"),
        ({"chat_template.tools": "<|nobody|>"}, "fail", "spells '<|nobody|>', which are not added tokens"),
        ({}, "not applicable", "no chat template"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_the_chat_template_of_a_gguf_file(tmp_path: Path, more: dict[str, str], status: str, said: str) -> None:
    # That of the folder is of another tokenizer.
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": "<|other|>"}))
    path = tmp_path / "model.gguf"
    path.write_bytes(models.gguf_pieces(models.pair_pieces(), "llama", **more))
    check = bp.verify(path)["chat template fits"]
    assert (check.status, said in check.detail) == (status, True), check


class Calling(bp.Tokenizer):
    """A tokenizer whose calls make batches in plain Python."""

    mask = 1

    def __call__(self, text: Any, pair: Any = None, *, add_special_tokens: bool = True, **options: Any) -> Any:
        assert pair is None
        if isinstance(text, str):
            return {"input_ids": self.encode(text) + [self.token_id("<|end|>")] * add_special_tokens}
        rows = [self(one, add_special_tokens=add_special_tokens)["input_ids"] for one in text]
        most, pad = max(map(len, rows)), self.token_id(options["pad_token"])
        batch: dict[str, Any] = {"input_ids": [], "attention_mask": []}
        for row in rows:
            fill, ones, zeros = [pad] * (most - len(row)), [self.mask] * len(row), [0] * (most - len(row))
            right = options["padding_side"] == "right"
            batch["input_ids"].append(row + fill if right else fill + row)
            batch["attention_mask"].append(ones + zeros if right else zeros + ones)
        return batch


class Unmasked(Calling):
    mask = 0


def test_padding(tmp_path: Path, small: bp.Tokenizer) -> None:
    report = bp.verify(Calling(small.spec))
    assert report["pad masking"].status == report["pad token"].status == "pass"
    assert "not what ends a text, '<|end|>'" in report["pad token"].detail
    assert bp.verify(Unmasked(small.spec))["pad masking"].status == "fail"
    without = bp.train(WORDS, 270, special_tokens=["<|end|>"])
    assert bp.verify(without)["pad token"].status == "not applicable"
    without.save(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    for settings, status, said in [
        ({"pad_token": "<|end|>"}, "pass", "warning: '<|end|>' also ends a text"),
        ({"pad_token": "<nope>"}, "fail", "not an added token"),
        ([], "fail", "not a JSON object"),
    ]:
        config.write_text(json.dumps(settings))
        check = bp.verify(tmp_path)["pad token"]
        assert (check.status, said in check.detail) == (status, True), check


def tensors(place: Path, shapes: dict[str, list[int]]) -> None:
    head = json.dumps(
        {"__metadata__": {}, **{name: {"dtype": "F16", "shape": shape} for name, shape in shapes.items()}}
    )
    place.write_bytes(len(head).to_bytes(8, "little") + head.encode() + bytes(16))


def test_checkpoints(tmp_path: Path, small: bp.Tokenizer) -> None:
    def size() -> tuple[str, str]:
        check = embedding_size.check(small, tmp_path)
        return check.status, check.detail

    ids = small.vocab_size
    assert bp.verify(small, checkpoint=tmp_path)["embedding size"] == embedding_size.check(small, tmp_path)
    assert size()[0] == "fail"
    assert "not a folder" in embedding_size.check(small, tmp_path / "none").detail
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {"vocab_size": ids}}))
    assert size() == ("pass", f"{ids} ids; rows: vocab_size of config.json {ids}")
    others = {
        "model.norm.weight": [8],
        "bert.embeddings.position_embeddings.weight": [2, 8],
        "x.patch_embed.weight": [2, 2],
    }
    for name in (
        "model.embed_tokens.weight",
        "transformer.wte.weight",
        "bert.embeddings.word_embeddings.weight",
        "shared.weight",
    ):
        tensors(tmp_path / "model-1.safetensors", {name: [ids + 20, 8], **others})
        assert size() == ("pass", f"{ids} ids; rows: vocab_size of config.json {ids}, {name} {ids + 20}")
    tensors(tmp_path / "model-2.safetensors", {"lm_head.weight": [ids - 1, 8]})
    assert size()[0] == "fail"
    assert size()[1].startswith(f"lm_head.weight has fewer rows than the {ids} ids")
    (tmp_path / "model-2.safetensors").unlink()
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": ids - 1}))
    assert size()[0] == "fail"
    (tmp_path / "config.json").write_text("{")
    assert "not JSON" in size()[1]
    (tmp_path / "config.json").unlink()
    whole = (tmp_path / "model-1.safetensors").read_bytes()
    length = int.from_bytes(whole[:8], "little") + 8
    for broken in [*(whole[:end] for end in range(0, length, 5)), b"\xff" * 20, whole[:8] + b"[" * (length - 8)]:
        (tmp_path / "model-1.safetensors").write_bytes(broken)
        assert size()[0] == "fail"
    tensors(tmp_path / "model-1.safetensors", {"lm_head.weight": "x"})  # type: ignore[dict-item]
    assert "no shape" in size()[1]


class Forgetful(bp.Tokenizer):
    """Never returns the same ids again."""

    calls = 0

    def encode(self, text: Any, **options: Any) -> list[int]:
        type(self).calls += 1
        return [*super().encode(text, **options), self.calls % 200]


def test_determinism(small: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = {check.name for check in running.checks(Forgetful(small.spec)) if check.status == "fail"}
    assert failing == {"the same ids twice", "the same ids after pickling", "the same ids in another process"}

    class Local(bp.Tokenizer):
        def encode_batch(self, texts: Any, **options: Any) -> list[list[int]]:
            return [[options["threads"]], *super().encode_batch(texts, **options)]

    failing = {check.name for check in running.checks(Local(small.spec)) if check.status == "fail"}
    assert failing == {"the same ids on threads", "the same ids after pickling"}
    monkeypatch.setattr(running, "_ELSEWHERE", "raise SystemExit('broken')")
    check = running._elsewhere(small, probes.behaviour(small))
    assert (check.status, check.detail) == ("fail", "it ended with an error: broken")
    monkeypatch.setattr("sys.executable", "")
    assert running._elsewhere(small, "").status == "not applicable"


def test_an_error_ends_its_lines_and_no_others(small: bp.Tokenizer) -> None:
    # Backtracks for ever on the probe of 300 letters.
    spec = small.spec.replace(split=(r"(?:a|a|aa)+(?=b)(?<!x)|(?s:.)",))
    report = bp.verify(bp.Tokenizer(spec))
    assert names(report) == ["offsets", "running"]
    assert "an error ended these lines" in report["running"].detail
    assert report["reserved literals raise"].status == "pass"


FAMILIES = {
    **dict.fromkeys(("gpt2", "gpt-neox", "llama3", "qwen2", "qwen3", "deepseek", "roberta-base", "phi-2"), "tokenizer"),
    **dict.fromkeys(("llama2", "t5-small", "clip"), "tokenizer"),
    "openai": "gpt-oss_tokenizer",
    "bert-base-uncased": "tokenizer.daulet",
    "mistral": "tokenizer_v0.3",
}
UNSTABLE = {
    # Its decoder spells the ends of words.
    "clip": [f"round trip: {group}" for group in probes.GROUPS],
}
"""The checks that these tokenizers fail, as they do with the library that they were made for."""


@pytest.mark.data
@pytest.mark.parametrize("family", share(FAMILIES))
def test_real_tokenizers(data: Path, tmp_path: Path, family: str) -> None:
    import lzma

    place = data / "vocabs" / family / f"{FAMILIES[family]}.json"
    whole = place.read_bytes() if place.exists() else lzma.decompress(Path(f"{place}.xz").read_bytes())
    (tmp_path / "tokenizer.json").write_bytes(whole)
    for config in (f"{FAMILIES[family]}_config.json", "tokenizer_config.json"):
        if (place.parent / config).exists():
            (tmp_path / "tokenizer_config.json").write_bytes((place.parent / config).read_bytes())
            break
    report = bp.verify(tmp_path)
    assert names(report) == UNSTABLE.get(family, []), str(report)
    if not WHOLE and family not in ("gpt2", "t5-small", "bert-base-uncased"):
        return
    tok = bp.Tokenizer.from_file(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    tok.save(tmp_path, "native")
    again = bp.verify(tmp_path)
    assert names(again) == UNSTABLE.get(family, []), str(again)
    assert again["behaviour"].status == "pass"
