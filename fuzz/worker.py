"""One target against made-up inputs, in a process of its own; what fuzz/run.py starts.

    python fuzz/worker.py NAME FOLDER SECONDS SEED

Under atheris, where it is installed, coverage decides which inputs are changed further; without it they are changed
blindly. The folder gets the input that something was found with; what is printed is in libFuzzer's own form.
"""

import importlib
import importlib.util
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SLOW_SECONDS: Final = 1.0  # of CPU: the longest inputs that are made up here are a hundredth of those that come
HUNG_SECONDS: Final = 20
MEGABYTES: Final = 1_024


def timely(holds: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """`holds`, failing where an input takes it too long."""

    def check(data: bytes) -> None:
        start = time.process_time()
        holds(data)
        took = time.process_time() - start
        assert took < SLOW_SECONDS, f"{took:.1f} s for {len(data)} bytes"

    return check


def guided(name: str, folder: Path, seconds: int, seed: int) -> None:
    """libFuzzer over the instrumented package. It ends the process."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["verifier"]):
        from fuzz.forms import FORMS, seeds
        from fuzz.targets import TARGETS

        TARGETS[name](b"")  # what is imported late is instrumented, too
    form = FORMS[name]
    (folder / "seeds").mkdir()
    for at, sown in enumerate(seeds(name)):
        (folder / "seeds" / f"{at}").write_bytes(sown)
        TARGETS[name](sown)  # a seed must hold before anything is measured: caches, lazy imports

    def mutate(data: bytes, longest: int, chosen: int) -> bytes:
        chance = random.Random(chosen)
        if chance.random() < 0.25:
            return bytes(atheris.Mutate(data, longest))
        return form.mutate(data, chance)[:longest]

    options = [f"-seed={seed}", f"-max_total_time={seconds}", f"-max_len={form.longest}", f"-rss_limit_mb={MEGABYTES}"]
    options += [f"-timeout={HUNG_SECONDS}", f"-artifact_prefix={folder}/found-", "-print_final_stats=1"]
    if form.words:
        words = folder / "words"
        words.write_text("\n".join(_quoted(word) for word in form.words if word))
        options.append(f"-dict={words}")
    atheris.Setup(
        [sys.argv[0], *options, str(folder / "seeds")],
        timely(TARGETS[name]),
        custom_mutator=mutate,
        internal_libfuzzer=True,
    )
    atheris.Fuzz()


def _quoted(word: str) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "replace")) + '"'


def blind(name: str, folder: Path, seconds: int, seed: int) -> None:
    """Random changes of the seeds, and of what they came to."""
    from fuzz.forms import FORMS, seeds
    from fuzz.targets import TARGETS

    form, check = FORMS[name], timely(TARGETS[name])
    for sown in seeds(name):
        TARGETS[name](sown)
    chance = random.Random(seed)
    pool = [*seeds(name), b""]
    runs, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = form.mutate(chance.choice(pool), chance)[: form.longest]
        (folder / "now").write_bytes(data)  # should it never come back
        runs += 1
        try:
            check(data)
        except Exception:  # noqa: BLE001 (whatever a parser never declared is what is looked for)
            (folder / "found-").write_bytes(data)
            traceback.print_exc()
            break
        if chance.random() < 0.05:
            pool.append(data)
    print(f"stat::number_of_executed_units: {runs}", file=sys.stderr)


if __name__ == "__main__":
    warnings.simplefilter("error")  # a warning is written to the log, which is a place of its own
    is_guided = importlib.util.find_spec("atheris") is not None
    (guided if is_guided else blind)(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
