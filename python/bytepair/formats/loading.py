"""Files -> `TokenizerSpec`: a file or folder is read in its format, with the files beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair import files
from bytepair.errors import ArtifactError, BytepairError, FormatError
from bytepair.formats import FILES, encodings, foreign, manifest, merges_beside, native, tiktoken
from bytepair.formats.detection import Detected, detect, module_of
from bytepair.model.checks import BYTES_IN_TEXT, BYTES_OF_ASCII
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.split_patterns import SPLIT_PATTERNS, split_pattern

# Formats are imported where they are needed: a rank file needs no JSON, bytes in a tokenizer.json no dataclasses.

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAMES = ", ".join(SPLIT_PATTERNS)
NAME_STAGES = f"pass those of its model: split, a pattern or one of {_NAMES}, and special_tokens"
"""The remedy for a rank file that is not a published one; `NAME_STAGES_CLI` for the command line."""

NAME_STAGES_CLI = f"pass those of its model: --split PATTERN, or one of {_NAMES}, and --special-token TEXT=ID"


def load(
    path: Path,
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    partial_alphabet: bool = False,
    exact_scores: bool = False,
    detected: Detected | None = None,
    max_bytes: int | None = None,
) -> TokenizerSpec:
    """Reads a tokenizer from a file or a folder.

    In a folder that bytepair did not save, ``tokenizer_config.json`` and the other files beside the tokenizer count.
    The manifest of one that it saved names the special tokens of each role.

    Args:
        path: The file or folder.
        split: For files that hold none. A published rank file is recognised by its hash, and needs none.
        special_tokens: For files that hold none; by default those of a published rank file.
        partial_alphabet: Whether bytes that UTF-8 uses may have no token. Those outside of ordinary ASCII may in any
            case, with a warning: text that needs them raises EncodeError.
        exact_scores: Whether the scores of a ``tokenizer.json`` are those of the file, and not what `tokenizers` reads.
        detected: The result of `detect`, if there is one: the file is not read and parsed again.
        max_bytes: The most bytes of a file that is read; None for `files.MOST_BYTES`. A GGUF file may have any size.

    Raises:
        ArtifactError, IntegrityError: As `detect`.
        FormatError: As `detect`; or the file is broken, or holds something that is not supported.
    """
    with files.at_most(max_bytes):
        found = detected or detect(path, in_core=True, exact_scores=exact_scores)
        if exact_scores:
            _check_scores(found)
        return _load(path, split, special_tokens, partial_alphabet, found)


def _check_scores(detected: Detected) -> None:
    """Raises FormatError if no scores of the file can be read in two ways."""
    from bytepair.formats.hf_models import is_list  # noqa: PLC0415

    if detected.format != "tokenizer.json" or not is_list(detected.content["model"].get("vocab")):
        raise FormatError(
            "exact_scores is for a Unigram in a tokenizer.json, and this file has no decimals",
            file=str(detected.path),
            remedy="leave exact_scores out",
        )


def _load(
    path: Path, split: str | None, special_tokens: Mapping[str, int] | None, partial_alphabet: bool, detected: Detected
) -> TokenizerSpec:
    try:
        spec = _read(detected, split, special_tokens)
        saved = manifest.load(detected.path.parent)
        if saved is not None and detected.path.name in saved["files"]:
            spec = spec.replace(roles=manifest.roles(saved, detected.path.parent) or spec.roles)
        elif detected.format != "native" and _is_of_folder(path, detected):
            spec = _as_of_folder(spec, detected, with_special_tokens=special_tokens is None)
        if detected.format == "tiktoken" and split is None and special_tokens is None and not spec.added_tokens:
            _warn_of_special_tokens()
    except BytepairError as error:
        error.file = error.file or str(detected.path)
        raise
    # Models of characters have no alphabet of bytes that could be partial.
    if spec.is_byte_level and (partial_alphabet or _lacks_rare_bytes(spec)):
        return spec.replace(model=spec.packed._replace(partial_alphabet=True))
    return spec


def _as_of_folder(spec: TokenizerSpec, detected: Detected, *, with_special_tokens: bool) -> TokenizerSpec:
    """The tokenizer with what the files beside it say, and the class of `transformers` that they name."""
    from bytepair.formats import configs  # noqa: PLC0415

    folder = detected.path.parent
    is_bert = detected.format == "tokenizer.json" and _is_normalized_as_bert(spec)
    if detected.format not in {"sentencepiece", "vocab+merges"} and not is_bert:
        return configs.apply(spec, folder, detected.format)
    config = configs.table(folder, configs.CONFIG)
    name = configs.class_of(folder)
    if is_bert:
        from bytepair.formats import vocab_txt  # noqa: PLC0415

        spec = vocab_txt.with_settings(spec, name, config)
    elif detected.format == "sentencepiece":
        from bytepair.formats import piece_classes  # noqa: PLC0415

        spec = piece_classes.as_class(spec, detected.path, name, config)
    spec = configs.apply(spec, folder, detected.format)
    if detected.format == "vocab+merges" and with_special_tokens:
        from bytepair.formats import byte_classes, separated  # noqa: PLC0415

        if name not in separated.SPELLED:
            special = configs.table(folder, configs.SPECIAL)
            return byte_classes.as_class(spec, name, detected.content, special | config)
    return spec


def _is_normalized_as_bert(spec: TokenizerSpec) -> bool:
    """Whether a text is normalized as BERT does, and in no other way."""
    from bytepair.model.steps import has_type  # noqa: PLC0415

    return len(spec.normalizers) == 1 and has_type(spec.normalizers[0], "BertNormalizer")


def _is_of_folder(path: Path, detected: Detected) -> bool:
    """Whether the files beside a tokenizer count: a folder was named, or a file that is nothing without them."""
    if files.is_folder(path) or path.suffix != ".spm":
        return files.is_folder(path)
    from bytepair.formats import piece_vocabularies  # noqa: PLC0415

    return detected.format == "sentencepiece" and piece_vocabularies.is_marian(path)


def _warn_of_special_tokens() -> None:
    import warnings  # noqa: PLC0415 (few files need it)

    from bytepair.errors import TokenizerWarning  # noqa: PLC0415

    warnings.warn(
        "a rank file does not hold the special tokens of its model, and this tokenizer has none: pass special_tokens, "
        "or the folder with its tokenizer_config.json",
        TokenizerWarning,
        stacklevel=5,
    )


def _lacks_rare_bytes(spec: TokenizerSpec) -> bool:
    """Whether bytes of UTF-8 have no token, and all of ordinary ASCII have one; then warns."""
    if spec.packed.partial_alphabet:
        return False
    missing = BYTES_IN_TEXT.difference(spec.packed.columns.single_bytes())
    if not missing or missing & BYTES_OF_ASCII:
        return False
    import warnings  # noqa: PLC0415 (few files need it)

    from bytepair.errors import TokenizerWarning  # noqa: PLC0415

    shown = ", ".join(f"0x{byte:02X}" for byte in sorted(missing)[:8]) + (", ..." if len(missing) > 8 else "")
    warnings.warn(
        f"the vocabulary has no token for {len(missing)} of the bytes of UTF-8: {shown}; text that needs one raises "
        "EncodeError (partial_alphabet=True loads it without this warning)",
        TokenizerWarning,
        stacklevel=3,
    )
    return True


def _read(detected: Detected, split: str | None, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    if detected.format == "tiktoken":
        published = encodings.recognise(detected.content) if split is None else None
        if published is not None:
            special = published.special_tokens if special_tokens is None else special_tokens
            return read_ranks(detected.content, published.split, special)
        split = encodings.split_of_ranks(detected.content) if split is None else split
        if split is None:
            raise FormatError(
                "a rank file holds no split pattern, and this is none of the published ones",
                remedy=NAME_STAGES,
                cli_remedy=NAME_STAGES_CLI,
            )
        return read_ranks(detected.content, split, special_tokens)
    if detected.format == "vocab+merges":
        return _read_vocab_merges(detected, split, special_tokens)
    for name, value in (("split", split), ("special_tokens", special_tokens)):
        if value is not None and (detected.format, name) != ("gguf", "split"):
            raise FormatError(
                f"the file holds its own {name.replace('_', ' ')}",
                remedy=f"leave {name} out",
                cli_remedy=f"leave {'--split' if name == 'split' else '--special-token'} out",
            )
    return native.read(detected.content) if detected.format == "native" else _read_whole(detected, split)


def read_ranks(data: bytes, split: str, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    """Reads a rank file and adds the split pattern and special tokens that it does not hold.

    Raises:
        FormatError: A line is broken; ``line`` names it.
        PatternError: The split pattern is an unknown name.
    """
    return _complete(tiktoken.read(data), split, special_tokens)


def _read_vocab_merges(
    detected: Detected, split: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    from bytepair.formats import byte_classes, classes, clip, configs, separated, vocab_merges  # noqa: PLC0415

    place = merges_beside(detected.path)
    if not files.exists(place):
        what = f"there is no {place.name} beside the vocabulary{configs.unknown_class(place.parent)}"
        raise ArtifactError(what, file=str(place), remedy="fetch it too, or load a tokenizer.json")
    merges = files.read(place)
    manifest.verify(place, merges)
    foreign.check(place, merges)
    if clip.has_word_ends(detected.content):
        if split is not None:
            raise FormatError(
                "tokens that end with </w> are those of CLIP, which has a pre-tokenizer of its own",
                remedy="leave split out",
                cli_remedy="leave --split out",
            )
        return clip.read_pair(detected.content, merges, special_tokens)
    config = configs.table(place.parent, configs.CONFIG)
    name = configs.class_of(place.parent)
    if name in classes.OF_MOSES:
        raise classes.refused_alone(str(name))
    if name in separated.SPELLED:
        special = configs.table(place.parent, configs.SPECIAL) | config
        return separated.read_spelled(detected.content, detected.path, merges, str(name), special)
    if vocab_merges.has_some_word_ends(detected.content):
        if split is not None or special_tokens is not None:
            raise FormatError(
                "tokens that end with </w> are characters and not bytes, and have the stages of their class",
                remedy="leave split and special_tokens out",
                cli_remedy="leave --split and --special-token out",
            )
        return byte_classes.read_words(name, detected.content, merges, config)
    # Its pattern is not GPT-2's.
    if split is None and name == "Qwen2":
        spec = _complete(vocab_merges.read(detected.content, merges, special_tokens or {}), "qwen2", special_tokens)
        return spec.replace(normalizers=("NFC",))
    spec = vocab_merges.read(detected.content, merges, special_tokens or {})
    return _complete(spec, split or "gpt2", special_tokens)


def _complete(spec: TokenizerSpec, split: str, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    pattern = split_pattern(split)
    added = [AddedToken(content, id) for content, id in (special_tokens or {}).items()]
    by_id = tuple(sorted(added, key=lambda token: token.id))
    return spec.replace(split=(pattern,) if pattern else (), added_tokens=by_id)


def _read_separated(codes: Path, content: bytes, name: str) -> TokenizerSpec:
    from bytepair.formats import configs, separated  # noqa: PLC0415

    config = configs.table(codes.parent, configs.CONFIG)
    vocabulary = files.read(codes.with_name("vocab.txt"))
    return separated.read_listed(
        content, vocabulary, name, config, configs.table(codes.parent, configs.SPECIAL) | config
    )


def _read_whole(detected: Detected, split: str | None) -> TokenizerSpec:
    """Reads a format that holds all stages of its tokenizer."""
    path, content = detected.path, detected.content
    if detected.format == "gguf":
        from bytepair.formats import gguf  # noqa: PLC0415

        with content:
            return gguf.read(content, split)
    if detected.format == "vocab.txt":
        from bytepair.formats import configs, vocab_txt  # noqa: PLC0415

        return vocab_txt.read(content, configs.table(path.parent, configs.CONFIG), configs.class_of(path.parent))
    if detected.format == "codes":
        return _read_codes(path, content)
    if detected.format in {"fileless", "ctc"}:
        of_folder: TokenizerSpec = module_of(detected.format).read(content, path.parent)
        return of_folder
    spec: TokenizerSpec = module_of(detected.format).read(content)
    return spec


def _read_codes(path: Path, content: bytes) -> TokenizerSpec:
    from bytepair.formats import codes, configs, separated, vocab_txt  # noqa: PLC0415

    if (name := configs.class_of(path.parent)) in separated.LISTED:
        return _read_separated(path, content, str(name))
    beside = path.with_name(path.name.replace("codes", "vocab"))
    vocabulary = files.read(beside) if beside != path and beside.is_file() else None
    if vocabulary is not None:
        manifest.verify(beside, vocabulary)
    elif (other := path.with_name(FILES["vocab.txt"][0])).is_file() and not vocab_txt.looks_like(files.read(other)):
        names = " or ".join(f"{known}Tokenizer" for known in sorted(separated.LISTED))
        what = "the tokens of vocab.txt beside the codes are numbered by a class that the folder does not name"
        raise FormatError(what, remedy=f"name it in tokenizer_config.json: {names}")
    return codes.read(content, vocabulary)
