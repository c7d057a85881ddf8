"""Stages written in Python, the texts that they edit, and the tools: compared with tokenizers."""

from __future__ import annotations

import pickle
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers as peer
from tokenizers import models as peer_models
from tokenizers import normalizers as peer_normalizers
from tokenizers import pre_tokenizers as peer_pre_tokenizers
from tokenizers import tools as peer_tools

import bytepair as bp
from bytepair.compat import tokenizers as face
from bytepair.compat.tokenizers import models, normalizers, pre_tokenizers, tools

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["Élan vital", " Éßﬁİ x ", "a", "", "  ", "東京 Tokyo\u0301 🦊", "low\tLOWER  e\u0301e\u0301", "<m>a<m> HI hi"]
EDITS: list[tuple[str, tuple[Any, ...]]] = [
    *((name, ()) for name in ("nfc", "nfd", "nfkc", "nfkd", "lowercase", "uppercase", "strip", "lstrip", "rstrip")),
    ("clear", ()),
    ("prepend", ("__",)),
    ("append", ("é!",)),
    ("replace", ("e", "EE")),
    ("replace", (" ", "")),
    ("filter", (str.isalnum,)),
    ("map", (lambda character: "x" if character == "o" else character,)),
    ("for_each", (str.upper,)),
]


def shown(text: Any) -> Any:
    return None if text is None else (text.original, text.normalized, str(text), repr(text))


def places(pretok: Any) -> list[Any]:
    return [
        [(piece, offsets) for piece, offsets, _ in pretok.get_splits(*how)]
        for how in ((), ("original", "byte"), ("normalized", "byte"))
    ]


@pytest.mark.parametrize("seed", range(150))
def test_edits_keep_the_places_of_characters(seed: int) -> None:
    chance = random.Random(seed)
    text = chance.choice(TEXTS)
    edits: list[tuple[str, tuple[Any, ...]]] = []
    tried = face.NormalizedString(text)
    for name, arguments in chance.choices(EDITS, k=chance.randrange(1, 4)):
        # After an append to an empty text, tokenizers repeats it or panics.
        if name != "append" or tried.normalized:
            edits.append((name, arguments))
            getattr(tried, name)(*arguments)
    made = []
    for library in (face, peer):
        whole, parts = library.NormalizedString(text), library.PreTokenizedString(text)
        for name, arguments in edits:
            assert getattr(whole, name)(*arguments) is None
            parts.normalize(lambda part, name=name, arguments=arguments: getattr(part, name)(*arguments))
        answer = [shown(whole)]
        dot = library.Regex(".")
        parts.split(lambda _, part, dot=dot: part.split(dot, "isolated"))
        answer.append(places(parts))
        made.append(answer)
    assert made[0] == made[1], edits


@pytest.mark.parametrize("behavior", ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"])
def test_parts_of_a_text(behavior: str) -> None:
    for text in TEXTS:
        one, other = (library.NormalizedString(text) for library in (face, peer))
        for each in (one, other):
            each.nfd()
        for pattern in (" ", "e", "Regex"):
            found = one.split(face.Regex("[aeiou]") if pattern == "Regex" else pattern, behavior)
            expected = other.split(peer.Regex("[aeiou]") if pattern == "Regex" else pattern, behavior)
            assert [*map(shown, found)] == [*map(shown, expected)]
        for range_ in (
            0,
            3,
            *([-1] if text else []),
            99,
            (1, 3),
            (0, 0),
            slice(2),
            slice(1, 4),
            slice(-2, None),
            slice(3, 100),
            slice(None),
        ):
            assert shown(one[range_]) == shown(other[range_]) == shown(one.slice(range_)), (text, range_)
        if not text:
            for each in (one, other):
                with pytest.raises(ValueError, match="1 is bigger than max len"):
                    each[-1]
    with pytest.raises(ValueError, match="behavior"):
        one.split(" ", "no")
    with pytest.raises(TypeError):
        one.map(lambda _: "two")
    with pytest.raises(TypeError):
        list(one)


def test_built_in_stages_run_on_them() -> None:
    for name in ("ByteLevel", "Metaspace", "Whitespace", "BertPreTokenizer", "Punctuation", "UnicodeScripts"):
        for text in TEXTS:
            found, expected = face.PreTokenizedString(text), peer.PreTokenizedString(text)
            getattr(pre_tokenizers, name)().pre_tokenize(found)
            getattr(peer_pre_tokenizers, name)().pre_tokenize(expected)
            assert places(found)[:2] == places(expected)[:2], (name, text)
    for name in ("NFD", "Lowercase", "StripAccents", "BertNormalizer"):
        for text in TEXTS:
            one, other = face.NormalizedString(text), peer.NormalizedString(text)
            getattr(normalizers, name)().normalize(one)
            getattr(peer_normalizers, name)().normalize(other)
            assert shown(one) == shown(other)


def test_tokens_become_an_encoding() -> None:
    made = []
    for library in (face, peer):
        parts = library.PreTokenizedString("Élan  vital")
        parts.split(lambda _, part: part.split(" ", "removed"))
        parts.normalize(lambda part: part.nfd())
        kind = library.Token
        parts.tokenize(lambda text, kind=kind: [kind(1, text[:2], (0, 3)), kind(2, text[2:], (3, len(text.encode())))])
        one, other = parts.to_encoding(), parts.to_encoding(3, 7)
        made.append([(e.ids, e.tokens, e.offsets, e.word_ids, e.type_ids, e.attention_mask) for e in (one, other)])
        assert [token.as_tuple() for token in parts.get_splits()[1][2]] == [(1, "vi", (0, 3)), (2, "tal", (3, 5))]
        for wrong in (("no",), ("original", "bytes")):
            with pytest.raises(ValueError, match="expected one of"):
                parts.get_splits(*wrong)
    assert made[0] == made[1]
    parts = face.PreTokenizedString("a")
    with pytest.raises(bp.EncodeError, match="no tokens; call tokenize first"):
        parts.to_encoding()
    with pytest.raises(TypeError):
        parts.split(lambda *_: [5])


class Shout:
    def normalize(self, normalized: Any) -> None:
        normalized.nfd()
        normalized.filter(lambda character: character != "\u0301")
        normalized.uppercase()


class Vowels:
    def pre_tokenize(self, pretok: Any) -> None:
        pretok.split(
            lambda _, part: [each for word in part.split(" ", "removed") for each in word.split("E", "isolated")]
        )


def tokenizer(library: Any, models: Any, stages: list[str], normalizers: Any, pre_tokenizers: Any) -> Any:
    words = ["[U]", "<m>", "LAN", "E", "VITAL", "LOW", "elan", "vital", "low", "Ġ", "e", "é", "HI", "hi", "[C]", "[P]"]
    made = library.Tokenizer(models.WordLevel({word: id for id, word in enumerate(words)}, unk_token="[U]"))
    if "normalizer" in stages:
        made.normalizer = normalizers.Normalizer.custom(Shout())
    if "sequence" in stages:
        made.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Normalizer.custom(Shout())])
    if "pre_tokenizer" in stages:
        made.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Vowels())
    else:
        made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(["<m>", "[C]"])
    made.add_tokens([library.AddedToken("low", normalized=False, single_word=True, lstrip=True)])
    made.post_processor = library.processors.TemplateProcessing(
        single="[C] $A", pair="[C] $A $B:1", special_tokens=[("[C]", 14)]
    )
    return made


@pytest.mark.parametrize("stages", [["normalizer"], ["pre_tokenizer"], ["normalizer", "pre_tokenizer"], ["sequence"]])
def test_a_tokenizer_runs_them(stages: list[str], tmp_path: Path) -> None:
    ours = tokenizer(face, models, stages, normalizers, pre_tokenizers)
    theirs = tokenizer(peer, peer_models, stages, peer_normalizers, peer_pre_tokenizers)
    chance = random.Random(str(stages))
    pieces = ["Élan", "vital", " ", "  ", "low", "slow low", "<m>", "HI", "é", "🦊", "e e"]

    def columns(each: Any) -> Any:
        names = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask")
        return [getattr(each, name) for name in names], [columns(more) for more in each.overflowing]

    for round_ in range(120):
        one, other = ("".join(chance.choices(pieces, k=chance.randrange(7))) for _ in range(2))
        for each in (ours, theirs):
            each.no_truncation()
            each.no_padding()
            if round_ % 3:
                each.enable_padding(length=12 if round_ % 2 else None, pad_id=15, pad_token="[P]")
            if round_ % 4 == 3:
                each.enable_truncation(6, stride=1)
        for given, options in (((one,), {}), ((one, other), {"add_special_tokens": False}), ((one, other), {})):
            assert columns(ours.encode(*given, **options)) == columns(theirs.encode(*given, **options)), given
        batch: list[Any] = [one, (one, other), other]
        assert [*map(columns, ours.encode_batch(batch))] == [*map(columns, theirs.encode_batch(batch))]
        words = [[one, other], [other]]
        found, expected = (each.encode_batch(words, is_pretokenized=True) for each in (ours, theirs))
        assert [*map(columns, found)] == [*map(columns, expected)]
    assert ours.decode([2, 3, 4]) == theirs.decode([2, 3, 4])
    assert ours.get_vocab() == theirs.get_vocab()
    for call in (
        ours.to_str,
        lambda: ours.save(str(tmp_path / "x.json")),
        ours.to_bytepair,
        lambda: pickle.dumps(ours),
    ):
        with pytest.raises(bp.FormatError, match="written in Python cannot be saved or converted"):
            call()
    assert not list(tmp_path.iterdir())
    for component, method in ((normalizers.NFC(), "normalize"), (pre_tokenizers.Whitespace(), "pre_tokenize")):
        with pytest.raises(TypeError, match=f"use {method}_str"):
            getattr(component, method)("a")
    assert "Tokenizer" in repr(ours) + str(ours)


def test_what_a_callback_raises_is_raised() -> None:
    class Broken:
        def normalize(self, _: Any) -> None:
            raise KeyError("mine")

    ours = tokenizer(face, models, [], normalizers, pre_tokenizers)
    ours.normalizer = normalizers.Normalizer.custom(Broken())
    with pytest.raises(KeyError, match="mine"):
        ours.encode("a")


class Marks:
    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [f"{token.lower()}|" for token in tokens]


def test_a_decoder_written_in_python_decodes() -> None:
    ours = tokenizer(face, models, ["normalizer"], normalizers, pre_tokenizers)
    theirs = tokenizer(peer, peer_models, ["normalizer"], peer_normalizers, peer_pre_tokenizers)
    ours.decoder = face.decoders.Decoder.custom(Marks())
    theirs.decoder = peer.decoders.Decoder.custom(Marks())
    ids = [1, 2, 0, 99, 14, 6, 14, 5]
    for skip in (True, False):
        assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
        assert ours.decode_batch([ids, [], [3]], skip) == theirs.decode_batch([ids, [], [3]], skip)
    assert ours.decode([2, 3]) == "lan|e|"
    assert ours.decoder.decode(["A", "b"]) == theirs.decoder.decode(["A", "b"]) == "a|b|"
    steps: list[Any] = [face.decoders.DecodeStream(), peer.decoders.DecodeStream()]
    for id_ in (2, 14, 3, 5):
        assert steps[0].step(ours, id_) == steps[1].step(theirs, id_)
    assert ours.encode("Élan low").ids == theirs.encode("Élan low").ids
    for call in (ours.to_str, lambda: pickle.dumps(ours.decoder), ours.to_bytepair):
        with pytest.raises(bp.FormatError, match="written in Python cannot be saved or converted"):
            call()
    assert "Tokenizer" in repr(ours)
    assert "Decoder" in repr(ours.decoder)
    ours.decoder = face.decoders.Decoder.custom(object())
    with pytest.raises(AttributeError, match="decode_chain"):
        ours.decode([2])
    with pytest.raises(NotImplementedError, match="a Sequence takes no decoder written in Python"):
        face.decoders.Sequence([ours.decoder])


@pytest.mark.parametrize("kind", ["Bpe", "WordLevel", "WordPiece", "Unigram"])
def test_training_runs_stages_written_in_python(kind: str, tmp_path: Path) -> None:
    lines = ["Élan vital low lower", "low <m> lowest E e", "slow élan vital"] * 3
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(lines), "utf-8")
    made = []
    names = {"Bpe": "BPE"}
    for library, kinds, norm, pre in (
        (face, models, normalizers, pre_tokenizers),
        (peer, peer_models, peer_normalizers, peer_pre_tokenizers),
    ):
        options = {"unk_token": "[U]"} if kind.startswith("Word") else {}
        each = library.Tokenizer(getattr(kinds, names.get(kind, kind))(**options))
        each.normalizer, each.pre_tokenizer = norm.Normalizer.custom(Shout()), pre.PreTokenizer.custom(Vowels())
        settings = {} if kind == "Unigram" else {"min_frequency": 2}
        trainer = getattr(library.trainers, f"{kind}Trainer")(
            vocab_size=40, show_progress=False, special_tokens=["[U]"], **settings
        )
        each.train_from_iterator(lines, trainer)
        once = each.get_vocab()
        each.train([str(file)], trainer)
        made.append([once, each.get_vocab()])
        # A special token has the id 0 after training.
        assert each.encode("[U]low").ids[0] == 0
    if kind in ("WordPiece", "Unigram"):  # The library's own results depend on hash order, or on its floats.
        assert {token for vocab in made[0] for token in vocab} >= {"[U]", *"LANVIT"}
    else:
        assert made[0] == made[1]
    assert not any(token != token.upper() for token in made[0][0])
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"low\nlow \xff")
    ours = face.Tokenizer(models.WordLevel())
    ours.normalizer = normalizers.Normalizer.custom(Shout())
    with pytest.raises(bp.EncodeError) as caught:
        ours.train([str(broken)], face.trainers.WordLevelTrainer(show_progress=False))
    assert (caught.value.row, caught.value.byte) == (1, 4)


def spans(page: str) -> list[str]:
    """The elements of a page, apart from its style."""
    found = re.findall(r"<span[^>]*>|</span>|[^<>]+", page[page.index('tokenized-text" dir') :])
    return [re.sub(r"\s+>$", ">", each) for each in found if each.strip()]


def test_the_visualizer_shows_the_same_elements() -> None:
    pages = []
    for library, kit, kinds in ((face, tools, models), (peer, peer_tools, peer_models)):
        made = library.Tokenizer(kinds.WordLevel({"low": 0, "[UNK]": 1, "é": 2, "<": 3}, unk_token="[UNK]"))
        made.pre_tokenizer = library.pre_tokenizers.Whitespace()
        show = kit.EncodingVisualizer(made, default_to_notebook=False)
        convert = kit.EncodingVisualizer(
            made, default_to_notebook=False, annotation_converter=lambda row, kit=kit: kit.Annotation(*row)
        )
        some = [kit.Annotation(0, 3, "one"), kit.Annotation(5, 8, "two")]
        assert kit.EncodingVisualizer.calculate_label_colors(some) == {
            "one": "hsl(10,32%,64%)",
            "two": "hsl(137,32%,64%)",
        }
        pages.append(
            [
                spans(show("low < slow é low")),
                spans(show("low < slow é low", annotations=some)),
                spans(convert("low low low", [(2, 6, "x")])),
            ]
        )
    assert pages[0] == pages[1]
    with pytest.raises(IndexError, match="outside of the text"):
        tools.EncodingVisualizer(made, False)("low", [tools.Annotation(2, 9, "x")])
