"""Mutation testing: changes one thing in a module's source, runs its unit tests, and wants one of them to fail.

    python tools/mutate.py                   # every module of MODULES
    python tools/mutate.py text.py           # the mutants of one
    python tools/mutate.py --list memory.py  # their differences, nothing is run

A mutant is known by its difference, under the function that it stands in; docs/mutants.md holds those that no input can
tell from the code, each below its reason. Exits 1 where a mutant survives that stands not there, or one that stands there
does not survive or is none any more. An own tool, since mutmut leaves what stands outside functions alone, and tables of
signs and patterns are the half of what is tested here.
"""

import ast
import difflib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
NAMED: Final = ROOT / "docs" / "mutants.md"
JOBS: Final = 2

# Each module, and the tests that are to see what is wrong with it.
MODULES: Final = {
    "verifier/memory.py": ("memory",),
    "verifier/verification/guards.py": ("guards", "application"),
    "verifier/verification/application.py": ("application", "pass"),
    "verifier/text.py": ("text", "brief_markdown"),
}

_COMPARED: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
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
_OPERATED: Final[dict[type[ast.operator], str]] = {ast.Add: "-", ast.Sub: "+", ast.BitOr: "&", ast.Mult: "+"}
_OTHERWISE: Final = {"any": "all", "all": "any", "min": "max", "max": "min"}
_LITERAL: Final = re.compile(r"""(?P<prefix>[A-Za-z]*)(?P<quote>\"{3}|'{3}|"|')""")
_SIGN: Final = re.compile(
    r"\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|.)(?P<range>-\\(?:u|U|x)[0-9a-f]+)?|\{\{|\}\}|.", re.DOTALL
)


class Mutant(NamedTuple):
    """A module, its source with one change, and the difference by which it is known."""

    module: str
    source: str
    name: str


class _Change(NamedTuple):
    """Bytes `start` to `end` of a source become `text`."""

    start: int
    end: int
    text: str


# Making them.


def mutants(module: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its source; two of one name are told apart by a number."""
    source = (ROOT / module).read_text()
    data = source.encode()
    tree = ast.parse(source)
    same = {ast.dump(tree)}
    names: dict[str, int] = {}
    found = []
    for change in sorted(set(_Finder(source).changes(tree))):
        changed = (data[: change.start] + change.text.encode() + data[change.end :]).decode()
        try:
            shape = ast.dump(ast.parse(changed))
        except SyntaxError:
            continue
        if shape in same:
            continue
        same.add(shape)
        name = _name(module, tree, source, changed, data[: change.start].count(b"\n") + 1)
        names[name] = names.get(name, 0) + 1
        head, _, rest = name.partition("\n")
        number = f" #{names[name]}" if names[name] > 1 else ""
        found.append(Mutant(module, changed, f"{head}{number}\n{rest}"))
    return found


def _name(module: str, tree: ast.Module, before: str, after: str, line: int) -> str:
    inside = [
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.lineno <= line <= (node.end_lineno or line)
    ]
    changed = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [row for row in changed if not row.startswith(("---", "+++", "@@"))]
    return "\n".join((f"@ {module} {''.join(inside)}".rstrip(), *lines))


class _Finder:
    """Finds what can be changed in a source."""

    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self.starts = [0]
        for line in self.data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        line, column, end_line, end = (getattr(node, name) for name in _PLACE)
        return self.starts[line - 1] + column, self.starts[end_line - 1] + end

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def found(self, node: ast.expr) -> bool:
        """Whether a node stands where it says; before Python 3.12 not all do that are in a formatted text."""
        try:
            return ast.dump(ast.parse(f"({self.text(node)})", mode="eval").body) == ast.dump(node)
        except (SyntaxError, ValueError):
            return isinstance(node, ast.Slice)

    def to(self, node: ast.AST, text: str) -> _Change:
        return _Change(*self.span(node), text)

    def changes(self, node: ast.AST, *, function: bool = False, pattern: bool = False) -> Iterator[_Change]:
        """The changes of a node and of all in it. `function`: inside one; `pattern`: a string of a regular expression."""
        if isinstance(node, ast.expr) and not self.found(node):
            return
        yield from self.own(node, function=function, pattern=pattern)
        for child in _children(node, function=function):
            yield from self.changes(
                child,
                function=function or isinstance(node, ast.FunctionDef),
                pattern=isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."),
            )

    def own(self, node: ast.AST, *, function: bool, pattern: bool) -> Iterator[_Change]:
        match node:
            case ast.Compare(ops=ops):
                for left, operator, right in zip([node.left, *node.comparators], ops, node.comparators, strict=False):
                    for other in _COMPARED[type(operator)]:
                        yield _Change(
                            self.span(left)[0], self.span(right)[1], f"{self.text(left)} {other} {self.text(right)}"
                        )
            case ast.BoolOp(op=operator, values=values):
                other = " or " if isinstance(operator, ast.And) else " and "
                yield self.to(node, other.join(f"({self.text(value)})" for value in values))
                yield from self.without_one(values)
            case ast.BinOp(left=left, op=operator, right=right):
                yield self.to(node, f"({self.text(left)})")
                yield self.to(node, f"({self.text(right)})")
                if other := _OPERATED.get(type(operator), ""):
                    yield self.to(node, f"({self.text(left)}) {other} ({self.text(right)})")
            case ast.UnaryOp(operand=operand):
                yield self.to(node, f"({self.text(operand)})")
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield self.to(node, self.text(body))
                yield self.to(node, self.text(orelse))
                yield self.to(test, f"not ({self.text(test)})")
            case ast.If(test=test) | ast.While(test=test):
                yield self.to(test, f"not ({self.text(test)})")
            case ast.comprehension(ifs=ifs):
                for test in ifs:
                    yield self.to(test, "True")
                    yield self.to(test, f"not ({self.text(test)})")
            case ast.match_case(guard=ast.expr() as guard):
                yield self.to(guard, "True")
                yield self.to(guard, f"not ({self.text(guard)})")
            case ast.Constant() | ast.JoinedStr():
                yield from self.constant(node, each_sign=pattern or not function)
            case ast.Slice(lower=lower, upper=upper):
                yield from (self.to(bound, "") for bound in (lower, upper) if bound)
            case ast.Call():
                yield from self.call(node)
            case ast.Tuple(elts=elements) | ast.Set(elts=elements) | ast.List(elts=elements) if len(elements) > 1:
                yield from self.without_one(elements)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    start = self.span(key)[0] if key else self.span(value)[0] - 2
                    end = self.span(value)[1]
                    yield _Change(start, end + (self.data[end : end + 1] == b","), "")
            case ast.Name(id=name) if name in _OTHERWISE:
                yield self.to(node, _OTHERWISE[name])
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self.to(value, "None")
            case ast.Raise(cause=ast.expr(), exc=ast.expr() as raised):
                yield self.to(node, f"raise {self.text(raised)}")
            case ast.Assign() | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Expr():
                yield self.to(node, "pass")
            case ast.AnnAssign(value=None) | ast.AnnAssign(value=ast.expr()) if not function:
                yield self.to(node, "pass")
            case _:
                pass

    def without_one(self, nodes: Sequence[ast.expr]) -> Iterator[_Change]:
        """Each of some nodes that stand in a row left out, with what stands between it and its neighbour."""
        for at, node in enumerate(nodes):
            if at:
                yield _Change(self.span(nodes[at - 1])[1], self.span(node)[1], "")
            elif len(nodes) > 1:
                yield _Change(self.span(node)[0], self.span(nodes[1])[0], "")

    def call(self, node: ast.Call) -> Iterator[_Change]:
        """The call without one argument; only its first argument; only the object that the method is of."""
        given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for argument in given:
            start, end = self.span(argument)
            if isinstance(argument, ast.GeneratorExp) and self.data[end - 1 : end] == b")" and len(given) == 1:
                start, end = start + 1, end - 1
            rest = self.data[end:].decode()
            comma = re.match(r"\s*,\s*", rest)
            yield _Change(start, end + (len(comma[0]) if comma else 0), "")
        if node.args and not isinstance(node.args[0], ast.Starred):
            yield self.to(node, f"({self.text(node.args[0])})")
        if isinstance(node.func, ast.Attribute):
            yield self.to(node, self.text(node.func.value))

    def constant(self, node: ast.Constant | ast.JoinedStr, *, each_sign: bool) -> Iterator[_Change]:
        """Another number, another truth; a text without one of its signs or, in a function, without all of them."""
        value = node.value if isinstance(node, ast.Constant) else ""
        if isinstance(value, bool):
            yield self.to(node, str(not value))
        elif isinstance(value, (int, float)):
            yield self.to(node, repr(value + 1))
            yield self.to(node, repr(value - 1))
        elif isinstance(value, bytes):
            yield self.to(node, "b''")
        elif isinstance(value, str):
            if isinstance(node, ast.Constant):
                yield self.to(node, '""' if value else '"x"')
            signs = list(self.signs(node))
            if each_sign:
                yield from (change for sign in signs for change in _of_sign(*sign))
            elif isinstance(node, ast.JoinedStr):
                yield from (_Change(start, end, "") for start, end in _runs(signs))

    def signs(self, node: ast.expr) -> Iterator[tuple[int, str, bool]]:
        """The signs of a text as they are written: where each starts, itself, whether it is raw."""
        at, end = self.span(node)
        source = self.data.decode("latin-1")  # a byte is a character: places stay places
        while at < end:
            if not (literal := _LITERAL.match(source, at, end)):
                at += 1 if source[at] != "#" else source.index("\n", at) - at
                continue
            at = literal.end()
            prefix, quote = literal["prefix"].lower(), literal["quote"]
            while not source.startswith(quote, at):
                if "f" in prefix and source[at] == "{" and source[at + 1] != "{":
                    at = _after_field(source, at)
                    continue
                raw = self.data[at:end].decode(errors="ignore")
                sign = _SIGN.match(raw)
                assert sign
                yield at, sign[0], "r" in prefix
                at += len(sign[0].encode())
            at += len(quote)


_PLACE: Final = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _after_field(source: str, at: int) -> int:
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
        if not depth:
            return at


def _of_sign(start: int, sign: str, raw: bool) -> Iterator[_Change]:
    """A sign left out; a code one further and one nearer, on either side of a range."""
    end = start + len(sign.encode())
    yield _Change(start, end, "")
    if raw:
        return
    for code in re.finditer(r"\\([uUx])([0-9a-f]+)", sign):
        for other in (int(code[2], 16) + 1, int(code[2], 16) - 1):
            if other >= 0:
                digits = f"{other:0{len(code[2])}x}"
                yield _Change(start + code.start(2), start + code.end(2), digits)


def _runs(signs: Sequence[tuple[int, str, bool]]) -> Iterator[tuple[int, int]]:
    """What stands together: from where to where."""
    began = None
    for at, (start, sign, _) in enumerate(signs):
        began = start if began is None else began
        end = start + len(sign.encode())
        if at + 1 == len(signs) or signs[at + 1][0] != end:
            yield began, end
            began = None


def _children(node: ast.AST, *, function: bool) -> Iterator[ast.AST]:
    """What of a node can be changed: no docstring, import, decorator, part of a formatted text, or type but of a field."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        return
    if isinstance(node, ast.FunctionDef):
        yield from (default for default in [*node.args.defaults, *node.args.kw_defaults] if default)
        yield from _undocumented(node.body)
    elif isinstance(node, (ast.ClassDef, ast.Module)):
        yield from _undocumented(node.body)
    elif isinstance(node, ast.AnnAssign):
        if not function and ast.unparse(node.annotation).startswith("Annotated"):
            yield node.annotation
        if node.value:
            yield node.value
    else:
        yield from ast.iter_child_nodes(node)


def _undocumented(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    first = body[0] if body else None
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body


# Running them.


class _Swapped(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports one module from another source than its file's."""

    def __init__(self, mutant: Mutant) -> None:
        name = mutant.module.removesuffix(".py").replace("/", ".")
        super().__init__(name, str(ROOT / mutant.module))
        self.mutant = mutant

    def find_spec(
        self, name: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.mutant.source, self.path, "exec", dont_inherit=True)


def _tests(module: str) -> list[str]:
    return [str(ROOT / "tests" / "unit" / f"test_{name}.py") for name in MODULES[module]]


class _Order:
    """Sorts tests by how long they took without a mutant, and measures that."""

    def __init__(self, took: dict[str, float]) -> None:
        self.took = took

    def pytest_collection_modifyitems(self, items: list[object]) -> None:
        items.sort(key=lambda item: self.took.get(getattr(item, "nodeid", ""), 0.0))

    def pytest_runtest_logreport(self, report: object) -> None:
        name, duration = str(getattr(report, "nodeid", "")), float(getattr(report, "duration", 0))
        self.took[name] = self.took.get(name, 0.0) + duration


def _run(mutant: Mutant, took: dict[str, float]) -> int:
    """The exit code of the mutant's tests; in a process of its own, since what is imported stays."""
    import pytest

    sys.meta_path.insert(0, _Swapped(mutant))
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *_tests(mutant.module)], plugins=[_Order(took)]))


def _fork(mutant: Mutant, took: dict[str, float], limit: int) -> int:
    """Starts the mutant's tests; returns the process."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        signal.alarm(limit)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        code = _run(mutant, took)
    finally:
        os._exit(code)


def _measured(module: str) -> tuple[dict[str, float], int]:
    """How long each test takes without a mutant, and how many seconds a mutant gets. The tests must pass."""
    came, went = os.pipe()
    start = time.monotonic()
    child = os.fork()
    if not child:
        os.close(came)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        took: dict[str, float] = {}
        code = _run(Mutant(module, (ROOT / module).read_text(), ""), took)
        with os.fdopen(went, "w") as pipe:
            pipe.write(repr(took))
        os._exit(code)
    os.close(went)
    with os.fdopen(came) as pipe:
        said = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"the tests of {module} fail without a mutant")
    return ast.literal_eval(said), 20 + 4 * int(time.monotonic() - start)


def run(module: str, known: Collection[str]) -> dict[str, str]:
    """What became of each mutant of a module: killed, timed out or survived, by its name. Tells those not known."""
    took, limit = _measured(module)
    waiting = mutants(module)[::-1]
    running: dict[int, str] = {}
    found: dict[str, str] = {}
    while waiting or running:
        while waiting and len(running) < JOBS:
            mutant = waiting.pop()
            running[_fork(mutant, took, limit)] = mutant.name
        process, status = os.wait()
        name = running.pop(process)
        code = os.waitstatus_to_exitcode(status)
        found[name] = {0: "survived", -signal.SIGALRM: "timed out"}.get(code, "killed")
        if found[name] == "survived" and name not in known:
            print(f"not named in docs/mutants.md: {name}\n", flush=True)
    return found


def named() -> list[str]:
    """The mutants that docs/mutants.md names."""
    blocks = re.findall(r"^```diff\n(.*?)^```$", NAMED.read_text(), re.MULTILINE | re.DOTALL)
    return [f"@ {name}".strip() for block in blocks for name in re.split(r"^@ ", block, flags=re.MULTILINE)[1:]]


def main(arguments: Sequence[str]) -> int:
    """Runs the mutants of the modules that are named, or of all; returns the exit code."""
    chosen = [
        name
        for name in MODULES
        if not (wanted := [one for one in arguments if one[0] != "-"])
        or any(name.endswith(f"/{one}") or name == one for one in wanted)
    ]
    if "--list" in arguments:
        for module in chosen:
            print("\n\n".join(mutant.name for mutant in mutants(module)))
        return 0
    import cmarkgfm  # noqa: F401 (once, before the forks)
    import hypothesis
    import pydantic  # noqa: F401
    import pytest  # noqa: F401

    hypothesis.settings.register_profile("mutate", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutate")
    os.chdir(ROOT)
    wrong = 0
    for module in chosen:
        known = {name for name in named() if name.startswith(f"@ {module}")}
        found = run(module, known)
        survived = {name for name, became in found.items() if became == "survived"}
        for name in sorted(known - survived):
            print(f"named in docs/mutants.md, and {found.get(name, 'no mutant')}: {name}")
        wrong += len(survived ^ known)
        late = sum(became == "timed out" for became in found.values())
        print(
            f"{module}: {len(found)} mutants, {len(found) - len(survived)} killed, of these {late} timed out, {len(survived)} survived",
            flush=True,
        )
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
