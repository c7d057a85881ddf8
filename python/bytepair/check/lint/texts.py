"""Findings about tokens that the model could produce, but the stages before it never let through.

A token with text that a normalizer removes is in no piece: this is proved for steps that are idempotent on a text and
on each part of it. All other tokens are tried: alone, and beside letters, digits, marks and white space of several
scripts. A token in the ids of one of these texts is reachable. For the rest nothing is proved, and the finding says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair._core import normalize
from bytepair.check.lint.findings import Finding, tokens
from bytepair.check.subject import looks_reserved
from bytepair.drawing.wording import counted
from bytepair.errors import BytepairError
from bytepair.model import byte_alphabet
from bytepair.model.models import BytePair, WordPiece
from bytepair.model.steps import parse_step
from bytepair.model.token_spelling import final_suffix, inner_prefix, separator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytepair.check.subject import Subject

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}

_BESIDE = [
    *(
        "",
        " ",
        "\n",
        "a",
        "e",
        "s",
        "x",
        "q",
        "Q",
        "0",
        "7",
        ".",
        ",",
        "-",
        "'",
        "(",
        "/",
        "_",
        "@",
        "\u00e9",
        "\u0416",
    ),
    *("\u05d0", "\u0639", "\u0915", "\u0e01", "\u1200", "\u3042", "\u30ab", "\u4e2d", "\uac00", "\ua500", "\u2e19"),
    *("\u0301", "\u2003", "\u200d", "\U0001f600"),
]
"""Context put around a token in the texts tried; it includes rare characters, which merge with nothing."""

_SOME_WORDS = 10

_ENDINGS = ["S", "T", "re", "RE", "VE", "M", "LL", "D"]
"""Contractions: several split patterns match these after an apostrophe."""


def findings(subject: Subject, unmade: dict[int, bytes]) -> Iterator[Finding]:
    """Tokens unreachable because of the stages before the model; those in `unmade` are skipped."""
    model = subject.spec.model
    wanted: dict[int, str] = {}
    for token, id in zip(model.tokens, model.ids, strict=True):
        if subject.is_aside(id, token) or (id in unmade and not subject.takes_whole):
            continue
        spelled = _spelled(subject, token)
        # The symbols of the alphabet are needed for merging, whether or not text has them.
        is_symbol = (
            isinstance(model, BytePair)
            and spelled is not None
            and len(spelled.removesuffix(final_suffix(model)).removesuffix(separator(model))) < 2
        )
        if spelled is not None and not is_symbol and not looks_reserved(spelled):
            wanted[id] = spelled
    missing = _not_found(subject, wanted)
    gone = {id: wanted[id] for id in missing if _normalized_away(subject, wanted[id])}
    yield from _never(subject, gone)
    rest = {id: wanted[id] for id in missing if id not in gone}
    if rest:
        yield Finding(
            "unreached-token",
            "note",
            f"{counted(len(rest), 'token', 'is', 'are')} in the ids of none of the texts tried",
            f"Each was tried alone and beside {len(_BESIDE) - 1} characters on either side. The stages before the model"
            " seem never to leave it in one piece; that is no proof.",
            "compare the split pattern and the normalizers with those of the training",
            file=subject.file,
            **tokens(rest.items()),
        )


def _never(subject: Subject, gone: dict[int, str]) -> Iterator[Finding]:
    if gone:
        yield Finding(
            "normalized-token",
            "warning",
            f"{counted(len(gone), 'token', 'holds', 'hold')} text that the normalizer removes: no text becomes "
            + ("it" if len(gone) == 1 else "them"),
            "Its row of the embedding is never used; or the model was trained without this normalizer.",
            "check that the normalizer is the one of the training",
            file=subject.file,
            pointer="/normalizer" if subject.table is not None else "",
            **tokens(gone.items()),
        )


def _spelled(subject: Subject, token: bytes) -> str | None:
    """The token as the characters of the model's input; None for a part of a character."""
    try:
        text = token.decode()
        if subject.spec.is_byte_level or not subject.uses_byte_alphabet:
            return text
        suffix = final_suffix(subject.spec.model)
        ends = bool(suffix) and text.endswith(suffix)
        bare = byte_alphabet.to_bytes(text.removesuffix(suffix) if ends else text)
        return None if bare is None else bare.decode() + suffix * ends
    except UnicodeDecodeError:
        return None


def _not_found(subject: Subject, wanted: dict[int, str]) -> set[int]:
    """The tokens that are in the ids of none of the texts tried."""
    prefix, suffix = inner_prefix(subject.spec.model), final_suffix(subject.spec.model)
    behind = separator(subject.spec.model)
    bare = {id: spelled.removesuffix(suffix).removesuffix(behind) for id, spelled in wanted.items()}
    if prefix:
        bare = {id: spelled.removeprefix(prefix) or spelled for id, spelled in bare.items()}
    # A meta symbol is a space in text.
    texts = {
        id: spelled.replace("▁", " ") if not subject.spec.is_byte_level else spelled for id, spelled in bare.items()
    }
    left = set(wanted)
    pairs = [(before, "") for before in _BESIDE] + [("", behind) for behind in (*_BESIDE[1:], *_ENDINGS)]
    pairs += [
        (before, behind) for before in ("a", "\ua500", " ", "(", "\n") for behind in ("a", "\ua500", " ", "(", "\n")
    ]
    pairs += [(word, "") for word in _words(subject)]
    for before, behind in pairs:
        if not left:
            break
        left -= _found(subject, ((id, before + texts[id] + behind) for id in sorted(left)))
    for repeat in (2, 3):
        left -= _found(subject, ((id, texts[id] * repeat) for id in sorted(left)))
    return left


def _words(subject: Subject) -> list[str]:
    """Some tokens of a WordPiece that begin words, for use in front of tokens that continue one."""
    model = subject.spec.model
    if not isinstance(model, WordPiece):
        return []
    texts = [token.decode() for token in model.tokens]
    words = [text for text in texts if text.isalpha() and not text.startswith(model.continuing_subword_prefix)]
    return words[-_SOME_WORDS:] + sorted(words, key=len)[:_SOME_WORDS]


def _found(subject: Subject, rows: Iterable[tuple[int, str]]) -> set[int]:
    listed = list(rows)
    options: dict[str, Any] = {"special": "text", "added": "text"}
    texts = [text for _, text in listed]
    try:
        encoded = subject.tokenizer.encode_batch(texts, **options)
    except BytepairError:
        # One at a time: a character may have no token.
        encoded = [_encoded(subject, text, options) for text in texts]
    return {id for (id, _), ids in zip(listed, encoded, strict=True) if id in ids}


def _encoded(subject: Subject, text: str, options: dict[str, Any]) -> list[int]:
    try:
        return subject.tokenizer.encode(text, **options)
    except BytepairError:
        return []


def _normalized_away(subject: Subject, spelled: str) -> bool:
    """Whether no normalized text can hold this, by the last normalizer.

    The normal forms of Unicode are closed under substrings (UAX #15): a string that is not normalized is part of no
    normalized text. Lowercasing goes character by character and is idempotent. A string that is replaced by one without
    it is gone, unless the replacement forms it again together with its neighbours; a single character cannot be formed
    that way.
    """
    if not subject.spec.normalizers:
        return False
    last = parse_step(subject.spec.normalizers[-1])
    kind = last["type"]
    if kind in _FORMS or kind == "Lowercase":
        return normalize((subject.spec.normalizers[-1],), spelled) != spelled
    if kind == "BertNormalizer" and last.get("lowercase"):
        # This is the last action of the step.
        return normalize(("Lowercase",), spelled) != spelled
    replaced = last.get("pattern", {}).get("String") if kind == "Replace" else None
    if isinstance(replaced, str) and len(replaced) == 1:
        return replaced in spelled and replaced not in str(last.get("content"))
    return False
