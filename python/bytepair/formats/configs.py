"""The files beside a tokenizer in a folder: ``tokenizer_config.json`` and its like.

Settings that decide ids go into the tokenizer (`apply`): added tokens that its own file lacks, their `special`
flags, a space in front, and a template of bos and eos if the file has none. The rest, which chats and padding need,
is plain data (`read`); the folder of a tokenizer from a hub is ``origin.folder``.

Source: readers and writers in ``transformers`` (``tokenization_utils_base.py``, ``tokenization_utils_fast.py``).
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats import classes
from bytepair.formats.json_files import parse_json
from bytepair.model.checks import MOST_IDS, ROLES
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import keeps_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

CONFIG, SPECIAL, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
TEMPLATE, TEMPLATE_JSON = "chat_template.jinja", "chat_template.json"
TEMPLATES = "additional_chat_templates"
"""The folder of templates that are not the default one, a file each."""

MODEL = "config.json"
_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")
# Where a tokenizer and its folder differ in these, the folder counts, as in transformers.
_OF_CONFIG = ("single_word", "lstrip", "rstrip")
# Tables that name special tokens count only beside files that have no flags themselves.
_HOLDS_FLAGS = ("tokenizer.json", "native")
# Their own files hold the template, and transformers does not change it.
_HOLDS_TEMPLATE = ("tokenizer.json", "native", "vocab.txt")
# The classes for which their folder decides, whatever their tokenizer.json says.
_PUTS_SPACES = frozenset(
    ["Bart", "Blenderbot", "CodeGen", "Deberta", "GPT2", "LED", "Longformer", "Luke", "Mvp", "Roberta"]
)
# The settings that are plain data.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces"), bool),
    **dict.fromkeys(("padding_side", "truncation_side", "tokenizer_class"), str),
    "model_max_length": int,
}
# A larger length means that there is no limit.
_NO_LIMIT = 1 << 62


class TokenWithoutIdWarning(TokenizerWarning):
    """The settings name a special token that has no id."""


class Settings(NamedTuple):
    """The settings of a folder; None if it does not specify one.

    Attributes:
        bos_token: The beginning of a text.
        eos_token: The end of a text.
        pad_token: Padding.
        unk_token: The unknown token.
        cls_token: The beginning of a text of BERT.
        sep_token: The end of a text of BERT.
        mask_token: The mask of masked language models.
        additional_special_tokens: Other special tokens.
        add_bos_token: Whether `bos_token` is put in front of a text.
        add_eos_token: Whether `eos_token` is put behind it.
        add_prefix_space: Whether a space is put in front of a text that does not begin with one.
        clean_up_tokenization_spaces: Whether decoding removes spaces before punctuation.
        padding_side: ``"left"`` or ``"right"``.
        truncation_side: ``"left"`` or ``"right"``.
        model_max_length: The most ids that the model takes; None also if there is no limit.
        chat_template: A Jinja template by name; the one that has none is ``"default"``.
        tokenizer_class: The class of ``transformers``.
    """

    bos_token: str | None = None
    eos_token: str | None = None
    pad_token: str | None = None
    unk_token: str | None = None
    cls_token: str | None = None
    sep_token: str | None = None
    mask_token: str | None = None
    additional_special_tokens: tuple[str, ...] = ()
    add_bos_token: bool | None = None
    add_eos_token: bool | None = None
    add_prefix_space: bool | None = None
    clean_up_tokenization_spaces: bool | None = None
    padding_side: str | None = None
    truncation_side: str | None = None
    model_max_length: int | None = None
    chat_template: tuple[tuple[str, str], ...] = ()
    tokenizer_class: str | None = None

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The special tokens among them, each once."""
        return tuple(dict.fromkeys((*self.roles.values(), *self.additional_special_tokens)))

    @property
    def roles(self) -> dict[str, str]:
        """The named special tokens by their role, such as ``"bos"``."""
        named = {role: getattr(self, f"{role}_token") for role in ROLES}
        return {role: token for role, token in named.items() if token is not None}


def table(folder: Path, name: str) -> dict[str, Any]:
    """A parsed JSON object of the folder; empty if there is no such file.

    Raises:
        FormatError: It is broken.
    """
    path = folder / name
    if not files.exists(path) or files.is_folder(path):
        return {}
    return parse_json(path, files.read(path))


def class_of(folder: Path) -> str | None:
    """The class of ``transformers`` that a folder names, as `classes.name_of` has it."""
    return classes.name_of(table(folder, CONFIG), table(folder, MODEL))


def unknown_class(folder: Path) -> str:
    """The end of an error for a file that is missing: that the folder names a class that is not known; else empty."""
    name = class_of(folder)
    return "" if classes.is_known(name) else f", and its class, {name}Tokenizer, is not supported"


def read(folder: Path) -> Settings:
    """The settings of a folder.

    Raises:
        FormatError: One of its files is broken, or a value has the wrong type; ``pointer`` locates it.
        ArtifactError: One of them cannot be read.
    """
    config = table(folder, SPECIAL) | table(folder, CONFIG)
    found: dict[str, Any] = {f"{role}_token": token_content(config, f"{role}_token") for role in ROLES}
    found["additional_special_tokens"] = more_tokens(config)
    found |= {name: _plain(config, name, kind) for name, kind in _KINDS.items()}
    if found["model_max_length"] is not None and found["model_max_length"] >= _NO_LIMIT:
        found["model_max_length"] = None
    return Settings(**found, chat_template=_templates(folder, config))


def more_tokens(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The special tokens of a configuration that have no role.

    Raises:
        FormatError: They are no list, or one is neither a string nor a table.
    """
    more = config.get("additional_special_tokens") or config.get("extra_special_tokens") or []
    # A dict names them by their use.
    more = list(more.values()) if isinstance(more, dict) else more
    if not isinstance(more, list):
        raise _wrong("additional_special_tokens", more)
    return tuple(token_content({"token": token}, "token") or "" for token in more)


def _plain(config: Mapping[str, Any], name: str, kind: type) -> Any:
    value = config.get(name)
    if kind is int and isinstance(value, float) and value >= _NO_LIMIT:
        return None
    if value is not None and type(value) is not kind:
        raise _wrong(name, value)
    return value


def flag(config: Mapping[str, Any], folder: Path, name: str, *, usual: bool) -> bool:
    """A setting of a folder that is true or false, or else the usual one.

    Args:
        config: ``tokenizer_config.json``, parsed.
        folder: Where it is.
        name: The setting.
        usual: Its value where the folder has none, or null.

    Raises:
        FormatError: It is neither.

    Example:
        >>> from pathlib import Path
        >>> flag({"do_lower_case": False}, Path(), "do_lower_case", usual=True)
        False
    """
    value = config.get(name)
    if value is not None and not isinstance(value, bool):
        error = _wrong(name, value)
        error.file = str(folder / CONFIG)
        raise error
    return usual if value is None else value


def token_content(config: Mapping[str, Any], name: str) -> str | None:
    """The text of a token of a configuration, which is a string or a table; None if there is none.

    Raises:
        FormatError: It is neither.
    """
    value = config.get(name)
    value = value.get("content") if isinstance(value, dict) else value
    if value is not None and not isinstance(value, str):
        raise _wrong(name, value)
    # Some files write an empty name for none.
    return value or None


def named_tokens(config: Mapping[str, Any], usual: Mapping[str, str]) -> dict[str, str]:
    """The tokens of a configuration by their roles, or else the usual ones.

    Raises:
        FormatError: One is neither a string nor a table.

    Example:
        >>> named_tokens({"eos_token": {"content": "<end>"}}, {"eos": "</s>", "unk": "<unk>"})
        {'eos': '<end>', 'unk': '<unk>'}
    """
    return {role: token_content(config, f"{role}_token") or token for role, token in usual.items()}


def _templates(folder: Path, config: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = table(folder, TEMPLATE_JSON).get("chat_template", config.get("chat_template"))
    if files.exists(folder / TEMPLATE):
        found = _jinja(folder / TEMPLATE)
    more = sorted((folder / TEMPLATES).glob("*.jinja"))
    named = {path.name.removesuffix(".jinja"): _jinja(path) for path in more}
    return tuple((dict(templates_by_name(found)) | named).items())


def _jinja(path: Path) -> str:
    try:
        return files.read(path).decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"the template is not UTF-8: {error.reason}", file=str(path)) from error


def chat_template(folder: Path) -> str | list[Any] | None:
    """The chat template as the folder holds it: ``chat_template.jinja``, else that of ``tokenizer_config.json``.

    A configuration may hold several: a list of tables with a name and a template each.

    Raises:
        FormatError: A file is broken.
        ArtifactError: A file cannot be read.
    """
    if files.exists(folder / TEMPLATE):
        return _jinja(folder / TEMPLATE)
    found = table(folder, CONFIG).get("chat_template")
    if found is not None and not isinstance(found, (str, list)):
        what = "the chat template is neither a text nor a list of templates"
        raise FormatError(what, file=str(folder / CONFIG), pointer="/chat_template")
    return found


def templates_by_name(found: Any) -> list[tuple[str, str]]:
    """The chat templates that a configuration holds, in any of three forms.

    Raises:
        FormatError: It is none of these.
    """
    if found is None:
        return []
    listed = [{"name": "default", "template": found}] if isinstance(found, str) else found
    if isinstance(listed, dict):
        listed = [{"name": name, "template": template} for name, template in listed.items()]
    pairs = [
        (entry.get("name"), entry.get("template")) if isinstance(entry, dict) else (None, None)
        for entry in (listed if isinstance(listed, list) else [None])
    ]
    if not all(isinstance(name, str) and isinstance(template, str) for name, template in pairs):
        raise _wrong("chat_template", found)
    return [(str(name), str(template)) for name, template in pairs]


def apply(spec: TokenizerSpec, folder: Path, format_name: str) -> TokenizerSpec:
    """The tokenizer with the settings of the folder that decide ids, and with the special tokens that they name.

    Raises:
        FormatError: Two files give one token two ids, or one id two tokens; or they differ in ``add_prefix_space``.
        ArtifactError: One of them cannot be read.
    """
    settings = read(folder)
    names = settings.special_tokens
    listed = _listed(folder, names, is_kept=keeps_tokens(spec.normalizers))
    by_content = {row.content: row for row in spec.added_tokens}
    by_id = {row.id: row for row in spec.added_tokens}
    rows = dict(by_id)
    unknown: list[AddedToken] = []
    for row, source in listed:
        known = by_content.get(row.content)
        if known is not None and known.id != row.id:
            raise _conflict(f"{row.content!r} has the id {known.id} in the tokenizer and {row.id} in {source}")
        if known is None and row.id in by_id:
            raise _conflict(
                f"the id {row.id} is {by_id[row.id].content!r} in the tokenizer and {row.content!r} in {source}"
            )
        if known is None:
            unknown.append(row)
    absent = [name for name in names if name not in by_content and all(name != row.content for row in unknown)]
    if unknown or absent:
        spelled = _spelled(spec)
        for row in unknown:
            token = spelled.get(row.id)
            if token is not None and token != row.content.encode():
                raise _conflict(
                    f"the id {row.id} is {token!r} in the tokenizer and {row.content!r} in the files beside it"
                )
            if rows.setdefault(row.id, row).content != row.content:
                raise _conflict(
                    f"the id {row.id} is {rows[row.id].content!r} and {row.content!r} in the files beside it"
                )
        id_of = {token: id for id, token in spelled.items()}
        for name in absent:
            if (id := id_of.get(name.encode())) is not None:
                rows.setdefault(id, AddedToken(name, id))
            else:
                what = f"the special token {name!r} of {CONFIG} has no id and is left out"
                warnings.warn(what, TokenWithoutIdWarning, stacklevel=4)
    flags: dict[str, dict[str, Any]] = {} if format_name in _HOLDS_FLAGS else _named_flags(folder)
    flags |= {row.content: {flag: getattr(row, flag) for flag in _OF_CONFIG} for row, of in listed if of == CONFIG}
    added = tuple(
        row._replace(special=row.special or row.content in names, **flags.get(row.content, {}))
        for _, row in sorted(rows.items(), key=lambda item: item[0])
    )
    if len({row.content for row in added}) < len(added):
        raise _conflict("one added token has two ids")
    roles = tuple((dict(spec.roles) | settings.roles).items())
    return _with_stages(spec.replace(added_tokens=added, roles=roles), settings, format_name)


def _listed(folder: Path, names: Collection[str], *, is_kept: bool) -> list[tuple[AddedToken, str]]:
    """As `listed_tokens`; a special one of ``added_tokens.json`` is found in the text as it is."""

    def is_normalized(row: AddedToken, source: str) -> bool:
        return is_kept and row.normalized and not (source == ADDED and row.content in names)

    return [(row._replace(normalized=is_normalized(row, of)), of) for row, of in listed_tokens(folder)]


def listed_tokens(folder: Path) -> list[tuple[AddedToken, str]]:
    """The added tokens that the files of a folder list, each with the name of its file.

    Raises:
        FormatError: One of them is no token; ``pointer`` locates it. Or two files give one token two ids.
    """
    found: list[tuple[AddedToken, str]] = []
    decoder = table(folder, CONFIG).get("added_tokens_decoder") or {}
    if not isinstance(decoder, dict):
        raise _wrong("added_tokens_decoder", decoder)
    for key, token in decoder.items():
        content = token.get("content") if isinstance(token, dict) else None
        if not key.isdecimal() or len(key) > 10 or not isinstance(content, str) or not content:
            raise _wrong(f"added_tokens_decoder/{key}", token)
        flags = {flag: token.get(flag, False) for flag in _FLAGS}
        if not all(isinstance(value, bool) for value in flags.values()):
            raise _wrong(f"added_tokens_decoder/{key}", token)
        found.append((_row(content, int(key), **flags), CONFIG))
    contents = {row.content: row.id for row, _ in found}
    for content, id in table(folder, ADDED).items():
        if type(id) is not int or not content:
            raise _wrong(f"{ADDED}/{content}", id)
        if contents.get(content, id) != id:
            raise _conflict(f"{content!r} has the id {contents[content]} in {CONFIG} and {id} in {ADDED}")
        if content not in contents:
            found.append((_row(content, id, special=False, normalized=True), ADDED))
    return found


def _named_flags(folder: Path) -> dict[str, dict[str, Any]]:
    """The flags of the special tokens that a folder names with a table of them."""
    config = table(folder, SPECIAL) | table(folder, CONFIG)
    named = [config.get(f"{role}_token") for role in ROLES]
    more = config.get("additional_special_tokens")
    named += more if isinstance(more, list) else []
    found = {}
    for token in named:
        if isinstance(token, dict):
            flags = {flag: token[flag] for flag in _OF_CONFIG if flag in token}
            if not all(isinstance(value, bool) for value in flags.values()):
                raise _wrong(str(token.get("content")), token)
            found[str(token.get("content"))] = flags
    return found


def _row(content: str, id: int, **flags: bool) -> AddedToken:
    if not 0 <= id < MOST_IDS:
        raise _wrong("an id", id)
    return AddedToken(content, id, **flags)


def _spelled(spec: TokenizerSpec) -> dict[int, bytes]:
    columns = spec.packed.columns
    return dict(zip(columns.ids(), columns.tokens(), strict=True))


def _with_stages(spec: TokenizerSpec, settings: Settings, format_name: str) -> TokenizerSpec:
    """The tokenizer with the prefix space and the template of the settings."""
    space = settings.add_prefix_space
    if space is not None and spec.is_byte_level and space != spec.prefix_space:
        name = classes.name_of({"tokenizer_class": settings.tokenizer_class}, {})
        if format_name != "vocab+merges" and name not in _PUTS_SPACES:
            raise _conflict(f"add_prefix_space is {spec.prefix_space} in the tokenizer and {space} in {CONFIG}")
        spec = with_prefix_space(spec, space)
    wanted = {"bos": settings.bos_token if settings.add_bos_token else None}
    wanted["eos"] = settings.eos_token if settings.add_eos_token else None
    ids = {row.content: row.id for row in spec.added_tokens}
    if format_name in _HOLDS_TEMPLATE or spec.post_processor is not None or not any(wanted.values()):
        return spec
    for token in wanted.values():
        if token is not None and token not in ids:
            raise FormatError(f"{token!r} is to be added to each text but has no id", remedy=f"see {CONFIG}")
    return spec.replace(post_processor=template(wanted["bos"], wanted["eos"], ids))


def with_prefix_space(spec: TokenizerSpec, space: bool) -> TokenizerSpec:
    """The tokenizer that puts a space before a text, or none; RoBERTa's post-processor trims offsets accordingly."""
    step = json.loads(spec.post_processor) if spec.post_processor else {}
    if step.get("type") == "RobertaProcessing":
        spec = spec.replace(post_processor=json.dumps({**step, "add_prefix_space": space}, ensure_ascii=False))
    return spec.replace(prefix_space=space)


def template(bos: str | None, eos: str | None, ids: Mapping[str, int]) -> str:
    """The post-processor that puts `bos` in front of and `eos` behind each of one or two texts; None for neither.

    Example:
        >>> json.loads(template("<s>", None, {"<s>": 1}))["single"]
        [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}}]
    """
    first, second = ([name for name in (bos, text, eos) if name not in {None, ""}] for text in (classes.A, classes.B))
    types = "0" * len(first), "0" * len(first) + "1" * len(second)
    return classes.template(first, first + second, ids, types)


def _wrong(name: str, value: object) -> FormatError:
    return FormatError(f"{name} is {str(value)[:80]!r}", pointer=f"/{name}", remedy=f"correct {CONFIG}, or remove it")


def _conflict(what: str) -> FormatError:
    return FormatError(
        what, remedy="the files do not belong together: fetch them again, or load the one file by its name"
    )
