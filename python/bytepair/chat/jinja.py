"""Everything that rendering takes from Jinja, its undocumented parts included.

No other module imports ``jinja2`` or ``markupsafe``. Jinja's compiler, runtime classes and filter functions may change
in any release, so ``pyproject.toml`` has an upper bound; ``tests/chat/test_jinja.py`` lists each undocumented part, its
signature, and the consequence of a change. Raise the bound only when that test passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import FilterArgumentError, SecurityError, TemplateRuntimeError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import do_filesizeformat, do_float, do_int, do_round, do_urlencode, do_wordwrap
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, Undefined, new_context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import escape

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator

    from jinja2.environment import Environment

__all__ = [
    "CALL_ARGUMENTS",
    "TESTS",
    "BlockReference",
    "Context",
    "Cycler",
    "Extension",
    "FilterArgumentError",
    "Generator",
    "ImmutableSandboxedEnvironment",
    "Joiner",
    "LoopContext",
    "Macro",
    "Namespace",
    "Parser",
    "SecurityError",
    "TemplateRuntimeError",
    "TemplateSyntaxError",
    "Undefined",
    "do_filesizeformat",
    "do_float",
    "do_int",
    "do_round",
    "do_urlencode",
    "do_wordwrap",
    "escape",
    "loopcontrols",
    "namespace_items",
    "new_context",
    "nodes",
    "parse",
    "template_tokens",
]

CALL_ARGUMENTS = ("_loop_vars", "_block_vars")
"""Keyword arguments that compiled code adds to calls in loops and blocks."""


def template_tokens(environment: Environment, source: str) -> Iterator[Any]:
    """The tokens of a template, one at a time, so that a caller can stop."""
    return environment.lexer.tokeniter(source, None)


def parse(environment: Environment, source: str) -> nodes.Template:
    """The syntax tree of a template; unlike `Environment.parse` it raises Jinja's error unchanged."""
    return environment._parse(source, None, None)


def namespace_items(namespace: Namespace) -> ItemsView[str, Any]:
    """The names and values of a namespace, whose own attributes are those of the template."""
    return namespace._Namespace__attrs.items()  # type: ignore[no-any-return]  # Jinja looks it up as an item


def is_generation(block: nodes.CallBlock) -> bool:
    """Whether a block is ``{% generation %}``."""
    called = block.call.node
    return isinstance(called, nodes.EnvironmentAttribute) and called.name == "generation"


def _jumps_out(node: nodes.Node) -> bool:
    """Whether a ``{% break %}`` or ``{% continue %}`` in a block, or in the ``else`` of a loop, leaves the block."""
    children = node.else_ if isinstance(node, nodes.For) else node.iter_child_nodes()
    return any(isinstance(child, nodes.Break | nodes.Continue) or _jumps_out(child) for child in children)


_OF_DICTS = frozenset(dir(dict))
_COMPARISONS = {
    name: f" {sign} "
    for name, sign in [
        *(("eq", "=="), ("ne", "!="), ("gt", ">"), ("gteq", ">="), ("lt", "<"), ("lteq", "<=")),
        *(("in", "in"), ("notin", "not in")),
    ]
}


def _compares_with_a_constant(node: nodes.Compare) -> bool:
    """Whether a comparison reads no more than a constant of the template: ``a == "text"``."""
    [first, *more] = node.ops
    sides = (node.expr, first.expr)
    return not more and first.op in ("eq", "ne") and any(isinstance(side, nodes.Const) for side in sides)


class Generator(CodeGenerator):
    """Writes calls of ``environment`` wherever Jinja would write plain Python that makes or walks values.

    While a template runs, its environment is a `bytepair.chat.sandbox.runtime.Runtime`.
    """

    def _make_finalize(self) -> Any:
        # Only the text between tags is constant: everything else is traced when it runs.
        return self._FinalizeInfo(None, None)

    _printed: nodes.Expr | None = None

    def _output_child_pre(self, node: Any, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 (as Jinja calls it)
        self._printed = node
        if not self._prints(node):
            self.write("environment.show(")

    def _output_child_post(self, node: Any, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 (as Jinja calls it)
        if not self._prints(node):
            self.write(")")

    def _prints(self, node: nodes.Expr) -> bool:
        """Whether the code of an expression makes what is printed: that of a sum, and of a constant text."""
        return isinstance(node, nodes.Add) or (isinstance(node, nodes.Const) and type(node.value) is str)

    def visit_CallBlock(self, node: nodes.CallBlock, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``{% generation %}``, where it stands, not as a macro; any other ``{% call %}`` as Jinja writes it."""
        if not is_generation(node):
            super().visit_CallBlock(node, frame)
            return
        if _jumps_out(node):
            self.fail("break and continue cannot leave a generation block", node.lineno)
        inner = frame.inner()
        inner.symbols.analyze_node(node)
        self.enter_frame(inner)
        self.buffer(inner)
        self.blockvisit(node.body, inner)
        self.start_write(frame, node)
        self.write(f"environment.generation({inner.buffer})")
        self.end_write(frame)
        self.leave_frame(inner)

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
        self._call("shown" if node is self._printed else "added", "((", [left, *reversed(items)], "))", frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``(a, b)``, unless it is the target of an assignment."""
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

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a.b``; most names are those of fields."""
        if node.attr.startswith("_") or node.attr in _OF_DICTS:
            super().visit_Getattr(node, frame)
            return
        self.write("environment.field(")
        self.visit(node.node, frame)
        self.write(f", {node.attr!r})")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``a < b``."""
        self.write("(")
        if _compares_with_a_constant(node):
            self.visit(node.expr, frame)
            self.write(_COMPARISONS[node.ops[0].op])
            self.visit(node.ops[0].expr, frame)
        else:
            self._weighed(node.expr, frame)
            for op in node.ops:
                self.visit(op, frame)
        self.write(")")

    def visit_Operand(self, node: nodes.Operand, frame: Frame) -> None:  # noqa: N802 (a name of Jinja's)
        """``< b``."""
        self.write(_COMPARISONS[node.op])
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
