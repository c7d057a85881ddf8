"""Sweep over explanations: each step by the definition of its model, looked up anew in everything that is left."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair import lowlevel
from bytepair.model.models import BytePair, Unigram, WordLevel, WordPiece
from bytepair.study.explain import ExplainedPiece, Explanation, LongestMatch, MergeStep, explain, made_by, taken_whole
from bytepair.view import explained
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

_SHORT = 9
"""Characters of a piece whose ways are all tried."""


def sweep_explanations(random: random.Random) -> None:
    """An explanation gives the ids of encoding, by steps that are the definition's."""
    tok, letters, said = drawn.tokenizer(random)
    with case(tokenizer=said):
        check_trees(random, tok)
    for _ in range(4):
        text = drawn.text(random, letters, tok)
        options: dict[str, Any] = {
            "special": random.choice(["allow", "text"]),
            "added": random.choice(["match", "text"]),
        }
        if random.random() < 0.2 and tok.spec.special_tokens:
            options["special"] = set(random.sample(sorted(tok.spec.special_tokens), 1))
        with case(text=text, tokenizer=said, options=options):
            try:
                ids = tok.encode(text, **options)
            except (bp.EncodeError, bp.SpecialTokenError) as error:
                try:
                    explain(tok, text, **options)
                except type(error) as other:
                    equal("the error", str(other), str(error))
                    continue
                raise AssertionError(f"no error, where encoding says {error}") from None
            found = explain(tok, text, **options)
            equal("ids", found.ids, ids)
            check_places(tok, found, options)
            for piece in found.pieces:
                with case(piece=piece):
                    check_piece(tok, piece)
            assert drawn.same_json(found.as_dict()), "as_dict is no JSON"
            check_looks(random, found)


def check_places(tok: bp.Tokenizer, found: Explanation, options: dict[str, Any]) -> None:
    """Pieces are those of the tokenizer, where their ids are; normalizers go on with what the one before made."""
    texts, shown = tok.pieces(found.text, **options), [piece.text for piece in found.pieces]
    # Models of characters are given parts of pieces where that makes no difference.
    equal("pieces", *(shown, texts) if tok.spec.is_byte_level else ("".join(shown), "".join(texts)))
    _, places, words, _ = lowlevel.locate(tok, found.text, **options)
    each = [(piece, number) for number, piece in enumerate(found.pieces) for _ in piece.ids]
    for (piece, _), (start, end) in zip(each, places, strict=True):
        # A token can be from no character, beside its piece.
        assert start == end or (piece.start <= start and end <= piece.end), f"a token at {start}-{end} of {piece}"
    for (one, other), (before, after) in zip(pairwise(number for _, number in each), pairwise(words), strict=True):
        equal("in one piece", before == after, one == other)
    equal("tokens", dict(found.tokens), {id: tok.token_bytes(id) for id in found.tokens})
    for stretch in found.normalized:
        for change, following in pairwise(stretch.changes):
            equal("what the next normalizer is given", following.before, change.after)
        equal("what the first is given", stretch.changes[0].before, found.text[stretch.start : stretch.end])


def check_piece(tok: bp.Tokenizer, piece: ExplainedPiece) -> None:
    """Each step is what the definition does next."""
    model = tok.spec.model
    if piece.kind == "added":
        equal("an added token", piece.ids, tuple(t.id for t in tok.spec.added_tokens if t.id == piece.ids[0])[:1])
        return
    match model:
        case BytePair():
            if piece.kind == "merged":
                check_merges(model, piece)
            else:
                equal("taken whole", model.tokens[model.ids.index(piece.ids[0])], piece.text.encode())
        case WordPiece():
            check_matches(model, piece)
        case Unigram():
            check_ways(model, piece)
        case WordLevel():
            named = dict(zip(model.tokens, model.ids, strict=True))
            equal("a word", piece.ids, (named.get(piece.text.encode(), named.get((model.unk_token or "").encode())),))


def _next(model: BytePair, symbols: list[int]) -> tuple[int, int, int, int, int] | None:
    """Of all pairs the lowest, of these the leftmost: its rank, its place, what it is of and becomes; None if none."""
    token_of = dict(zip(model.ids, model.tokens, strict=True))
    id_of = {token: id for id, token in token_of.items()}
    prefix = (model.alphabet and model.alphabet.continuing_subword_prefix) or ""
    listed = {} if model.merges is None else {pair: rank for rank, pair in enumerate(model.merges)}
    best: tuple[int, int, int, int, int] | None = None
    for at, (left, right) in enumerate(pairwise(symbols)):
        joined = id_of.get(token_of[left] + token_of[right].removeprefix(prefix.encode()))
        rank = joined if model.merges is None else listed.get((left, right))
        if rank is not None and joined is not None and (best is None or rank < best[0]):
            best = (rank, at, left, right, joined)
    return best


def check_merges(model: BytePair, piece: ExplainedPiece) -> None:
    """Merges, one after another; those of long pieces only at the beginning and end."""
    token_of = dict(zip(model.ids, model.tokens, strict=True))
    if model.alphabet is None:
        equal("symbols", b"".join(token_of[id] for id in piece.symbols), piece.text.encode())
        equal("bytes", {len(token_of[id]) for id in piece.symbols} <= {1}, True)
    symbols, places = list(piece.symbols), list(range(len(piece.symbols)))
    for number, step in enumerate(piece.steps):
        assert isinstance(step, MergeStep), "a match where there are merges"
        at = places.index(step.at)
        got = (step.rank, at, step.left, step.right, step.result)
        if number < 12 or number > len(piece.steps) - 4:
            equal("the next merge", got, _next(model, symbols))
        equal("its pair", (symbols[at], symbols[at + 1]), (step.left, step.right))
        symbols[at : at + 2] = [step.result]
        del places[at + 1]
    equal("what is left to merge", _next(model, symbols), None)
    equal("the ids", tuple(symbols), piece.ids)


def check_matches(model: WordPiece, piece: ExplainedPiece) -> None:
    """The longest token again and again."""
    id_of = {token.decode(): id for token, id in zip(model.tokens, model.ids, strict=True)}
    at, ids, rest = 0, [], piece.text
    steps = [step for step in piece.steps if isinstance(step, LongestMatch)]
    if len(rest) > model.max_input_chars_per_word:
        equal("a piece that is too long", (piece.ids, steps), ((id_of[model.unk_token],), []))
        return
    while at < len(rest):
        head = model.continuing_subword_prefix if at else ""
        ends = [end for end in range(len(rest), at, -1) if head + rest[at:end] in id_of]
        step = steps.pop(0)
        if not ends:
            equal("no match", (step.at, step.result, steps), (at, None, []))
            equal("the unknown token", piece.ids, (id_of[model.unk_token],))
            return
        equal("a match", (step.at, step.end, step.result), (at, ends[0], id_of[head + rest[at : ends[0]]]))
        ids.append(step.result)
        at = ends[0]
    equal("the ids", (piece.ids, steps), (tuple(ids), []))


def _all_ways(model: Unigram, text: str) -> list[tuple[float, tuple[int, ...]]]:
    """The sum and the ids of all ways to spell a text."""
    of = {token.decode(): (score, id) for token, score, id in zip(model.tokens, model.scores, model.ids, strict=True)}
    worst = min(model.scores) - 10

    def ways(at: int, before: float) -> list[tuple[float, tuple[int, ...]]]:
        if at == len(text):
            return [(before, ())]
        found = []
        for end in range(at + 1, len(text) + 1):
            score, id = of.get(text[at:end], (None, None))
            if id is None and end == at + 1 and model.unk_id is not None:
                score, id = worst, model.unk_id
            if id is not None and score is not None:
                found += [(whole, (id, *rest)) for whole, rest in ways(end, before + score)]
        return found

    return ways(0, 0.0)


def check_ways(model: Unigram, piece: ExplainedPiece) -> None:
    """The ways are the two best of all."""
    for way in piece.segmentations:
        total = 0.0
        for token in way.tokens:
            total += token.score
        equal("a sum", way.score, total)
        equal("places", [token.at for token in way.tokens[1:]], [token.end for token in way.tokens[:-1]])
    if 0 < len(piece.text) <= _SHORT:
        ways = sorted(_all_ways(model, piece.text), key=lambda way: -way[0])
        equal("sums", [way.score for way in piece.segmentations], [score for score, _ in ways[:2]])
        known = [ids for _, ids in ways]
        equal("ways", all(tuple(token.id for token in way.tokens) in known for way in piece.segmentations), True)
        equal(
            "two ways",
            len({tuple((t.at, t.id) for t in way.tokens) for way in piece.segmentations}),
            len(piece.segmentations),
        )


def check_trees(random: random.Random, tok: bp.Tokenizer) -> None:
    """The tree of a token is what merging its bytes does."""
    model = tok.spec.model
    ids = random.sample(list(model.ids), min(20, len(model.ids)))
    ids += [token.id for token in tok.spec.added_tokens]
    made = made_by(tok, ids)
    whole = taken_whole(tok, ids)
    assert set(ids) <= set(made), "an id without an answer"
    for id, merge in made.items():
        if merge is not None:
            assert {merge.left, merge.right} <= set(made), "not closed"
            assert id not in whole, "made, and taken whole"
    if not isinstance(model, BytePair):
        equal("merges of a model that has none", (set(made.values()), whole), ({None}, set()))
        return
    if model.alphabet is not None:
        return
    token_of = dict(zip(model.ids, model.tokens, strict=True))
    id_of = {token: id for id, token in token_of.items()}
    takes_whole = model.merges is None or model.ignore_merges
    for id, merge in made.items():
        if id not in token_of:
            equal("an added token", merge, None)
            continue
        symbols = [id_of.get(bytes([byte]), -1) for byte in token_of[id]]
        last = None
        if -1 not in symbols:
            while (step := _next(model, symbols)) is not None:
                last = step
                symbols[step[1] : step[1] + 2] = [step[4]]
        if symbols == [id] and last is not None:
            equal("the merge that makes it", merge, (last[2], last[3], last[0]))
        else:
            equal("a token that no merge makes", merge, None)
        if id in ids:
            equal("taken whole", id in whole, takes_whole and symbols != [id])


def check_looks(random: random.Random, found: Explanation) -> None:
    """Text and page never raise, and hold nothing that hides."""
    shown = explained.text(found, stream=io.StringIO(), width=random.choice([40, 80, 100]))
    equal("unseen characters", drawn.unseen(shown), [])
    page = drawn.Page(explained.html(found, title=random.choice(["", found.text])))
    equal("unseen characters of the page", drawn.unseen(page.seen, "\n\u200b"), [])
    equal("scripts", page.texts.get("script"), None)
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "h3",
        "p",
        "ol",
        "li",
        "a",
        "span",
        "code",
        "small",
        "details",
    }
    allowed |= {"summary", "div", "svg", "path", "rect", "text", "table", "thead", "tbody", "tr", "th", "td", "b"}
    equal("elements", {tag for tag, _ in page.elements} - allowed, set())
    ids = [value for _, attributes in page.elements for name, value in attributes if name == "id"]
    equal("ids of elements", len(ids), len(set(ids)))
    targets = {str(value)[1:] for _, attributes in page.elements for name, value in attributes if name == "href"}
    equal("targets", targets - set(ids), set())
