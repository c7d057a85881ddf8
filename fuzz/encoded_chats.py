"""Chats as ids and labels, compared with ``labels.py``; and attacks: content that spells control tokens."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from bytepair.chat.encoding.reserved import unescape
from bytepair.errors import LimitError, SpecialTokenError, TemplateError
from fuzz import labels
from fuzz.case import case, equal
from fuzz.chat_templates import Subject, subjects
from fuzz.chat_vocabularies import ADDED, KINDS, Vocabulary, real, small
from fuzz.chats import check_rendering, conversation, given_to, template_of
from fuzz.labels import Expected, Placed
from fuzz.turns import Part

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from bytepair.chat.encoding.example import ChatExample
    from fuzz.labels import Ends
    from fuzz.turns import Chat, Part


def sweep_chats(random: random.Random) -> None:
    """One conversation: text, spans, labels, and attacks."""
    subject = random.choice(list(subjects().values()))
    chat = conversation(random, subject, literals=random.random() < 0.7)
    vocabulary = vocabulary_for(random, subject, published=random.random() < 0.1)
    with case(template=subject.name, vocabulary=vocabulary.name, chat=chat):
        made = check_rendering(subject, chat)
        if made is None:
            return
        check_labels(random, subject, chat, vocabulary, made[1])
        check_attack(subject, chat, vocabulary, made[1], random.choice(["reject", "text"]))
        check_escape(subject, chat, vocabulary)
        if not vocabulary.is_folded:
            check_reserved(subject, chat, vocabulary, made[1])


def vocabulary_for(random: random.Random, subject: Subject, *, published: bool = True) -> Vocabulary:
    """A small vocabulary with the marks of a template, or its published vocabulary."""
    found = real(subject.name) if published and random.random() < 0.5 else None
    return found or small(random.choice(KINDS), random.choice(ADDED), subject.marks)


def encoded(subject: Subject, chat: Chat, vocabulary: Vocabulary, **options: Any) -> ChatExample:
    """The example that bytepair returns, with all added tokens reserved."""
    options = {"reserve": "all", **options}
    return vocabulary.tok.encode_chat(chat.messages, template_of(subject.name), **given_to(subject, chat), **options)


def oracle_of(
    chat: Chat, vocabulary: Vocabulary, parts: Sequence[Part], ends: Ends, *, policy: str, **options: Any
) -> Expected:
    """The oracle's example; the options are those of `labels.expected`."""
    text = "".join(part.text for part in parts)
    places = labels.placed(parts)
    if policy == "allow":
        tokens = labels.tokens_allowed(vocabulary, text)
    else:
        tokens = labels.tokens_as_text(vocabulary, text, places)
    return labels.expected(tokens, places, chat.messages, ends, text, **options)


def check_labels(
    random: random.Random, subject: Subject, chat: Chat, vocabulary: Vocabulary, parts: Sequence[Part]
) -> None:
    """Compare ids, places, labels and straddling tokens, whole and truncated.

    Raises:
        AssertionError: They differ.
    """
    # The attacks cover content that a normalizer changes: it has no literal to cut the text at.
    policy = "allow" if vocabulary.is_folded else random.choice(["text", "text", "allow"])
    trained: dict[str, Any] = {"train_end": random.random() < 0.7}
    # The marks have an oracle of their own, in ``structures.py``.
    if random.random() < 0.2:
        trained["train_on"] = random.sample(("assistant", "user", "tool", "system"), random.randint(1, 2))
    shown = {part.message for part in parts}
    unseen = {message.get("role") for at, message in enumerate(chat.messages) if at not in shown}
    if not unseen.isdisjoint(subject.other_ends):
        # The end of a message that nothing else shows is in no part.
        trained.pop("train_on", None)
    roles = trained.get("train_on", ("assistant",))
    # The end of another role, behind this one's, may be that of a later message without content.
    can_be_told = bool(subject.ends) and all(role not in subject.other_ends for role in roles)
    told = can_be_told and random.random() < 0.4
    ends = (lambda _: subject.ends) if told else subject.ends_of
    want = oracle_of(chat, vocabulary, parts, ends, policy=policy, **trained)
    nothing = all(label == -100 for label in want.labels) or labels.leaves_out(parts, chat.messages, roles)
    options: dict[str, Any] = {"policy": policy, "train_marks": False, **trained}
    if told:
        options["end_of_turn"] = subject.ends
    try:
        got = encoded(subject, chat, vocabulary, **options)
    except TemplateError:
        if nothing:
            return
        raise
    equal("whether anything is trained", (got.labels != -100).any(), not nothing)
    _same(got, want)
    length = random.randint(1, len(want.labels) + 1)
    side = random.choice(["left", "right"])
    cut = slice(length) if side == "right" else slice(max(0, len(want.labels) - length), None)
    try:
        short = encoded(subject, chat, vocabulary, **options, max_length=length, truncation=side)
    except LimitError:
        equal("labels that were cut off", set(want.labels[cut]), {-100})
        return
    first = cut.start or 0
    rows = [row - first for row in want.straddling if row in range(len(want.labels))[cut]]
    _same(short, Expected(want.tokens[cut], want.labels[cut], rows))


def _same(got: ChatExample, want: Expected) -> None:
    equal("ids", got.input_ids.tolist(), [token.id for token in want.tokens])
    equal("offsets", [tuple(place) for place in got.offsets.tolist()], [token[1:] for token in want.tokens])
    equal("labels", got.labels.tolist(), want.labels)
    equal("straddling", [int(row) for row in got.straddling], want.straddling)
    equal("attention", got.attention_mask.tolist(), [1] * len(want.tokens))


def check_attack(subject: Subject, chat: Chat, vocabulary: Vocabulary, parts: Sequence[Part], policy: str) -> None:
    """Under "reject" and "text", content never becomes a reserved id.

    Raises:
        AssertionError: It does; or "reject" refuses content without reserved text, or accepts content with it.
    """
    text = "".join(part.text for part in parts)
    places = labels.placed(parts)
    given = given_to(subject, chat)
    raw = [text for value in (chat.messages, given["tools"], given["variables"]) for text in labels.strings_of(value)]
    held = _holds(vocabulary, raw) or bool(labels.reserved_in(vocabulary, text, places))
    options: dict[str, Any] = {"policy": policy, "train_on": None}
    try:
        got = encoded(subject, chat, vocabulary, **options)
    except SpecialTokenError as error:
        if policy == "text" or not (held or _lost(vocabulary, text, places)):
            raise AssertionError(f"refused: {error}") from error
        return
    # A token that must be a word of its own is none inside of one.
    single = any(row["single_word"] for row in vocabulary.added)
    if policy == "reject" and held and not single:
        raise AssertionError("taken, though it holds a reserved literal")
    if policy == "reject" and not held and _lost(vocabulary, text, places):
        raise AssertionError("taken, though content takes a mark of the template away")
    equal("text", got.text, text)
    check_no_protocol(got, vocabulary, text, places)


def check_reserved(subject: Subject, chat: Chat, vocabulary: Vocabulary, parts: Sequence[Part]) -> None:
    """Without `reserve`, no content becomes a special token, nor one that the template writes.

    Raises:
        AssertionError: It does.
    """
    text = "".join(part.text for part in parts)
    runs = labels.template_runs(labels.placed(parts))
    got = encoded(subject, chat, vocabulary, policy="text", train_on=None, reserve=())
    equal("text", got.text, text)
    names = {id: name for name, id in got.reserved.items()}
    special = {row["content"] for row in vocabulary.added if row["special"] and not labels.is_white(row)}
    equal("special tokens that are not reserved", sorted(special - got.reserved.keys()), [])
    for id, place in zip(got.input_ids.tolist(), got.offsets.tolist(), strict=True):
        if id in names:
            start, end = labels.literal_in(text, names[id], *place)
            if not any(first <= start and end <= last for first, last in runs):
                raise AssertionError(f"{names[id]!r} is from {text[start:end]!r} at {start}")


def _lost(vocabulary: Vocabulary, text: str, places: Sequence[Placed]) -> Counter[str]:
    """The template's marks that are no longer found next to content without marks."""
    ids = (token.id for token in labels.tokens_allowed(vocabulary, text))
    stands = Counter(vocabulary.reserved[id]["content"] for id in ids if id in vocabulary.reserved)
    return _spelled(vocabulary, text, places) - stands


def _spelled(vocabulary: Vocabulary, text: str, places: Sequence[Placed]) -> Counter[str]:
    """The marks that the template spells, for each stretch of it alone."""
    spelled: Counter[str] = Counter()
    for first, last in labels.template_runs(places):
        alone = vocabulary.full.encode(text[first:last], add_special_tokens=False)
        spelled.update(vocabulary.reserved[id]["content"] for id in alone.ids if id in vocabulary.reserved)
    return spelled


def _holds(vocabulary: Vocabulary, strings: Sequence[str]) -> bool:
    """Whether one of the texts contains a reserved literal, directly or after normalization."""
    if any(vocabulary.spelled.search(string) for string in strings):
        return True
    if not vocabulary.is_folded:
        return False
    return any(
        token.id in vocabulary.reserved for string in strings for token in labels.tokens_allowed(vocabulary, string)
    )


def check_no_protocol(got: ChatExample, vocabulary: Vocabulary, text: str, places: Sequence[Placed]) -> None:
    """Reserved ids occur only where the template spells them, and as often.

    Raises:
        AssertionError: One occurs elsewhere, or one is missing.
    """
    content = [place for place in places if not place.trusted and place.start < place.end]
    reserved = vocabulary.reserved
    found: Counter[str] = Counter()
    for id, place in zip(got.input_ids.tolist(), got.offsets.tolist(), strict=True):
        if id not in reserved:
            continue
        row = reserved[id]
        found[row["content"]] += 1
        start, end = labels.literal_in(text, row["content"], *place)
        if not (vocabulary.is_folded and row["normalized"]):
            equal("what a reserved id is from", text[start:end], row["content"])
        # White space beside it, which some tokens take, may be content.
        before, behind = text[place[0] : start], text[end : place[1]]
        if before.strip() or behind.strip() or (before and not row["lstrip"]) or (behind and not row["rstrip"]):
            raise AssertionError(f"{row['content']!r} is from {text[slice(*place)]!r}")
        for other in content:
            if other.start < end and start < other.end:
                raise AssertionError(f"{row['content']!r} at {start} is from {other}")
    spelled = _spelled(vocabulary, text, places)
    if any(row["single_word"] or row["lstrip"] or row["rstrip"] for row in vocabulary.added):
        return
    if vocabulary.is_folded and any(unicodedata.category(text[place.start])[0] == "M" for place in content):
        # A normalizer joins a mark with the ">" that the template wrote before it, which is a token no more.
        equal("reserved tokens beyond the template's", found - spelled, Counter())
    else:
        equal("reserved tokens", dict(found), dict(spelled))


def check_escape(subject: Subject, chat: Chat, vocabulary: Vocabulary) -> None:
    """Escaped content contains no reserved literal, and unescapes to the original.

    Raises:
        AssertionError: It cannot.
    """
    try:
        got = encoded(subject, chat, vocabulary, policy="escape", train_on=None)
    except SpecialTokenError as error:
        if "cannot be escaped" not in str(error):
            raise
        return
    places = labels.placed(
        Part(got.text[span.start : span.end], span.message, span.field, generated=span.generated) for span in got.spans
    )
    check_no_protocol(got, vocabulary, got.text, places)
    inside = [span for span in got.spans if span.kind == "content"]
    said = [got.text[span.start : span.end] for span in inside]
    if not any(row["single_word"] for row in vocabulary.added) and _holds(vocabulary, said):
        raise AssertionError(f"{said!r} hold a reserved literal still")
    # If the template does not change contents, each reads back as the original.
    if subject.name in ("qwen2", "phi4", "named"):
        back = {
            span.message: unescape(vocabulary.tok, got.text[span.start : span.end])
            for span in inside
            if span.field == "content"
        }
        for at, text in back.items():
            assert at is not None
            if isinstance(chat.messages[at]["content"], str):
                equal("what was escaped", text, chat.messages[at]["content"])
