"""Mutants of our own: changes of a source file that mutmut does not make.

An edit replaces one expression of a file. `constants` changes numbers and defaults outside of function bodies,
`decorated` the bodies of decorated functions.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from faults.mutation.functions import Definition, cut, definitions, diff, stripped
from faults.mutation.model import Change

TWINS = {"float64": "float32", "float32": "float64"}
"""Defaults that are attributes, `np.float64`, and what they are changed to."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Div,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Edit:
    """One expression of a file and what stands there instead."""

    path: str
    function: str
    """Where it belongs: a function, a class, or "" for the module's own level."""
    node: ast.expr
    replacement: str
    mutator: str


def constants(path: str, source: str) -> Iterator[Edit]:
    """Every number at a module's or class's own level, moved, and every default changed."""
    tree = ast.parse(source)
    for name, value in _outside(tree):
        default = list(_default(path, name, value)) if name else []
        yield from default or _numbers(path, name, value)
    for name, definition in definitions(tree):
        yield from _defaults(path, name, definition)


def _outside(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Values assigned outside of functions, with the name of the class they stand in; there they are defaults."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        name = node.name if isinstance(node, ast.ClassDef) else ""
        for statement in inner:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                yield name, statement.value


def _numbers(path: str, name: str, value: ast.expr) -> Iterator[Edit]:
    """The changed numbers in one value."""
    for node, keyword in _with_keyword(value, None):
        for replacement in _moved(node, keyword):
            yield Edit(path, name, node, replacement, "threshold" if keyword == "threshold" else "constant")


def _with_keyword(node: ast.AST, keyword: str | None) -> Iterator[tuple[ast.expr, str | None]]:
    """Numbers in an expression, with the keyword of the call that they are given for."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.expr) and _number(node) is not None:
        yield node, keyword
        return
    for child in ast.iter_child_nodes(node):
        inner = child.arg if isinstance(child, ast.keyword) else keyword
        yield from _with_keyword(child, inner)


def _number(node: ast.expr) -> int | float | None:
    """The value of a plain or negative number; booleans are none."""
    value = _plain(node)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def _plain(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except Exception:  # no literal, or one that cannot be built
        return None


def _moved(node: ast.expr, keyword: str | None) -> tuple[str, ...]:
    """What a number becomes: a threshold a decade up and down, a float ten times as large, an integer one more."""
    number = _number(node)
    if number is None:
        return ()
    if keyword == "threshold":
        return (repr(number * 10), repr(number / 10)) if number else ("1.0", "-1.0")
    if isinstance(number, float):
        return (repr(number * 10) if number else "1.0",)
    return (repr(number + 1),)


def _defaults(path: str, name: str, definition: Definition) -> Iterator[Edit]:
    """The defaults of a function that mutmut leaves alone: None and attributes, in a decorated one all."""
    arguments = definition.args
    for default in (*arguments.defaults, *(given for given in arguments.kw_defaults if given is not None)):
        constant = isinstance(default, ast.Constant) and default.value is not None
        if definition.decorator_list or not constant:
            yield from _default(path, name, default)


def _default(path: str, name: str, default: ast.expr) -> Iterator[Edit]:
    changed = _other(default)
    if changed is not None:
        yield Edit(path, name, default, changed, "default")


def _other(default: ast.expr) -> str | None:
    """Another value of the kind of a default; None where there is no plain one."""
    if isinstance(default, ast.Attribute) and default.attr in TWINS:
        return f"{ast.unparse(default.value)}.{TWINS[default.attr]}"
    if not isinstance(default, ast.Constant | ast.UnaryOp):
        return None
    value = _plain(default)
    if value is None or isinstance(value, bool):
        return "1" if value is None else repr(not value)
    return repr(f"XX{value}XX") if isinstance(value, str) else next(iter(_moved(default, None)), None)


def decorated(path: str, source: str) -> Iterator[Edit]:
    """Changes of the bodies that mutmut leaves alone: any decorator but a single staticmethod or classmethod."""
    for name, definition in definitions(ast.parse(source)):
        if _untouched(definition):
            for statement in definition.body:
                for node in _expressions(statement):
                    yield from (Edit(path, name, node, text, kind) for text, kind in _changes(node))


def _untouched(definition: Definition) -> bool:
    names = [ast.unparse(decorator) for decorator in definition.decorator_list]
    return bool(names) and names not in (["staticmethod"], ["classmethod"])


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement without docstrings, annotations and parts of f-strings."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.expr):
            yield node
        if isinstance(node, ast.JoinedStr):
            continue
        annotation = getattr(node, "annotation", None)
        stack.extend(child for child in ast.iter_child_nodes(node) if child is not annotation)


def _changes(node: ast.expr) -> Iterator[tuple[str, str]]:
    """Texts that may stand in place of an expression, with the kind of change."""
    for kind, operators in CHANGES.items():
        if isinstance(node, operators.node):
            for changed in operators.change(node):
                ast.fix_missing_locations(changed)
                yield ast.unparse(changed), kind


def _comparison(node: ast.Compare) -> Iterator[ast.expr]:
    for at, operator in enumerate(node.ops):
        changed = copy.deepcopy(node)
        changed.ops[at] = SWAPPED[type(operator)]()  # type: ignore[call-overload]  # both are operators
        yield changed


def _operator(node: ast.BinOp | ast.BoolOp) -> Iterator[ast.expr]:
    if type(node.op) in SWAPPED:
        changed = copy.copy(node)
        changed.op = SWAPPED[type(node.op)]()  # type: ignore[assignment]  # of the same family
        yield changed


def _literal(node: ast.Constant) -> Iterator[ast.expr]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, str):
        yield ast.Constant(f"XX{node.value}XX")


def _negation(node: ast.UnaryOp) -> Iterator[ast.expr]:
    if isinstance(node.op, ast.Not):
        yield node.operand


def _choice(node: ast.IfExp) -> Iterator[ast.expr]:
    yield node.body
    yield node.orelse


def _argument(node: ast.Call) -> Iterator[ast.expr]:
    """Each argument replaced by None, where it is something else."""
    for at, argument in enumerate(node.args):
        nothing = isinstance(argument, ast.Constant) and argument.value is None
        if not nothing and not isinstance(argument, ast.Starred | ast.GeneratorExp):
            changed = copy.deepcopy(node)
            changed.args[at] = ast.Constant(None)
            yield changed


@dataclass(frozen=True)
class Operator:
    """What nodes it changes, and how."""

    node: type[ast.expr] | tuple[type[ast.expr], ...]
    change: Callable[..., Iterator[ast.expr]]


CHANGES = {
    "comparison": Operator(ast.Compare, _comparison),
    "operator": Operator((ast.BinOp, ast.BoolOp), _operator),
    "literal": Operator(ast.Constant, _literal),
    "negation": Operator(ast.UnaryOp, _negation),
    "choice": Operator(ast.IfExp, _choice),
    "argument": Operator(ast.Call, _argument),
}


def applied(source: str, edit: Edit) -> str:
    """The text of the file with the edit in it."""
    lines = source.encode().splitlines(keepends=True)
    line, column, end_line, end_column = _span(edit.node)
    start, end = _offset(lines, line, column), _offset(lines, end_line, end_column)
    content = b"".join(lines)
    # In parentheses, unless it is one word: what stands around it must not pull it apart.
    text = edit.replacement if _atom(edit.replacement) else f"({edit.replacement})"
    return (content[:start] + text.encode() + content[end:]).decode()


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    """First line and column of an expression, and its last; what was read from a text has them all."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _offset(lines: list[bytes], line: int, column: int) -> int:
    return sum(map(len, lines[: line - 1])) + column


def _atom(text: str) -> bool:
    found = ast.parse(text, mode="eval").body
    number = isinstance(found, ast.UnaryOp) and isinstance(found.operand, ast.Constant)
    return number or isinstance(found, ast.Constant | ast.Attribute | ast.Name | ast.Call)


def change(source: str, edit: Edit) -> Change:
    """The edit as a change: the lines it touches, before and after."""
    before, after = source.splitlines(), applied(source, edit).splitlines()
    line, _, end, _ = _span(edit.node)
    old, new = before[line - 1 : end], after[line - 1 : len(after) - len(before) + end]
    return Change(
        edit.path,
        edit.function,
        stripped(old),
        stripped(new),
        diff(edit.path, before, after),
        *cut("\n".join(old), "\n".join(new), line, 0),
        edit.mutator,
    )
