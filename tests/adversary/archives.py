"""What an artifact's archive may be: bytes of anybody's (A8)."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any, Final

from tests.action.job import Ended, Project
from tests.adversary.briefs import ALARM, HOSTILE
from tests.adversary.case import Case, Family
from tests.command import brief, document
from tests.servers.github import zip_bomb, zip_of

NAME: Final = "brief.json"
GOOD: Final = document(brief())
OTHER: Final = document(brief(notes=[ALARM]))
ZIP_END: Final = b"PK\x05\x06"


def of(data: bytes) -> dict[str, Any]:
    """A project whose artifact is these bytes."""
    return {"artifact": data}


def refused(name: str, data: bytes, *said: str) -> Case:
    """An archive that is refused: nothing is posted or paid for, and nothing from inside it is told."""
    return Case(name, of(data), status="failed", code=1, comments=0, calls=0, said=said, never=[ALARM])


def lacks_it(name: str, data: bytes, *said: str) -> Case:
    """An archive without the file."""
    told = ["no brief: the artifact holds no file brief.json", *said]
    return Case(name, of(data), status="no-brief", code=1, comments=0, calls=0, said=told, never=[ALARM])


def read(name: str, data: bytes) -> Case:
    """An odd archive whose one brief.json is the brief; nothing else in it is looked at, or lands on the disk."""
    return Case(name, of(data), more=leaves_nothing, never=[ALARM])


def leaves_nothing(subject: Project, ended: Ended) -> None:
    """What a run writes is its own two files, and nothing else, wherever an entry wanted to go."""
    found = {path.relative_to(subject.workspace).as_posix() for path in subject.workspace.rglob("*")}
    assert found == {"verifier-out", "verifier-out/brief.json", "verifier-out/record.json"}
    assert {path.name for path in subject.place.iterdir()} <= {"event.json", "output", "summary", "workspace"}
    assert {path.name for path in subject.path.iterdir()} <= {"brief.json", "runner", "shop", "stdout", "stderr"}


def patched(data: bytes, signature: bytes, offset: int, form: str, value: int) -> bytes:
    """A zip with one field overwritten in the first record of that signature."""
    whole = bytearray(data)
    struct.pack_into(form, whole, whole.index(signature) + offset, value)
    return bytes(whole)


def renamed(old: str, new: bytes) -> bytes:
    """A zip whose one entry is called by these bytes, which no library would write."""
    assert len(old) == len(new)
    return zip_of({old: GOOD}).replace(old.encode(), new)


def zip64() -> bytes:
    """A zip in the large form, whose directory says its places in 64 bits."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(NAME, "w", force_zip64=True) as entry,
    ):
        entry.write(GOOD.encode())
    return made.getvalue()


def tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        entry = tarfile.TarInfo(NAME)
        entry.size = len(OTHER.encode())
        archive.addfile(entry, io.BytesIO(OTHER.encode()))
    return made.getvalue()


def compressed(method: int) -> bytes:
    """A zip in a method that no upload uses, of a brief that would inflate without a bound."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr(NAME, " " * 6_000_000)
    return made.getvalue()


def overlapping() -> bytes:
    """Two names in the directory for one body, the way of bombs that inflate the same bytes again and again."""
    data = bytearray(zip_of({NAME: GOOD, "brief.jsom": OTHER}))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 0)
    return bytes(data)


def other_digest(subject: Project) -> None:
    (artifact,) = subject.github.artifacts.values()
    artifact.digest = "sha256:" + "0" * 64


def strange_digest(digest: str) -> Callable[[Project], None]:
    def arrange(subject: Project) -> None:
        (artifact,) = subject.github.artifacts.values()
        artifact.digest = digest

    return arrange


SLIPS: Final = dict.fromkeys(
    ("../../brief.json", "/brief.json", "a/../brief.json", "./brief.json", "..\\brief.json"), OTHER
)
ODD_NAMES: Final = dict.fromkeys(
    ("BRIEF.JSON", "brief.json ", "brief\u200b.json", "ｂrief.json", "a\\brief.json", HOSTILE[:200]), OTHER
)

ARCHIVES: Final = Family(
    "archives",
    "a method of compression that inflates without a bound",
    (
        read(
            "entries that want to go elsewhere",
            zip_of({NAME: GOOD, **SLIPS}, links={"link": "/etc", "verifier-out": ".."}),
        ),
        lacks_it("only entries that want to go elsewhere", zip_of(SLIPS)),
        lacks_it("names that look like it", zip_of(ODD_NAMES), "BRIEF.JSON"),
        lacks_it("an empty archive", zip_of({}), "it holds none"),
        lacks_it("a folder of that name", zip_of({"brief.json/": b"", "brief.json/brief.json": OTHER})),
        lacks_it("a bomb inside a bomb", zip_of({"inner.zip": zip_bomb(10_000_000)})),
        Case(
            "a link of that name",
            of(zip_of({}, links={NAME: "/etc/passwd"})),
            status="failed",
            code=1,
            comments=0,
            calls=0,
            said=["the brief is not valid: $: expected an object"],
            never=["/etc/passwd", "root:"],
        ),
        refused("the file twice", zip_of({NAME: GOOD}, extra=[(NAME, OTHER.encode())]), "holds brief.json 2 times"),
        refused("encrypted", zip_of({NAME: GOOD}, encrypted=True), "brief.json in the artifact is encrypted"),
        refused("a bomb", zip_bomb(300_000_000), "brief.json in the artifact has more than 5,000,000 bytes"),
        refused(
            "a bomb that says it is small", zip_of({NAME: b" " * 60_000_000}, forged_sizes={NAME: 10}), "the artifact"
        ),
        read("a small file that says it is huge", zip_of({NAME: GOOD}, forged_sizes={NAME: 4_000_000_000})),
        refused("a method that no upload has", compressed(zipfile.ZIP_LZMA), "compressed in a way that no upload does"),
        refused(
            "a method that nobody has",
            patched(patched(zip_of({NAME: GOOD}), b"PK\x01\x02", 10, "<H", 77), b"PK\x03\x04", 8, "<H", 77),
            "compressed in a way",
        ),
        refused(
            "another checksum",
            patched(zip_of({NAME: GOOD}), b"PK\x01\x02", 16, "<I", 7),
            "not a readable zip archive (BadZipFile)",
        ),
        refused(
            "other names in head and directory",
            zip_of({NAME: GOOD}).replace(b"brief.json", b"brief.jsom", 1),
            "not a readable zip",
        ),
        refused("cut in the middle", zip_of({NAME: GOOD}, keep=300), "not a readable zip archive"),
        refused("half an end", ZIP_END + bytes(9), "not a readable zip archive (BadZipFile)"),
        refused(
            "a directory that stands behind the end",
            patched(zip_of({NAME: GOOD}), ZIP_END, 16, "<I", 2**32 - 2),
            "not a readable",
        ),
        refused(
            "a directory of another size", patched(zip_of({NAME: GOOD}), ZIP_END, 12, "<I", 2**31), "not a readable"
        ),
        refused(
            "1,001 files", zip_of({NAME: GOOD} | {f"{at}": b"" for at in range(1_000)}), "holds more than 1,000 files"
        ),
        refused("21 megabytes", b"PK\x03\x04" + bytes(21_000_000), "has more than 20,000,000 bytes"),
        refused("a gzip", gzip.compress(OTHER.encode()), "the brief is not valid: $: expected UTF-8; byte 1 is not"),
        refused("a tar", tar(), "the brief is not valid: $: expected UTF-8"),
        refused("a page of HTML", f"<!doctype html><title>{ALARM}</title>".encode(), "$: expected an object"),
        refused(
            "six megabytes without an archive",
            b"{" + b" " * 6_000_000,
            "is no zip archive, and has more than 5,000,000",
        ),
        refused(
            "something in front of it",
            zip_of({NAME: GOOD}, prefix=b"#!/bin/sh\n"),
            "the brief is not valid: $: expected",
        ),
        read("something behind it", zip_of({NAME: GOOD}) + ALARM.encode()),
        read("the brief itself", GOOD.encode()),
        read("the large form", zip64()),
        read("not compressed", zip_of({NAME: GOOD}, stored=True)),
        read("999 files beside it", zip_of({NAME: GOOD} | {f"{at}": OTHER for at in range(999)})),
        read("two names for one body", overlapping()),
        read("a name that ends at a NUL", renamed("brief.json_x", b"brief.json\0x")),
        lacks_it("a name that is no UTF-8", renamed("brief.json", b"brief.jso\xff")),
        Case(
            "another digest",
            arrange=other_digest,
            status="failed",
            code=1,
            comments=0,
            calls=0,
            said=["does not have the digest"],
        ),
        Case("a digest of another kind", arrange=strange_digest("md5:" + "0" * 32)),
        Case(
            "a hostile digest",
            arrange=strange_digest(f"sha256:{HOSTILE}"),
            status="failed",
            code=1,
            comments=0,
            calls=0,
        ),
    ),
)
