"""The demo: builds the bundled shop and its pull request, and runs the pass twice, without a key and without a network.

python examples/demo/run.py [DIR]     (default: .demo beside the project)
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from build import build  # noqa: E402 (the script stands beside this one)


def main(directory: Path) -> int:
    """Builds, runs and says where everything is; returns the exit code."""
    shop = directory / "shop"
    for ours in (shop, directory / "offline", directory / "replay"):
        shutil.rmtree(ours, ignore_errors=True)
    build(shop)
    _title(f"A shop with a pull request is in {_short(shop)}. First the offline reader: rules, no model")
    failed = _verify(shop, directory / "offline", "offline")
    _title("Now a recorded reply, which was written by hand and by no model")
    failed = failed or _verify(shop, directory / "replay", f"replay:{_short(HERE / 'record.json')}")
    if not failed:
        _title("The whole brief after that reply")
        print((directory / "replay" / "brief.md").read_text())
    for name in ("offline", "replay"):
        print(f"{name}: the whole brief is in {_short(directory / name)}/brief.md (and .json), the record beside it")
    return failed


def _verify(shop: Path, out: Path, reader: str) -> int:
    arguments = ["verify", "--brief", _short(HERE / "brief.json"), "--repo", _short(shop), "--base", "main"]
    arguments += ["--head", "pull", "--reader", reader, "--out", _short(out)]
    print(f"$ verifier {' '.join(arguments)}\n", flush=True)
    code = subprocess.run([sys.executable, "-m", "verifier", *arguments], check=False).returncode
    print(flush=True)
    return code


def _title(text: str) -> None:
    print(f"── {text}\n", flush=True)


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1] / ".demo"))
