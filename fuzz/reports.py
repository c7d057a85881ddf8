"""Sweeps over reports and findings: plain counts, and all short texts of small vocabularies."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.model.models import BytePair, Characters, Unigram, WordPiece
from bytepair.model.spec import TokenizerSpec
from bytepair.study.explain import MergeStep, explain
from bytepair.view import linted, pipeline
from fuzz import drawn
from fuzz.case import case, equal
from fuzz.models import random_model

if TYPE_CHECKING:
    import random

_LONGEST = 9
"""Letters of the texts of small vocabularies: all texts over them are tried."""


def sweep_reports(random: random.Random) -> None:
    """A report equals plain counts."""
    toks, letters, said = {}, "", []
    for name in random.sample(["a", "</script>", "\u202eb"], random.choice([1, 2])):
        toks[name], of, kind = drawn.tokenizer(random)
        said.append(kind)
        letters = letters or of
    texts = {
        name: [drawn.text(random, letters, *toks.values()) for _ in range(random.choice([0, 1, 3]))]
        for name in random.sample(["en", "<b>", "x" * 90, "\x1b[31m"], random.choice([1, 2]))
    }
    parallel = len({len(rows) for rows in texts.values()}) == 1 and random.random() < 0.5
    options: dict[str, Any] = {"special": random.choice(["allow", "text"]), "added": random.choice(["match", "text"])}
    with case(tokenizers=said, texts=texts, options=options, parallel=parallel):
        try:
            ids = {
                (tok, name): Counter(id for row in toks[tok].encode_batch(rows, **options) for id in row)
                for tok in toks
                for name, rows in texts.items()
            }
        except bp.EncodeError:
            return
        found = bp.report(
            toks,
            {name: iter(rows) for name, rows in texts.items()},
            parallel=parallel,
            examples=5,
            rare=3,
            context=1000,
            **options,
        )
        for size, (name, rows) in zip(found.corpora, texts.items(), strict=True):
            equal("a corpus", (size.name, size.documents), (name, len(rows)))
            equal(
                "its size", (size.characters, size.bytes), (sum(map(len, rows)), sum(len(row.encode()) for row in rows))
            )
        first = next(iter(texts))
        for (tok, name), uses in ids.items():
            cost, size = found.cost(tok, name), found.corpora[list(texts).index(name)]
            total = sum(uses.values())
            equal("tokens", cost.tokens, total)
            equal("bytes a token", cost.bytes_per_token, size.bytes / total if total else None)
            equal("fertility", cost.tokens_per_word, total / size.words if size.words else None)
            if parallel:
                before = sum(ids[tok, first].values())
                equal("parity", cost.parity, total / before if before else None)
            bits = -sum(n / total * math.log2(n / total) for n in uses.values())
            assert total == 0 or math.isclose(cost.entropy or 0, bits, abs_tol=1e-9), (
                f"entropy {cost.entropy}, not {bits}"
            )
            equal("most used", [one.uses for one in cost.most_used], sorted(uses.values(), reverse=True)[:5])
            equal("uses", all(uses[one.id] == one.uses for one in cost.most_used), True)
            equal("lengths", sum(many for _, many in cost.lengths), total)
            equal("context", cost.context_characters, 1000 * size.characters // total if total else None)
        for use in found.vocabularies:
            vocabulary = toks[use.tokenizer]
            sums = sum((ids[use.tokenizer, name] for name in texts), Counter[int]())
            equal("used and not", use.used + use.never_used, use.tokens)
            equal("vocabulary", (use.fingerprint, use.vocab_size), (vocabulary.fingerprint, vocabulary.vocab_size))
            equal("never used", [one.id for one in use.never_used_examples if sums[one.id]], [])
            equal("rarely used", all(0 < sums[one.id] < 3 for one in use.rarely_used_examples), True)
            special = {token.id for token in vocabulary.spec.added_tokens if token.special}
            assert len(set(sums) - special) - 1 <= use.used <= len(set(sums)), "more used than occur"
        assert drawn.same_json(found.as_dict()), "as_dict is no JSON"
        equal("unseen characters", drawn.unseen(str(found)), [])
        page = drawn.Page(found.html())
        equal("unseen characters of the page", drawn.unseen(page.seen), [])
        equal("scripts", page.texts.get("script"), None)


def _small(random: random.Random) -> tuple[bp.Tokenizer, str]:
    """A tokenizer of a few tokens over two letters, and its definition for a report."""
    kind = random.choice(["bytes", "characters", "WordPiece", "Unigram"])
    if kind == "bytes":
        model = random_model(random)
        return bp.Tokenizer(
            TokenizerSpec(model)
        ), f"{[t for t in model.tokens if len(t) > 1 or t in b'ab']} {model.merges} {model.ids[-9:]}"
    strings = ["".join(random.choices("ab", k=random.randint(2, 6))) for _ in range(random.randint(0, 9))]
    tokens = list(dict.fromkeys(["a", "b", *strings]))
    if kind == "Unigram":
        scores = tuple(
            -float(random.choice([1, 2, 3, 4, 1.5, 2.5])) * len(token) ** random.choice([0, 1]) for token in tokens
        )
        made: Any = Unigram(tuple(t.encode() for t in tokens), tuple(range(len(tokens))), scores)
    elif kind == "WordPiece":
        tokens = ["[UNK]", "##a", "##b", *tokens, *(f"##{token}" for token in strings if random.random() < 0.5)]
        tokens = list(dict.fromkeys(tokens))
        made = WordPiece(
            tuple(t.encode() for t in tokens), tuple(range(len(tokens))), max_input_chars_per_word=random.randint(3, 8)
        )
    else:
        id_of = {token: id for id, token in enumerate(tokens)}
        pairs = [
            (id_of[t[:cut]], id_of[t[cut:]])
            for t in tokens
            for cut in range(1, len(t))
            if t[:cut] in id_of and t[cut:] in id_of
        ]
        pairs = random.sample(pairs, random.randint(0, len(pairs)))
        made = BytePair(
            tuple(t.encode() for t in tokens), tuple(range(len(tokens))), tuple(pairs), alphabet=Characters()
        )
    return bp.Tokenizer(TokenizerSpec(made)), f"{made}"


def sweep_lints(random: random.Random) -> None:
    """No drawn tokenizer makes `lint` raise; tokens reported as unreachable occur in no short text."""
    tok, _, said = drawn.tokenizer(random)
    with case(tokenizer=said):
        check_looks(tok, bp.lint(tok, embeddings=random.choice([None, 3, tok.vocab_size, tok.vocab_size + 64])))
    for _ in range(3):
        tok, said = _small(random)
        with case(tokenizer=said):
            found = bp.lint(tok)
            check_looks(tok, found)
            check_reach(tok, found)


def check_looks(tok: bp.Tokenizer, found: bp.Lint) -> None:
    """Text, page and JSON of findings and of the pipeline never raise, and contain no hidden characters."""
    assert drawn.same_json(found.as_dict()), "as_dict is no JSON"
    for shown in (str(found), linted.text(found, width=60), pipeline.text(tok)):
        equal("unseen characters", drawn.unseen(shown), [])
    for html in (
        linted.fragment(found),
        linted.html("</script>\u202e", {"<b>": "\x00"}, found, tok),
        pipeline.fragment(tok),
        pipeline.card(tok),
    ):
        page = drawn.Page(html)
        equal("unseen characters of the page", drawn.unseen(page.seen), [])
        equal("scripts", page.texts.get("script"), None)


def check_reach(tok: bp.Tokenizer, found: bp.Lint) -> None:
    """The tokens and merges reported as unreachable are those that occur in no text over the letters."""
    model = tok.spec.model
    texts = ["".join(letters) for size in range(1, _LONGEST + 1) for letters in itertools.product("ab", repeat=size)]
    seen = {id for ids in tok.encode_batch(texts) for id in ids}
    told = {finding.code: finding for finding in found}
    longer = [
        (t, i) for t, i in zip(model.tokens, model.ids, strict=True) if (len(t) > 1 or t in b"ab") and t != b"[UNK]"
    ]
    if all(len(token) <= _LONGEST for token, _ in longer):
        never = {id for _, id in longer} - seen
        unreachable = told.get("unreachable-token")
        said = unreachable.count if unreachable else 0
        if isinstance(model, WordPiece):
            # No proof covers tokens that longer ones always replace; but the report says that they were never seen.
            unreached = told.get("unreached-token")
            assert said <= len(never) <= said + (unreached.count if unreached else 0), (
                f"of {len(never)} {said} are told"
            )
        else:
            equal("unreachable tokens", said, len(never))
        assert unreachable is None or set(unreachable.ids) <= never, f"{unreachable.ids} can be reached: {never}"
    if isinstance(model, BytePair) and model.merges is not None and not model.ignore_merges:
        happened = set()
        for text in (text for text in texts if len(text) <= max((len(t) for t, _ in longer), default=1)):
            steps = [step for piece in explain(tok, text).pieces for step in piece.steps]
            happened |= {step.rank for step in steps if isinstance(step, MergeStep)}
        dead = told.get("unreachable-merge")
        if all(len(token) <= _LONGEST for token, _ in longer):
            equal("dead merges", dead.count if dead else 0, len(model.merges) - len(happened))
