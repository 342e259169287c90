"""What surrounds a pass: configuration and memory, read together from the files at base (S24, S31)."""

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.config import BadConfig, Configured, read_config
from verifier.memory import BadMemory, read_memory
from verifier.verification.model import Dismissal, Settings, Unreadable


@dataclass(frozen=True, slots=True)
class File:
    """A file by the path it is known by; None is a file that is not there."""

    path: str
    data: bytes | Unreadable | None


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings, memory, a sentence for each unknown key, and what kept either from being read (None: nothing).

    `off` says why the pass is off, where it is.
    """

    settings: Settings
    dismissals: Mapping[str, Dismissal]
    warnings: tuple[str, ...]
    trouble: str | None
    off: str


def read_setting(config: File, memory: File) -> Setting:
    """Never raises: what is wrong with either file is the pass's failure (S24), and half a memory is never used.

    The memory of a pass that is off is not looked at (S23).
    """
    trouble: str | None = None
    try:
        configured = read_config(_data(config, BadConfig), config.path)
    except BadConfig as error:
        configured, trouble = Configured(Settings(enabled=True)), f"configuration: {error}"
    dismissals: dict[str, Dismissal] = {}
    if configured.settings.enabled:
        try:
            dismissals = read_memory(_data(memory, BadMemory), memory.path)
        except BadMemory as error:
            trouble = trouble or f"memory: {error}"
    off = f"llm.enabled and llm.verify.enabled are not both true in {config.path}"
    if config.data is None:
        off = f"there is no {config.path} at base"
    return Setting(configured.settings, dismissals, configured.warnings, trouble, off)


def _data(file: File, refuse: type[ValueError]) -> bytes | None:
    if isinstance(file.data, Unreadable):
        raise refuse(f"{file.path} at base cannot be read: it is binary, too large, not UTF-8, or no file")
    return file.data
