"""Random sequences of calls on a tokenizer of the library and on one of bytepair, which stay in the same state."""

from __future__ import annotations

import copy
import pickle
import random
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers as peer

from bytepair.compat import tokenizers as face
from bytepair.compat.tokenizers import rows
from bytepair.errors import FormatError, LimitError
from tests.compat.tokenizers_peer import KINDS, TEXT, dump, same, template, trained
from tests.conftest import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENTS = ["##a", "<a>", "<b>", "boats", "sea", "SEA", "the sea", "[MASK]", "[CLS]", "zz", ""]
WORDS = [*" ".join(TEXT).split(), *CONTENTS, "ﬁ", "2345", "日本", "\n", "  ", "🦊"]
REFUSED = ("once it is normalized", "which another token has", "too many encodings")
"""Parts of the face's messages for deliberate refusals; a run ends there."""

State = dict[str, Any]


def _text(draw: random.Random) -> str:
    if draw.random() < 0.1:
        return draw.choice(HOSTILE)
    return draw.choice(["", " "]).join(draw.choices(WORDS, k=draw.randrange(10)))


def _normalizer(m: Any, draw: random.Random) -> Any:
    n = m.normalizers
    kinds = [n.NFC, n.NFD, n.NFKC, n.Lowercase, n.StripAccents, n.Strip, n.BertNormalizer]
    return draw.choice([*kinds, lambda: n.Replace("a", "b"), lambda: n.Prepend("x")])()


def _pre_tokenizer(m: Any, draw: random.Random) -> Any:
    p = m.pre_tokenizers
    kinds = [p.Whitespace, p.WhitespaceSplit, p.BertPreTokenizer, p.Metaspace, p.Digits, p.Punctuation, p.ByteLevel]
    return draw.choice(
        [*kinds, lambda: p.ByteLevel(add_prefix_space=False), lambda: p.Split("a", "merged_with_next")]
    )()


def _decoder(m: Any, draw: random.Random) -> Any:
    d = m.decoders
    kinds = [d.ByteLevel, d.Metaspace, d.WordPiece, d.BPEDecoder, d.Fuse, d.ByteFallback, d.CTC]
    return draw.choice([*kinds, lambda: d.Sequence([d.Fuse(), d.Strip(" ", 1, 0)]), lambda: d.Replace("a", "b")])()


def _post_processor(m: Any, draw: random.Random) -> Any:
    p = m.processors
    ends = ("[SEP]", 2), ("[CLS]", 1)
    kinds: list[Callable[[], Any]] = [
        lambda: p.BertProcessing(*ends),
        lambda: p.RobertaProcessing(*ends),
        lambda: template(m),
        lambda: p.ByteLevel(trim_offsets=True),
        lambda: p.Sequence([p.ByteLevel(), template(m)]),
        lambda: p.TemplateProcessing("$A [SEP]", "$A [SEP] $B:1", [("[SEP]", 2)]),
    ]
    return draw.choice(kinds)()


def _change(part: Any, values: State) -> str:
    for name, value in values.items():
        if hasattr(type(part), name):
            setattr(part, name, value)
    return repr(part)


def _tokens(m: Any, draw: random.Random) -> list[Any]:
    tokens = []
    for content in draw.choices(CONTENTS, k=draw.randrange(1, 3)):
        # The library never forgets that a token was special, so that decoding leaves it out for ever.
        flags = {"single_word": draw.random() < 0.2, "special": content[:1] == "[" or draw.random() < 0.4}
        if draw.random() < 0.3:
            flags["normalized"] = draw.random() < 0.5
        plain = draw.random() < 0.4 and content[:1] != "["
        tokens.append(content if plain else m.AddedToken(content, **flags))
    return tokens


def _add(m: Any, state: State, draw: random.Random) -> Any:
    tokenizer = state["tokenizer"]
    return (tokenizer.add_tokens if draw.random() < 0.5 else tokenizer.add_special_tokens)(_tokens(m, draw))


def _limits(m: Any, state: State, draw: random.Random) -> Any:
    del m
    tokenizer = state["tokenizer"]
    side, other = draw.choice(["left", "right"]), draw.choice(["left", "right"])
    strategy, stride = draw.choice(["longest_first", "only_first", "only_second"]), draw.choice([0, 0, 1])
    if draw.random() < 0.5:
        tokenizer.enable_truncation(draw.choice([9, 13]), stride=stride, strategy=strategy, direction=side)
    else:
        tokenizer.no_truncation()
    if draw.random() < 0.5:
        filled = {"length": draw.choice([None, 0, 9, 16]), "pad_to_multiple_of": draw.choice([None, None, 4, 0, 1])}
        tokenizer.enable_padding(direction=other, pad_id=3, pad_type_id=draw.randrange(2), **filled)
    else:
        tokenizer.no_padding()
    tokenizer.encode_special_tokens = draw.random() < 0.4
    return tokenizer.truncation, tokenizer.padding, tokenizer.encode_special_tokens


def _part(m: Any, state: State, draw: random.Random) -> Any:
    tokenizer, none = state["tokenizer"], draw.random() < 0.15
    stage = draw.choice(["normalizer", "pre_tokenizer", "post_processor", "decoder"])
    made = {"normalizer": _normalizer, "pre_tokenizer": _pre_tokenizer, "decoder": _decoder}.get(stage, _post_processor)
    part = None if none else made(m, draw)
    if stage in ("normalizer", "pre_tokenizer") and draw.random() < 0.4:
        part = getattr(m, f"{stage}s").Sequence([made(m, draw) for _ in range(draw.randrange(3))])
    setattr(tokenizer, stage, part)
    return str(tokenizer)


def _edit(m: Any, state: State, draw: random.Random) -> Any:
    tokenizer, yes = state["tokenizer"], draw.random() < 0.5
    if type(tokenizer.normalizer).__name__ == "Sequence" and len(tokenizer.normalizer):
        tokenizer.normalizer[0] = _normalizer(m, draw)
    said = [
        _change(tokenizer.normalizer, {"content": "Q", "prepend": "y", "lowercase": yes, "left": yes}),
        _change(
            tokenizer.pre_tokenizer, {"add_prefix_space": yes, "individual_digits": yes, "prepend_scheme": "first"}
        ),
        _change(tokenizer.pre_tokenizer, {"behavior": "removed", "use_regex": yes, "replacement": "_", "invert": yes}),
        _change(tokenizer.post_processor, {"sep": ("[PAD]", 3), "trim_offsets": yes, "add_prefix_space": yes}),
    ]
    # The library looks for added tokens in text that is normalized anew only after this.
    tokenizer.normalizer = tokenizer.normalizer
    return said


def _vocabulary(m: Any, state: State, draw: random.Random) -> Any:
    del m, draw
    tokenizer = state["tokenizer"]
    added = tokenizer.get_added_tokens_decoder()
    size = tokenizer.get_vocab_size()
    return (
        [tokenizer.get_vocab(), tokenizer.get_vocab(False), size, tokenizer.get_vocab_size(False), repr(added)],
        # The library returns the normalized form of an added token that is normalized.
        [tokenizer.id_to_token(id) for id in range(size + 3) if id not in added],
        [tokenizer.token_to_id(content) for content in CONTENTS],
        [tokenizer.num_special_tokens_to_add(is_pair) for is_pair in (False, True)],
    )


def _copy(m: Any, state: State, draw: random.Random) -> Any:
    tokenizer = state["tokenizer"]
    ways: list[Callable[[], Any]] = [
        lambda: pickle.loads(pickle.dumps(tokenizer)),
        lambda: copy.deepcopy(tokenizer),
        lambda: m.Tokenizer.from_str(tokenizer.to_str()),
    ]
    state["tokenizer"] = draw.choice(ways)()
    return tokenizer.to_str(), repr(tokenizer)


def _encode(m: Any, state: State, draw: random.Random) -> Any:
    del m
    words, is_pair, add = draw.random() < 0.3, draw.random() < 0.4, draw.random() < 0.7
    one, two = (text.split() if words else text for text in (_text(draw), _text(draw)))
    encoding = state["tokenizer"].encode(one, two if is_pair else None, words, add)
    if not is_pair:
        state["encodings"].append(encoding)
    return dump(encoding)


def _batch(m: Any, state: State, draw: random.Random) -> Any:
    del m
    rows = [_text(draw) if draw.random() < 0.6 else (_text(draw), _text(draw)) for _ in range(draw.randrange(5))]
    if draw.random() < 0.3:
        # The library leaves tokens and types of these out.
        return [(one.ids, one.attention_mask) for one in state["tokenizer"].encode_batch_fast(rows)]
    return [dump(one) for one in state["tokenizer"].encode_batch(rows, add_special_tokens=draw.random() < 0.7)]


def _encoding(m: Any, state: State, draw: random.Random) -> Any:
    few = [one for one in state["encodings"] if len(one.overflowing) < 6]
    if not few:
        return None
    one, two = draw.choice(few), draw.choice(few)
    way = draw.randrange(5)
    if way == 0:
        side = draw.choice(["left", "right"])
        one.pad(draw.choice([0, 5, 20]), direction=side, pad_id=7, pad_type_id=1, pad_token="P")
    elif way == 1:
        one.truncate(draw.choice([0, 3, 7]), draw.choice([0, 0, 1]), draw.choice(["left", "right"]))
    elif way == 2:
        one = m.Encoding.merge([one, two][: draw.randrange(3)], growing_offsets=draw.random() < 0.5)
    elif way == 3:
        one = pickle.loads(pickle.dumps(one))
    else:
        one = state["tokenizer"].post_process(one, two if draw.random() < 0.5 else None, draw.random() < 0.6)
    return dump(one)


def _decode(m: Any, state: State, draw: random.Random) -> Any:
    tokenizer, skip = state["tokenizer"], draw.random() < 0.5
    # As above: the text of added tokens that are normalized is another one there.
    added = tokenizer.get_added_tokens_decoder()
    known = [id for id in range(tokenizer.get_vocab_size(False)) if id not in added or not added[id].normalized]
    rows = [draw.choices([*known, 10_000], k=draw.randrange(8)) for _ in range(3)]
    stream = m.decoders.DecodeStream(skip_special_tokens=skip)
    steps = [_outcome(stream.step, tokenizer, id) for id in draw.choices(known, k=5)]
    return tokenizer.decode(rows[0], skip), tokenizer.decode_batch(rows, skip_special_tokens=skip), steps


STEPS = [_add, _limits, _part, _part, _edit, _vocabulary, _copy, _encode, _encode, _encode, _batch, _encoding, _decode]


def _outcome(call: Callable[..., Any], *said: Any) -> Any:
    try:
        return call(*said)
    except (KeyboardInterrupt, AssertionError):
        raise
    except (FormatError, LimitError) as error:
        return "refused" if any(said in str(error) for said in REFUSED) else "raised"
    except BaseException:
        # The library panics where truncation has no room, which is no Exception.
        return "raised"


@pytest.fixture(scope="module")
def files() -> dict[str, list[str]]:
    return {kind: [trained(m, kind).to_str() for m in (peer, face)] for kind in KINDS}


@pytest.mark.parametrize("seed", range(60))
def test_random_calls_say_the_same(seed: int, files: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    if seed // len(KINDS) % 2:
        # The offsets of all texts are found at once, also of few.
        monkeypatch.setattr(rows, "_LEAST", 0)
    draw = random.Random(seed)
    modules = peer, face
    states: list[State] = [
        {"tokenizer": m.Tokenizer.from_str(file), "encodings": []}
        for m, file in zip(modules, files[KINDS[seed % len(KINDS)]], strict=True)
    ]
    done = []
    for _ in range(35):
        step, number = draw.choice(STEPS), draw.random()
        both = [_outcome(step, m, state, random.Random(number)) for m, state in zip(modules, states, strict=True)]
        done.append(step.__name__)
        if both[1] == "refused":
            return
        assert both[0] == both[1], done
        if both[0] == "raised":
            return


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_found_at_once_are_those_of_each_text(
    kind: str, files: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(kind)
    both = [m.Tokenizer.from_str(file) for m, file in zip((peer, face), files[kind], strict=True)]
    texts = [*(text[:40] for text in (*HOSTILE, *TEXT)), " a", "a ", "Ünd [SEP] so"]

    def side(of_words: bool) -> str | list[str]:
        return [text[:5] for text in draw.choices(texts, k=draw.randrange(5))] if of_words else draw.choice(texts)

    for _ in range(40):
        of_words, add = draw.random() < 0.4, draw.random() < 0.7
        inputs: list[Any] = [
            (side(of_words), side(of_words)) if draw.random() < 0.3 else side(of_words)
            for _ in range(draw.randrange(1, 7))
        ]
        for number in range(2):
            for tokenizer in both:
                tokenizer.no_truncation()
                tokenizer.enable_padding(direction=("left", "right")[number], pad_id=3)
                if number:
                    tokenizer.enable_truncation(9, stride=1, direction="left")
            options = {"is_pretokenized": of_words, "add_special_tokens": add}
            expected = [dump(each) for each in both[0].encode_batch(inputs, **options)]
            for least in (0, 1 << 30):
                monkeypatch.setattr(rows, "_LEAST", least)
                assert [dump(each) for each in both[1].encode_batch(inputs, **options)] == expected


@pytest.mark.parametrize(("special", "found"), [((), 0), ((1,), 1), ((2,), 2), ((1, 2), 1)])
def test_of_tokens_that_a_normalizer_makes_equal_one_is_found(special: tuple[int, ...], found: int) -> None:
    # In the library any of them is, by the order of a hash table.
    def observe(m: Any) -> Any:
        tokenizer = trained(m, "pieces")
        tokenizer.normalizer = m.normalizers.Lowercase()
        names = "GuLL", "Gull", "gull"
        for index, content in enumerate(names):
            tokenizer.add_tokens([m.AddedToken(content, normalized=True, special=index in special)])
        ids = [tokenizer.token_to_id(name) for name in names]
        encodings = [dump(tokenizer.encode(text)) for text in ("Gull", "a GULL there", "gulls gull", "seagull")]
        taken = {id for encoding in encodings for id in encoding["ids"]}.intersection(ids)
        for encoding in encodings:
            encoding["ids"] = [min(ids) if id in ids else id for id in encoding["ids"]]
        if m is face:
            assert taken == {ids[found]}
        return ids, encodings

    same(observe)


def test_text_becomes_special_tokens_as_there() -> None:
    def observe(m: Any) -> Any:
        pieces = trained(m, "pieces")
        pieces.add_special_tokens(["##a"])
        words = trained(m, "words")
        words.add_special_tokens(["sea"])
        words.encode_special_tokens = True
        scored = m.Tokenizer(m.models.Unigram([("<unk>", 0), ("</s>", 0), ("s", -1.0)], 0))
        scored.normalizer = m.normalizers.NFKC()
        scored.add_special_tokens(["</s>"])
        return pieces.encode("was boats").ids, words.encode("the sea").ids, scored.encode("＜/s＞").ids

    assert same(observe)[2] == [1]


def test_a_tokenizer_of_bytepair_keeps_text_from_them() -> None:
    words = trained(face, "words")
    words.add_special_tokens(["sea"])
    assert words.token_to_id("sea") not in words.to_bytepair().encode("the sea", special="text")
