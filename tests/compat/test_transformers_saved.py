"""Saved folders as `transformers` loads them: special tokens by role, padding, a chat template."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import bytepair as bp
from bytepair import files
from bytepair.compat.transformers import PreTrainedTokenizerFast

auto = pytest.importorskip("transformers").AutoTokenizer

TEXTS = ["low lower lowest", "new", "the widest newer newest"] * 5
TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message.content }}{{ eos_token }}{% endfor %}"

TRAINERS: dict[str, Callable[[], bp.Tokenizer]] = {
    "byte pairs": lambda: bp.train(iter(TEXTS), 270, bos="<s>", eos="<|end|>", pad="<pad>", unk="<unk>"),
    "Unigram": lambda: bp.train_unigram(iter(TEXTS), 24, bos="<s>", eos="</s>", pad="<pad>"),
    "WordPiece": lambda: bp.train_wordpiece(iter(TEXTS), 30),
}


@pytest.mark.parametrize("kind", TRAINERS)
def test_a_trained_tokenizer_has_its_tokens_and_pads(kind: str, tmp_path: Path) -> None:
    tok = TRAINERS[kind]()
    tok.save(tmp_path)
    theirs = auto.from_pretrained(tmp_path)
    assert (theirs.bos_token, theirs.eos_token, theirs.pad_token, theirs.unk_token) == (
        *(tok.bos_token, tok.eos_token, tok.pad_token, tok.unk_token),
    )
    assert theirs.pad_token_id == tok.pad_token_id is not None
    assert len(theirs) == len(tok)
    rows = theirs(TEXTS[:3], padding=True, add_special_tokens=False)["input_ids"]
    width = max(map(len, rows))
    assert rows == [tok.encode(text) + [tok.pad_token_id] * (width - tok.count(text)) for text in TEXTS[:3]]
    assert bp.load(tmp_path).eos_token == tok.eos_token


def test_a_chat_template_goes_with_it(tmp_path: Path) -> None:
    tok = bp.train(iter(TEXTS), 270, bos="<s>", eos="</s>")
    tok.save(tmp_path, chat_template=TEMPLATE)
    messages = [{"role": "user", "content": "low"}, {"role": "assistant", "content": "new"}]
    theirs = auto.from_pretrained(tmp_path).apply_chat_template(messages, tokenize=False)
    assert theirs == "<s>low</s>new</s>" == str(bp.chat.render(messages, bp.chat.Template.read(tmp_path)).text)
    report = {check.name: check.status for check in bp.verify(tmp_path).checks}
    assert report["chat template hash"] == report["file hashes"] == "pass"


def test_settings_of_the_folder_stay_but_for_those_of_its_tokens(tmp_path: Path) -> None:
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"model_max_length": 77, "pad_token": "<old>", "added_tokens_decoder": {"5": {"content": "x"}}}')
    bp.train(iter(TEXTS), 270, eos="<|end|>").save(tmp_path)
    assert json.loads(config.read_text())["model_max_length"] == 77
    theirs = auto.from_pretrained(tmp_path)
    assert (theirs.model_max_length, theirs.eos_token, theirs.pad_token, len(theirs)) == (77, "<|end|>", None, 270)


def test_tokens_of_an_earlier_tokenizer_are_taken_out_of_the_folder(tmp_path: Path) -> None:
    bp.train(iter(TEXTS), 270, eos="<|old|>").save(tmp_path)
    bp.train(iter(TEXTS), 265).save(tmp_path)
    theirs = auto.from_pretrained(tmp_path)
    assert (theirs.eos_token, len(theirs)) == (None, 265)


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_kill_at_any_step_leaves_no_tokenizer_with_the_templates_of_another(tmp_path: Path) -> None:
    made = []
    for size, templates in ((262, "old {{ messages }}"), (265, {"default": "new", "tool_use": "new tools"})):
        bp.train(iter(TEXTS), size).save(tmp_path / str(size))
        made.append(PreTrainedTokenizerFast.from_pretrained(tmp_path / str(size)))
        made[-1].chat_template = templates
    old, new = made
    found: list[object] = []
    for stop in range(1, 100):
        folder = tmp_path / f"killed {stop}"
        old.save_pretrained(folder)
        child = os.fork()
        if child == 0:
            _save_up_to(stop, new, folder)
        _, status = os.waitpid(child, 0)
        try:
            loaded = PreTrainedTokenizerFast.from_pretrained(folder)
        except bp.IntegrityError:
            found.append(None)
        else:
            both = (old.vocab_size, old.chat_template), (new.vocab_size, new.chat_template)
            found.append(both.index((loaded.vocab_size, loaded.chat_template)))
        new.save_pretrained(folder)
        assert not list(folder.rglob(f"{files.TEMPORARY}*"))
        assert PreTrainedTokenizerFast.from_pretrained(folder).chat_template == new.chat_template
        if os.WIFEXITED(status):
            break
    # The old one, then a refused folder while files are replaced, then the new one.
    assert [state for state, _ in itertools.groupby(found)] == [0, None, 1]


def _save_up_to(stop: int, tokenizer: PreTrainedTokenizerFast, folder: Path) -> NoReturn:
    """Save, and end the process before one of the steps that others can see."""
    left = stop

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return step

    for name in ("replace", "unlink", "chmod", "mkdir"):
        setattr(Path, name, counted(getattr(Path, name)))
    try:
        tokenizer.save_pretrained(folder)
    finally:
        os._exit(0)
