"""Common to the sweeps over counting: tokenizers of every kind, texts for them, results or errors, longest parts."""

from __future__ import annotations

import functools
import itertools
import random as random_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from benchmarks import published
from benchmarks.measure import data_folder

import bytepair as bp
from fuzz import made, pipelines
from fuzz.case import equal
from fuzz.hostile import hostile_text
from fuzz.models import random_model
from fuzz.variants import growing_text, random_text, random_variant, variant

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

_Result = TypeVar("_Result")

STRETCH = 256
"""The bytes of a text in which a fit is the longest, whatever the tokenizer."""

FURTHER = 32
"""In a longer text without certain cuts a fit is one that none of up to so many more characters is."""


def finds_longest(tok: bp.Tokenizer, text: str) -> bool:
    """Whether a fit is certainly the longest: of a short text, or where one known pattern makes the pieces."""
    spec = tok.spec
    minds_context = any(token.lstrip or token.rstrip or token.single_word for token in spec.added_tokens)
    has_steps = bool(spec.normalizers or spec.pre_tokenizers or spec.prefix_space)
    is_plain = spec.is_byte_level and not has_steps and not minds_context
    is_known = len(spec.split) <= 1 and {*spec.split} <= {*bp.SPLIT_PATTERNS.values()}
    return len(text.encode()) <= STRETCH or (is_plain and is_known)


RUNS = (
    *("a", "l", "E", "é", "ß", " ", "  ", "\t", "\n", "\r\n", " \n", "\u00a0", "1", "12", "٣", "中", "日本", "𠀀", "ｶﾞ"),
    *(
        "\u0301",
        "\u0323\u0301",
        "e\u0323\u0301",
        "\u0344",
        "ก",
        "ที่",
        "क्षि",
        "\u1100\u1161",
        "\u11a8",
        "가\u11a8",
        "\u0600",
    ),
    *(
        "👩\u200d💻",
        "\u200d",
        "🇩",
        "🇩🇪",
        "👍🏽",
        "❤\ufe0f",
        "ﷺ",
        "ﬁ",
        "▁",
        "_",
        ".",
        "...",
        "#",
        "##",
        "'s",
        "A ",
        "a1",
    ),
)
"""The parts that long runs repeat."""

TEXTS = 4
"""The texts of a tokenizer that was drawn."""

FEW = False
"""Whether only a few of the published tokenizers, which load fast, are drawn: for tests."""

_FEW = ("GPT-2", "GPT-NeoX", "CLIP", "Llama 2", "Mistral v0.3", "T5", "BERT", "r50k_base")


class Counted(NamedTuple):
    """A tokenizer, its definition for a report, and the texts of some of its added tokens."""

    tok: bp.Tokenizer
    said: str
    contents: tuple[str, ...]


class Failure(NamedTuple):
    """An error in place of a result, without its row."""

    kind: str
    what: str
    character: int | None
    byte: int | None


def outcome(call: Callable[[], _Result]) -> _Result | Failure:
    """The result of a call, or its error."""
    try:
        return call()
    except bp.BytepairError as error:
        return Failure(type(error).__name__, error.what, error.character, error.byte)


def same(what: str, found: object, expected: object) -> None:
    """As `equal`; but of errors of two kinds in a text, either may be found first."""
    if isinstance(found, Failure) and isinstance(expected, Failure) and found.kind != expected.kind:
        equal(f"the kinds of {what}", {found.kind, expected.kind}, {"EncodeError", "SpecialTokenError"})
    else:
        equal(what, found, expected)


def random_counted(random: random.Random) -> Counted:
    """A tokenizer: made of two stages, or of more; byte-level; published; improper; or one that lacks bytes."""
    kind = random.choices(["made", "published", "variant", "stages", "improper", "lacking"], [40, 25, 20, 8, 4, 3])[0]
    names = [name for name in published.present() if name in _FEW or not FEW]
    if kind == "published" and names:
        name = random.choice(names)
        return _of(random, published.tokenizer(name), name)
    if kind == "variant":
        return _of(random, *random_variant(random))
    if kind == "stages":
        return _of(random, *pipelines.random_tokenizer(random))
    if kind == "improper":
        model = random_model(random)
        return _of(random, bp.Tokenizer(bp.TokenizerSpec(model)), repr((model.tokens[256:], model.ids, model.merges)))
    if kind == "lacking":
        split = random.choice(list(bp.SPLIT_PATTERNS))
        return _of(random, lacking(split), f"{split}, without some bytes")
    return _of(random, *made.random_made(random))


def some_texts(sweep: Callable[[random.Random, Counted], None], random: random.Random) -> None:
    """Run a case for each of some texts of one tokenizer, which takes longer to be made than a case."""
    drawn = random_counted(random)
    for _ in range(TEXTS):
        sweep(random, drawn)


def _of(random: random.Random, tok: bp.Tokenizer, said: str) -> Counted:
    contents = [token.content for token in tok.spec.added_tokens]
    return Counted(tok, said, tuple(random.sample(contents, min(6, len(contents)))))


def of_every_stage(model: str, seed: int = 0) -> Iterator[Counted]:
    """Tokenizers of a made model, each with the stages of a published one, some with added tokens that reach further.

    Args:
        model: A name of `made.MODELS`.
        seed: Other seeds give other added tokens.
    """
    for number, (like, pair) in enumerate(made.LIKE.items()):
        chance = random_module.Random(f"{model} {like} {seed}")
        found = made.made(chance, pair, model, made.ADDED[(5 * seed + number) % len(made.ADDED)])
        if found:
            yield Counted(*found, tuple(token.content for token in found.tok.spec.added_tokens))


@functools.cache
def lacking(split: str) -> bp.Tokenizer:
    """A byte-level tokenizer in which some bytes have no token."""
    spec = variant(split, "plain").spec
    model = spec.byte_pair
    kept = [(token, id) for token, id in zip(model.tokens, model.ids, strict=True) if not set(token) & set(b"\0\xc3z")]
    tokens, ids = zip(*kept, strict=True)
    return bp.Tokenizer(spec.replace(model=bp.BytePair(tokens, ids, partial_alphabet=True)))


def random_options(random: random.Random, counted: Counted) -> dict[str, Any]:
    """The options of a call for added tokens; sometimes they are not allowed."""
    special = sorted(counted.tok.spec.special_tokens)
    some: list[dict[str, Any]] = [{"special": {random.choice(special)}}] if special else []
    return random.choice(
        [*[{"special": "allow"}] * 5, {"special": "text"}, {"special": "text", "added": "text"}, *some]
    )


@functools.cache
def _real_texts() -> tuple[str, ...]:
    """Texts that people wrote; none without the data folder."""
    folder = data_folder(None)
    names = ("en_1mb", "code_1mb", "multi_1mb")
    paths = [folder / "corpora" / f"{name}.txt" for name in names] if folder else []
    return tuple(path.read_text("utf-8") for path in paths if path.is_file())


def _part(random: random.Random, contents: Sequence[str], most: int) -> str:
    """A part of a text: a run, words that are hostile, classes of characters, real words, or tokens that are cut."""
    kind = random.choice(["run", "hostile", "classes", "real", "tokens", "letters"])
    if kind == "run":
        unit = random.choice([*RUNS, *contents])
        return unit * random.randint(1, 1 + most // len(unit))
    if kind == "real" and _real_texts():
        text = random.choice(_real_texts())
        start = random.randrange(len(text))
        return text[start : start + random.randint(1, most)]
    if kind == "tokens" and contents:
        cut = [content[random.randint(-2, 1) :][: random.randint(1, 9)] for content in random.choices(contents, k=4)]
        return "".join(random.choices([*contents, *cut, " ", "a", "é", "\u0301"], k=random.randint(1, 9)))
    if kind == "letters":
        return "".join(
            random.choices(random.choice(["ab", "ab ", "aé", "low ", "日a", "aA'1 \n"]), k=random.randint(1, most))
        )
    if kind == "classes":
        return random_text(random)
    return hostile_text(random, random.choice([1, 2, 4, 10]), contents)


def counting_text(random: random.Random, contents: Sequence[str], most: int = 300) -> str:
    """A text of a few parts and up to about `most` characters; mostly far shorter."""
    most = random.choice([most // 10, most // 5, most // 5, most // 2, most])
    if random.random() < 0.1:
        return growing_text(random)[:most]
    return "".join(_part(random, contents, most) for _ in range(random.choice([1, 2, 2, 3, 5])))[:most]


def counts_of(tok: bp.Tokenizer, parts: Sequence[str], options: dict[str, Any]) -> list[int | Failure]:
    """The number of tokens of each text, or its error."""
    try:
        return [tok.count(part, **options) for part in parts]
    except bp.BytepairError:
        return [outcome(functools.partial(tok.count, part, **options)) for part in parts]


class Parts:
    """All beginnings, or all ends, of a text, each counted from scratch.

    Args:
        tok: The tokenizer.
        text: The text.
        side: ``"left"`` for beginnings, ``"right"`` for ends.
        options: The options of calls.
    """

    def __init__(self, tok: bp.Tokenizer, text: str, side: Any, options: dict[str, Any]) -> None:
        self.tok, self.text, self.side, self.options = tok, text, side, options
        lengths = range(len(text) + 1)
        self.of_length = [text[:length] if side == "left" else text[len(text) - length :] for length in lengths]
        self.counts = counts_of(tok, self.of_length, options)
        self._first = next((length for length, count in enumerate(self.counts) if isinstance(count, Failure)), None)
        self._finds_longest = finds_longest(tok, text)

    @functools.cached_property
    def _longest(self) -> list[tuple[int, int]]:
        """Counts in order, each with the longest part that has no more tokens."""
        known = {count: length for length, count in enumerate(self.counts) if isinstance(count, int)}
        lengths = itertools.accumulate((known[count] for count in sorted(known)), max)
        return [*zip(sorted(known), lengths, strict=True)]

    def longest(self, limit: int) -> int:
        """The length of the longest part that has at most `limit` tokens."""
        return max((length for count, length in self._longest if count <= limit), default=0)

    def fits(self, length: int, limit: int) -> bool:
        """Whether the part of a length has at most `limit` tokens."""
        count = self.counts[length]
        return isinstance(count, int) and count <= limit

    def check(self, limit: int) -> None:
        """The fit is the longest part, proved by trying each; or the error of a part that has to be read."""
        longest = self.longest(limit)
        what = f"fit to {limit} on the {self.side}"
        found = outcome(lambda: self.tok.fit(self.text, limit, self.side, **self.options))
        first = self._first
        if first is None:
            if not isinstance(found, str) or self._finds_longest:
                equal(what, found, self.of_length[longest])
                return
            length = len(found)
            equal(f"the side of {what}", found, self.of_length[length])
            more = range(length + 1, min(length + FURTHER, len(self.text)) + 1)
            longer = [length for length in more if self.fits(length, limit)]
            equal(f"{what}, which fits and not with more", (self.fits(length, limit), longer), (True, []))
        elif isinstance(found, Failure):
            errors = {self._placed(count) for count in self.counts if isinstance(count, Failure)}
            # Of errors of two kinds in a text, either may be found first.
            is_of_part = self._placed(found) in errors or found.kind not in {error[0] for error in errors}
            equal(f"whether the error of {what} is of a part: {found}", is_of_part, True)
        else:
            # No more is read than has to be, and nothing once no token is left: an error further on is found or not.
            equal(what, found, self.of_length[longest])
            read = all(self.fits(length, limit - 1) for length in range(first))
            # White space at the cut may be stripped in this part, and have tokens in every longer one.
            edge = self.of_length[longest][-1 if self.side == "left" else 0 :][:1]
            failing = all(isinstance(count, Failure) for count in self.counts[first:])
            hidden = read and failing and not edge.isspace()
            equal(f"whether {what} hides an error", hidden, False)

    def _placed(self, failure: Failure) -> Failure:
        """An error without its place on the right side, where that is of the part that was read."""
        return failure if self.side == "left" else failure._replace(character=None, byte=None)
