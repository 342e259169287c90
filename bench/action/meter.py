"""Runs a command and writes what it took to a file, as JSON; exits with the command's code.

    python -I -S meter.py RESULT COMMAND...

A small process of its own: a child starts out with its parent's peak memory, so the parent must be small.
"""

import json
import os
import sys
import time


def main(result: str, *command: str) -> int:
    """Runs `command`; `result` gets monotonic start and end, and the CPU seconds and peak memory of the process."""
    started = time.monotonic()
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    ended = time.monotonic()
    found = {"started": started, "ended": ended, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024}
    with open(result, "w") as file:  # noqa: PTH123 (pathlib would make this process larger)
        json.dump(found, file)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
