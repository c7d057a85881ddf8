"""The sandbox: how chat templates are parsed, and compiled to code that a `World` bounds and traces.

Jinja does both. The generator here writes a call of the world wherever Jinja would write plain Python that makes or
walks values, and loops say that they turn; so all that a template does goes through `bytepair.chat.sandbox.world`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bytepair.chat.limits import Budget, Limits, exceeded
from bytepair.chat.sandbox import filters
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jinja2.parser import Parser

FILE_NAME = "<chat template>"
_MOST_TOKENS = 40_000
_NO_INCLUDES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class Generation(Extension):
    """``{% generation %}`` ... ``{% endgeneration %}``: what an assistant writes."""

    tags = {"generation"}  # noqa: RUF012 (as Jinja declares it)

    def parse(self, parser: Parser) -> nodes.Node:
        """The block as a call of the world with its body."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        call = nodes.Call(nodes.EnvironmentAttribute("generation"), [], [], None, None)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)


class Generator(CodeGenerator):
    """Writes calls of the world in place of plain Python."""

    def _make_finalize(self) -> Any:
        # Nothing but the text between tags is known before the template runs.
        return self._FinalizeInfo(None, None)

    def _output_child_pre(self, node: Any, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 (as Jinja calls it)
        self.write("environment.show(")

    def _output_child_post(self, node: Any, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 (as Jinja calls it)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a ~ b``."""
        self._call("chain", "((", node.nodes, "))", frame)

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a + b + c``, which makes one text."""
        items: list[nodes.Expr] = []
        left: nodes.Expr = node
        while isinstance(left, nodes.Add):
            items.append(left.right)
            left = left.left
        self._call("added", "((", [left, *reversed(items)], "))", frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``(a, b)``, unless it is what is assigned to."""
        if node.ctx == "store":
            super().visit_Tuple(node, frame)
        else:
            self._call("tupled", "((", node.items, "))", frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``[a, b]``."""
        self._call("listed", "((", node.items, "))", frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``{a: b}``."""
        self.write("environment.mapped((")
        for item in node.items:
            self.write("(")
            self.visit(item.key, frame)
            self.write(", ")
            self.visit(item.value, frame)
            self.write("), ")
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a[b]`` and ``a[b:c]``."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.part(")
        self.visit(node.node, frame)
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            self.write(", ")
            if bound is None:
                self.write("None")
            else:
                self.visit(bound, frame)
        self.write(")")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a < b``."""
        self.write("(")
        self._weighed(node.expr, frame)
        for op in node.ops:
            self.visit(op, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``< b``."""
        spelled = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<=", "in": "in"}
        self.write(f" {spelled.get(node.op, 'not in')} ")
        self._weighed(node.expr, frame)

    def _weighed(self, node: nodes.Expr, frame: Frame) -> None:
        if isinstance(node, nodes.Const):
            self.visit(node, frame)
        else:
            self._call("weighed", "(", [node], ")", frame)

    def _call(self, name: str, left: str, items: list[Any], right: str, frame: Frame) -> None:
        self.write(f"environment.{name}{left}")
        for item in items:
            self.visit(item, frame)
            self.write(", ")
        self.write(right)


class Sandbox(ImmutableSandboxedEnvironment):
    """What parses and compiles templates; nothing runs in it."""

    code_generator_class = Generator
    intercepted_unops = frozenset({"+", "-"})
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[Generation, loopcontrols], cache_size=0
        )
        # The generator asks only whether they are there and take a context.
        self.filters = dict.fromkeys((*filters.FILTERS, *filters.REFUSED), _unused)
        self.tests = dict.fromkeys(filters.TESTS, _unused)


def _unused() -> NoReturn:
    """Stands for a filter or test, which a `World` runs itself."""
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
            code = _SANDBOX.compile(tree, filename=FILE_NAME, raw=True)
            budget.work(len(code) << 4)
            namespace: dict[str, Any] = {"environment": None, "__file__": FILE_NAME}
            exec(compile(code, FILE_NAME, "exec"), namespace)
        except TemplateError:
            raise
        except TemplateSyntaxError as error:
            raise TemplateError(
                f"the template is broken: {error.message}", line=error.lineno, remedy="correct it"
            ) from error
        except RecursionError as error:
            raise exceeded("the template is nested too deep", "depth") from error
        except Exception as error:
            # Jinja and Python raise whatever they do not expect.
            raise TemplateError(
                f"the template cannot be compiled: {str(error)[:200] or type(error).__name__}", remedy="make it simpler"
            ) from error
        self.root: Callable[..., Iterator[str]] = namespace["root"]
        self.blocks: dict[str, Any] = namespace["blocks"]
        self.has_generation = any(_is_generation(block) for block in tree.find_all(nodes.CallBlock))
        pairs = (pair.split("=") for pair in namespace["debug_info"].split("&") if pair)
        self._lines = [(int(code_line), int(line)) for line, code_line in pairs]

    def line(self, code_line: int) -> int | None:
        """The line of the template that a line of its code is made of."""
        return next((line for begin, line in reversed(self._lines) if begin <= code_line), None)


def _is_generation(block: nodes.CallBlock) -> bool:
    called = block.call.node
    return isinstance(called, nodes.EnvironmentAttribute) and called.name == "generation"


def _parsed(source: str, budget: Budget) -> nodes.Template:
    """The tree of a template, with what is refused refused, and with steps where it loops."""
    for count, _ in enumerate(_SANDBOX.lexer.tokeniter(source, None)):
        budget.work(256)
        if count > _MOST_TOKENS:
            raise TemplateError(f"the template has more than {_MOST_TOKENS} words and signs", remedy="make it simpler")
    tree = _SANDBOX._parse(source, None, None)
    for node in tree.find_all(nodes.Node):
        budget.work(1024)
        line = getattr(node, "lineno", None)
        if isinstance(node, _NO_INCLUDES):
            name = type(node).__name__.lower()
            raise TemplateError(f"the template uses {name}", line=line, remedy="write what it includes into it")
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
