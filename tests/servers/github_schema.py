"""GitHub's published descriptions, as judges of what the fake gets and says.

The OpenAPI subset names the operations, their parameters, bodies and replies. Its schemas are compiled once into plain
functions: a reply of a hundred comments is judged in a few milliseconds. `as_json_schema` gives the same schemas in the
words of JSON Schema; a test holds the two against each other.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

Json = Any
Check = Callable[[Json, str], Iterator[str]]

DATA: Final = Path(__file__).parent / "data"
FORMATS: Final = {
    "uri": re.compile(r"[a-z][a-z0-9+.-]*:\S+"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "email": re.compile(r"\S+@\S+"),
}
# What is written over the numbers of a type; nothing to check in JSON.
SIZES: Final = ("int64", "int32")
SAYINGS: Final = frozenset({"title", "example", "default", "deprecated", "description", "discriminator"})
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
# Where GitHub is known to answer what its description leaves out.
NULL_TOO: Final = (
    # The head repository was deleted.
    ("pull-request", "head", "repo"),
    ("pull-request-simple", "head", "repo"),
    ("workflow-run", "head_repository"),
)


@cache
def description() -> dict[str, Json]:
    """The OpenAPI subset, with `NULL_TOO` applied."""
    found: dict[str, Json] = json.loads((DATA / "openapi-subset.json").read_text())
    schemas = found["components"]["schemas"]
    for name, *path in NULL_TOO:
        parent = schemas[name]["properties"]
        for step in path[:-1]:
            parent = parent[step]["properties"]
        parent[path[-1]] = {"nullable": True, "oneOf": [parent[path[-1]]]}
    return found


def example(name: str) -> Json:
    """A copy of one of upstream's examples."""
    return json.loads(json.dumps(description()["components"]["examples"][name]["value"]))


def resolved(node: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a node is, where it is only a reference."""
    while "$ref" in node:
        _, *steps = node["$ref"].split("/")
        node = description()
        for step in steps:
            node = node[step]
    return node


# Schemas.


def compiled(schema: Mapping[str, Json]) -> Check:
    """The function that tells every fault of a value: our own replies may have no field that is not described."""
    if "$ref" in schema:
        return _named(schema["$ref"])
    unknown = schema.keys() - SAYINGS - _KEYWORDS
    assert not unknown, f"keywords nobody compiles: {sorted(unknown)}"
    parts = list(_parts(schema))
    nullable = schema.get("nullable", False)

    def check(value: Json, where: str) -> Iterator[str]:
        if value is None:
            if not nullable:
                yield f"{where}: null is not allowed"
            return
        for part in parts:
            yield from part(value, where)

    return check


@cache
def _named(reference: str) -> Check:
    # Looked up at the first value, so that a schema may hold itself.
    holder: list[Check] = []

    def check(value: Json, where: str) -> Iterator[str]:
        if not holder:
            holder.append(compiled(resolved({"$ref": reference})))
        return holder[0](value, where)

    return check


_KEYWORDS: Final = frozenset(
    {"type", "nullable", "enum", "format", "properties", "required", "additionalProperties", "items", "oneOf"}
)


def _parts(schema: Mapping[str, Json]) -> Iterator[Check]:
    if "type" in schema:
        yield _type_check(schema["type"])
    if "enum" in schema:
        yield _enum_check(tuple(schema["enum"]))
    if "format" in schema and schema["format"] not in SIZES:
        yield _format_check(schema["format"])
    if "oneOf" in schema:
        yield _one_of_check([compiled(branch) for branch in schema["oneOf"]])
    if "items" in schema:
        yield _items_check(compiled(schema["items"]))
    if "properties" in schema or "additionalProperties" in schema:
        yield _object_check(schema)


def _type_check(name: str) -> Check:
    types = TYPES[name]

    def check(value: Json, where: str) -> Iterator[str]:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            yield f"{where}: {name} expected, not {type(value).__name__}"

    return check


def _enum_check(allowed: tuple[Json, ...]) -> Check:
    def check(value: Json, where: str) -> Iterator[str]:
        if value not in allowed:
            yield f"{where}: {value!r} is none of {', '.join(map(str, allowed))}"

    return check


def _format_check(name: str) -> Check:
    form = FORMATS[name]

    def check(value: Json, where: str) -> Iterator[str]:
        if isinstance(value, str) and not form.fullmatch(value):
            yield f"{where}: {value!r} is no {name}"

    return check


def _one_of_check(branches: list[Check]) -> Check:
    def check(value: Json, where: str) -> Iterator[str]:
        faults = [list(branch(value, where)) for branch in branches]
        fitting = sum(not found for found in faults)
        if fitting == 0:
            yield from min(faults, key=len)
        elif fitting > 1:
            yield f"{where}: fits {fitting} alternatives where one is wanted"

    return check


def _items_check(item: Check) -> Check:
    def check(value: Json, where: str) -> Iterator[str]:
        if isinstance(value, list):
            for index, element in enumerate(value):
                yield from item(element, f"{where}[{index}]")

    return check


def _object_check(schema: Mapping[str, Json]) -> Check:
    fields = {name: compiled(child) for name, child in schema.get("properties", {}).items()}
    required = schema.get("required", ())
    more = schema.get("additionalProperties", False)
    others = compiled(more) if isinstance(more, dict) else None

    def check(value: Json, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        for name in required:
            if name not in value:
                yield f"{where}: {name} is missing"
        for name, child in value.items():
            field = fields.get(name, others)
            if field is not None:
                yield from field(child, f"{where}.{name}")
            elif more is not True:
                yield f"{where}: {name} is not described"

    return check


def as_json_schema(node: Json, *, strict: bool = False) -> Json:
    """An OpenAPI 3.0 schema as JSON Schema: `nullable` rewritten; with `strict`, no field beyond those described."""
    if isinstance(node, list):
        return [as_json_schema(child, strict=strict) for child in node]
    if not isinstance(node, dict):
        return node
    made = {
        name: {key: as_json_schema(child, strict=strict) for key, child in value.items()}
        if name == "properties"
        else as_json_schema(value, strict=strict)
        for name, value in node.items()
        if name not in (SAYINGS | {"nullable", "enum", "required", "$ref", "type"})
    }
    made |= {name: node[name] for name in ("enum", "required", "$ref", "type") if name in node}
    if strict and "properties" in made:
        made.setdefault("additionalProperties", False)
    return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made


# Operations.


@dataclass(frozen=True)
class Operation:
    """One call of the API: `name` is the method and the path as the description writes it."""

    name: str
    method: str
    template: str
    pattern: re.Pattern[str]
    node: Mapping[str, Json]

    @property
    def parameters(self) -> list[Mapping[str, Json]]:
        return [resolved(parameter) for parameter in self.node.get("parameters", [])]


@cache
def operations() -> list[Operation]:
    """All that the subset describes."""
    return [
        Operation(f"{method.upper()} {template}", method.upper(), template, _pattern(template, node), node)
        for template, methods in description()["paths"].items()
        for method, node in methods.items()
    ]


def _pattern(template: str, node: Mapping[str, Json]) -> re.Pattern[str]:
    parameters = [resolved(parameter) for parameter in node.get("parameters", [])]
    many = {parameter["name"] for parameter in parameters if parameter.get("x-multi-segment")}
    form = ""
    for piece in re.split(r"(\{\w+\})", template):
        name = piece.strip("{}")
        form += re.escape(piece) if name == piece else f"(?P<{name}>{'.+' if name in many else '[^/]+'})"
    return re.compile(form)


def operation_of(method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
    """The operation that a method and a path (as it stands in the URL) call, and the path's parameters, decoded."""
    if path.endswith("/contents"):
        # The root folder: PyGithub leaves the slash out, the site takes both.
        path += "/"
    if path.endswith("/contents/"):
        path += "."
    for operation in operations():
        match = operation.pattern.fullmatch(path)
        if match and operation.method == method:
            return operation, {name: unquote(value) for name, value in match.groupdict().items()}
    return None


def parameter_faults(operation: Operation, values: Mapping[str, str], query: Mapping[str, list[str]]) -> Iterator[str]:
    """What is wrong with the parameters of a request."""
    known = {parameter["name"]: parameter for parameter in operation.parameters if parameter["in"] == "query"}
    for name, given in query.items():
        if name not in known:
            yield f"query.{name}: no parameter of {operation.name}"
        elif len(given) != 1:
            yield f"query.{name}: given {len(given)} times"
        else:
            yield from _parameter_check(operation.name, name)(_read(known[name]["schema"], given[0]), f"query.{name}")
    for name, text in values.items():
        schema = next(one["schema"] for one in operation.parameters if one["name"] == name)
        yield from _parameter_check(operation.name, name)(_read(schema, text), f"path.{name}")
    if "per_page" in query and query["per_page"][-1].isdigit() and not 1 <= int(query["per_page"][-1]) <= 100:
        yield "query.per_page: 1 to 100"


@cache
def _parameter_check(operation: str, name: str) -> Check:
    found = next(one for one in operations() if one.name == operation)
    schema = next(one["schema"] for one in found.parameters if one["name"] == name)
    # A number in a path is a text as well.
    return compiled({"type": "string"} if name == "workflow_id" else schema)


def _read(schema: Mapping[str, Json], text: str) -> Json:
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if schema.get("type") == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def body_faults(operation: Operation, body: Json, raw: bytes) -> Iterator[str]:
    """What is wrong with the body of a request."""
    if "requestBody" not in operation.node:
        if raw:
            yield f"body: {operation.name} takes none"
        return
    yield from _body_check(operation.name)(body, "body")


@cache
def _body_check(operation: str) -> Check:
    found = next(one for one in operations() if one.name == operation)
    return compiled(found.node["requestBody"]["content"]["application/json"]["schema"])


def reply_faults(operation: Operation | None, status: int, media: str, body: Json) -> Iterator[str]:
    """What is wrong with a reply: `body` is None where there is none, a text where it is not JSON."""
    described = "application/json" if media == "application/json" else media.removesuffix("+json")
    check = _reply_check(operation.name if operation else "", status, described)
    if check is None:
        if body is not None:
            yield f"{status} {media}: no such reply is described"
        return
    yield from check(body, "reply")


@cache
def _reply_check(operation: str, status: int, media: str) -> Check | None:
    found = next((one for one in operations() if one.name == operation), None)
    replies = found.node["responses"] if found else {}
    reply = resolved(replies[str(status)]) if str(status) in replies else None
    if reply is not None and status < 400:
        content = reply.get("content", {})
        if media in ("application/vnd.github.diff", "application/vnd.github.raw"):
            # A text of any kind: only some operations list these media types.
            return compiled({"type": "string"})
        schema = content.get(media, {}).get("schema")
        return None if schema is None else compiled(schema)
    if status < 400:
        return None
    return _error_check(reply)


def _error_check(reply: Mapping[str, Json] | None) -> Check:
    """An error has its own schema or one of the two common ones: few operations list the errors they give."""
    schemas = [{"$ref": "#/components/schemas/basic-error"}, {"$ref": "#/components/schemas/validation-error"}]
    if reply is not None and "content" in reply:
        schemas.insert(0, reply["content"]["application/json"]["schema"])
    checks = [compiled(schema) for schema in schemas]

    def check(value: Json, where: str) -> Iterator[str]:
        faults = [list(one(value, where)) for one in checks]
        if all(faults):
            yield from min(faults, key=len)

    return check
