"""Parsing and compiling chat templates to code that a `Runtime` limits and traces.

Jinja parses and compiles; `bytepair.chat.jinja.Generator` writes a call of the runtime wherever Jinja would write plain
Python that makes or reads values. Every turn of a loop calls the runtime too, so all operations of a template go
through `bytepair.chat.sandbox.runtime`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NoReturn

from bytepair.chat.jinja import (
    Extension,
    Generator,
    ImmutableSandboxedEnvironment,
    Parser,
    TemplateSyntaxError,
    is_generation,
    loopcontrols,
    nodes,
    parse,
    template_tokens,
)
from bytepair.chat.limits import Budget, Limits, exceeded
from bytepair.chat.sandbox import filters
from bytepair.chat.sandbox.runtime import Runtime
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from types import TracebackType

    from bytepair.chat.template import Template

_FILE_NAME = "<chat template>"
_MOST_TOKENS = 40_000
_NO_INCLUDES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class Generation(Extension):
    """``{% generation %}`` ... ``{% endgeneration %}``: the text that an assistant writes."""

    tags = {"generation"}  # noqa: RUF012 (as Jinja declares it)

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the block into a call of the runtime with its body."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = nodes.Call(nodes.EnvironmentAttribute("generation"), [], [], None, None)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment that parses and compiles templates. No template runs in it."""

    code_generator_class = Generator
    intercepted_unops = frozenset({"+", "-"})
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[Generation, loopcontrols], cache_size=0
        )
        # The generator only checks that they exist and whether they take a context.
        self.filters = dict.fromkeys((*filters.FILTERS, *filters.REFUSED), _unused)
        self.tests = dict.fromkeys(filters.TESTS, _unused)


def _unused() -> NoReturn:
    """The placeholder of a filter or test, which a `Runtime` runs itself."""
    raise NotImplementedError


class Program:
    """A compiled template."""

    __slots__ = ("_lines", "blocks", "has_generation", "root")

    def __init__(self, source: str, limits: Limits) -> None:
        budget = Budget(limits)
        if len(source) > limits.template:
            raise exceeded(f"the template has {len(source)} characters", "template")
        try:
            tree = _parsed(source, budget)
            code = _SANDBOX.compile(tree, filename=_FILE_NAME, raw=True)
            budget.work(len(code) << 4)
            namespace: dict[str, Any] = {"environment": None, "__file__": _FILE_NAME}
            exec(compile(code, _FILE_NAME, "exec"), namespace)
        except TemplateError:
            raise
        except TemplateSyntaxError as error:
            raise TemplateError(
                f"the template is malformed: {error.message}", line=error.lineno, remedy="correct it"
            ) from error
        except RecursionError as error:
            raise exceeded("the template is nested too deeply", "depth") from error
        except Exception as error:
            # Jinja and Python raise many kinds of errors for unusual templates.
            raise TemplateError(
                f"the template cannot be compiled: {str(error)[:200] or type(error).__name__}", remedy="make it simpler"
            ) from error
        self.root: Callable[..., Iterator[str | tuple[str, ...]]] = namespace["root"]
        self.blocks: dict[str, Any] = namespace["blocks"]
        self.has_generation = any(is_generation(block) for block in tree.find_all(nodes.CallBlock))
        pairs = (pair.split("=") for pair in namespace["debug_info"].split("&") if pair)
        self._lines = [(int(code_line), int(line)) for line, code_line in pairs]

    def run(self, variables: dict[str, Any], limits: Limits, given: int, now: Callable[[], datetime]) -> list[str]:
        """The rendered text, in parts; see `Runtime` for the arguments."""
        return Runtime(limits, given, now).parts(self.root, self.blocks, variables)

    def line(self, trace: TracebackType | None) -> int | None:
        """The innermost line of the template that raised an error."""
        code_line = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == _FILE_NAME:
                code_line = trace.tb_lineno
            trace = trace.tb_next
        if code_line is None:
            return None
        return next((line for begin, line in reversed(self._lines) if begin <= code_line), None)


def _parsed(source: str, budget: Budget) -> nodes.Template:
    """Parse a template, refuse unsupported constructs, and insert a step in each loop."""
    for count, _ in enumerate(template_tokens(_SANDBOX, source)):
        budget.work(256)
        if count > _MOST_TOKENS:
            raise TemplateError(f"the template has more than {_MOST_TOKENS} tokens of Jinja", remedy="make it simpler")
    tree = parse(_SANDBOX, source)
    for node in tree.find_all(nodes.Node):
        budget.work(1024)
        line = getattr(node, "lineno", None)
        if isinstance(node, _NO_INCLUDES):
            name = type(node).__name__.lower()
            raise TemplateError(f"the template uses {name}", line=line, remedy="insert the included text")
        if isinstance(node, nodes.EvalContextModifier | nodes.ScopedEvalContextModifier):
            raise TemplateError("the template uses autoescape", line=line, remedy="remove it: chats are not HTML")
        if isinstance(node, nodes.Filter) and node.name in filters.REFUSED:
            raise TemplateError(f"the template uses the filter {node.name}", line=line, remedy="remove it")
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "lipsum":
            raise TemplateError("the template calls lipsum", line=line, remedy="remove it")
        if isinstance(node, nodes.Const):
            filters.small(node.value)
        if isinstance(node, nodes.For):
            turn = nodes.EnvironmentAttribute("turn", lineno=node.lineno)
            node.body.insert(0, nodes.ExprStmt(turn, lineno=node.lineno))
            if node.test is not None:
                node.test = nodes.And(turn, node.test, lineno=node.lineno)
    tree.set_environment(_SANDBOX)
    return tree


_SANDBOX = Sandbox()
_CACHED = 64
_cache: OrderedDict[tuple[str, Limits], Program] = OrderedDict()
_lock = threading.Lock()


def compiled(template: Template, limits: Limits) -> Program:
    """Compile a template, or raise TemplateError; the most recently used programs are cached."""
    key = (template.source, limits)
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    program = Program(template.source, limits)
    with _lock:
        _cache[key] = program
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return program
