"""The container's start: one call into verifier.action."""

import gc
import os
import sys
from pathlib import Path


def start() -> None:
    """Runs the Action and ends at once: a provider's thread may still wait on its socket (S28)."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    gc.disable()  # a run lives for seconds, and a fifth of the SDK's import is the collector's
    # isolated mode leaves out the script's own folder, where the image has everything
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from verifier.action.main import main

    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    start()
