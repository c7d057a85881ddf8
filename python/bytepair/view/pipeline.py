"""The stages of a tokenizer, from text to ids and back: as plain data, as text, and as a fragment of HTML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bytepair.drawing.characters import escaped, show_line
from bytepair.drawing.wording import plural
from bytepair.model.models import BytePair, Unigram, WordLevel, WordPiece
from bytepair.model.split_patterns import split_name
from bytepair.view.spelling import step_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bytepair.model.spec import AddedToken, TokenizerSpec
    from bytepair.tokenizer import Tokenizer

_MOST_NAMES = 6
_LONGEST = 160
"""The most characters of a detail that are shown."""


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """A stage of a tokenizer.

    Attributes:
        name: ``"added tokens"``, ``"normalizer"``, ``"split"``, ``"model"``, ``"post-processor"`` or
            ``"decoder"``.
        summary: Its effect in a few words; empty if its steps show it, or if it has none.
        steps: Its steps in order, as text without control characters.
    """

    name: str
    summary: str
    steps: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The stage as plain data for JSON."""
        return {**asdict(self), "steps": list(self.steps)}


def stages(tokenizer: Tokenizer) -> tuple[PipelineStage, ...]:
    """The stages in the order of encoding; the decoder is last.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"])
        >>> [(stage.name, stage.summary) for stage in stages(tok)][:2]
        [('added tokens', '1 special'), ('normalizer', '')]
    """
    spec = tokenizer.spec
    return (
        _added(spec.added_tokens),
        PipelineStage("normalizer", "", tuple(step_name(step, _LONGEST) for step in spec.normalizers)),
        _split(spec),
        _model(spec),
        _post(spec.post_processor),
        _decoder(spec),
    )


def text(tokenizer: Tokenizer) -> str:
    """The stages as lines of text.

    Example:
        >>> import bytepair as bp
        >>> print(text(bp.train({"low": 5}, vocab_size=257, split="gpt2")))
        text
         │
         ▼  added tokens    none
         ▼  normalizer      none
         ▼  split           gpt2
         ▼  model           byte-pair encoding of bytes, by merges
         │                  257 tokens
         │                  1 merge
         │
        ids
         ▼  post-processor  none
         ▲  decoder         joins bytes
    """
    lines = ["text", " │"]
    listed = stages(tokenizer)
    width = max(len(stage.name) for stage in listed)
    for stage in listed:
        if stage.name == "post-processor":
            lines += [" │", "ids"]
        back = stage.name in ("post-processor", "decoder")
        details = [*filter(None, (stage.summary, *stage.steps))] or ["none"]
        lines.append(f" {'▲' if stage.name == 'decoder' else '▼'}  {stage.name:<{width}}  {details[0]}")
        lines += [f" {' ' if back else '│'}  {'':<{width}}  {each}" for each in details[1:]]
    return "\n".join(lines)


def fragment(tokenizer: Tokenizer) -> str:
    """The stages as a list, for `page` with ``pipeline.css``."""
    return f'<ol class="pipeline">\n{"".join(map(_item, stages(tokenizer)))}</ol>\n'


def card(tokenizer: Tokenizer) -> str:
    """A tokenizer for a notebook: sizes, stages and special tokens. No script; the notebook's colours.

    Example:
        >>> import bytepair as bp
        >>> "<script" in card(bp.train({"low": 5}, vocab_size=258, special_tokens=["<script>"]))
        False
    """
    from bytepair.view.page import asset  # noqa: PLC0415 (only pictures need it)

    spec = tokenizer.spec
    special = [(token.content, token.id) for token in spec.added_tokens if token.special]
    facts = {
        "tokens": f"{len(tokenizer):,}",
        "vocab_size": f"{tokenizer.vocab_size:,}",
        "semantics": spec.semantics,
        "fingerprint": f"{tokenizer.fingerprint[:16]}…",
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    first = "".join(f"<li><code>{escaped(content, 40)}</code> {id}</li>" for content, id in special[: 2 * _MOST_NAMES])
    more = len(special) - 2 * _MOST_NAMES
    first += f"<li>and {more:,} more</li>" if more > 0 else ""
    listed = f"<p>Special tokens</p><ul>{first}</ul>" if special else ""
    return (
        f'<div class="bytepair-card"><style>{asset("card.css")}</style><p><b>Tokenizer</b></p>'
        f"<dl>{rows}</dl>{fragment(tokenizer)}{listed}</div>"
    )


def _item(stage: PipelineStage) -> str:
    steps = "".join(f"<code>{escape(step)}</code>" for step in stage.steps)
    back = ' class="back"' if stage.name == "decoder" else ""
    summary = f"<span>{escape(stage.summary)}</span>" if stage.summary else ""
    details = summary + steps or '<span class="none">none</span>'
    return f"<li{back}><b>{stage.name}</b> <div>{details}</div></li>\n"


def _added(tokens: Sequence[AddedToken]) -> PipelineStage:
    special = [token for token in tokens if token.special]
    others = [token for token in tokens if not token.special]
    counts = [f"{len(special):,} special"] * bool(special) + [f"{len(others):,} other"] * bool(others)
    listed = [_names(group) for group in (special, others) if group]
    return PipelineStage("added tokens", ", ".join(counts), tuple(listed))


def _names(tokens: Sequence[AddedToken]) -> str:
    shown = ", ".join(f"{show_line(token.content, 24)} = {token.id}" for token in tokens[:_MOST_NAMES])
    return shown + (f" and {len(tokens) - _MOST_NAMES:,} more" if len(tokens) > _MOST_NAMES else "")


def _split(spec: TokenizerSpec) -> PipelineStage:
    steps = [step_name(step, _LONGEST) for step in spec.pre_tokenizers]
    if spec.prefix_space:
        steps.append("a space in front")
    steps += [split_name(pattern) or show_line(pattern, _LONGEST) for pattern in spec.split]
    return PipelineStage("split", "", tuple(steps))


def _model(spec: TokenizerSpec) -> PipelineStage:
    model = spec.model
    steps = [plural(len(model.tokens), "token")]
    match model:
        case BytePair(alphabet=alphabet, merges=merges):
            what = f"byte-pair encoding of {'bytes' if alphabet is None else 'characters'}, by {model.semantics}"
            steps += [plural(len(merges), "merge")] if merges else []
            if alphabet is not None:
                steps += _options(
                    unknown=alphabet.unk_token,
                    byte_fallback=alphabet.byte_fallback,
                    prefix=alphabet.continuing_subword_prefix,
                    suffix=alphabet.end_of_word_suffix,
                    separator=alphabet.separator,
                )
            steps += ["a piece that is a token is taken whole"] * model.ignore_merges
        case WordPiece():
            what = "WordPiece: the longest matching token, repeatedly"
            steps += _options(unknown=model.unk_token, prefix=model.continuing_subword_prefix)
        case Unigram():
            what = "Unigram: the segmentation with the highest score"
            unknown = dict(zip(model.ids, model.tokens, strict=True)).get(-1 if model.unk_id is None else model.unk_id)
            steps += _options(unknown=(unknown or b"").decode(), byte_fallback=model.byte_fallback)
        case WordLevel():
            what = "WordLevel: one token per word"
            steps += _options(unknown=model.unk_token)
    return PipelineStage("model", what, tuple(steps))


def _options(**options: str | bool | None) -> list[str]:
    return [name if value is True else f"{name} {show_line(value, 24)}" for name, value in options.items() if value]


def _post(text: str | None) -> PipelineStage:
    if text is None:
        return PipelineStage("post-processor", "")
    return PipelineStage("post-processor", "only in tok(...)", tuple(_post_steps(json.loads(text), 0)))


def _post_steps(table: Any, depth: int) -> Iterator[str]:
    if not isinstance(table, dict) or depth > _MOST_NAMES:
        return
    if table.get("type") == "Sequence":
        for inner in table.get("processors", ()):
            yield from _post_steps(inner, depth + 1)
    elif table.get("type") == "TemplateProcessing":
        for key in ("single", "pair"):
            yield f"{key}: {' '.join(_part(part) for part in table.get(key, ()))}"
    elif isinstance(table.get("cls"), list):
        cls, sep = (show_line(str(table[key][0]), 24) for key in ("cls", "sep"))
        yield f"{table['type']}: {cls} A {sep}"
    else:
        yield str(table.get("type"))


def _part(part: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(show_line(str(value.get("id")), 24) for value in part.values())


def _decoder(spec: TokenizerSpec) -> PipelineStage:
    if spec.is_byte_level:
        return PipelineStage("decoder", "joins bytes")
    if not spec.decoders:
        return PipelineStage("decoder", "joins tokens with spaces")
    return PipelineStage("decoder", "", tuple(step_name(step, _LONGEST) for step in spec.decoders))
