"""Chat templates as data: the source, the special tokens it refers to, and a hash of both."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import FormatError, TemplateError
from bytepair.model.checks import ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

_BUILT_IN = Path(__file__).parent / "templates"
SPECIAL = (*(f"{role}_token" for role in ROLES), "additional_special_tokens", "extra_special_tokens")
"""Variables that count as the template's own text, whether a file or a call sets them."""
_TOKENS = {
    "chatml": {},
    "deepseek": {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"},
    "gemma": {"bos_token": "<bos>"},
    "llama2": {"bos_token": "<s>", "eos_token": "</s>"},
    "llama3": {"bos_token": "<|begin_of_text|>"},
    "mistral": {"bos_token": "<s>", "eos_token": "</s>"},
    "phi4": {},
    "zephyr": {"eos_token": "</s>"},
}


class Template:
    """A chat template in Jinja. It is compiled on first use.

    Args:
        source: The Jinja source.
        variables: Values that the template reads by name besides messages and tools, such as ``bos_token`` and
            ``eos_token``. Their text counts as the template's own.
        name: The template's name.

    Raises:
        TypeError: The source or the name of a variable is not a string.

    Example:
        >>> template = Template("{{ bos_token }}{{ messages[0].content }}", variables={"bos_token": "<s>"})
        >>> template.hash[:8]
        'f2f4ac3b'
        >>> template == Template("{{ bos_token }}{{ messages[0].content }}")
        False
    """

    def __init__(self, source: str, *, variables: Mapping[str, Any] | None = None, name: str | None = None) -> None:
        if not isinstance(source, str):
            raise TypeError(f"the source of a template is a str, not {type(source).__name__}")
        self.source = source
        self.variables: Mapping[str, Any] = MappingProxyType(dict(variables or {}))
        for key in self.variables:
            if not isinstance(key, str):
                raise TypeError(f"the name of a variable is a str, not {type(key).__name__}")
        self.name = name

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """List the names of the built-in templates in alphabetical order.

        Example:
            >>> "chatml" in Template.names()
            True
        """
        return tuple(sorted(_TOKENS))

    @classmethod
    def named(cls, name: str) -> Template:
        """Return a built-in template.

        Raises:
            TemplateError: No built-in template has this name.

        Example:
            >>> Template.named("chatml").name
            'chatml'
        """
        if name not in cls.names():
            raise TemplateError(
                f"there is no built-in template {name[:80]!r}", remedy=f"use one of {', '.join(cls.names())}"
            )
        source = (_BUILT_IN / f"{name}.jinja").read_text("utf-8")
        return cls(source, variables=_TOKENS[name], name=name)

    @classmethod
    def read(cls, path: str | Path, name: str = "default") -> Template:
        """Read a template from a file, or from the folder of a tokenizer together with its special tokens.

        Args:
            path: A folder with ``tokenizer_config.json``, ``chat_template.jinja`` or ``chat_template.json``; or one of
                these files, or one of its ``additional_chat_templates``; or a GGUF file. A configuration and a GGUF
                file have their own special tokens; a template file takes those of its folder. Any other file that does
                not end in ``.json`` is read as Jinja source.
            name: The name of the template, if there are several.

        Raises:
            ArtifactError: The file cannot be read.
            FormatError: The file is malformed.
            TemplateError: There is no template of this name.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     config = pathlib.Path(folder, "tokenizer_config.json")
            ...     _ = config.write_text('{"chat_template": "{{ bos_token }}", "bos_token": "<s>"}')
            ...     Template.read(folder).variables["bos_token"]
            '<s>'
        """
        from bytepair.formats import configs, gguf  # noqa: PLC0415 (formats are many modules)
        from bytepair.formats.json_files import parse_json  # noqa: PLC0415

        path = Path(path)
        if files.is_folder(path):
            settings = configs.read(path)
            found, tokens = dict(settings.chat_template), _special(settings)
        elif path.suffix == ".json":
            config = parse_json(path, files.read(path))
            try:
                found = dict(configs.templates_by_name(config.get("chat_template")))
                named = {name: configs.token_content(config, name) for name in SPECIAL[: len(ROLES)]}
            except FormatError as error:
                error.file = str(path)
                raise
            own = {name: token for name, token in named.items() if token}
            tokens = _special(configs.read(path.parent)) if path.name == configs.TEMPLATE_JSON else own
        elif (mapped := files.mapped(path, gguf.MAGIC)) is not None:
            with mapped:
                found, tokens = gguf.chat(mapped)
            tokens = {f"{role}_token": token for role, token in tokens.items()}
        else:
            try:
                found = {name: files.read(path).decode()}
            except UnicodeDecodeError as error:
                raise FormatError(f"the template is not UTF-8: {error.reason}", file=str(path)) from error
            is_named = path.parent.name == configs.TEMPLATES
            tokens = _special(configs.read(path.parent.parent if is_named else path.parent))
        if name not in found:
            known = ", ".join(map(repr, sorted(found))) or "none"
            raise TemplateError(f"there is no chat template {name!r} in {path}", remedy=f"use one of: {known}")
        return cls(found[name], variables=tokens, name=None if name == "default" else name)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of source and variables, in hexadecimal.

        Example:
            >>> Template("a").hash == Template("a", name="b").hash
            True
        """
        content = json.dumps([self.source, dict(sorted(self.variables.items()))], ensure_ascii=True, default=repr)
        return hashlib.sha256(content.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.hash == other.hash if isinstance(other, Template) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.source, dict(self.variables), self.name)

    def __repr__(self) -> str:
        shown = self.name or f"{self.source[:30]!r}{'...' if len(self.source) > 30 else ''}"
        return f"<Template {shown}>"


def _restored(source: str, variables: dict[str, Any], name: str | None) -> Template:
    """A template from its pickled parts."""
    return Template(source, variables=variables, name=name)


def _special(settings: Any) -> dict[str, str]:
    """The special tokens that a folder's configuration names."""
    return {f"{role}_token": token for role, token in settings.roles.items()}
