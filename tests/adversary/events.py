"""What a runner may hand over: events full of strangers' words, inputs, an environment, a workspace (A1, A2, A9)."""

from collections.abc import Callable
from typing import Any, Final

from tests.action.job import Ended, Project
from tests.adversary.briefs import ALARM, HOSTILE, decides
from tests.adversary.case import Case, Family
from tests.command import IDS

WORDS: Final = HOSTILE.replace("\0", "")  # an environment holds no NUL
ELSEWHERE: Final = "http://127.0.0.1:9"  # nobody listens there


def wrong(name: str, *said: str, **more: Any) -> Case:
    """A wrong input or environment: told, and nothing is asked of anybody."""

    def holds(subject: Project, ended: Ended) -> None:
        assert subject.github.requests == []

    known = {"status": "failed", "code": 2, "comments": 0, "calls": 0, "said": said, "more": holds}
    return Case(name, **{**known, **more})


def ends(name: str, status: str, code: int = 0, *said: str, **more: Any) -> Case:
    """A run that ends early, with nothing posted or paid for."""
    return Case(name, **{"status": status, "code": code, "comments": 0, "calls": 0, "said": said, **more})


def works(name: str, **more: Any) -> Case:
    """A run that nothing of this disturbs."""
    return Case(name, **{"more": decides(*IDS), **more})


def payload(source: bytes) -> dict[str, Any]:
    """An event's file with these bytes, and the environment that names it."""

    def arrange(subject: Project) -> None:
        subject.place.mkdir(parents=True, exist_ok=True)
        (subject.place / "odd.json").write_bytes(source)

    return {"arrange": arrange, "env": {"GITHUB_EVENT_PATH": "../odd.json"}}


def changed(change: Callable[[Any], None]) -> Callable[[Project], Any]:
    """The pull request's own event, changed."""

    def event(subject: Project) -> Any:
        made = subject.event()
        change(made)
        return made

    return event


def pull(**fields: Any) -> Callable[[Project], Any]:
    """The event with other fields of its pull request."""
    return changed(lambda event: event["pull_request"].update(fields))


def head(**fields: Any) -> Callable[[Project], Any]:
    """The event with other fields of its pull request's head."""
    return changed(lambda event: event["pull_request"]["head"].update(fields))


def ran(**fields: Any) -> dict[str, Any]:
    """The event of the run that made the brief, with other fields."""

    def event(subject: Project) -> Any:
        made = subject.github.event_workflow_run(subject.made_by)
        made["workflow_run"].update(fields)
        return made

    return {"event": event, "event_name": "workflow_run"}


def hostile_words(event: Any) -> None:
    """Whatever in an event is anybody's text, and nothing decides by."""
    found = event["pull_request"]
    found.update(title=HOSTILE, body=HOSTILE * 100, user={"login": HOSTILE}, base={"ref": HOSTILE, "sha": HOSTILE})
    found["head"].update(ref=HOSTILE, label=HOSTILE, repo=None)
    event.update(sender={"login": HOSTILE}, repository={"full_name": "evil/shop"}, number=HOSTILE, action=HOSTILE)


def second_pull(subject: Project) -> None:
    subject.github.add_pull(subject.pull.base_sha, subject.pull.head_sha, head_repository="acme/shop")


def closed(subject: Project) -> None:
    subject.pull.state = "closed"


def locked(subject: Project) -> None:
    subject.pull.locked = True


def same_branch_elsewhere(subject: Project) -> None:
    """A fork's pull request with the same branch and commit, which is not the one that the run was for."""
    subject.github.add_pull(subject.pull.base_sha, subject.pull.head_sha, head_repository="eve/shop")


def workspace(make: Callable[[Project], None]) -> Callable[[Project], None]:
    def arrange(subject: Project) -> None:
        subject.workspace.mkdir(parents=True, exist_ok=True)
        make(subject)

    return arrange


def file(name: str, content: str | bytes) -> Callable[[Project], None]:
    """A file in the workspace."""

    def make(subject: Project) -> None:
        path = subject.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return workspace(make)


def link(name: str, target: str) -> Callable[[Project], None]:
    return workspace(lambda subject: (subject.workspace / name).symlink_to(target))


def of_workspace(name: str, arrange: Callable[[Project], None], path: str, *said: str, **more: Any) -> Case:
    """A brief that is asked for in the workspace, and is not there."""
    known = {"arrange": arrange, "inputs": {"brief-path": path}, "never": ["root:", ALARM]}
    return ends(name, "no-brief", 1, "no brief: ", *said, **{**known, **more})


PLANTED: Final = f"import sys\nprint('::error::{ALARM}')\nopen('{ALARM}', 'w').close()\nsys.exit(3)\n"
MODULES: Final = ("verifier/__init__.py", "github.py", "requests.py", "json.py", "sitecustomize.py", "usercustomize.py")


def planted(subject: Project) -> None:
    """A workspace full of what a Python, a git or a shell that looks there would run or read."""
    for name in (*MODULES, "pydantic.py", "anthropic/__init__.py", "ruamel/__init__.py", "site-packages/evil.pth"):
        file(name, PLANTED)(subject)
    file(".git/config", f"[core]\n\tfsmonitor = touch {ALARM}\n\tpager = touch {ALARM}\n")(subject)
    file(".netrc", f"machine 127.0.0.1 login eve password {ALARM}\nmachine localhost login eve password {ALARM}\n")(
        subject
    )
    file("pyvenv.cfg", "home = .\n")(subject)
    file(".env", f"ANTHROPIC_API_KEY={ALARM}\n")(subject)
    file(".opendrs.yml", f"llm: {{model: {ALARM}}}\n")(subject)


def nothing_ran(subject: Project, ended: Ended) -> None:
    decides(*IDS)(subject, ended)
    assert not list(subject.path.rglob(ALARM))
    told = [f"{request.headers} {request.raw!r}" for request in subject.github.requests]
    assert not [text for text in told if ALARM in text]
    blobs = [request for request in subject.github.requests if request.host == "blob"]
    assert blobs
    assert not [request for request in blobs if "authorization" in request.headers]


def out_is_a_link(subject: Project) -> None:
    (subject.path / "outside").mkdir()
    link("verifier-out", "../../outside")(subject)


def results_are_links(subject: Project) -> None:
    file("verifier-out/x", "")(subject)
    (subject.path / "outside").write_text("untouched")
    for name in ("brief.json", "record.json"):
        (subject.workspace / "verifier-out" / name).symlink_to("../../../outside")


def links_are_replaced(subject: Project, ended: Ended) -> None:
    decides(*IDS)(subject, ended)
    assert (subject.path / "outside").read_text() == "untouched"
    assert not (subject.workspace / "verifier-out" / "brief.json").is_symlink()


def nothing_outside(subject: Project, ended: Ended) -> None:
    assert not list((subject.path / "outside").iterdir())


def runner_file(name: str, make: str) -> Callable[[Project], None]:
    def arrange(subject: Project) -> None:
        subject.place.mkdir(parents=True, exist_ok=True)
        if make == "folder":
            (subject.place / name).mkdir()

    return arrange


DEEP: Final = b'{"pull_request": ' + b"[" * 200_000
NO_PULL: Final = "the event holds no pull request"

EVENTS: Final = (
    wrong(
        "no event file",
        "GITHUB_EVENT_PATH: the event cannot be read (FileNotFoundError)",
        env={"GITHUB_EVENT_PATH": "gone"},
    ),
    wrong(
        "an event file that is a folder", "the event cannot be read (IsADirectoryError)", env={"GITHUB_EVENT_PATH": "."}
    ),
    wrong("an event that is empty", "the event cannot be read", **payload(b"")),
    wrong("an event that is not JSON", "the event cannot be read", never=[ALARM], **payload(f"{ALARM}: 1\n".encode())),
    wrong("an event that is a list", "the event is not a JSON object", **payload(b"[]")),
    wrong("an event that is too deep", "the event cannot be read (RecursionError)", **payload(DEEP)),
    wrong("an event that is not UTF-8", "the event cannot be read (UnicodeDecodeError)", **payload(b'{"a": "\xff"}')),
    wrong("an event of 30 megabytes", "the event cannot be read", **payload(b'{"a": "' + b"x" * 31_000_000 + b'"}')),
    works("an event of ten megabytes", event=changed(lambda event: event.update(more=["x" * 1_000] * 10_000))),
    wrong(
        "an event with a pull request that is a list",
        NO_PULL,
        event=changed(lambda event: event.update(pull_request=[])),
    ),
    wrong("a number that is a text", NO_PULL, event=pull(number="42")),
    wrong("a number with a fraction", NO_PULL, event=pull(number=42.0)),
    wrong("a number that is true", NO_PULL, event=pull(number=True)),
    ends("a number below nothing", "failed", 1, "GitHub has no pulls/-42", event=pull(number=-42)),
    ends("a number of 4,000 digits", "failed", 1, "GitHub has no pulls/1000", event=pull(number=10**4_000)),
    ends("a number of nobody's", "failed", 1, "GitHub has no pulls/99", event=pull(number=99)),
    wrong("a head that is no text", NO_PULL, event=head(sha=None)),
    ends("a head that is hostile words", "stale", 0, "pull request 42 has moved on from", event=head(sha=HOSTILE)),
    works("hostile words wherever they may be", event=changed(hostile_words)),
    ends("a pull request that was closed", "skipped", 0, "skipped: pull request 42 is closed", arrange=closed),
    ends("a pull request that was locked", "skipped", 0, "skipped: pull request 42 is locked", arrange=locked),
    *(
        wrong(f"an event {name.split()[0]}", "has no pull request: run this on", event_name=name)
        for name in ("pull_request_target", "push", "merge_group", "Pull_Request", f"x{WORDS}")
    ),
    wrong("no event name", "GITHUB_EVENT_NAME is not set", event_name=""),
    wrong("a run's event without anything", "GITHUB_EVENT_PATH: ", event=lambda _: {}, event_name="workflow_run"),
    wrong("a run of a fork that is gone", "of a fork that is gone", **ran(head_repository=None)),
    wrong("a run whose number is true", "the event holds no run", **ran(id=True)),
    wrong("a run whose number is a text", "the event holds no run", **ran(id="5001")),
    ends(
        "a run of hostile words",
        "failed",
        1,
        "expected exactly one open pull request",
        **ran(head_sha=HOSTILE, head_branch=HOSTILE, head_repository={"full_name": HOSTILE}),
    ),
    ends(
        "a run of another repository's commit", "failed", 1, "found 0", **ran(head_repository={"full_name": "eve/shop"})
    ),
    ends("a run that is not there", "failed", 1, "", **ran(id=77)),
    ends("two pull requests of one head", "failed", 1, "found 2", arrange=second_pull, **ran()),
    works("a fork's pull request of the same commit", arrange=same_branch_elsewhere, **ran()),
    works("a run's event that names another pull request", **ran(pull_requests=[{"number": 7}, HOSTILE])),
)

INPUTS: Final = (
    works(
        "white space around everything",
        inputs={"pr-number": " 42\n", "no-llm": "\tfalse ", "if-no-brief": " error\r\n"},
    ),
    wrong(
        "all inputs wrong at once",
        "input pr-number",
        "input run-id",
        "input no-llm",
        "input comment",
        "input if-no-brief",
        "input brief-artifact",
        "input brief-workflow",
        inputs={
            "pr-number": "4.2",
            "run-id": "-1",
            "no-llm": "yes",
            "comment": "1",
            "if-no-brief": WORDS,
            "brief-artifact": f"a/{WORDS}",
            "brief-workflow": "../x.yml",
        },
    ),
    wrong(
        "a number in other digits", "input pr-number: expected a positive whole number", inputs={"pr-number": "４２"}
    ),
    wrong("a number of a thousand digits", "input run-id: expected", inputs={"run-id": "9" * 1_000}),
    wrong(
        "another number than the event's",
        "input pr-number is 43, and the event is about pull request 42",
        inputs={"pr-number": "43"},
    ),
    wrong("a file and a run", "exclude each other", inputs={"brief-path": "brief.json", "run-id": "5001"}),
    wrong("no token", "input github-token is empty", inputs={"github-token": " \n"}),
    ends(
        "a token with a line in it",
        "failed",
        1,
        "",
        inputs={"github-token": f"ghs_{ALARM}\nAuthorization: x"},
        never=[ALARM],
    ),
    ends("a token of signs that no header holds", "failed", 1, "", inputs={"github-token": "ghs_é🎉"}),
    Case(
        "a key with a line in it",
        inputs={"llm-api-key": f"sk-{ALARM}\r\nX-Evil: 1"},
        status="failed",
        calls=0,
        never=[ALARM],
        said=["verifier failed"],
    ),
    Case(
        "a key that is white space", inputs={"llm-api-key": " \t "}, status="failed", calls=0, said=["verifier failed"]
    ),
    Case(
        "an address for the key that is none",
        inputs={"llm-base-url": WORDS},
        status="failed",
        calls=0,
        said=["verifier failed"],
    ),
    Case(
        "an address for the key that is a file",
        inputs={"llm-base-url": "file:///etc/passwd"},
        status="failed",
        calls=0,
        said=["verifier failed"],
        never=["root:"],
    ),
    works(
        "inputs that nobody knows",
        env={"INPUT_" + WORDS[:200].replace("=", ""): "x", "INPUT_LLM_API_KEY": ALARM, "INPUT_PR_NUMBER": "7"},
        never=[ALARM],
    ),
    ends(
        "an artifact with hostile words in its name",
        "no-brief",
        1,
        "no artifact",
        inputs={"brief-artifact": "@ada [x](y) ##[error]z %0A #1"},
    ),
    ends("a file with hostile words in its name", "no-brief", 1, "holds no file", inputs={"brief-file": WORDS}),
    ends("a file of 100,000 characters", "no-brief", 1, "holds no file", inputs={"brief-file": "x" * 100_000}),
    wrong(
        "a workflow with hostile words in its name",
        "input brief-workflow",
        inputs={"brief-workflow": f"{WORDS}.yml"},
        event_name="workflow_dispatch",
    ),
)

ENVIRONMENT: Final = (
    works(
        "proxies for everything",
        env=dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), ELSEWHERE)
        | {"NO_PROXY": "127.0.0.1,localhost"},
    ),
    works(
        "variables that lead the key elsewhere",
        env={
            "ANTHROPIC_BASE_URL": ELSEWHERE,
            "ANTHROPIC_AUTH_TOKEN": ALARM,
            "ANTHROPIC_API_KEY": ALARM,
            "ANTHROPIC_CUSTOM_HEADERS": f"X-Evil: {ALARM}",
            "ANTHROPIC_LOG": "debug",
        },
        never=[ALARM],
    ),
    works(
        "variables that lead the token elsewhere",
        env={
            "GITHUB_SERVER_URL": ELSEWHERE,
            "GITHUB_GRAPHQL_URL": ELSEWHERE,
            "GH_HOST": "evil.example",
            "GITHUB_TOKEN": ALARM,
            "NETRC": ".netrc",
        },
        never=[ALARM],
    ),
    works(
        "variables that change what Python runs",
        arrange=workspace(planted),
        env={
            "PYTHONPATH": ".",
            "PYTHONSTARTUP": "json.py",
            "PYTHONHOME": "/nonexistent",
            "PYTHONINSPECT": "1",
            "PYTHONDEBUG": "1",
            "PYTHONWARNINGS": "error",
            "PYTHONUSERBASE": ".",
        },
        more=nothing_ran,
    ),
    works(
        "variables that change what git and others do",
        env={
            "GIT_DIR": "/nonexistent",
            "GIT_SSH_COMMAND": "false",
            "SSLKEYLOGFILE": "keys",
            "REQUESTS_CA_BUNDLE": "gone",
            "CURL_CA_BUNDLE": "gone",
            "TZ": "\ufeff/evil",
            "LANG": "tr_TR.ISO-8859-9",
            "PYDANTIC_DISABLE_PLUGINS": "0",
        },
    ),
    works("a workspace full of traps", arrange=workspace(planted), more=nothing_ran, env={"HOME": "."}),
    wrong("no repository", "GITHUB_REPOSITORY is not set", env={"GITHUB_REPOSITORY": ""}),
    wrong(
        "a repository of three parts",
        "GITHUB_REPOSITORY: expected owner/name",
        env={"GITHUB_REPOSITORY": "acme/shop/pulls"},
    ),
    wrong(
        "a repository that leads elsewhere", "GITHUB_REPOSITORY: expected owner/name", env={"GITHUB_REPOSITORY": "../x"}
    ),
    wrong("a run that is no number", "GITHUB_RUN_ID: expected a number", env={"GITHUB_RUN_ID": WORDS}),
    wrong("an address of GitHub's that is a file", "GITHUB_API_URL", env={"GITHUB_API_URL": "file:///etc/passwd"}),
    wrong("an address of GitHub's that is words", "GITHUB_API_URL", env={"GITHUB_API_URL": WORDS}),
    wrong(
        "an address of GitHub's with a name in it",
        "GITHUB_API_URL",
        env={"GITHUB_API_URL": f"https://eve:{ALARM}@127.0.0.1:9/"},
        never=[ALARM],
    ),
    ends(
        "an address of GitHub's where nobody is",
        "failed",
        1,
        "GitHub could not be reached",
        env={"GITHUB_API_URL": ELSEWHERE},
    ),
    Case(
        "outputs that are a folder",
        env={"GITHUB_OUTPUT": "."},
        status=None,
        code=1,
        said=["the outputs could not be written"],
    ),
    Case(
        "a summary that is a folder",
        env={"GITHUB_STEP_SUMMARY": "."},
        code=1,
        said=["the job summary could not be written"],
    ),
    Case("outputs and summary nowhere", env={"GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": ""}, status=None),
    Case(
        "a folder for results that is a link",
        arrange=out_is_a_link,
        code=1,
        said=["the result files could not be written"],
        more=nothing_outside,
    ),
    Case(
        "a folder for results that is a file",
        arrange=file("verifier-out", ALARM),
        code=1,
        said=["the result files could not be written"],
    ),
    Case("results that are links", arrange=results_are_links, more=links_are_replaced),
    Case(
        "a workspace that is not there",
        env={"GITHUB_WORKSPACE": "gone"},
        code=1,
        said=["the result files could not be written"],
    ),
    of_workspace(
        "a brief that is a link outside", link("b.json", "/etc/passwd"), "b.json", "leads out of the workspace"
    ),
    of_workspace("a brief that is a link to itself", link("b.json", "b.json"), "b.json", "cannot be read"),
    of_workspace(
        "a brief above the workspace", workspace(lambda _: None), "../event.json", "leads out of the workspace"
    ),
    of_workspace("a brief on the disk", workspace(lambda _: None), "/etc/passwd", "leads out of the workspace"),
    of_workspace("a brief that is a folder", workspace(lambda _: None), ".", "Is a directory"),
    of_workspace("a brief that is a device", link("b.json", "/dev/zero"), "b.json", "leads out of the workspace"),
    of_workspace("a brief with hostile words in its name", workspace(lambda _: None), WORDS, "cannot be read"),
    ends(
        "a brief of six megabytes",
        "failed",
        1,
        "has more than 5,000,000 bytes",
        arrange=file("b.json", " " * 6_000_000),
        inputs={"brief-path": "b.json"},
    ),
    ends(
        "a brief that is a secret",
        "failed",
        1,
        "$: expected an object",
        arrange=file("b.json", ALARM),
        inputs={"brief-path": "b.json"},
        never=[ALARM],
    ),
)

EVENTS_AND_ENVIRONMENT: Final = Family(
    "events and environment", "a link in the workspace that is followed", (*EVENTS, *INPUTS, *ENVIRONMENT)
)
