"""The configuration: the `llm` part of `.opendrs.yml`, with the line and column of what is wrong (section 9, C1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from verifier.text import one_line
from verifier.verification.model import Settings

CONFIG_PATHS: Final = (".opendrs.yml", ".opendrs.yaml", ".opendrs/config.yml")
_SIZE_LIMIT: Final = 65_536  # of 240 KB nested lists the YAML library makes 15 s of work
_WARNINGS: Final = 20  # each costs a search, and a line of the log
_EXPECTED: Final[Mapping[str, str]] = {
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "string_type": "expected text",
    "model_type": "expected a mapping",
}


class BadConfig(ValueError):
    """A configuration that cannot be used; the message says file, line and column."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", alias_generator=to_camel)


class Verify(_Model):
    """`llm.verify`"""

    enabled: bool = False
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] = 40_000
    timeout_seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 120
    strict_drops: bool = False


class Llm(_Model):
    """`llm`"""

    enabled: bool = False
    provider: Literal["anthropic"] = "anthropic"
    model: Annotated[str, Field(min_length=1, max_length=200)] = "claude-sonnet-5-5"
    effort: Literal["low", "medium", "high", "xhigh", "max"] = "low"
    verify: Verify = Verify()


class Config(_Model):
    """The part of `.opendrs.yml` that is ours; other top-level keys are not."""

    llm: Llm = Llm()


@dataclass(frozen=True, slots=True)
class Configured:
    """What a configuration file comes to: the settings, and a sentence for each key that nobody knows."""

    settings: Settings
    warnings: tuple[str, ...] = ()


def read_config(data: bytes | None, path: str) -> Configured:
    """The settings that the bytes of a configuration file hold; None is a file that is not there.

    Raises BadConfig where it is not YAML, or a value is not of its type and the file does not switch the pass off.
    """
    if data is None:
        return Configured(Settings())
    text = _decoded(data, path)
    tree = _load(text, path, typ="safe")
    if tree is not None and not isinstance(tree, Mapping):
        raise BadConfig(f"{path} line 1, column 1: expected a mapping, such as `llm:`")
    ours = _ours(tree)
    try:
        llm = Config.model_validate(ours).llm
    except ValidationError as error:
        sentence = _sentence(error, text, path)
        if _says_off(ours.get("llm")):
            return Configured(Settings(), (sentence,))
        raise BadConfig(sentence) from None
    settings = Settings(
        enabled=llm.enabled and llm.verify.enabled,
        provider=llm.provider,
        model=llm.model,
        effort=llm.effort,
        max_tokens=llm.verify.max_tokens,
        timeout_seconds=llm.verify.timeout_seconds,
        strict_drops=llm.verify.strict_drops,
    )
    return Configured(settings, tuple(_unknown_keys(ours, text, path)))


def _decoded(data: bytes, path: str) -> str:
    if len(data) > _SIZE_LIMIT:
        raise BadConfig(f"{path} has {len(data)} bytes; a configuration has at most {_SIZE_LIMIT}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path} is not UTF-8 (byte {error.start})") from None


def _load(text: str, path: str, typ: Literal["safe", "rt"]) -> Any:
    from ruamel.yaml import YAML  # most repositories have no such file, and it costs 20 ms
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ=typ, pure=True)
    yaml.composer.warn_double_anchors = False  # else it writes lines of the file to stderr, which is the job's log
    try:
        return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadConfig(f"{path}{place}: not YAML ({one_line(str(error.problem), 120)})") from None
    except RecursionError:
        raise BadConfig(f"{path}: not YAML that can be read (nested too deeply)") from None
    except YAMLError as error:
        raise BadConfig(f"{path}: not YAML ({one_line(str(error), 120)})") from None
    except Exception as error:  # noqa: BLE001 (what no YAML holds, the library meets with errors of any kind)
        said = one_line(f"{type(error).__name__}: {error}", 120)
        raise BadConfig(f"{path}: not YAML that can be read ({said})") from None


def _ours(tree: Any) -> dict[str, Any]:
    """The `llm` part with its empty values left out: `llm:` alone says nothing. A wrong type stays for the model."""
    if not isinstance(tree, Mapping) or tree.get("llm") is None:
        return {}
    llm = tree["llm"]
    if isinstance(llm, Mapping):
        llm = _filled(llm)
        if isinstance(llm.get("verify"), Mapping):
            llm["verify"] = _filled(llm["verify"])
    return {"llm": llm}


def _filled(node: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in node.items() if value is not None}


def _says_off(llm: Any) -> bool:
    """Whether the two switches, read alone, leave the pass off: off comes before every error (section 6)."""
    if not isinstance(llm, Mapping):
        return False
    verify = llm.get("verify", {})
    return llm.get("enabled", False) is False or (isinstance(verify, Mapping) and verify.get("enabled", False) is False)


def _unknown_keys(ours: Mapping[str, Any], text: str, path: str) -> Iterator[str]:
    llm = ours.get("llm", {})
    nodes = ((llm, Llm, ("llm",)), (llm.get("verify", {}), Verify, ("llm", "verify")))
    unknown = [(key, model, trail) for node, model, trail in nodes for key in node if key not in _known(model)]
    if not unknown:
        return
    from difflib import get_close_matches  # a warning is rare

    tree = _load(text, path, typ="rt")
    for key, model, trail in unknown[:_WARNINGS]:
        nearest = get_close_matches(key, _known(model), 1, 0)[0]
        name = one_line(".".join((*trail, key)), 80)
        place = _place(tree, path, (*trail, key))
        yield f"{place}: unknown key {name}; the nearest known one is {'.'.join((*trail, nearest))}"
    if len(unknown) > _WARNINGS:
        yield f"{path}: and {len(unknown) - _WARNINGS:,} more unknown keys"


def _known(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def _sentence(error: ValidationError, text: str, path: str) -> str:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(step) for step in first["loc"])
    said = first["msg"].replace("Input should be", "expected")
    wanted = _EXPECTED.get(first["type"], one_line(said, 120))
    return f"{_place(_load(text, path, typ='rt'), path, first['loc'])}: {name}: {wanted}, not {_shown(first['input'])}"


def _shown(value: Any) -> str:
    """A scalar as it stands; of the rest only what it is, since aliases can make a small file a huge value."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "a list"
    return one_line(repr(value[:60] if isinstance(value, (str, bytes)) else value), 60)


def _place(tree: Any, path: str, trail: tuple[int | str, ...]) -> str:
    """File, line and column of the key of `tree` that `trail` leads to; the deepest that has a place of its own."""
    node, place = tree, path
    for step in trail:
        key = next((key for key in node if str(key) == str(step)), None) if isinstance(node, Mapping) else None
        if key is None or key not in (node.lc.data or {}):  # a merged key stands elsewhere
            break
        line, column = node.lc.key(key)
        place, node = f"{path} line {line + 1}, column {column + 1}", node[key]
    return place
