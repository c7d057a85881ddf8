"""Checks of padding: a pad token exists, and masks separate padding from text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.check.subject import Subject
from bytepair.check.verify.checklist import Check
from bytepair.errors import ArtifactError, BytepairError, FormatError
from bytepair.formats import configs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytepair.tokenizer import Tokenizer

_PAD = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")
_EOS = ("</s>", "<eos>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|im_end|>")
_TEXTS = ("", "a", "b c d e f g h", "i j")


def checks(subject: Subject) -> list[Check]:
    """Whether there is a token to pad with, and whether the masks of a padded batch are right."""
    try:
        settings = {} if subject.folder is None else configs.table(subject.folder, configs.CONFIG)
        named, eos = (configs.token_content(settings, f"{role}_token") for role in ("pad", "eos"))
    except (FormatError, ArtifactError) as error:
        return [Check.of_error("pad token", error), Check("pad masking", "not applicable", "see above")]
    known = {token.content for token in subject.tokenizer.spec.added_tokens}
    if named is not None and named not in known:
        what = f"tokenizer_config.json names {named!a}, which is not an added token"
        return [Check("pad token", "fail", what), Check("pad masking", "not applicable", "see above")]
    pad = named or _first(_PAD, known)
    eos = eos or _first(_EOS, known)
    if pad is None:
        what = "no pad token is known: name one per call"
        return [Check("pad token", "not applicable", what), Check("pad masking", "not applicable", what)]
    if pad == eos:
        detail = (
            f"warning: {pad!a} also ends a text: mask labels by the attention mask and never by the id, or the model "
            "does not learn to stop"
        )
    else:
        detail = f"{pad!a}, which is not what ends a text" + (f", {eos!a}" if eos else "")
    return [Check("pad token", "pass", detail), _masking(subject.tokenizer, pad)]


def _first(names: Iterable[str], known: set[str]) -> str | None:
    return next((name for name in names if name in known), None)


def _masking(tokenizer: Tokenizer, pad: str) -> Check:
    name = "pad masking"
    call: Any = tokenizer
    if not callable(call):
        return Check(name, "not applicable", "this version of bytepair makes no batches")
    pad_id = tokenizer.token_id(pad)
    for side in ("right", "left"):
        for adds in (False, True):
            try:
                batch = call(list(_TEXTS), padding=True, padding_side=side, pad_token=pad, add_special_tokens=adds)
                alone = [call(text, add_special_tokens=adds)["input_ids"] for text in _TEXTS]
            except BytepairError as error:
                return Check.of_error(name, error)
            most = max(map(len, alone))
            for row, (ids, mask) in enumerate(zip(batch["input_ids"], batch["attention_mask"], strict=True)):
                fill = most - len(alone[row])
                ones, zeros = [1] * len(alone[row]), [0] * fill
                pads = [pad_id] * fill
                expected = (alone[row] + pads, ones + zeros) if side == "right" else (pads + alone[row], zeros + ones)
                if (list(ids), list(mask)) != expected:
                    what = f"on the {side} the row of {_TEXTS[row]!a} is {list(ids)} under the mask {list(mask)}"
                    return Check(name, "fail", what)
    return Check(name, "pass", "on both sides the mask is 1 where a text is and 0 where it is filled")
