"""Chats of `bytepair.compat.transformers` compared with those of transformers."""

from __future__ import annotations

import json
import random
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest

import bytepair as bp
from bytepair.compat.transformers import PreTrainedTokenizerFast, functions
from bytepair.compat.transformers.chats import mask_of
from tests.compat.test_transformers import KINDS, both, columns, folder_of, said

transformers = pytest.importorskip("transformers")
pytest.importorskip("jinja2")

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
MARKED = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}assistant: {% generation %}"
    "{{ m.content }}</s>{% endgeneration %}\n{% else %}{{ m.role }}: {{ m.content | trim }}\n{% endif %}{% endfor %}"
)
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " How is the weather in São Paulo? "},
    {"role": "assistant", "content": "It is 🦊 sunny, </s> and warm."},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "Welcome"},
]
OTHER = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b c d e f"}]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, request.param, tmp_path_factory)


@pytest.fixture
def plain(sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(sources, "bytes", tmp_path_factory)


def test_chats_are_the_same(folder: Path) -> None:
    ours, theirs = both(folder)
    some: list[dict[str, Any]] = [
        {"tokenize": False},
        {"tokenize": False, "add_generation_prompt": True},
        {},
        {"return_dict": False, "add_generation_prompt": True},
        {"padding": True, "return_tensors": "np"},
        {"truncation": True, "max_length": 11},
        {"padding": "max_length", "max_length": 150, "tokenizer_kwargs": {"padding_side": "left"}},
        {"tokenizer_kwargs": {"return_offsets_mapping": True, "return_length": True}},
        {"tokenize": False, "continue_final_message": True},
        {"continue_final_message": True},
    ]
    for template in (CHATML, MARKED):
        ours.chat_template = theirs.chat_template = template
        for options in some:
            for chats in (CHAT, [CHAT, OTHER]):
                found, expected = (tokenizer.apply_chat_template(chats, **options) for tokenizer in (ours, theirs))
                if isinstance(expected, (str, list)):
                    assert found == expected, options
                else:
                    assert columns(found) == columns(expected), options


def test_masks_are_the_same(folder: Path) -> None:
    ours, theirs = both(folder)
    some: list[dict[str, Any]] = [
        {},
        {"truncation": True, "max_length": 30},
        {"padding": True, "tokenizer_kwargs": {"padding_side": "left"}},
        {"padding": True, "return_tensors": "np"},
    ]
    for options in some:
        for chats in (CHAT, [CHAT, OTHER], [OTHER, CHAT]):
            found, expected = (
                tokenizer.apply_chat_template(chats, chat_template=MARKED, return_assistant_tokens_mask=True, **options)
                for tokenizer in (ours, theirs)
            )
            assert columns(found) == columns(expected), options
            if "truncation" not in options:
                assert np.max(np.concatenate([np.ravel(row) for row in found["assistant_masks"]])) == 1
    ours.truncation_side = "left"
    cut = ours.apply_chat_template(
        CHAT, chat_template=MARKED, return_assistant_tokens_mask=True, truncation=True, max_length=3
    )
    assert cut["assistant_masks"][-2:] != [0, 0]


def test_tools_documents_and_variables(plain: Path) -> None:
    ours, theirs = both(plain)
    template = (
        "{{ bos_token }}{{ tools | tojson }}{% for d in documents or [] %}{{ d.title }}{% endfor %}"
        "{{ mood | default('none') }}{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    schema = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    some: list[dict[str, Any]] = [
        {"tools": [schema], "documents": [{"title": "t", "text": "x"}], "mood": "glad", "bos_token": "<b>"},
        {"mood": "glad"},
        {},
        {"tools": [weather]},
        {"tools": [Tools().count, schema]},
    ]
    for options in some:
        found, expected = (
            tokenizer.apply_chat_template(OTHER, chat_template=template, tokenize=False, **options)
            for tokenizer in (ours, theirs)
        )
        assert found == expected

    with pytest.raises(ValueError, match="tool 0 is a int"):
        ours.apply_chat_template(OTHER, tools=[5], chat_template=template)


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


def weather(  # noqa: PLR0917
    place: str,
    unit: Unit = Unit.C,
    kind: Literal["now", "later", 3] = "now",
    days: int | None = None,
    parts: list[str] | None = None,
    more: dict[str, list[float]] | str = "",
    pair: tuple[int, str] = (1, ""),
    either: int | str | bool = 1,
    whatever: Any = None,
) -> dict[str, float]:
    """
    Tells the weather
    of a place.

    It is a guess.

    Args:
        place: The city and the country, such as
            "Paris: France",
            or a river
        unit: In which it is said (choices: ["celsius", "fahrenheit"])
        kind: When
        days: How many

        parts: Of the day
        more: And more
        pair: Two
        either: One of them
        whatever: Anything
    Returns:
        What it is: degrees
            by hour.
    Raises:
        ValueError: never
    """
    raise ValueError(place, unit, kind, days, parts, more, pair, either, whatever)


class Tools:
    def count(self, text: str, least: bool) -> None:
        """Counts.

        Args:
            text: What is counted
            least: Whether
        """


def undocumented(x: int) -> None:
    raise ValueError(x)


def unhinted(x) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """Nothing.

    Args:
        x: it
    """
    raise ValueError(x)


def half(x: int, y: int) -> None:
    """Nothing.

    Args:
        x: it
    """
    raise ValueError(x, y)


def strange(x: Path) -> None:
    """Nothing.

    Args:
        x: it
    """
    raise ValueError(x)


def test_functions_are_read_as_there() -> None:
    from transformers.utils.chat_template_utils import get_json_schema

    for function in (weather, Tools().count, Tools.count):
        assert json.dumps(functions.schema(function)) == json.dumps(get_json_schema(function))
    for wrong, match in (
        (undocumented, "no docstring"),
        (unhinted, "'x' has no type hint"),
        (half, "does not describe 'y'"),
        (strange, "of 'x' has no JSON"),
    ):
        with pytest.raises(Exception):  # noqa: B017, PT011 (it has classes of its own for it)
            get_json_schema(wrong)
        with pytest.raises(bp.TemplateError, match=match):
            functions.schema(wrong)


def test_fields_that_are_none_are_missing(plain: Path) -> None:
    ours, theirs = both(plain)
    template = (
        "{% for m in messages %}{{ m.role }}: {{ m.content if m.content is defined else 'missing' }}"
        "{{ m.tool_calls is defined }}\n{% endfor %}"
    )
    chat = [{"role": "user", "content": None, "tool_calls": None}, {"role": "assistant", "content": ""}]
    found, expected = (
        tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False) for tokenizer in (ours, theirs)
    )
    assert found == expected


def test_the_last_message_is_continued(plain: Path) -> None:
    ours, theirs = both(plain)
    trimmed = CHATML.replace("message['content']", "message['content'] | trim")
    thinking = (
        "{% for m in messages %}{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>"
        "{% endif %}{{ m.content }}!{% endfor %}"
    )
    blocks = "{% for m in messages %}{% for part in m.content %}{{ part.text }}|{% endfor %}!{% endfor %}"
    decoy = [
        {"role": "user", "content": "hi 0"},
        {"role": "assistant", "content": "bye: 0"},
        {"role": "user", "content": "hi 1"},
        {"role": "assistant", "content": "bye: "},
    ]
    reasoned = [{"role": "assistant", "reasoning_content": "because", "content": "so"}]
    texts = [{"role": "assistant", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two "}]}]
    for template, chat, how in (
        (CHATML, CHAT, True),
        (CHATML, decoy, True),
        (trimmed, decoy, True),
        (thinking, reasoned, "reasoning_content"),
        (thinking, reasoned, True),
        (blocks, texts, True),
    ):
        found, expected = (
            tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False, continue_final_message=how)
            for tokenizer in (ours, theirs)
        )
        assert found == expected
    for template, chat, how in (
        (CHATML, [{"role": "user"}], True),
        (CHATML, CHAT, "other"),
        (CHATML.replace("content", "text"), CHAT, True),
        ("{{ messages[0].content }} content", CHAT, True),
    ):
        for tokenizer in (ours, theirs):
            with pytest.raises(ValueError):  # noqa: PT011 (each says it in its own words)
                tokenizer.apply_chat_template(chat, chat_template=template, tokenize=False, continue_final_message=how)


def test_several_templates(plain: Path, tmp_path: Path) -> None:
    ours, theirs = both(plain)
    by_name = {"default": "{{ 'a' }}", "tool_use": "{{ 'b' }}", "rag": "{{ 'c' }}"}
    ours.chat_template = theirs.chat_template = by_name
    some: list[dict[str, Any]] = [{}, {"tools": []}, {"chat_template": "rag"}, {"chat_template": "{{ 'd' }}"}]
    for options in some:
        found, expected = (
            tokenizer.apply_chat_template(OTHER, tokenize=False, **options) for tokenizer in (ours, theirs)
        )
        assert found == expected
        assert ours.get_chat_template(**options) == theirs.get_chat_template(**options)
    for as_files in (True, False):
        ours.save_pretrained(tmp_path / str(as_files), save_jinja_files=as_files)
        assert (tmp_path / str(as_files) / "additional_chat_templates" / "rag.jinja").is_file() is as_files
        for loaded in both(tmp_path / str(as_files)):
            assert loaded.chat_template == by_name
    # Templates saved before are gone.
    ours.chat_template = CHATML
    ours.save_pretrained(tmp_path / "True")
    again, other = both(tmp_path / "True")
    assert again.chat_template == other.chat_template == CHATML
    assert said(again) == said(other)
    assert not list((tmp_path / "True" / "additional_chat_templates").glob("*"))
    ours.chat_template = {"../out": "x"}
    with pytest.raises(bp.FormatError, match="not a valid name of a template"):
        ours.save_pretrained(tmp_path / "out")
    del by_name["default"]
    ours.chat_template = by_name
    with pytest.raises(ValueError, match=r"several chat templates.*rag"):
        ours.apply_chat_template(OTHER)
    ours.chat_template = None
    with pytest.raises(ValueError, match="no chat template"):
        ours.apply_chat_template(OTHER)


def test_other_ways_to_say_it(plain: Path) -> None:
    ours = PreTrainedTokenizerFast.from_pretrained(plain)
    expected = ours.apply_chat_template(OTHER, chat_template=CHATML, tokenize=False)
    chat = SimpleNamespace(messages=OTHER)
    assert ours.apply_chat_template(chat, chat_template=CHATML, tokenize=False) == expected
    assert ours.apply_chat_template([chat], chat_template=CHATML, tokenize=False) == [expected]
    assert ours.apply_chat_template(OTHER, chat_template="chatml", tokenize=False) == expected
    for given, options, error, match in (
        ([], {}, ValueError, "needs a message"),
        ("text", {}, TypeError, "a list of messages"),
        (OTHER, {"sanitize_control_tokens": True}, NotImplementedError, "encode_chat"),
        (OTHER, {"return_assistant_tokens_mask": True, "tokenize": False}, ValueError, "needs tokenize=True"),
        (OTHER, {"return_assistant_tokens_mask": True}, bp.TemplateError, "no {% generation %}"),
        (OTHER, {"continue_final_message": True, "add_generation_prompt": True}, ValueError, "cannot be combined"),
    ):
        chosen: dict[str, Any] = {"chat_template": CHATML, **options}
        with pytest.raises(error, match=match):
            ours.apply_chat_template(given, **chosen)


def test_a_mask_has_the_tokens_that_overlap_a_span() -> None:
    for number in range(300):
        chooses = random.Random(f"mask/{number}")
        cuts = sorted(chooses.choices(range(30), k=2 * chooses.randint(0, 5)))
        spans = list(zip(cuts[::2], cuts[1::2], strict=True))
        offsets = [tuple(sorted(chooses.choices(range(30), k=2))) for _ in range(20)]
        expected = [int(any(a < end and b > start for a, b in spans)) for start, end in offsets]
        assert mask_of([(start, end) for start, end in offsets], spans) == expected, number
