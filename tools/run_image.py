"""Builds the image, looks into it, and runs it once as a runner does, against a fake GitHub and a scripted model.

    python tools/run_image.py

With docker where an engine answers, else with buildah (tools/build-image makes the image then). Prints what was checked
and the megabytes over the base; the first thing that is wrong ends it with exit code 1.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

# The project that this file stands in, not one that is installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.action.job import Project, on_runner, project, read_outputs
from tests.command import answers, says
from tests.servers.github import FakeGitHub
from tests.servers.model import ModelServer, ok
from verifier.comment import MARKER

ROOT: Final = Path(__file__).resolve().parents[1]
TAG: Final = "verifier:check"
HOME: Final = "/opt/verifier"
# What an engine writes into every container.
ENGINE: Final = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/mtab", "/.dockerenv")
# Every file of the image: its size and, of compiled ones, how Python treats them; what pip noted; bytecode's name.
LISTING: Final = """
import glob, json, os, sys
files = {}
for folder, folders, names in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev", "run", "github")]
    for name in names:
        path = os.path.join(folder, name)
        flags = open(path, "rb").read(8)[4] if name.endswith(".pyc") else None
        files[path] = [os.lstat(path).st_size, flags]
records = {path: open(path).read() for path in glob.glob("/opt/verifier/*.dist-info/RECORD")}
print(json.dumps({"files": files, "records": records, "tag": sys.implementation.cache_tag}))
"""
UNCHECKED_HASH: Final = 0b01  # flags of bytecode that is used without a look at its source
# Modules that the program imports, or that any interpreter imports at its start: none may come from the workspace.
PLANTED: Final = (
    "json.py",
    "github/__init__.py",
    "requests/__init__.py",
    "pydantic/__init__.py",
    "anthropic/__init__.py",
    "verifier/__init__.py",
    "sitecustomize.py",
    "usercustomize.py",
)
RAN: Final = "RAN"
PLANT: Final = f'open("/github/workspace/{RAN}", "a").write(__name__ + "\\n")\n'


class Wrong(Exception):
    """Something about the image is not as it must be."""


def check(true: bool, what: str, seen: object = "") -> None:
    """Says that `what` is so. Raises Wrong where it is not, with what was seen instead."""
    if not true:
        raise Wrong(f"{what}: not so. {seen}")
    print(f"run-image: {what}", flush=True)


# An image, by either engine.

Run = Callable[[Sequence[str], Mapping[str, str], Path], subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class Image:
    """A built image: its entrypoint, and how commands are run in it and in its base.

    `run(command, environment, folder)` runs in /github/workspace with this host's network; `folder` is /github.
    """

    entrypoint: list[str]
    run: Run
    run_base: Run


def with_docker() -> Image:
    """The image, built and run by the docker engine."""
    _done(["docker", "build", "--quiet", "--tag", TAG, str(ROOT)])
    entrypoint = json.loads(_done(["docker", "image", "inspect", "--format", "{{json .Config.Entrypoint}}", TAG]))

    def running(image: str) -> Run:
        def run(
            command: Sequence[str], environment: Mapping[str, str], folder: Path
        ) -> subprocess.CompletedProcess[str]:
            # By name only, as a runner does it: a name may hold a hyphen, and no value stands in the process list.
            names = [word for name in environment for word in ("--env", name)]
            first, *rest = command
            start = ["docker", "run", "--rm", "--network", "host", "--workdir", "/github/workspace"]
            mount = ["--volume", f"{folder}:/github", "--entrypoint", first]
            return _ran([*start, *mount, *names, image, *rest], {**os.environ, **environment})

        return run

    return Image(entrypoint, running(TAG), running(_base()))


def with_buildah() -> Image:
    """The image, built by tools/build-image and run without an engine."""
    os.environ |= {"STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}
    _done([str(ROOT / "tools" / "build-image"), str(ROOT)])
    image = f"localhost/{TAG}"
    inspected = json.loads(_done(["buildah", "inspect", "--type", "image", image]))
    entrypoint = inspected["OCIv1"]["config"]["Entrypoint"]

    def running(image: str) -> Run:
        def run(
            command: Sequence[str], environment: Mapping[str, str], folder: Path
        ) -> subprocess.CompletedProcess[str]:
            container = _done(["buildah", "from", "--pull-never", image]).strip()
            try:
                given = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
                where = ["--workingdir", "/github/workspace", "--volume", f"{folder}:/github"]
                return _ran(["buildah", "run", *where, *given, container, "--", *command], os.environ)
            finally:
                _done(["buildah", "rm", container])

        return run

    return Image(entrypoint, running(image), running(f"docker.io/library/{_base()}"))


def _base() -> str:
    (found,) = re.findall(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    return str(found)


def _ran(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)


def _done(command: Sequence[str]) -> str:
    """What a command prints; it must not fail, and what it says on stderr is shown."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=1800).stdout


# What is in it.


def look_inside(image: Image, folder: Path) -> None:
    """Checks entrypoint and contents."""
    start, *options, script = image.entrypoint
    exec_form = start.startswith("/") and "-I" in options and script == f"{HOME}/entrypoint.py"
    check(exec_form, f"entrypoint: {' '.join(image.entrypoint)}", "expected an absolute, isolated interpreter")

    listed = _listed(image.run, folder)
    files, records = listed["files"], listed["records"]
    base = _listed(image.run_base, folder)["files"]
    check(start in files, f"the interpreter {start} is in the image")
    added = {path: size for path, (size, _) in files.items() if path not in base and path not in ENGINE}
    outside = [path for path in added if not path.startswith(f"{HOME}/")]
    check(not outside, f"the image adds files to {HOME} alone: no cache, no build tools", outside[:20])

    pinned = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements/run.txt").read_text(), re.MULTILINE))
    there = dict(_distribution(path) for path in records)
    check(
        there == pinned,
        f"it holds what requirements/run.txt pins: {len(pinned)} packages",
        there.items() ^ pinned.items(),
    )

    tracked = _done(["git", "-C", str(ROOT), "ls-files", "verifier", "entrypoint.py"]).splitlines()
    ours = {f"{HOME}/{path}" for path in tracked}
    theirs = {f"{HOME}/{line.rsplit(',', 2)[0]}" for text in records.values() for line in text.splitlines()}
    sources = {path for path in added if "/__pycache__/" not in path}
    check(ours <= sources, f"it holds all {len(ours)} files of verifier", sorted(ours - sources))
    check(sources <= ours | theirs, "it holds no other file: no tests, no tools", sorted(sources - ours - theirs)[:20])
    tests = [path for path in ours & sources if re.search(r"/tests?/|/test_[^/]*$|/conftest\.py$", path)]
    check(not tests, "none of its own files is a test", tests)

    modules = [path for path in sources if path.endswith(".py")]
    plain = [path for path in modules if (files.get(_compiled(path, listed["tag"])) or [0, None])[1] != UNCHECKED_HASH]
    check(not plain, f"all {len(modules)} modules are compiled, and the bytecode is not checked at a start", plain[:20])
    print(f"run-image: {sum(added.values()) / 1e6:.0f} MB over the base", flush=True)


def _listed(run: Run, folder: Path) -> Any:
    """What LISTING says of an image."""
    done = run(["/usr/local/bin/python3", "-I", "-B", "-c", LISTING], {}, folder)
    if done.returncode:
        raise Wrong(f"the container could not be looked into: {done.stderr}")
    return json.loads(done.stdout)


def _distribution(record: str) -> tuple[str, str]:
    name, _, version = record.split("/")[-2].removesuffix(".dist-info").rpartition("-")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def _compiled(path: str, tag: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.py')}.{tag}.pyc"


# What it does.


def run_once(image: Image, directory: Path) -> None:
    """Runs the image on the shop's pull request, with modules planted in the workspace, and checks what it leaves."""
    with ExitStack() as stack:
        subject = project(directory, lambda repo: stack.enter_context(FakeGitHub(repo)))
        model = stack.enter_context(ModelServer([ok(answers(lambda *_: says("keep")))]))
        folder = directory / "github"
        (folder / "home").mkdir(parents=True)
        variables = _in_container(on_runner(subject, folder, model), folder)
        for name in PLANTED:
            file = folder / "workspace" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(PLANT)
        done = image.run(image.entrypoint, variables, folder)
        check(done.returncode == 0, "the container exits with 0", done.stdout + done.stderr)
        _check_run(subject, model, folder, done.stdout + done.stderr)
        # The same place without isolation, so that it is known that the trap works.
        image.run(["/usr/local/bin/python3", "-c", "import json"], variables, folder)
        check((folder / "workspace" / RAN).exists(), "without isolation one would have been")


def _in_container(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The variables that a runner passes on, paths as they are in the container; and one that a job may well have."""
    passed = {name: value for name, value in variables.items() if re.match("(GITHUB|INPUT|RUNNER)_", name)}
    inside = {name: value.replace(str(folder), "/github", 1) for name, value in passed.items()}
    return {**inside, "HOME": "/github/home", "CI": "true", "PYTHONPATH": "/github/workspace"}


def _check_run(subject: Project, model: ModelServer, folder: Path, log: str) -> None:
    outputs = read_outputs(folder / "output")
    check(outputs.get("status") == "verified", "the outputs say: verified", outputs or log)
    bodies = subject.comment_bodies()
    check(len(bodies) == 1 and bodies[0].startswith(MARKER), "one comment is on the pull request", bodies)
    check("[verified · new]" in bodies[0], "its facts are marked")
    check("createSession" in (folder / "summary").read_text(), "the job summary holds the brief")
    written = [folder / "workspace" / outputs[name] for name in ("brief", "record")]
    check(all(json.loads(file.read_text()) for file in written), "brief and record are in the workspace")
    wrong: Collection[str] = [*subject.github.violations, *model.violations]
    check(len(model.requests) == 1 and not wrong, "the servers got what they take, the model one request", wrong)
    ran = folder / "workspace" / RAN
    check(not ran.exists(), "no planted module was imported", ran.exists() and ran.read_text())


def main() -> int:
    """Builds, looks, runs; returns the exit code."""
    engine = shutil.which("docker") and _ran(["docker", "info"], os.environ).returncode == 0
    try:
        image = with_docker() if engine else with_buildah()
        # What the container writes belongs to root.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            place = Path(directory)
            (place / "empty" / "workspace").mkdir(parents=True)
            look_inside(image, place / "empty")
            run_once(image, place)
    except Wrong as error:
        print(f"run-image: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
