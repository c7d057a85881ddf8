"""The trainers and the ready-made tokenizers, compared with those of tokenizers."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers as peer

from bytepair.compat import tokenizers as face
from bytepair.errors import ArtifactError, EncodeError, FormatError, TrainingError
from tests.compat.tokenizers_peer import TEXT, dump, same

if TYPE_CHECKING:
    from pathlib import Path

READY = ["BertWordPieceTokenizer", "ByteLevelBPETokenizer", "CharBPETokenizer", "SentencePieceBPETokenizer"]


def _train(m: Any, model: str, texts: Any, pre: str | None = None, **settings: Any) -> Any:
    unk = {} if model == "BPE" else {"unk_token": "[UNK]"}
    tokenizer = m.Tokenizer(getattr(m.models, model)(**unk))
    if pre is not None:
        tokenizer.pre_tokenizer = getattr(m.pre_tokenizers, pre)()
    trainer = getattr(m.trainers, f"{model.replace('BPE', 'Bpe')}Trainer")(show_progress=False, **settings)
    tokenizer.train_from_iterator(texts, trainer)
    return json.loads(tokenizer.to_str())


def test_merges_and_ids_are_those_of_the_library() -> None:
    draw = random.Random(5)
    for case in range(250):
        letters = draw.choice(["ab ", "abc ", "abcdé  ", "aé日🤗 "])
        texts = ["".join(draw.choices(letters, k=draw.randrange(60))) for _ in range(draw.randrange(1, 10))]
        settings = {
            "vocab_size": draw.randrange(3, 60),
            "min_frequency": draw.randrange(4),
            "special_tokens": draw.choice([[], ["[UNK]", "<s>"], ["a"]]),
            "initial_alphabet": draw.choice([[], ["z"], ["é", "xy"]]),
            "max_token_length": draw.choice([None, None, 1, 2, 3, 5]),
        }
        pre = draw.choice([None, "Whitespace", "ByteLevel", "Metaspace"])
        both = [_train(module, "BPE", texts, pre, **settings) for module in (peer, face)]
        assert both[0] == both[1], (case, texts, settings, pre)


def test_words_and_ids_are_those_of_the_library() -> None:
    draw = random.Random(6)
    for _ in range(60):
        texts = ["".join(draw.choices("abcé  ", k=draw.randrange(60))) for _ in range(draw.randrange(1, 10))]
        settings = {"vocab_size": draw.randrange(2, 30), "min_frequency": draw.randrange(4)}
        both = [
            _train(module, "WordLevel", texts, "WhitespaceSplit", special_tokens=["[UNK]", "x"], **settings)
            for module in (peer, face)
        ]
        assert both[0] == both[1]


def test_a_text_of_many_words_makes_the_same_merges(sources: list[str]) -> None:
    texts = sources[0].splitlines(keepends=True)
    for pre in ("ByteLevel", "Whitespace"):
        both = [_train(module, "BPE", texts, pre, vocab_size=1500, special_tokens=["<s>"]) for module in (peer, face)]
        assert both[0] == both[1]


@pytest.mark.parametrize("marks", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}])
def test_prefixes_and_suffixes_make_what_frequencies_say(marks: dict[str, str]) -> None:
    # If frequencies decide, the library's merges do not depend on the order of its hashes.
    texts = ["abc " * 8, "abd " * 4, "be " * 2, "f"]
    both = [
        _train(module, "BPE", texts, "WhitespaceSplit", min_frequency=5, **marks)["model"] for module in (peer, face)
    ]
    assert sorted(both[0]["vocab"]) == sorted(both[1]["vocab"])
    assert sorted(both[0]["merges"]) == sorted(both[1]["merges"])
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        assert both[0][name] == both[1][name] == marks.get(name)


def test_wordpiece_is_learned_by_frequency_and_encodes() -> None:
    tokenizer = face.Tokenizer(face.models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = face.pre_tokenizers.Whitespace()
    trainer = face.trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    model = tokenizer.model
    assert tokenizer.get_vocab_size() == len(model._ids()) == 120
    assert set(model._ids()) >= {"boats", "##s", "the", "[UNK]"}
    again = peer.Tokenizer.from_str(tokenizer.to_str())
    for text in [*TEXT, "harbours Où 漢"]:
        assert dump(tokenizer.encode(text)) == dump(again.encode(text))


def test_a_limited_alphabet_keeps_the_most_frequent_characters() -> None:
    def observe(m: Any) -> Any:
        texts = ["aaaa bbb cc d"]
        kept = _train(m, "BPE", texts, "Whitespace", limit_alphabet=3, min_frequency=99)
        required = _train(m, "BPE", texts, "Whitespace", limit_alphabet=2, initial_alphabet=["d"], min_frequency=99)
        return kept["model"]["vocab"], required["model"]["vocab"]

    assert same(observe) == ({"a": 0, "b": 1, "c": 2}, {"a": 0, "d": 1})


def test_unigram_has_the_size_and_the_tokens_that_are_asked_for() -> None:
    for special, count in ((["[PAD]", "[SEP]"], 101), (["[PAD]", "[SEP]", "[UNK]"], 100)):
        tokenizer = face.Tokenizer(face.models.Unigram())
        trainer = face.trainers.UnigramTrainer(
            show_progress=False,
            special_tokens=special,
            unk_token="[UNK]",
            vocab_size=count,
            initial_alphabet=["ß", "日"],
        )
        tokenizer.train_from_iterator(TEXT, trainer)
        assert tokenizer.get_vocab_size() == count
        assert tokenizer.encode("[PAD] boats [SEP]").ids[0] == tokenizer.token_to_id("[PAD]")
        assert {"ß", "日", " "} <= tokenizer.get_vocab().keys()
        assert tokenizer.encode("漢").ids == [tokenizer.token_to_id("[UNK]")]
        again = peer.Tokenizer.from_str(tokenizer.to_str())
        for text in TEXT:
            assert again.encode(text).tokens == tokenizer.encode(text).tokens
            assert "".join(tokenizer.encode(text).tokens) == text


def test_training_without_text_leaves_the_alphabet() -> None:
    def observe(m: Any) -> Any:
        return [
            _train(m, "BPE", [], special_tokens=["<s>"], initial_alphabet=["b", "a"]),
            _train(m, "WordLevel", iter([]), special_tokens=["[UNK]"]),
        ]

    same(observe)


def test_files_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(b"one two\r\nthree\n\nfour")

    def observe(m: Any) -> Any:
        tokenizer = m.Tokenizer(m.models.WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = m.pre_tokenizers.Metaspace()
        tokenizer.train([str(file)], m.trainers.WordLevelTrainer(show_progress=False))
        return tokenizer.get_vocab()

    assert "▁three\n" in same(observe)


def test_a_model_knows_its_trainer() -> None:
    def observe(m: Any) -> Any:
        kinds = []
        for model in (m.models.BPE(), m.models.WordPiece(), m.models.WordLevel(), m.models.Unigram()):
            trainer = model.get_trainer()
            trainer.show_progress = False
            kinds.append(type(trainer).__name__)
        tokenizer = m.Tokenizer(m.models.WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = m.pre_tokenizers.Whitespace()
        tokenizer.train_from_iterator(["b a b"])
        return kinds, tokenizer.get_vocab()

    same(observe)


@pytest.mark.parametrize("name", ["BpeTrainer", "WordPieceTrainer", "WordLevelTrainer", "UnigramTrainer"])
def test_settings_are_read_changed_and_pickled(name: str) -> None:
    common = {"vocab_size": 12345, "show_progress": False, "special_tokens": ["1", "2"]}
    if name != "UnigramTrainer":
        common["min_frequency"] = 12
    if name != "WordLevelTrainer":
        common["initial_alphabet"] = ["a", "bc"]
    if name in ("BpeTrainer", "WordPieceTrainer"):
        common |= {"limit_alphabet": 13, "continuing_subword_prefix": "pref", "end_of_word_suffix": "suf"}

    def observe(m: Any) -> Any:
        trainer = getattr(m.trainers, name)(**common)
        read = {key: getattr(trainer, key) for key in common}
        read["special_tokens"] = [repr(token) for token in read["special_tokens"]]
        if "initial_alphabet" in read:
            read["initial_alphabet"] = sorted(read["initial_alphabet"])
        trainer.special_tokens = [m.AddedToken("3", lstrip=True)]
        trainer.vocab_size = 20
        for twin in (pickle.loads(pickle.dumps(trainer)), copy.deepcopy(trainer)):
            assert (twin.vocab_size, twin.special_tokens) == (20, trainer.special_tokens)
        return read, [repr(token) for token in trainer.special_tokens]

    same(observe)
    with pytest.raises((AttributeError, TypeError)):
        getattr(face.trainers, name)(**common, other=1)
    with pytest.raises(AttributeError, match="no setting"):
        getattr(face.trainers, name)().other = 1


def test_state_of_a_bpe_trainer() -> None:
    def observe(m: Any) -> Any:
        return m.trainers.BpeTrainer(min_frequency=12, special_tokens=["a"]).__getstate__()

    same(observe)


def test_what_does_not_fit_raises(tmp_path: Path) -> None:
    tokenizer = face.Tokenizer(face.models.BPE())
    with pytest.raises(TypeError, match="UnigramTrainer can only train a Unigram"):
        tokenizer.train_from_iterator([], face.trainers.UnigramTrainer())
    with pytest.raises(TypeError, match="texts"):
        tokenizer.train_from_iterator([["a", 3]])
    with pytest.raises(ArtifactError, match="nowhere"):
        tokenizer.train([str(tmp_path / "nowhere.txt")])
    (tmp_path / "latin.txt").write_bytes(b"fine\n\xff\n")
    with pytest.raises(EncodeError):
        tokenizer.train([str(tmp_path / "latin.txt")])
    with pytest.raises(ValueError, match="progress_format"):
        face.trainers.BpeTrainer(progress_format="loud")
    unigram = face.Tokenizer(face.models.Unigram())
    with pytest.raises(TrainingError, match="shrinking_factor"):
        unigram.train_from_iterator(TEXT, face.trainers.UnigramTrainer(shrinking_factor=2.0, show_progress=False))
    with pytest.raises(TrainingError, match="private use"):
        unigram.train_from_iterator(["a \U000f0000"], face.trainers.UnigramTrainer(show_progress=False))


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    _train(face, "WordLevel", TEXT)
    assert not capsys.readouterr().err
    tokenizer = face.Tokenizer(face.models.BPE())
    tokenizer.train_from_iterator(TEXT, face.trainers.BpeTrainer(vocab_size=80, progress_format="json"))
    phases = [json.loads(line)["phase"] for line in capsys.readouterr().err.splitlines()]
    assert set(phases) == {"texts", "count", "merge"} - ({"count"} - set(phases))


@pytest.mark.parametrize("name", READY)
def test_ready_made_tokenizers_train_and_encode(name: str, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("\n".join(TEXT), "utf-8")

    # With a prefix or a suffix the library's ties hang on the order of its hashes.
    is_tied = name in ("BertWordPieceTokenizer", "CharBPETokenizer")

    def observe(m: Any) -> Any:
        one = getattr(m, name)()
        one.train_from_iterator(["A first sentence", "Another sentence", "And a last one"], show_progress=False)
        output = one.encode("A sentence")
        batch = [each.tokens for each in one.encode_batch(["A sentence", "a sentence"])]
        two = getattr(m, name)()
        two.train(str(file), min_frequency=6, show_progress=False)
        assert two.get_vocab_size() > 30
        text = two.decode(two.encode("The sea").ids).lower()
        two.add_special_tokens(["<end>"])
        two.enable_padding(length=4)
        size = None if is_tied else (two.get_vocab_size(), repr(two), repr(one))
        shown = type(two.model).__name__, two.token_to_id("<end>") is not None, two.padding
        return output.tokens, batch, one.decode(output.ids), text.split(), shown, size

    same(observe)


def test_sentencepiece_unigram_trains_and_encodes() -> None:
    tokenizer = face.SentencePieceUnigramTokenizer()
    text = ["A first sentence", "Another sentence", "And a last one"]
    tokenizer.train_from_iterator(
        text, vocab_size=100, show_progress=False, special_tokens=["<unk>"], unk_token="<unk>"
    )
    output = tokenizer.encode("A sentence 🤗")
    assert output.ids[-1] == 0
    assert output.tokens[-2:] == ["▁", "🤗"]
    assert "".join(output.tokens[:-2]) == "▁A▁sentence"
    assert tokenizer.normalize("ｈ  i") == "h i"
    tokenizer.train_from_iterator(text, show_progress=False)
    with pytest.raises(FormatError, match="has id 0, which another token has"):
        tokenizer.encode("A sentence")
    tokenizer = face.SentencePieceUnigramTokenizer()
    tokenizer.train_from_iterator(text, show_progress=False)
    with pytest.raises(EncodeError, match="unknown"):
        tokenizer.encode("A sentence 🤗")


def test_bert_from_a_vocabulary(tmp_path: Path) -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "my", "name", "is", "jo", "##hn", "pair"]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n")

    def observe(m: Any) -> Any:
        ready = m.BertWordPieceTokenizer
        made = [
            ready.from_file(str(tmp_path / "vocab.txt")),
            ready(str(tmp_path / "vocab.txt"), lowercase=False, strip_accents=True),
            ready({token: id for id, token in enumerate(tokens)}),
        ]
        with pytest.raises(TypeError, match="sep_token"):
            ready({"[CLS]": 0, "[UNK]": 1})
        said = [dump(each.encode("My nämé is John", "pair")) for each in made]
        return said, [each.to_str() for each in made], made[0].save_model(str(tmp_path), m.__name__) is not None

    said, *_ = same(observe)
    assert said[0]["tokens"] == ["[CLS]", "my", "name", "is", "jo", "##hn", "[SEP]", "pair", "[SEP]"]


def test_ready_made_bpe_from_files(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "b</w>": 4, "ab</w>": 5, "▁": 6, "▁a": 7, "Ġ": 8}
    merges = [("a", "b"), ("a", "b</w>"), ("▁", "a")]
    files = face.models.BPE(vocab, merges).save(str(tmp_path))

    def observe(m: Any) -> Any:
        made = [
            m.CharBPETokenizer.from_file(*files),
            m.CharBPETokenizer(*files, bert_normalizer=False, split_on_whitespace_only=True, lowercase=True),
            m.CharBPETokenizer(vocab, merges, unicode_normalizer="nfkc"),
            m.SentencePieceBPETokenizer.from_file(*files),
            m.SentencePieceBPETokenizer(vocab, merges, add_prefix_space=False, fuse_unk=True),
            m.ByteLevelBPETokenizer.from_file(*files, lowercase=True, unicode_normalizer="nfc"),
            m.ByteLevelBPETokenizer(vocab, merges, add_prefix_space=True, trim_offsets=True),
        ]
        return [(dump(each.encode("ab Ab xy a")), each.to_str(), each.decode([3, 5])) for each in made]

    same(observe)


def test_base_tokenizer_has_the_parts_of_its_tokenizer() -> None:
    def observe(m: Any) -> Any:
        base = m.implementations.BaseTokenizer(m.Tokenizer(m.models.BPE()))
        base.model = m.models.Unigram()
        base.normalizer = m.normalizers.NFD()
        base.pre_tokenizer = m.pre_tokenizers.Whitespace()
        base.post_processor = m.processors.ByteLevel()
        base.decoder = m.decoders.WordPiece()
        parts = (base.model, base.normalizer, base.pre_tokenizer, base.post_processor, base.decoder)
        return [type(part).__name__ for part in parts], base.normalize("é"), base.to_str()

    same(observe)
