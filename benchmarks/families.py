"""Every family of tokenizers compared with its own library: loading, ids, offsets, text, saving, and speed.

    python -m benchmarks.families [--data FOLDER] [--characters N] [--hostile N] [--only NAME] [--write]

Each text is compared whole and in documents; the table goes to docs/compatibility.md with ``--write``. A difference is
counted, and the first of a family is shown. The exit code is 1 if a difference is unexplained.
"""

from __future__ import annotations

import argparse
import functools
import lzma
import random
import sys
import tempfile
import time
import unicodedata
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fuzz.hostile import hostile_text

import bytepair as bp
from benchmarks import pages
from bytepair import lowlevel
from bytepair.compat.tiktoken import splitting
from bytepair.formats.encodings import recognise
from bytepair.model import byte_alphabet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
DOCUMENT = 5_000


class Family(NamedTuple):
    """A tokenizer's file, and the library it is compared with."""

    name: str
    file: str
    origin: str
    what: str
    options: Mapping[str, Any] = {}
    """Options for loading it here that the file does not hold."""
    beside: str = ""
    """A second file of the tokenizer."""
    peer_file: str = ""
    """The file of the same tokenizer that its library reads, if it does not read this one."""


_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_END = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_HAN = r"\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]"
RANK_FILES = {
    "tokenizer.model": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_END}",
    "qwen.tiktoken": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_END}",
    "tiktoken.model": r"[\p{Han}]+|"
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_HAN}]*[\p{{Ll}}{_HAN}]+{_CONTRACTION}?|"
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_HAN}]+[\p{{Ll}}{_HAN}]*{_CONTRACTION}?|"
    rf"\p{{N}}{{1,3}}|{_END}",
}
"""The split patterns of rank files that do not hold them, by the files' names, as the models' own code has them."""

FAMILIES = [
    Family("GPT-2", "gpt2/tokenizer.json", "tokenizers", "byte-level BPE"),
    Family("RoBERTa", "roberta-base/tokenizer.json", "tokenizers", "byte-level BPE"),
    Family("GPT-NeoX", "gpt-neox/tokenizer.json", "tokenizers", "byte-level BPE, NFC"),
    Family("Phi-2", "phi-2/tokenizer.json", "tokenizers", "byte-level BPE, runs of spaces added"),
    Family("CLIP", "clip/tokenizer.json", "tokenizers", "byte-level BPE, `</w>`, lower case"),
    Family("Llama 3", "llama3/tokenizer.json.xz", "tokenizers", "byte-level BPE, ignore_merges"),
    Family("Qwen 2", "qwen2/tokenizer.json.xz", "tokenizers", "byte-level BPE, NFC"),
    Family("Qwen 3", "qwen3/tokenizer.json.xz", "tokenizers", "byte-level BPE, NFC"),
    Family("DeepSeek V3", "deepseek/tokenizer.json.xz", "tokenizers", "byte-level BPE, three splits"),
    Family("gpt-oss", "openai/gpt-oss_tokenizer.json.xz", "tokenizers", "byte-level BPE, o200k"),
    Family("Llama 2", "llama2/tokenizer.json", "tokenizers", "SentencePiece BPE, byte fallback"),
    Family("Mistral 7B v0.3", "mistral/tokenizer_v0.3.json", "tokenizers", "SentencePiece BPE, Metaspace"),
    Family("Gemma 3", "gemma3/tokenizer.json.xz", "tokenizers", "SentencePiece BPE, 6,415 added tokens"),
    Family("T5", "t5-small/tokenizer.json", "tokenizers", "Unigram, Precompiled"),
    Family("BERT", "bert-base-uncased/tokenizer.daulet.json", "tokenizers", "WordPiece, BertNormalizer"),
    Family("Llama 2 .model", "llama2/tokenizer.model", "sentencepiece", "SentencePiece BPE"),
    Family("Mistral v1 .model", "mistral/tokenizer.model.v1", "sentencepiece", "SentencePiece BPE"),
    Family(
        "Mistral v3 .model", "mistral/mistral_instruct_tokenizer_240323.model.v3", "sentencepiece", "SentencePiece BPE"
    ),
]

OTHERS = [
    *(
        Family(name, f"openai/{name}.tiktoken", "tiktoken", "rank file, recognised by its hash")
        for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
    ),
    *(
        Family(name, file, "tiktoken", "rank file, recognised by its hash", {"split": RANK_FILES[Path(file).name]})
        for name, file in (
            ("Llama 3 ranks", "llama3/tokenizer.model"),
            ("Qwen ranks", "qwen/qwen.tiktoken"),
            ("Kimi K2 ranks", "kimi-k2/tiktoken.model"),
        )
    ),
    Family("Mistral Nemo", "mistral/tekken_240718.json.xz", "mistral-common", "tekken"),
    Family("Pixtral", "mistral/tekken_240911.json.xz", "mistral-common", "tekken"),
    Family(
        "GPT-2 files", "gpt2/vocab.json", "vocabulary files", "`vocab.json` and `merges.txt`", {}, "gpt2/merges.txt"
    ),
    Family("BERT files", "bert-base-uncased/vocab.txt", "vocabulary files", "`vocab.txt`"),
    *(
        Family(f"{name} GGUF", f"gguf/ggml-vocab-{file}", origin, what, peer_file=peer_file)
        for name, file, origin, what, peer_file in (
            ("GPT-2", "gpt-2.gguf", "tokenizers", "byte-level BPE", "gpt2/tokenizer.json"),
            ("Llama 3", "llama-bpe.gguf.xz", "tokenizers", "byte-level BPE", "llama3/tokenizer.json.xz"),
            ("Qwen 2", "qwen2.gguf.xz", "tokenizers, no NFC", "byte-level BPE", "qwen2/tokenizer.json.xz"),
            ("Llama 2", "llama-spm.gguf", "sentencepiece", "SentencePiece BPE", "llama2/tokenizer.model"),
            ("BGE", "bert-bge.gguf", "tokenizers", "WordPiece", "bert-base-uncased/tokenizer.daulet.json"),
        )
    ),
]
"""Files whose library has tests of its own here."""


class Result(NamedTuple):
    """The result of a tokenizer for a text: places only where the peer has them."""

    ids: list[int]
    places: list[tuple[int, int]] | None
    tokens: list[str] | None


class Peer(Protocol):
    """A library of origin."""

    def encode(self, text: str) -> Result:
        """Ids, and places and tokens where the library returns them."""
        ...

    def ids(self, text: str) -> list[int]:
        """Ids alone."""
        ...

    def decode(self, ids: list[int]) -> str:
        """Text, special tokens included."""
        ...


class Tokenizers:
    """The package tokenizers, without post-processing, which does not depend on the text."""

    format = "tokenizer.json"

    def __init__(self, file: Path) -> None:
        import tokenizers

        self.inner: Any = self.read(file)
        self.post_processor, self.limits = self.inner.post_processor, (self.inner.truncation, self.inner.padding)
        self.inner.post_processor = tokenizers.processors.Sequence([])
        self.inner.no_truncation()
        self.inner.no_padding()

    @staticmethod
    def read(file: Path) -> Any:
        """The library's tokenizer of a file."""
        import tokenizers

        return tokenizers.Tokenizer.from_file(str(file))

    def encode(self, text: str) -> Result:  # noqa: D102 (as in Peer)
        encoding = self.inner.encode(text, add_special_tokens=False)
        return Result(encoding.ids, encoding.offsets, encoding.tokens)

    def ids(self, text: str) -> list[int]:  # noqa: D102 (as in Peer)
        return list(self.inner.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: list[int]) -> str:  # noqa: D102 (as in Peer)
        return str(self.inner.decode(ids, skip_special_tokens=False))


class WithoutNormalizer(Tokenizers):
    """As `Tokenizers`, without normalizers, which a GGUF file does not hold."""

    @staticmethod
    def read(file: Path) -> Any:  # noqa: D102 (as in Tokenizers)
        inner = Tokenizers.read(file)
        inner.normalizer = None
        return inner


class VocabularyFiles(Tokenizers):
    """As `Tokenizers`, from ``vocab.json`` and ``merges.txt``, or from ``vocab.txt``."""

    format = ""

    @staticmethod
    def read(file: Path) -> Any:  # noqa: D102 (as in Tokenizers)
        from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer

        if file.suffix == ".txt":
            return BertWordPieceTokenizer(str(file))._tokenizer
        return ByteLevelBPETokenizer(str(file), str(file.with_name("merges.txt")))._tokenizer


class Tekken:
    """The tokenizer of the package mistral-common."""

    format = "tekken.json"

    def __init__(self, file: Path) -> None:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        self.inner = Tekkenizer.from_file(file)

    def encode(self, text: str) -> Result:  # noqa: D102 (as in Peer)
        return Result(self.ids(text), None, None)

    def ids(self, text: str) -> list[int]:  # noqa: D102 (as in Peer)
        return list(self.inner.encode(text, bos=False, eos=False))

    def decode(self, ids: list[int]) -> str:  # noqa: D102 (as in Peer)
        return str(self.inner.decode(ids))


class SentencePiece:
    """The package sentencepiece."""

    format = "sentencepiece"

    def __init__(self, file: Path) -> None:
        import sentencepiece

        self.inner = sentencepiece.SentencePieceProcessor(model_file=str(file))

    def encode(self, text: str) -> Result:  # noqa: D102 (as in Peer)
        return Result(self.ids(text), None, None)

    def ids(self, text: str) -> list[int]:  # noqa: D102 (as in Peer)
        return list(self.inner.encode(text))

    def decode(self, ids: list[int]) -> str:  # noqa: D102 (as in Peer)
        return str(self.inner.decode(ids))


class Tiktoken:
    """The package tiktoken, on a rank file that is published."""

    format = "tiktoken"

    def __init__(self, file: Path) -> None:
        import tiktoken.load

        pattern, special = RANK_FILES.get(file.name, ""), {}
        if not pattern:
            encoding = recognise(file.read_bytes())
            assert encoding is not None, file
            pattern, special = splitting.PUBLISHED[encoding.split], dict(encoding.special_tokens)
        ranks = tiktoken.load.load_tiktoken_bpe(str(file))
        self.inner = tiktoken.Encoding(file.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, text: str) -> Result:  # noqa: D102 (as in Peer)
        return Result(self.ids(text), None, None)

    def ids(self, text: str) -> list[int]:  # noqa: D102 (as in Peer)
        return self.inner.encode_ordinary(text)

    def decode(self, ids: list[int]) -> str:  # noqa: D102 (as in Peer)
        return self.inner.decode(ids)


PEERS: dict[str, type[Tokenizers | SentencePiece | Tiktoken | Tekken]] = {
    "tokenizers": Tokenizers,
    "tokenizers, no NFC": WithoutNormalizer,
    "vocabulary files": VocabularyFiles,
    "mistral-common": Tekken,
    "sentencepiece": SentencePiece,
    "tiktoken": Tiktoken,
}


@dataclass
class Row:
    """The results of one family."""

    family: Family
    characters: int = 0
    hostile: int = 0
    differences: dict[str, int] = field(default_factory=dict)
    first: str = ""
    loads: float = 0.0
    ratio: float = 0.0
    has_places: bool = False

    def differ(self, what: str, text: str, ours: Any, theirs: Any) -> None:
        """Count a difference, and keep the first for the report."""
        self.differences[what] = self.differences.get(what, 0) + 1
        if not self.first:
            shown = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 0)
            window = slice(max(0, shown - 3), shown + 6)
            self.first = f"{what} of {text[:160]!r}: at {shown} {ours[window]!r}, {theirs[window]!r}"


def spelled(tok: bp.Tokenizer, ids: list[int], surfaces: dict[int, str]) -> list[str]:
    """Tokens as tokenizers spells them."""
    names = {token.id: token.content for token in tok.spec.added_tokens}
    spell = byte_alphabet.to_characters if tok.spec.is_byte_level else bytes.decode
    rows = enumerate(ids)
    return [surfaces[row] if row in surfaces else names.get(id) or spell(tok.token_bytes(id)) for row, id in rows]


def compare(row: Row, tok: bp.Tokenizer, peer: Peer, text: str) -> None:
    """Count the differences for one text."""
    theirs = peer.encode(text)
    ids = tok.encode(text, special="allow" if theirs.places is not None else "text")
    if ids != theirs.ids:
        row.differ("ids", text, ids, theirs.ids)
        return
    row.has_places = theirs.places is not None
    if theirs.places is not None:
        located, places, _, surfaces = lowlevel.locate(tok, text, special="allow")
        if located != ids:
            row.differ("located", text, located, ids)
        if places != theirs.places:
            row.differ("places", text, places, theirs.places)
        names = spelled(tok, ids, surfaces)
        if names != theirs.tokens:
            row.differ("tokens", text, names, theirs.tokens)
    ours, other = tok.decode(ids), peer.decode(ids)
    if ours != other:
        row.differ("text", text, ours, other)


def documents(text: str) -> Iterator[str]:
    """Parts of some thousand characters."""
    return (text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT))


def unpacked(name: str, data: Path, folder: Path) -> Path:
    """A file of the data folder, without compression."""
    source, file = data / "vocabs" / name, folder / Path(name.removesuffix(".xz")).name
    packed = source.read_bytes()
    file.write_bytes(lzma.decompress(packed) if name.endswith(".xz") else packed)
    return file


def run(family: Family, folder: Path, texts: dict[str, str], hostile: int, seed: int) -> Row:
    """Load a family's file with both and compare them."""
    row = Row(family)
    with tempfile.TemporaryDirectory() as work, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        file = unpacked(family.file, folder, Path(work))
        if family.beside:
            unpacked(family.beside, folder, Path(work))
        read = unpacked(family.peer_file, folder, Path(work)) if family.peer_file else file
        make, load = PEERS[family.origin], functools.partial(bp.Tokenizer.from_file, file, **family.options)
        tok, peer = load(), make(read)
        row.loads = median(seconds(make, read) / seconds(load) for _ in range(5))
        saved(row, tok, peer, file, texts)
    for text in texts.values():
        row.characters += len(text)
        for part in (text, *documents(text)):
            compare(row, tok, peer, part)
    contents = [token.content for token in tok.spec.added_tokens]
    if isinstance(peer, WithoutNormalizer):
        # The file has more tokens than the model's, to fill its table.
        contents = [content for content in contents if peer.inner.token_to_id(content) is not None]
    chance = random.Random(seed)
    while row.hostile < hostile:
        text = hostile_text(chance, chance.choice([1, 2, 5, 20, 200]), contents)
        row.hostile += len(text)
        compare(row, tok, peer, text)
    row.ratio = speed(tok, peer, [part for text in texts.values() for part in documents(text)][:200])
    return row


def seconds(call: Any, *args: Any) -> float:
    """The CPU seconds that a call takes, in all threads."""
    start = time.process_time()
    call(*args)
    return time.process_time() - start


def saved(row: Row, tok: bp.Tokenizer, peer: Peer, file: Path, texts: dict[str, str]) -> None:
    """Save and load in bytepair's format and in that of the library, which reads the file too."""
    folder = file.parent / "saved"
    if bp.Tokenizer.from_file(tok.save(folder / "native", "native")[0]) != tok:
        row.differ("saved", "native", (), ())
    made: Any = type(peer)
    if isinstance(peer, Tiktoken):
        kept = tok.save(folder, "tiktoken", drop=("split", "special_tokens"))[0].rename(folder / file.name)
        if kept.read_bytes() != file.read_bytes():
            row.differ("saved", kept.name, (), ())
    elif isinstance(peer, VocabularyFiles):
        kept = tok.save(folder, "vocab.txt" if file.suffix == ".txt" else "vocab+merges")[0]
    elif file.suffix == ".gguf":
        # That format is only read.
        kept, made = tok.save(folder, "tokenizer.json")[0], Tokenizers
    else:
        kept = tok.save(folder, made.format)[0]
    again = made(kept)
    if bp.Tokenizer.from_file(kept, **row.family.options) != tok:
        row.differ("saved", kept.name, (), ())
    for text in texts.values():
        ours, theirs = again.ids(text[:DOCUMENT]), peer.ids(text[:DOCUMENT])
        if ours != theirs:
            row.differ("saved", text[:DOCUMENT], ours, theirs)


def speed(tok: bp.Tokenizer, peer: Peer, parts: Sequence[str]) -> float:
    """Speedup of finding ids, on one thread: the median of five rounds."""

    def cpu(encode: Any) -> float:
        start = time.thread_time()
        for part in parts:
            encode(part)
        return time.thread_time() - start

    ratios = [cpu(peer.ids) / cpu(lambda part: tok.encode(part, special="allow")) for _ in range(5)]
    return median(ratios)


def table(rows: Sequence[Row]) -> str:
    """The table of docs/compatibility.md."""
    lines = [
        "| Family | What it is | Compared with | Real text | Hostile text | Loads | Ids | Offsets, tokens | Decoding "
        "| Saved and loaded | Loading | Encoding |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        about = f"| {row.family.name} | {row.family.what} | {row.family.origin} "
        if "loading" in row.differences:
            lines.append(f"{about}| | | no | | | | | | |")
            continue
        counts = [sum(row.differences.get(kind, 0) for kind in kinds) for kinds in _COLUMNS]
        cells = [f"{count} differ" if count else "same" for count in counts]
        cells[1] = cells[1] if row.has_places else "(it has none)"
        lines.append(
            f"{about}| {row.characters:,} | {row.hostile:,} | yes | {' | '.join(cells)} | {row.loads:.1f}x "
            f"| {row.ratio:.1f}x |"
        )
    return "\n".join(lines)


_COLUMNS = (("ids", "located"), ("places", "tokens"), ("text",), ("saved",))


def main() -> int:
    """Compare the selected families; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="benchmarks.families")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--characters", type=int, default=100_000, help="characters of each real text")
    parser.add_argument("--hostile", type=int, default=200_000, help="characters of hostile text for each family")
    parser.add_argument("--only", default="", help="families with this in their names")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--write", action="store_true", help="put the table into docs/compatibility.md")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"no real data: there is no {options.data}")
        return 0
    paths = sorted((options.data / "corpora").glob("*.txt"))
    texts = {path.stem: path.read_text("utf-8")[: options.characters] for path in paths}
    pairs = lzma.decompress((options.data / "corpora" / "fra.txt.xz").read_bytes())
    texts["fra"] = pairs.decode()[: options.characters]
    rows = []
    for family in (*FAMILIES, *OTHERS):
        if options.only.lower() not in family.name.lower():
            continue
        try:
            row = run(family, options.data, texts, options.hostile, options.seed)
        except bp.BytepairError as error:
            row = Row(family, differences={"loading": 1}, first=str(error))
        rows.append(row)
        print(table([row]).splitlines()[-1], row.first, sep="\n  ", flush=True)
    if options.write:
        pages.put("compatibility.md", "benchmarks.families", table(rows))
    print(f"Unicode {unicodedata.unidata_version} in Python; seed {options.seed}")
    return int(any(row.differences for row in rows))


if __name__ == "__main__":
    sys.exit(main())
