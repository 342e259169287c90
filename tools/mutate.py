"""Mutation testing: changes one thing in a module's source, runs its unit tests, and wants one of them to fail.

    python tools/mutate.py                   # every module of MODULES
    python tools/mutate.py text.py           # the mutants of one
    python tools/mutate.py --list memory.py  # their differences, nothing is run
    python tools/mutate.py --only=_LIVE      # those whose difference a pattern is found in

A mutant is known by its difference, under the function that it stands in. docs/mutants.md names those that no input can
tell from the code, each below its reason. Exits 1 where a mutant survives that is not named there, or where one that is
named does not survive or is none any more.

A tool of our own: mutmut leaves alone what stands outside of functions or in decorated ones, and tables of signs and
patterns are half of what is tested here.
"""

import ast
import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import hypothesis
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
NAMED: Final = ROOT / "docs" / "mutants.md"
JOBS: Final = 2
MEMORY: Final = 2 << 30
# Most of a mutant's time is the start: nothing that only a person who reads the failure needs.
OPTIONS: Final = ("-x", "-q", "--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-p", "no:unraisableexception")
UNKNOWN: Final[dict[str, float]] = {}

# Each module, and the tests that are to see what is wrong with it.
MODULES: Final = {
    "verifier/memory.py": ("memory",),
    "verifier/verification/guards.py": ("guards", "application"),
    "verifier/verification/application.py": ("application", "pass"),
    "verifier/text.py": ("text",),
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
    r"\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|.)(?:-\\[uUx][0-9a-f]+)?|\{\{|\}\}|.", re.DOTALL
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


@cache
def mutants(module: str) -> tuple[Mutant, ...]:
    """Every mutant of a module, in the order of its source; two of one name are told apart by a number."""
    source = (ROOT / module).read_text()
    finder = _Finder(source)
    names: Counter[str] = Counter()
    found = []
    for statement in _undocumented(ast.parse(source).body):
        start, end = finder.span(statement)
        before = finder.text(statement)
        seen = {ast.dump(ast.parse(before))}
        for change in sorted(set(finder.changes(statement))):
            after = (finder.data[start : change.start] + change.text.encode() + finder.data[change.end : end]).decode()
            try:
                shape = ast.dump(ast.parse(after))
            except SyntaxError:
                continue
            if shape in seen:
                continue
            seen.add(shape)
            function = f" {statement.name}" if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else ""
            difference = _difference(before.split("\n"), after.split("\n"))
            names[f"{function}\n{difference}"] += 1
            again = names[f"{function}\n{difference}"]
            number = f" #{again}" if again > 1 else ""
            changed = (finder.data[:start] + after.encode() + finder.data[end:]).decode()
            found.append(Mutant(module, changed, f"@ {module}{function}{number}\n{difference}"))
    return tuple(found)


def _difference(before: list[str], after: list[str]) -> str:
    """The lines that are not the same, which stand together."""
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return "\n".join((*(f"-{line}" for line in before), *(f"+{line}" for line in after)))


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
        """The changes of a node and of all in it. `function`: it stands in one; `pattern`: in a call of `re`."""
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
                sign = _SIGN.findall(raw)[0]
                yield at, sign, "r" in prefix
                at += len(sign.encode())
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
    """What of a node can be changed: no docstring, import, decorator, sign of a formatted text, type but a field's."""
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


def _import(mutant: Mutant) -> None:
    """Imports the mutant in the place of its module."""
    name = mutant.module.removesuffix(".py").replace("/", ".")
    house, _, own = name.rpartition(".")
    module = ModuleType(name)
    setattr(importlib.import_module(house), own, module)
    sys.modules[name] = module
    exec(compile(mutant.source, ROOT / mutant.module, "exec", dont_inherit=True), module.__dict__)  # noqa: S102


def _tests(module: str) -> list[str]:
    return [str(ROOT / "tests" / "unit" / f"test_{name}.py") for name in MODULES[module]]


class _Order:
    """Sorts tests, the last that saw a mutant first, then the quickest; keeps how long each took and which failed."""

    def __init__(self, took: dict[str, float]) -> None:
        self.before = took
        self.took: dict[str, float] = {}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.before.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = report.nodeid


class _Child(NamedTuple):
    """A process that runs the tests of a mutant, and where it says how it went."""

    mutant: Mutant
    said: int


def _start(mutant: Mutant, took: dict[str, float], limit: int) -> tuple[int, _Child]:
    """Starts the mutant's tests in a process of their own, since what is imported stays."""
    said, saying = os.pipe()
    child = os.fork()
    if child:
        os.close(saying)
        return child, _Child(mutant, said)
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(limit)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        order = _Order(took)
        _import(mutant)
        code = int(pytest.main([*OPTIONS, *_tests(mutant.module)], plugins=[order]))
        os.write(saying, json.dumps(order.failed or (order.took if took is UNKNOWN else "")).encode())
    finally:
        os._exit(code)


def _measured(module: str) -> tuple[dict[str, float], int]:
    """How long each test takes without a mutant, and how many seconds a mutant gets. The tests must pass."""
    start = time.monotonic()
    process, child = _start(Mutant(module, (ROOT / module).read_text(), ""), UNKNOWN, 600)
    with os.fdopen(child.said) as pipe:
        said = pipe.read()
    if os.waitpid(process, 0)[1]:
        raise SystemExit(f"the tests of {module} fail without a mutant: {said}")
    return json.loads(said), 10 + 2 * int(time.monotonic() - start)


def run(module: str, known: Collection[str], only: str) -> dict[str, str]:
    """What became of each mutant of a module: killed, timed out or survived, by its name. Tells those not known."""
    took, limit = _measured(module)
    waiting = [mutant for mutant in reversed(mutants(module)) if re.search(only, mutant.name)]
    running: dict[int, _Child] = {}
    found: dict[str, str] = {}
    while waiting or running:
        while waiting and len(running) < JOBS:
            process, child = _start(waiting.pop(), took, limit)
            running[process] = child
        process, status = os.wait()
        name, said = running[process].mutant.name, running.pop(process).said
        with os.fdopen(said) as pipe:
            if test := json.loads(pipe.read() or '""'):
                took[test] = -len(found)
        found[name] = {0: "survived", -signal.SIGALRM: "timed out"}.get(os.waitstatus_to_exitcode(status), "killed")
        if not len(found) % 100:
            print(f"{len(found)} so far", file=sys.stderr, flush=True)
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
    only = next((argument.removeprefix("--only=") for argument in arguments if argument.startswith("--only=")), "")
    for name in ("cmarkgfm", "pydantic"):
        importlib.import_module(name)  # once, before the forks
    hypothesis.settings.register_profile("mutate", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutate")
    os.chdir(ROOT)
    # No plugin that is not needed, each test module compiled once, and nothing collected that was there before.
    gc.freeze()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as compiled:
        sys.pycache_prefix, sys.dont_write_bytecode = compiled, False
        return 1 if sum(_wrong(module, only) for module in chosen) or not chosen else 0


def _wrong(module: str, only: str) -> int:
    """Runs the mutants of a module and tells of them; returns how many are not as docs/mutants.md has them."""
    known = {name for name in named() if name.startswith(f"@ {module}") and re.search(only, name)}
    found = run(module, known, only)
    survived = {name for name, became in found.items() if became == "survived"}
    for name in sorted(known - survived):
        print(f"named in docs/mutants.md, and {found.get(name, 'no mutant')}: {name}\n")
    killed = len(found) - len(survived)
    late = sum(became == "timed out" for became in found.values())
    print(f"{module}: {len(found)} mutants, {killed} killed ({late} timed out), {len(survived)} survived", flush=True)
    return len(survived ^ known)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
