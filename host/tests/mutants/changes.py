"""Small wrong changes to a module of the law, one at a time: each is a *mutant* that some test should notice.

A mutant is made by replacing the text of one node of the syntax tree, so that its lines keep their numbers
and a person can read it. What a mutant changes is what a slip of the programmer would: a comparison, a
condition, a guard left out, an entry of a table left out, a value not carried over. Sentences for people are
not changed.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

COMPARED: Mapping[type[ast.cmpop], tuple[str, ...]] = {
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
"""By comparison: at the boundary, and the other way round."""

CALCULATED: Mapping[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Mod: "//",
    ast.FloorDiv: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
}

_TYPES = ("Annotated", "Literal", "Callable", "Mapping", "dict", "frozenset", "list", "set", "tuple")

NAMED: Mapping[str, str] = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong change of one module."""

    module: str
    """Its name within recount_host.law."""
    function: str
    """Qualified name of the function or method that holds it; "" where it stands outside of one."""
    line: int
    last_line: int
    was: str
    """The text that is replaced, on one line."""
    now: str
    """The text that replaces it, on one line."""
    source: str
    """The whole module with the change."""
    within: str
    """The text of the function or table that it changes, as it was."""
    number: int = 1
    """Which of several that read alike in the same function."""

    @property
    def name(self) -> str:
        """Return what names it as long as its function is not rewritten."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module}:{self.function or 'table'}: {self.was} -> {self.now}{again}"


@dataclass(frozen=True, slots=True)
class _Change:
    node: ast.AST
    text: str
    """What stands in its place."""
    removed: bool = False
    """Whether the node is an entry of a list, so that its comma goes too."""


def mutants(module: str, source: str) -> list[Mutant]:
    """Return every mutant of this module, in the order of its lines."""
    tree = ast.parse(source)
    text = _Text(source, tree)
    found: list[Mutant] = []
    names: dict[str, int] = {}
    holding = _Holding(tree, source)
    for function, node in _nodes(tree):
        for maker in _MAKERS.get(type(node), ()):
            for change in maker(node, text):
                changed = text.with_(change)
                if changed is None:
                    continue
                mutated, was, now = changed
                line = _line(change.node)
                made = Mutant(
                    module, function, line, _last_line(change.node), was, now, mutated, holding.at(line)
                )
                names[made.name] = names.get(made.name, 0) + 1
                found.append(replace(made, number=names[made.name]))
    return sorted(found, key=lambda mutant: mutant.line)


class _Holding:
    """Which function, or which statement outside of functions, holds a line."""

    def __init__(self, tree: ast.Module, source: str) -> None:
        self._texts: list[tuple[int, int, str]] = []
        for node in tree.body:
            parts = node.body if isinstance(node, ast.ClassDef) else [node]
            for part in parts:
                first = min([_line(part), *(_line(d) for d in getattr(part, "decorator_list", ()))])
                text = "\n".join(source.splitlines()[first - 1 : _last_line(part)])
                self._texts.append((first, _last_line(part), text))

    def at(self, line: int) -> str:
        """Return the text of what holds this line; empty where nothing does."""
        return next((text for first, last, text in self._texts if first <= line <= last), "")


class _Text:
    """The source with the place of each node in it."""

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line.encode()))
        self._bytes = source.encode()
        self._statements = [self.span(node) for node in tree.body]

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = self._starts[_line(node) - 1] + getattr(node, "col_offset", 0)
        return start, self._starts[_last_line(node) - 1] + (getattr(node, "end_col_offset", 0) or 0)

    def of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self._bytes[start:end].decode()

    def with_(self, change: _Change) -> tuple[str, str, str] | None:
        """Return (source with the change, the text around it before, the same after); None if not Python."""
        start, end = self.span(change.node)
        if change.removed:
            comma = end
            while self._bytes[comma : comma + 1].isspace():
                comma += 1
            if self._bytes[comma : comma + 1] == b",":
                end = comma + 1
        before, replaced, behind = self._bytes[:start], self._bytes[start:end], self._bytes[end:]
        # The lines behind keep their numbers.
        filler = "\n" * (replaced.count(b"\n") - change.text.count("\n")) if change.removed else ""
        if not change.removed and replaced.count(b"\n"):
            filler = "\\\n" * replaced.count(b"\n")
        first, last = next(span for span in self._statements if span[0] <= start < span[1])
        within = self._bytes[first:start].decode() + change.text + filler + self._bytes[end:last].decode()
        try:
            ast.parse(within)  # the statement alone: twenty times as quick as its module
        except SyntaxError:
            return None
        mutated = before.decode() + change.text + filler + behind.decode()
        return mutated, _one_line(replaced.decode()), _one_line(change.text) or "(left out)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))


def _last_line(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", None) or _line(node))


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node that may be changed with the function it stands in: no annotation, no docstring."""

    def walk(node: ast.AST, path: tuple[str, ...], within: str) -> Iterator[tuple[str, ast.AST]]:
        yield within, node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = (*path, node.name)
            name = ".".join(inner) if isinstance(node, ast.FunctionDef) and not within else within
            children: list[ast.AST] = [*node.body]
            if isinstance(node, ast.FunctionDef):
                children += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
            for child in children:
                yield from walk(child, inner, name)
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                yield from walk(node.value, path, within)
            return
        if isinstance(node, ast.JoinedStr):
            return  # a sentence for people
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
            return  # what other modules may ask for by name is looked at by the type checker
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in _TYPES:
            return  # so are types; the bounds of what may be typed are among them
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            return  # how long a text or how high a number may be typed is no rule of the law
        for child in ast.iter_child_nodes(node):
            yield from walk(child, path, within)

    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            yield from walk(node, (), "")


# What is changed of each kind of node


def _compare(node: ast.Compare, text: _Text) -> Iterator[_Change]:
    if len(node.ops) != 1:
        return
    left, right = text.of(node.left), text.of(node.comparators[0])
    for operator in COMPARED[type(node.ops[0])]:
        yield _Change(node, f"{left} {operator} {right}")


def _bool(node: ast.BoolOp, text: _Text) -> Iterator[_Change]:
    parts = [text.of(value) for value in node.values]
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    yield _Change(node, f" {other} ".join(f"({part})" for part in parts))
    for left_out in range(len(parts)):
        rest = [f"({part})" for index, part in enumerate(parts) if index != left_out]
        yield _Change(node, f" {word} ".join(rest))


def _unary(node: ast.UnaryOp, text: _Text) -> Iterator[_Change]:
    if isinstance(node.op, ast.Not):
        yield _Change(node, f"bool({text.of(node.operand)})")


def _calculated(node: ast.BinOp, text: _Text) -> Iterator[_Change]:
    operator = CALCULATED.get(type(node.op))
    if operator is not None:
        yield _Change(node, f"{text.of(node.left)} {operator} {text.of(node.right)}")


def _augmented(node: ast.AugAssign, text: _Text) -> Iterator[_Change]:
    if type(node.op) in (ast.Add, ast.Sub):
        other = "-=" if isinstance(node.op, ast.Add) else "+="
        yield _Change(node, f"{text.of(node.target)} {other} {text.of(node.value)}")
    yield _Change(node, "pass")


def _constant(node: ast.Constant, _text: _Text) -> Iterator[_Change]:
    if isinstance(node.value, bool):
        yield _Change(node, str(not node.value))
    elif isinstance(node.value, int):
        yield _Change(node, str(node.value + 1))


def _condition(node: ast.If | ast.IfExp, _text: _Text) -> Iterator[_Change]:
    for value in ("True", "False"):
        yield _Change(node.test, value)


def _filter(node: ast.comprehension, _text: _Text) -> Iterator[_Change]:
    for test in node.ifs:
        yield _Change(test, "True")


def _statement(node: ast.Expr, _text: _Text) -> Iterator[_Change]:
    if isinstance(node.value, ast.Call):
        yield _Change(node, "pass")


def _raise(node: ast.Raise, _text: _Text) -> Iterator[_Change]:
    yield _Change(node, "pass")


def _jump(node: ast.Continue | ast.Break, _text: _Text) -> Iterator[_Change]:
    yield _Change(node, "pass")


def _call(node: ast.Call, _text: _Text) -> Iterator[_Change]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in NAMED:
        yield _Change(node.func, NAMED[name])
    if name == "replace":
        for keyword in node.keywords:
            yield _Change(keyword, "", removed=True)
    if name == "sorted":
        yield _Change(node.func, "list" if not node.keywords else "(lambda items, key: list(items))")
    if name == "reversed":
        yield _Change(node.func, "list")


def _subscript(node: ast.Subscript, text: _Text) -> Iterator[_Change]:
    index = text.of(node.slice)
    other = {"-1": "0", "0": "-1"}.get(index)
    if other is not None:
        yield _Change(node.slice, other)


def _display(node: ast.Tuple | ast.List | ast.Set, _text: _Text) -> Iterator[_Change]:
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and len(node.elts) > 1:
        for element in node.elts:
            yield _Change(element, "", removed=True)


def _table(node: ast.Dict, text: _Text) -> Iterator[_Change]:
    for key, value in zip(node.keys, node.values, strict=True):
        entry = ast.Constant(None)
        first = key if key is not None else value
        start, _ = text.span(first)
        ast.copy_location(entry, first)
        if key is None:
            entry.col_offset -= 2  # the two stars
        entry.end_lineno, entry.end_col_offset = value.end_lineno, value.end_col_offset
        if start:
            yield _Change(entry, "", removed=True)


_MAKERS: Mapping[type[ast.AST], tuple[Callable[..., Iterator[_Change]], ...]] = {
    ast.Compare: (_compare,),
    ast.BoolOp: (_bool,),
    ast.UnaryOp: (_unary,),
    ast.BinOp: (_calculated,),
    ast.AugAssign: (_augmented,),
    ast.Constant: (_constant,),
    ast.If: (_condition,),
    ast.IfExp: (_condition,),
    ast.comprehension: (_filter,),
    ast.Expr: (_statement,),
    ast.Raise: (_raise,),
    ast.Continue: (_jump,),
    ast.Break: (_jump,),
    ast.Call: (_call,),
    ast.Subscript: (_subscript,),
    ast.Tuple: (_display,),
    ast.List: (_display,),
    ast.Set: (_display,),
    ast.Dict: (_table,),
}
