"""Drawn stages: all of them, in order, and no name is interpreted by a page."""

from __future__ import annotations

import json

import bytepair as bp
from bytepair.check.lint import Finding, Lint
from bytepair.model.models import BytePair, Characters, Unigram, WordLevel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step
from bytepair.view import linted, pipeline

HOSTILE = "</style><script>alert(1)</script>\u202e\x1b[2J"


def test_stages_of_bytes() -> None:
    tok = bp.train({"low": 5}, vocab_size=258, split="gpt2", special_tokens=["<|end|>"])
    stages = {stage.name: stage for stage in pipeline.stages(tok)}
    assert list(stages) == ["added tokens", "normalizer", "split", "model", "post-processor", "decoder"]
    assert stages["added tokens"].steps == ("<|end|> = 257",)
    assert stages["split"].steps == ("gpt2",)
    assert stages["model"].steps == ("257 tokens", "1 merge")
    assert json.loads(json.dumps(stages["model"].as_dict()))["steps"] == ["257 tokens", "1 merge"]
    spaced = bp.Tokenizer(tok.spec.replace(prefix_space=True, normalizers=("NFC",)))
    assert [stage.steps for stage in pipeline.stages(spaced)][1:3] == [("NFC",), ("a space in front", "gpt2")]


def test_stages_of_characters() -> None:
    replace_space = spell_step({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})
    letters = (b"<unk>", b"a", "▁".encode())
    options = Characters(unk_token="<unk>", end_of_word_suffix="</w>")
    spec = TokenizerSpec(BytePair(letters, (0, 1, 2), (), alphabet=options), normalizers=(replace_space,))
    stages = {stage.name: stage for stage in pipeline.stages(bp.Tokenizer(spec))}
    assert stages["normalizer"].steps == ("Replace(content='▁', pattern=String ' ')",)
    assert stages["model"].steps == ("3 tokens", "unknown <unk>", "suffix </w>")
    assert stages["decoder"].summary == "joins tokens with spaces"
    unigram = Unigram(letters, (0, 1, 2), (0.0, -1.0, -1.0), unk_id=0)
    assert "unknown <unk>" in pipeline.stages(bp.Tokenizer(TokenizerSpec(unigram)))[3].steps
    words = WordLevel(letters, (0, 1, 2))
    assert pipeline.stages(bp.Tokenizer(TokenizerSpec(words)))[3].summary.startswith("WordLevel")


def test_a_post_processor(sources: list[str]) -> None:
    tok = bp.train_wordpiece(iter(sources[:1]), 400)
    stage = pipeline.stages(tok)[4]
    assert stage.steps == ("single: [CLS] A [SEP]", "pair: [CLS] A [SEP] B [SEP]")
    roberta = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True}
    both = {"type": "Sequence", "processors": [roberta | {"add_prefix_space": False}]}
    tok = bp.Tokenizer(bp.train({"low": 5}, vocab_size=258).spec.replace(post_processor=json.dumps(both)))
    assert pipeline.stages(tok)[4].steps == ("RobertaProcessing: <s> A </s>",)


def test_hostile_names() -> None:
    tok = bp.train({"low": 5}, vocab_size=257)
    rows = tuple(AddedToken(HOSTILE + str(id), id) for id in range(257, 300))
    tok = bp.Tokenizer(tok.spec.replace(added_tokens=rows))
    for drawn in (pipeline.fragment(tok), pipeline.card(tok)):
        assert "<script" not in drawn
        assert "\u202e" not in drawn
        assert "and 37 more" in drawn or "and 31 more" in drawn
    assert drawn.count("<style>") == drawn.count("</style>") == 1
    assert tok._repr_html_() == pipeline.card(tok)
    assert "\x1b" not in pipeline.text(tok)


def test_findings_as_text_and_html() -> None:
    finding = Finding("code", "warning", HOSTILE, HOSTILE * 100, "do", HOSTILE, "/a", 9, (HOSTILE,))
    lint = Lint((finding, Finding("first", "error", "what", "means", "do")))
    for drawn in (linted.fragment(lint), linted.html(HOSTILE, {"name": HOSTILE}, lint, None)):
        assert "<script>alert" not in drawn
        assert "\u202e" not in drawn
        assert drawn.index("first") < drawn.index("warning</span>")
        assert "and 8 more" in drawn
    text = linted.text(lint, width=60)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 600  # A name without spaces is not broken.
    assert text.splitlines()[-1] == "1 error, 1 warning, 0 notes"
    assert "No findings" in linted.fragment(Lint(()))
