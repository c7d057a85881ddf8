"""Prompts cut anywhere: masks, covers and healing against the encodings of all short texts, and against real ones."""

from __future__ import annotations

import lzma
import random
import threading
from pathlib import Path

import pytest
from fuzz.prompts import Continued, ids_of

import bytepair as bp
from bytepair.model.models import Characters
from bytepair.reference import canonical


@pytest.fixture(scope="module")
def tok() -> bp.Tokenizer:
    counts = {"low": 5, " lower": 3, " low": 4, "'ll": 2, "日本": 2, "  ": 3, "\n\n": 2, "123": 2, "é": 1}
    return bp.train(counts, vocab_size=274, split="o200k", special_tokens=["<e>", "<u>"])


def walk(tok: bp.Tokenizer, ids: list[int]) -> None:
    """Assert that each id is possible behind those before it."""
    for end, id in enumerate(ids):
        assert id in ids_of(tok.next_mask(ids[:end])), (ids[:end], id)


@pytest.mark.parametrize("split", ["none", "gpt2", "cl100k", "o200k", "qwen2"])
def test_the_ids_of_a_text_are_possible_step_by_step(split: str) -> None:
    texts = ["it's  a \n\n test ", "naïve 日本語 😀!!", "x  y\t\n", "ABc'LL 12345", "<e>"]
    tok = bp.train(iter(texts * 2), vocab_size=285, split=split, special_tokens=["<e>"])
    for text in texts:
        ids = tok.encode(text, special="text")
        walk(tok, ids)
        assert tok.token_id("<e>") in ids_of(tok.next_mask(ids))


def test_ids_of_other_spellings_are_not_possible(tok: bp.Tokenizer) -> None:
    assert tok.token_id("w") not in ids_of(tok.next_mask(tok.encode("lo")))
    assert not tok.next_mask([tok.token_id(letter) for letter in "low"]).any()
    # A piece cannot end within a token: "'ll" is one.
    assert tok.token_id("l") not in ids_of(tok.next_mask([tok.token_id("'"), tok.token_id("l")]))
    # The continuation bytes of a character go on, and nothing else does.
    begun = ids_of(tok.next_mask([0xF0]))
    assert begun
    assert all(0x90 <= tok.token_bytes(id)[0] <= 0xBF for id in begun)


def test_a_piece_may_begin_with_a_part_of_a_character_that_would_merge_with_the_piece_before() -> None:
    spec = bp.train({"a": 2}, vocab_size=256, split=r"ab|(?s:.)").spec
    model = bp.BytePair((*spec.model.tokens, b"a\xe6"), tuple(range(257)))
    tok = bp.Tokenizer(spec.replace(model=model))
    assert tok.encode("a日") == [97, *"日".encode()]
    walk(tok, tok.encode("a日"))


def test_texts_stand_between_added_tokens(tok: bp.Tokenizer) -> None:
    end = tok.token_id("<e>")
    assert ids_of(tok.next_mask([*tok.encode("low"), end])) == ids_of(tok.next_mask([]))
    assert end not in ids_of(tok.next_mask([0xF0])), "a text does not end within a character"
    assert not tok.next_mask([0xF0, end]).any()


def test_whole_tokens_that_no_merge_makes_are_pieces_alone() -> None:
    # "abc" is taken whole as a piece, and never inside of one.
    spec = bp.train({"ab": 2}, vocab_size=257, split=r"[a-c]+|(?s:.)").spec
    model = bp.BytePair(
        tokens=(*spec.model.tokens, b"abc"), ids=(*spec.model.ids, 257), merges=((97, 98),), ignore_merges=True
    )
    tok = bp.Tokenizer(spec.replace(model=model))
    assert tok.encode("abc") == [257]
    Continued(tok, "abc.", 5).check(random.Random("wholes"))
    assert 99 not in ids_of(tok.next_mask(tok.encode("."))) & ids_of(tok.next_mask([257]))


def test_vocabularies_that_are_not_proper_merge_to_know() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"aab", b"aa", b"ab", b"aaaa"]
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens=tuple(tokens), ids=tuple(range(260)))))
    Continued(tok, "abc", 5).check(random.Random("improper"))


def test_a_cover_has_each_beginning_once(tok: bp.Tokenizer) -> None:
    cover = tok.cover("a lo")
    sequences = list(map(tuple, cover))
    assert len(cover) == len(set(sequences))
    ends = {tok.decode(sequence) for sequence in sequences}
    assert ends == {"a lo", "a low", "a lower"}
    assert list(tok.cover("")) == [[]]
    # Inside of a character.
    for sequence in tok.cover("日".encode()[:2]):
        assert tok.decode_bytes(sequence).startswith("日".encode()[:2])


def test_probabilities_of_covers_add_up(tok: bp.Tokenizer) -> None:
    """A beginning is as probable as its cover: the sequences exclude each other, and none is missing."""
    texts = list(canonical.texts("lo w", 5))
    share = {tuple(tok.encode(text)): 1 / len(texts) for text in texts}
    for start in ("l", "lo", " l", "ow "):
        expected = sum(text.startswith(start) for text in texts) / len(texts)
        covers = [tuple(sequence) for sequence in tok.cover(start)]
        got = sum(part for ids, part in share.items() for one in covers if ids[: len(one)] == one)
        assert got == pytest.approx(expected)


def test_healing_takes_back_what_may_change(tok: bp.Tokenizer) -> None:
    ids = tok.encode("a lo")
    healing = tok.heal(ids)
    assert healing.back == len(ids) - 1
    assert healing.prefix == b" lo"
    ids = ids[: len(ids) - healing.back]
    # The prefix is written again, token by token.
    rest, chosen = healing.prefix, healing.mask
    while rest:
        assert (chosen == tok.next_mask(ids, rest)).all()
        id = max(ids_of(chosen))
        ids, rest = [*ids, id], rest[len(tok.token_bytes(id)) :]
        chosen = tok.next_mask(ids, rest)
    assert tok.decode(ids).startswith("a lo")
    assert tok.encode(tok.decode(ids)) == ids


def test_healing_keeps_what_is_behind_a_special_token(tok: bp.Tokenizer) -> None:
    healing = tok.heal([*tok.encode("low"), tok.token_id("<e>")])
    assert (healing.back, healing.prefix) == (0, b"")


def test_the_trie_is_read_only_and_has_every_token(tok: bp.Tokenizer) -> None:
    trie = tok.trie()
    assert tok.trie() is trie
    assert sorted(trie.ids.tolist()) == list(range(tok.vocab_size - 2))
    for array in (trie.labels, trie.ends, trie.parents, trie.starts, trie.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for id in range(tok.vocab_size - 2):
        token = tok.token_bytes(id)
        assert trie.at(token).tolist() == [id]
        assert id in trie.under(token[:1])
        node = trie.find(token)
        assert node is not None
        spelled = []
        while node:
            spelled.append(trie.labels[node])
            node = int(trie.parents[node])
        assert bytes(spelled[::-1]) == token
    assert trie.find(b"\xff\xff") is None


# As of DeepSeek: digits, then Han and kana, then words; text between matches is a piece.
DEEPSEEK = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@pytest.mark.parametrize("characters", ["a1 ", "a\x001", "\u65e5a.", "\u30fb\u3042\u3040", "1 \n\u0301"])
def test_patterns_in_a_row_split_at_walls(characters: str) -> None:
    counts = {"12": 3, "1a": 2, "\x00a": 2, "  ": 2, "\u65e5a": 1}
    tok = bp.train(counts, vocab_size=260, split="none")
    Continued(bp.Tokenizer(tok.spec.replace(split=DEEPSEEK)), characters, 5).check(random.Random(characters))


@pytest.mark.parametrize("pattern", [r"b(?!\S)", r"[a.]+", "ab|ba"])
def test_text_between_matches_is_a_piece(pattern: str) -> None:
    tok = bp.train({"ab": 3, "bb": 2, "aab": 2}, vocab_size=258, split="none")
    Continued(bp.Tokenizer(tok.spec.replace(split=(pattern,))), "ab. ", 5).check(random.Random(pattern))


def of_characters(*, pre_tokenizers: tuple[str, ...] = (), normalizers: tuple[str, ...] = ()) -> bp.Tokenizer:
    """A model of characters with a token for each byte; "b" and everything beyond ASCII but "\u00e9" is bytes."""
    tokens = [*(f"<0x{byte:02X}>" for byte in range(256)), *"\u2581low\u00e9", "lo", "low", "\u2581low", "\u2581\u2581"]
    place = {token: id for id, token in enumerate(tokens)}
    pairs = [("l", "o"), ("lo", "w"), ("\u2581", "low"), ("\u2581", "\u2581")]
    merges = tuple((place[left], place[right]) for left, right in pairs)
    spelled = tuple(token.encode() for token in tokens)
    model = bp.BytePair(spelled, tuple(range(len(tokens))), merges, alphabet=Characters(byte_fallback=True))
    added = (bp.AddedToken("<e>", len(tokens)),)
    return bp.Tokenizer(
        bp.TokenizerSpec(model, added_tokens=added, normalizers=normalizers, pre_tokenizers=pre_tokenizers)
    )


SPACES = '{"type": "Replace", "content": "\u2581", "pattern": {"String": " "}}'
FRONT = '{"type": "Prepend", "prepend": "\u2581"}'
METASPACE = '{"type": "Metaspace", "prepend_scheme": "%s", "replacement": "\u2581", "split": false}'


@pytest.mark.parametrize(
    "stages",
    [
        {"normalizers": (FRONT, SPACES)},
        {"normalizers": (SPACES,)},
        {"pre_tokenizers": (METASPACE % "first",)},
        {"pre_tokenizers": (METASPACE % "always",)},
        {"pre_tokenizers": (METASPACE % "never",)},
    ],
)
def test_models_of_characters(stages: dict[str, tuple[str, ...]]) -> None:
    tok = of_characters(**stages)
    Continued(tok, "lo w", 5).check(random.Random(repr(stages)))
    Continued(tok, "l \u00e9\u00e3", 5).check(random.Random(repr(stages)))
    # Behind an added token, only "first" leaves the space out.
    for text in ("low<e>low", "low<e>\u65e5 low", "<e><e> low"):
        ids = tok.encode(text, special="allow")
        walk(tok, ids)
        healing = tok.heal(ids)
        assert (healing.mask == tok.next_mask(ids[: len(ids) - healing.back], healing.prefix)).all()


def test_bytes_stand_for_no_character_that_is_a_token() -> None:
    tok = of_characters(normalizers=(SPACES,))
    assert ids_of(tok.next_mask([0xC3])) == set(range(0x80, 0xC0)) - {0xA9}
    assert not tok.next_mask([0xC3, 0xA9]).any()
    # A space is U+2581, whose bytes stand nowhere, and neither does the token of the byte.
    assert tok.encode(" ") == tok.encode("\u2581")
    assert not ids_of(tok.next_mask([])) & {0x20, *b"low"}
    assert 0x81 not in ids_of(tok.next_mask([0xE2, 0x96]))
    assert [list(ids) for ids in tok.cover("\u2581l")] == [list(ids) for ids in tok.cover(" l")]
    assert tok.heal([0x20]).back == 1
    with pytest.raises(bp.EncodeError, match="no encoding begins"):
        tok.heal([ord("l")])


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("characters", ["ae\u0301\u0323\u00e9", "a\ufb01f\u212b\u030a"])
def test_the_texts_behind_a_normal_form_are_those_that_have_it(form: str, characters: str) -> None:
    trained = bp.train({"a\u0301": 3, "\u00e9": 2, "f\u0323a": 2}, vocab_size=262, split="qwen2")
    tok = bp.Tokenizer(trained.spec.replace(normalizers=(form,)))
    Continued(tok, characters, 4).check(random.Random(form))


def test_a_mark_does_not_follow_the_letter_that_it_composes_with() -> None:
    trained = bp.train({"ae\u0301": 2}, vocab_size=256, split="none")
    tok = bp.Tokenizer(trained.spec.replace(normalizers=("NFC",)))
    acute, overline = "\u0301".encode(), "\u0305".encode()
    after = {letter: ids_of(tok.next_mask([*letter.encode(), acute[0]])) for letter in ("e", "q")}
    assert acute[1] in after["q"]
    assert acute[1] not in after["e"]
    assert overline[1] in after["e"]
    # U+F900 to U+F93F all become other characters.
    assert 0xA4 not in ids_of(tok.next_mask([0xEF]))
    assert 0xA4 in ids_of(trained.next_mask([0xEF]))
    # A text in another form has the cover of its own; ids in another form begin no encoding.
    assert list(tok.cover("e\u0301")) == list(tok.cover("\u00e9")) == [list("\u00e9".encode())]
    assert not tok.next_mask("e\u0301".encode()).any()
    with pytest.raises(bp.EncodeError, match="no encoding begins"):
        tok.heal("e\u0301".encode())


@pytest.mark.parametrize("call", ["next_mask", "cover", "heal"])
def test_what_is_not_known_exactly_is_refused_by_name(call: str, tok: bp.Tokenizer) -> None:
    argument = "a" if call == "cover" else [97]
    for spec, name in [
        (tok.spec.replace(normalizers=("Lowercase",)), "a normalizer that is no normal form"),
        (tok.spec.replace(normalizers=("NFD", "NFC")), "a normalizer that is no normal form, or several"),
        (tok.spec.replace(prefix_space=True), "a prefix space"),
        (tok.spec.replace(split=(r"\s+(?!\S)|\S+", "a+")), "several split patterns, of which one before the last ends"),
        (tok.spec.replace(split=tuple("abcde")), "so many split patterns"),
        (tok.spec.replace(split=("(?<=a)b|(?s:.)",)), "no automaton"),
    ]:
        with pytest.raises(bp.FormatError, match=name):
            getattr(bp.Tokenizer(spec), call)(argument)
    made = [
        bp.train_unigram({"low": 5, "lower": 2}, vocab_size=11),
        bp.train_wordpiece({"low": 5, "lower": 2}, vocab_size=15),
    ]
    for other in made:
        with pytest.raises(bp.FormatError, match="spelled in characters, but for BPE"):
            getattr(other, call)(argument)
        # The trie is there for every model.
        assert len(other.trie()) > 1


def test_wrong_arguments_are_typed_errors(tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.InvalidIdError):
        tok.next_mask([5000])
    with pytest.raises(bp.InvalidIdError):
        tok.heal([-1])
    with pytest.raises(bp.EncodeError):
        tok.cover(b"\xff")
    with pytest.raises(bp.EncodeError):
        tok.heal([0xFF])
    with pytest.raises(TypeError):
        tok.cover(5)  # type: ignore[arg-type]


def test_threads_share_what_is_kept(tok: bp.Tokenizer) -> None:
    fresh = bp.Tokenizer(tok.spec)
    prompts = [tok.encode(text) for text in ("low", " lower'll", "日本 1", "a\n\n")]
    expected = [tok.next_mask(ids).tolist() for ids in prompts]
    wrong: list[object] = []

    def work() -> None:
        for _ in range(20):
            wrong.extend(
                ids for ids, mask in zip(prompts, expected, strict=True) if fresh.next_mask(ids).tolist() != mask
            )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "openai/o200k_base.tiktoken",
        "qwen2/tokenizer.json.xz",
        "deepseek/tokenizer.json.xz",
        "gpt-neox/tokenizer.json",
        "llama2/tokenizer.json",
        "mistral/tokenizer_v0.3.json",
        "gemma3/tokenizer.json.xz",
    ],
)
def test_published_tokenizers_step_by_step(name: str, data: Path, tmp_path: Path) -> None:
    path = data / "vocabs" / name
    if path.suffix == ".xz":
        path = tmp_path / "tokenizer.json"
        path.write_bytes(lzma.decompress((data / "vocabs" / name).read_bytes()))
    tok = bp.Tokenizer.from_file(path)
    text = (data / "corpora" / "mixed_1mb.txt").read_text("utf-8")
    for start in (0, 300_000, 600_000):
        ids = tok.encode(text[start : start + 400], special="text", added="text")
        for end in range(0, len(ids), 7):
            mask = tok.next_mask(ids[:end])
            assert mask[ids[end] // 32] >> ids[end] % 32 & 1
            healing = tok.heal(ids[:end])
            kept = end - healing.back
            assert (healing.mask == tok.next_mask(ids[:kept], healing.prefix)).all()
            assert healing.mask[ids[kept] // 32] >> ids[kept] % 32 & 1
