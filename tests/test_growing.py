"""Growing texts, and parts that fit, against encoding the same text from scratch; fuzz/growing.py has the sweeps."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest
from fuzz import kinds, made
from fuzz.counted import Parts, of_every_stage
from fuzz.growing import appending, fitting, prepending
from fuzz.variants import FAST, SLOW, growing_text, tokenizer, variant

import bytepair as bp
from bytepair.formats import hf_json
from bytepair.model.models import Unigram
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Callable

# Each takes back what it was split into before: spaces before a word, a change of case, digits, contractions,
# a line end after spaces, a slash, a mark on a letter, a token that is longer than it seemed.
RETRACTING = (
    "a    b",
    "ABCd",
    "aB AAAb",
    "1234567890",
    "don't won't 'll",
    "\n   \n  x",
    " \n /\n//",
    "e\u0301e\u0301",
    "<|end|>><|end|><|x",
)


@pytest.mark.parametrize("split", bp.SPLIT_PATTERNS)
@pytest.mark.parametrize("kind", FAST + SLOW)
def test_texts_that_take_back_what_they_were(split: str, kind: str) -> None:
    tok = variant(split, kind)
    for text in (*RETRACTING, "".join(RETRACTING)):
        appender, prepender = tok.appender(special="allow"), tok.prepender(special="allow")
        for at in range(len(text)):
            appender.append(text[at])
            prepender.prepend(text[-at - 1])
            assert appender.count() == tok.count(text[: at + 1], special="allow"), text[: at + 1]
            assert prepender.count() == tok.count(text[-at - 1 :], special="allow"), text[-at - 1 :]
        assert appender.ids() == prepender.ids() == tok.encode(text, special="allow")
        assert appender.text == prepender.text == text


def test_bytes_wait_for_the_rest_of_their_character() -> None:
    tok, text = tokenizer("o200k"), "ñ日本👩\u200d💻a"
    appender = tok.appender()
    for at, byte in enumerate(text.encode()):
        appender.append(bytes([byte]))
        whole = text.encode()[: at + 1].decode(errors="ignore")
        assert (appender.text, appender.text.encode() + appender.pending) == (whole, text.encode()[: at + 1])
        assert (appender.count(), appender.ids()) == (tok.count(whole), tok.encode(whole))
    appender.append("é".encode()[:1])
    mark = appender.mark()
    with pytest.raises(bp.EncodeError, match="end inside a character"):
        appender.append("a")
    with pytest.raises(bp.EncodeError) as error:
        appender.append(b"\xffa")
    assert (error.value.byte, error.value.character) == (len(text.encode()), len(text))
    assert (appender.text, appender.pending) == (text, b"\xc3")
    appender.append("é".encode()[1:])
    appender.rollback(mark)
    assert (appender.text, appender.pending) == (text, b"\xc3")


def test_a_long_word_is_rolled_back_to_wherever_it_was() -> None:
    tok = tokenizer("gpt2")
    random = Random(3)
    word = "".join(random.choices("astnx", k=6000))
    appender, prepender = tok.appender(), tok.prepender()
    for _ in range(2):
        marks = []
        for start in range(0, 6000, 500):
            marks.append((appender.mark(), prepender.mark(), start))
            appender.append(word[start : start + 500])
            prepender.prepend(word[start : start + 500])
            assert appender.fits(" and more. " * 50, 10_000)
            assert not prepender.fits("more and ", prepender.count())
        appender.append(" the end")
        prepender.prepend("before ")
        for back, front, start in reversed(marks):
            appender.rollback(back)
            prepender.rollback(front)
            assert appender.count() == tok.count(appender.text)
            assert prepender.count() == tok.count(prepender.text)
            assert len(appender.text) == len(prepender.text) == start


def unigram(normalizer: dict[str, object], *added: str) -> bp.Tokenizer:
    """A Unigram of a few letters that knows no others, and added tokens."""
    vocab = [
        [token, -1.0 - at]
        for at, token in enumerate(
            ["a", "b", " ", "aa", "ab", "<", ">", "a\u00e9b", "b\u00e9a", "b a", "a b", "  ", "\u0301", "\u0301a"]
        )
    ]
    tokens = [kinds.added(content, len(vocab) + at, normalized=True) for at, content in enumerate(added)]
    model = {"type": "Unigram", "vocab": vocab, "unk_id": None}
    return bp.Tokenizer(
        hf_json.read({"version": "1.0", "model": model, "normalizer": normalizer, "added_tokens": tokens})
    )


def test_a_token_that_a_run_began_is_completed() -> None:
    tok = unigram({"type": "Replace", "pattern": {"String": "x"}, "content": "a"}, "<ab>")
    for width in (1, 2, 3):
        appender = tok.appender()
        for text in (
            "a" * 300,
            *(("<ab" + ">" * (width % 2) + "b" * 40)[at : at + width] for at in range(0, 44, width)),
        ):
            appender.append(text)
            mark = appender.mark()
            appender.append("<a")
            assert appender.count() == tok.count(appender.text)
            appender.rollback(mark)
            assert appender.count() == tok.count(appender.text)


def test_a_character_may_hold_an_added_token() -> None:
    tokens = ["a", "b", "\u0301", "##a", "##b", "##\u0301", "aa", "##aa"]
    model: dict[str, object] = {"type": "BPE", "vocab": {token: id for id, token in enumerate(tokens)}}
    model |= {"merges": [["a", "##a"], ["##a", "##a"]], "continuing_subword_prefix": "##"}
    steps = {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "Lowercase"}]}
    added = [kinds.added("E", len(tokens), normalized=True)]
    tok = bp.Tokenizer(hf_json.read({"version": "1.0", "model": model, "normalizer": steps, "added_tokens": added}))
    for seed in range(20):
        random = Random(seed)
        text, appender = "".join(random.choices(["\u00e9", "a", "aa", "b"], k=400)), tok.appender()
        while len(appender.text) < len(text):
            appender.append(text[len(appender.text) :][: random.randint(1, 60)])
            assert appender.count() == tok.count(appender.text), seed


def place_of_error(call: Callable[[], object]) -> tuple[int | None, int | None] | None:
    """The place of the EncodeError that a call raises; None if it does not."""
    try:
        call()
    except bp.EncodeError as error:
        return error.byte, error.character
    return None


def test_the_error_of_a_part_is_that_of_its_text() -> None:
    tok = unigram({"type": "Replace", "pattern": {"String": "x"}, "content": "  "}, "aa", "a a")
    for text in (
        "abab a b aab aaab aaab  aaaaab ab a\u00e9 b aa ",
        "ab" * 150 + "\u00e9",
        "ab" * 30 + "\u00e9" + "ab" * 30,
    ):
        for part in (text, text * 3):
            place = place_of_error(partial(tok.encode, part))
            assert place is not None
            assert place == place_of_error(partial(tok.chunks, part, 3)) == place_of_error(partial(tok.fit, part, 1000))
            for limit in (0, 3):
                assert place_of_error(partial(tok.fit, part, limit)) in (place, None)
    marked = unigram({"type": "Prepend", "prepend": "\u2581"})
    with pytest.raises(bp.EncodeError, match="\u2581"):
        marked.fit("ab \u00e9", 0, "right")


@pytest.mark.parametrize("normalizers", [(), ("NFC",)])
def test_an_added_token_that_ends_the_text_is_one(normalizers: tuple[str, ...]) -> None:
    counts = {"." * 8: 9, ".<": 5, ">.": 5}
    spec = bp.train(counts, 263, split="gpt2", special_tokens=["<end>", "<begin>"]).spec
    tok = bp.Tokenizer(spec.replace(normalizers=normalizers))
    # No place of this text is a cut, and a mark would still change its last character.
    appender = tok.appender(special="allow")
    for part in ("." * 40, "<end>", "<begin>", "...<e", "nd>", ".", "<begin><end>", "\u0338", "<end>"):
        appender.append(part)
        assert appender.count() == tok.count(appender.text, special="allow"), appender.text
        assert appender.ids() == tok.encode(appender.text, special="allow")


def test_marks_that_do_not_hold_are_refused() -> None:
    tok = tokenizer("gpt2")
    appender, other, prepender = tok.appender(), tok.appender(), tok.prepender()
    appender.append("a word")
    first = appender.mark()
    appender.append(" and")
    second = appender.mark()
    appender.rollback(first)
    for mark in (second, other.mark(), prepender.mark()):
        with pytest.raises(ValueError, match="the mark is of another text"):
            appender.rollback(mark)
    with pytest.raises(ValueError, match="the mark is of another text"):
        prepender.rollback(first)
    assert (appender.text, appender.count()) == ("a word", tok.count("a word"))


def test_what_is_not_allowed_raises_until_it_is_rolled_back() -> None:
    tok = tokenizer("gpt2")
    appender, prepender = tok.appender(), tok.prepender()
    appender.append("a <")
    prepender.prepend("|end|> b")
    assert (appender.count(), prepender.count()) == (tok.count("a <", special="text"), tok.count("|end|> b"))
    back, front = appender.mark(), prepender.mark()
    appender.append("|end|> b")
    prepender.prepend("a <")
    for growing in (appender, prepender):
        for _ in range(2):
            with pytest.raises(bp.SpecialTokenError) as error:
                growing.count()
            assert (error.value.byte, error.value.character) == (2, 2)
    appender.rollback(back)
    prepender.rollback(front)
    assert (appender.count(), prepender.count()) == (tok.count("a <", special="text"), tok.count("|end|> b"))


@pytest.mark.parametrize("kind", FAST + SLOW)
def test_fit_leaves_no_longer_part_unused(kind: str) -> None:
    for seed in range(12):
        random = Random(f"{kind} {seed}")
        tok, text = variant(random.choice(list(bp.SPLIT_PATTERNS)), kind), growing_text(random)
        lefts = [tok.count(text[:at], special="allow") for at in range(len(text) + 1)]
        rights = [tok.count(text[at:], special="allow") for at in range(len(text) + 1)]
        for limit in (0, 1, 2, 5, lefts[-1] // 2, lefts[-1] - 1, lefts[-1]):
            if limit >= 0:
                left = max(at for at, count in enumerate(lefts) if count <= limit)
                right = min(at for at, count in enumerate(rights) if count <= limit)
                assert tok.fit(text, limit, special="allow") == text[:left]
                assert tok.fit(text.encode(), limit, "right", special="allow") == text[right:].encode()


def test_fit_reads_no_further_than_it_must() -> None:
    tok = tokenizer("o200k")
    text = "some words " * 20_000 + "<|end|>"
    assert tok.count(tok.fit(text, 1000)) == 1000
    assert tok.fit("a" * 2_000_000 + "<|end|>", 10) == tok.fit("a" * 1000, 10)
    with pytest.raises(bp.SpecialTokenError):
        tok.fit("a <|end|>", 100, special="raise")
    with pytest.raises(ValueError, match='use "left" or "right"'):
        tok.fit("a", 1, "middle")  # type: ignore[arg-type]
    with pytest.raises(bp.EncodeError) as error:
        tok.fit_batch([b"a", b"\xff"], 3)
    assert error.value.row == 1


def test_what_a_text_loses_at_its_start_is_no_error_of_an_end() -> None:
    model = Unigram((b"a", b"b"), (0, 1), (-1.0, -1.0))
    strip = '{"type": "Strip", "strip_left": true, "strip_right": false}'
    tok = bp.Tokenizer(bp.TokenizerSpec(model, normalizers=(strip,)))
    # There is no token for white space, and no end of the text has it behind its start.
    assert [tok.fit(" \tabab", limit, "right") for limit in (0, 1, 3, 4)] == ["", "b", "bab", " \tabab"]
    with pytest.raises(bp.EncodeError, match="no token spells"):
        tok.fit("a b", 2, "right")


# Each changes what is before it, or is changed by it, under some normalizer or model.
REACHING = (
    "a\u0323\u0301 e\u0301e \u1100\u1161\u11a8\u11a8 ｶﾞ",
    "  the  hello   low \t\n\r\n x ",
    "aaaaaaa lolololow unbelievable" + "a" * 20,
    "日本語 한국어 12345 3.14, it's <s> hello",
    "👩\u200d💻🇩🇪🇫 \u200b\ufeff▁▁ AbC",
)


@pytest.mark.parametrize("model", made.MODELS)
def test_every_model_and_stage_grows_as_it_is_encoded(model: str) -> None:
    for tok, said, contents in of_every_stage(model):
        for text in (*REACHING, *(content + "a " + content for content in contents)):
            appender, prepender = tok.appender(special="allow"), tok.prepender(special="allow")
            for at in range(len(text)):
                appender.append(text[at])
                prepender.prepend(text[-at - 1])
                try:
                    left, right = (tok.count(part, special="allow") for part in (text[: at + 1], text[-at - 1 :]))
                except bp.EncodeError:
                    continue
                assert (appender.count(), prepender.count()) == (left, right), (said, text[: at + 1])
            assert appender.text == prepender.text == text


@pytest.mark.parametrize("model", made.MODELS)
def test_every_model_and_stage_fits_as_it_is_encoded(model: str) -> None:
    for tok, _, contents in of_every_stage(model, 1):
        for text in ("".join(REACHING), "".join(contents) * 2, "a" * 150, " " * 60):
            for side in ("left", "right"):
                parts = Parts(tok, text, side, {"special": "allow"})
                for limit in (0, 1, 2, 3, 7, 20, 21, 200):
                    parts.check(limit)


@pytest.mark.parametrize("model", made.MODELS)
def test_every_model_and_stage_on_random_texts(model: str) -> None:
    for counted in of_every_stage(model, 2):
        for sweep in (appending, prepending, fitting):
            sweep(Random(counted.said), counted)


@pytest.mark.parametrize("first", [3, 150, 260, 400])
def test_a_long_piece_grows_at_its_front_across_a_place_where_the_model_cuts(first: int) -> None:
    tok = bp.train({"éé": 9, "éééé": 5, "日a": 4, "aa": 3}, vocab_size=263)
    text = "é" * 500 + "日日日aa日aa日a日日a日" * 3
    prepender = tok.prepender()
    for start in range(len(text) - first, -1, -37):
        prepender.prepend(text[start : len(text) - len(prepender.text)])
        assert prepender.count() == tok.count(prepender.text)


@pytest.mark.parametrize("seed", range(6))
def test_ideographs_get_spaces_that_the_text_behind_them_has(seed: int) -> None:
    # Behind an ideograph `a` becomes `▁a`, behind a letter not: the lengths of both were taken for one another's.
    model = {"type": "BPE", "unk_token": "?", "ignore_merges": True, "merges": []}
    vocab = {piece: id for id, piece in enumerate("?▁a日rigedw")}
    spec = hf_json.read({"version": "1.0", "model": {**model, "vocab": vocab}})
    cleaned = {"clean_text": True, "strip_accents": None, "lowercase": True}
    ideographs = {"type": "BertNormalizer", "handle_chinese_chars": True, **cleaned}
    spaces = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True}
    charsmap = {"precompiled_charsmap": "DAAAAAAAAQBBDQAAAAAAgGEA", "treat_whitespace_as_suffix": False}
    steps = ideographs, {"type": "SentencePiece", **spaces, **charsmap}
    tok = bp.Tokenizer(spec.replace(normalizers=tuple(spell_step(step) for step in steps)))
    draw = Random(seed)
    known = "a日aaa日日a日日日aaa日日aaaa日日a日日日日日日riggered wi"
    text = "".join(draw.choices("aa日日rw ", k=60)) if seed else known
    counts = [tok.count(text[:end]) for end in range(len(text) + 1)]
    for limit in range(1, 80):
        assert len(tok.fit(text, limit)) == max(end for end, count in enumerate(counts) if count <= limit)
