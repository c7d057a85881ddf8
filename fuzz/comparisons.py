"""Sweep over comparisons: sums against encoding text by text, passages and stages by walking through each text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.study.compare import Comparison, SourceComparison
from bytepair.study.explain import explain
from bytepair.view import compared
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

_MANY = 10_000


def _pair(random: random.Random) -> tuple[bp.Tokenizer, bp.Tokenizer, str, list[str]]:
    """Two tokenizers; the second is often a changed copy of the first."""
    a, letters, said = drawn.tokenizer(random)
    b, of, other = drawn.tokenizer(random)
    change = random.choice(["none", "same", "added", "normalizer", "ids", "flags"])
    spec = a.spec
    try:
        if change == "same":
            b = bp.Tokenizer(spec)
        elif change == "added":
            b = bp.Tokenizer(spec.replace(added_tokens=spec.added_tokens[1:]))
        elif change == "normalizer":
            b = bp.Tokenizer(spec.replace(normalizers=random.choice([(), ("NFC",), ("Lowercase",)])))
        elif change == "ids" and spec.is_byte_level and not spec.added_tokens and spec.byte_pair.merges is not None:
            ids = [*spec.model.ids]
            random.shuffle(ids)
            b = bp.Tokenizer(spec.replace(model=_renumbered(spec.byte_pair, ids)))
        elif change == "flags" and spec.added_tokens:
            first, *rest = spec.added_tokens
            b = bp.Tokenizer(spec.replace(added_tokens=(first._replace(single_word=not first.single_word), *rest)))
        else:
            change = "none"
    except bp.BytepairError:
        b, change = bp.Tokenizer(spec), "same"
    return a, b, letters or of, [said, other if change == "none" else f"the same but for {change}"]


def _renumbered(model: bp.BytePair, ids: list[int]) -> bp.BytePair:
    to = dict(zip(model.ids, ids, strict=True))
    rows = sorted(zip(ids, model.tokens, strict=True))
    pairs = tuple((to[left], to[right]) for left, right in model.merges or ())
    return replace(model, ids=tuple(id for id, _ in rows), tokens=tuple(token for _, token in rows), merges=pairs)


def sweep_comparisons(random: random.Random) -> None:
    """A comparison equals the result of walking through the texts."""
    a, b, letters, said = _pair(random)
    texts = [drawn.text(random, letters, a, b) for _ in range(random.choice([0, 1, 2, 8]))]
    options: dict[str, Any] = {"special": random.choice(["allow", "text"]), "added": random.choice(["match", "text"])}
    names = random.choice([("A", "B"), ("</script>", "\u202e"), ("x" * 200, "\x1b[31m")])
    with case(texts=texts, tokenizers=said, options=options):
        try:
            ids = [tok.encode_batch(texts, **options) for tok in (a, b)]
        except bp.EncodeError as error:
            try:
                bp.compare(a, b, iter(texts), **options)
            except bp.EncodeError as other:
                equal("the row", other.row is not None and texts[other.row] in texts, True)
                return
            raise AssertionError(f"no error, where encoding says {error}") from None
        cut = random.randint(0, len(texts))
        sources = {"one": iter(texts[:cut]), "</b>": iter(texts[cut:])}
        found = bp.compare(a, b, sources, names=names, examples=_MANY, threads=1, **options)
        for source, first, last in zip(found.sources, (0, cut), (cut, len(texts)), strict=True):
            with case(source=source.name):
                check_source(source, (a, b), texts[first:last], [rows[first:last] for rows in ids], options)
        check_sums(found, ids)
        check_mirrored(
            found, bp.compare(b, a, {"one": iter(texts[:cut]), "</b>": iter(texts[cut:])}, examples=_MANY, **options)
        )
        check_looks(found)
        equal("is_same", found.is_same, a.fingerprint == b.fingerprint)
        equal("stages", all(stage.same for stage in found.stages), a.spec == b.spec)
        same = bp.compare(a, bp.Tokenizer(a.spec), iter(texts), **options)
        equal("a and a", (same.is_same, same.differs, same.total.saved, same.sources[0].firsts), (True, False, 0, ()))
        equal("what a saves against itself", (*same.sources[0].savings, *same.sources[0].losses), ())


def check_sums(found: Comparison, ids: list[list[list[int]]]) -> None:
    """The totals are those of all texts."""
    total = found.total
    equal("tokens", (total.tokens_a, total.tokens_b), tuple(sum(map(len, rows)) for rows in ids))
    equal("documents", total.documents, len(ids[0]))


def _ends(tok: bp.Tokenizer, text: str, options: dict[str, Any]) -> list[int]:
    """The character after which each token ends; the end of the text is one beyond it, so that it is no inner place."""
    return [max(end, 1) for _, end in tok.offsets(text, **options)]


def _passages(ends: list[list[int]], length: int) -> list[tuple[int, int, int, int, bool]]:
    """The passages between places where both tokenizers end a token, their tokens, and whether they are cut alike."""
    both = sorted((set(ends[0]) & set(ends[1])) | {length})
    rows, start = [], 0
    for end in both:
        inside = [[place for place in places if start < place <= end] for places in ends]
        rows.append((start, end, len(inside[0]), len(inside[1]), inside[0] == inside[1]))
        start = end
    return rows


def check_source(
    source: SourceComparison,
    toks: tuple[bp.Tokenizer, bp.Tokenizer],
    texts: list[str],
    ids: list[list[list[int]]],
    options: dict[str, Any],
) -> None:
    """Sums, passages, and the first difference of each stage."""
    equal("documents", source.documents, len(texts))
    equal("bytes", source.text_bytes, sum(len(text.encode()) for text in texts))
    counts = [sum(tok.count_batch(texts, **options)) for tok in toks]
    equal("tokens", [source.tokens_a, source.tokens_b], counts)
    same = [one == other for one, other in zip(*ids, strict=True)]
    equal("same ids", source.same_ids, sum(same))
    if all(tok.spec.is_byte_level for tok in toks):
        spelled = [[[tok.token_bytes(id) for id in row] for row in rows] for tok, rows in zip(toks, ids, strict=True)]
        ends = [[_ends(tok, text, options) for text in texts] for tok in toks]
        alike = sum(one == other for one, other in zip(*ends, strict=True))
        equal("same boundaries", source.same_boundaries, alike)
        both = [one == other for one, other in zip(*spelled, strict=True)]
        equal("same tokens", source.same_tokens, sum(both))
    saved: Counter[str] = Counter()
    times: Counter[str] = Counter()
    alike = 0
    for text in texts:
        rows = _passages([_ends(tok, text, options) for tok in toks], len(text) + 1)
        alike += all(row[4] for row in rows)
        for start, end, mine, theirs, _ in rows:
            if mine != theirs:
                saved[text[start:end]] += mine - theirs
                times[text[start:end]] += 1
    equal("same boundaries", source.same_boundaries, alike)
    short = {passage: count for passage, count in saved.items() if len(passage.encode()) <= 200}
    shown = {one.text: one.saved for one in (*source.savings, *source.losses)}
    for passage, count in short.items():
        equal(f"what {passage!r} saves", shown.get(passage, 0), count)
    equal("saved", sum(one.saved for one in (*source.savings, *source.losses)), source.saved)
    for one in (*source.savings, *source.losses):
        equal("times", one.times, times.get(one.text, one.times))
    equal(
        "the order", [one.saved for one in source.savings], sorted((one.saved for one in source.savings), reverse=True)
    )
    equal("firsts", bool(source.firsts), source.same_ids < source.documents)
    for first in source.firsts:
        with case(first=first):
            text = texts[first.document]
            assert ids[0][first.document] != ids[1][first.document], "it is the same there"
            check_stage(first.stage, toks, text, options)
            equal("the excerpt", text[: first.character].endswith(first.before), True)
            equal("the passage", (text[first.character :] + "…").startswith(first.text.removesuffix("…")), True)
            rows = _passages([_ends(tok, text, options) for tok in toks], len(text) + 1)
            unlike = [row for row in rows if not row[4]]
            if unlike:
                equal("the place", first.character, unlike[0][0])
    names = ("added tokens", "normalizer", "split", "model", "ids")
    equal(
        "stages once, in order",
        [first.stage for first in source.firsts],
        sorted({first.stage for first in source.firsts}, key=names.index),
    )


def check_stage(stage: str, toks: tuple[bp.Tokenizer, bp.Tokenizer], text: str, options: dict[str, Any]) -> None:
    """The stage is one that treats the text differently."""
    a, b = (tok.spec for tok in toks)
    if any(
        isinstance(spec.model, bp.BytePair) and spec.model.alphabet and spec.model.alphabet.continuing_subword_prefix
        for spec in (a, b)
    ):
        # Places are those of `tokenizers`, which takes the prefix for text.
        return
    found = [explain(tok, text, **options) for tok in toks]
    # Normalized added tokens are matched in normalized text, so other normalizers make other added tokens.
    before = a.added_tokens == b.added_tokens
    if stage == "added tokens":
        added = [[(p.start, p.end, text[p.start : p.end]) for p in one.pieces if p.kind == "added"] for one in found]
        assert added[0] != added[1], f"added tokens are {added[0]} in both"
    elif stage == "normalizer":
        assert a.normalizers != b.normalizers or not before, "normalizers are the same"
    elif stage == "split":
        pieces = [[(p.start, p.end, p.text) for p in one.pieces] for one in found]
        assert pieces[0] != pieces[1], f"pieces are {pieces[0]} in both"
    elif stage == "model":
        assert a.model != b.model or not before, "the models are the same"
    elif stage == "ids":
        equal("as many tokens", len(found[0].ids), len(found[1].ids))
    kinds = [[(p.start, p.end, p.text, p.kind == "added") for p in one.pieces] for one in found]
    if kinds[0] == kinds[1] and found[0].normalized == found[1].normalized:
        assert stage in {"model", "ids"}, f"all is the same before the model, and the stage is {stage}"


def check_mirrored(found: Comparison, other: Comparison) -> None:
    """The comparison from the other side has the same results."""
    equal("a", (other.a.fingerprint, other.b.fingerprint), (found.b.fingerprint, found.a.fingerprint))
    equal(
        "stages", [(s.name, s.same, s.b, s.a) for s in other.stages], [(s.name, s.same, s.a, s.b) for s in found.stages]
    )
    one, two = found.vocabulary, other.vocabulary
    equal(
        "vocabulary", (two.b, two.a, two.both, two.used_b, two.used_a), (one.a, one.b, one.both, one.used_a, one.used_b)
    )
    equal("only", (two.only_b, two.only_a), (one.only_a, one.only_b))
    equal("same ids", two.same_id, one.same_id)
    equal("added", sorted((c, j, i) for c, i, j in other.added.other_id), sorted(found.added.other_id))
    equal("added only", (other.added.only_b, other.added.only_a), (found.added.only_a, found.added.only_b))
    equal("merges", other.merges is None, found.merges is None)
    if found.merges and other.merges:
        mine, theirs = found.merges, other.merges
        equal("merges", (theirs.b, theirs.a, theirs.both, theirs.same_before, theirs.next_b, theirs.next_a),
              (mine.a, mine.b, mine.both, mine.same_before, mine.next_a, mine.next_b))  # fmt: skip
    for here, there in zip(found.sources, other.sources, strict=True):
        equal("tokens", (there.tokens_b, there.tokens_a, there.same_ids, there.same_tokens, there.same_boundaries),
              (here.tokens_a, here.tokens_b, here.same_ids, here.same_tokens, here.same_boundaries))  # fmt: skip
        equal("savings", [(p.text, p.times, p.tokens_b, p.tokens_a) for p in there.losses],
              [(p.text, p.times, p.tokens_a, p.tokens_b) for p in here.savings])  # fmt: skip
        for f, g in zip(there.firsts, here.firsts, strict=True):
            equal("where", (f.stage, f.document, f.character, f.text), (g.stage, g.document, g.character, g.text))
            equal("what", (f.tokens_b, f.tokens_a, f.seen_b, f.seen_a), (g.tokens_a, g.tokens_b, g.seen_a, g.seen_b))


def check_looks(found: Comparison) -> None:
    """Text, page and JSON never raise, and contain no hidden characters."""
    assert drawn.same_json(found.as_dict()), "as_dict is no JSON"
    equal("unseen characters", drawn.unseen(compared.text(found)), [])
    page = drawn.Page(compared.html(found))
    equal("unseen characters of the page", drawn.unseen(page.seen), [])
    equal("scripts", page.texts.get("script"), None)
