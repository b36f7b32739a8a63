#!/usr/bin/env python3
"""deploy/image/pack with small programs: what it makes of them is whole, and the same whenever it is made.

Usage: test_pack.py [CASE...]
"""
import os
import pathlib
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS / "image")]
sys.dont_write_bytecode = True
import archive  # noqa: E402
import cases  # noqa: E402
import scratch  # noqa: E402

LIBRARIES = ("ssl", "sqlite3", "event_core")
COMMIT = 1700000000     # the time of it


def pack(folder):
    """An image of programs that are nothing but their name."""
    build, out = folder / "build", folder / "out"
    (build / "generated").mkdir(parents=True)
    (build / "generated" / "build_id.h").write_text(
        f'#define OPC_VERSION  "{archive.version()}"\n#define OPC_REVISION "unknown"\n#define OPC_BUILD_ID "1"\n')
    paths = [subprocess.run(["gcc", f"-print-file-name=lib{name}.a"], check=True, capture_output=True, text=True).stdout.strip() for name in LIBRARIES]
    (build / "build.ninja").write_text(f"  LINK_LIBRARIES = base/libopc_base.a  {'  '.join(paths)}  /somewhere/curl/lib/libcurl.a\n")
    for name in archive.PROGRAMS:
        (out / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (out / "root" / name).write_bytes(b"\x7fELF" + name.encode())
    subprocess.run([archive.TOP / "deploy" / "image" / "pack", build, out], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(COMMIT)})
    return archive.Image(out)


def the_same_bytes_at_another_time():
    """Another second, another folder, another mask of modes, another zone."""
    first = pack(scratch.folder("pack"))
    time.sleep(1.1)     # all that a clock could leave in the file counts in seconds
    old, os.environ["TZ"] = os.umask(0o077), "Asia/Shanghai"
    try:
        second = pack(scratch.folder("pack-another"))
    finally:
        os.umask(old)
    assert first.path.read_bytes() == second.path.read_bytes()
    assert {m.mtime for m in first.members} == {COMMIT}


def is_an_oci_layout():
    archive.is_an_oci_layout(image)


def is_what_docker_loads():
    archive.is_what_docker_loads(image)


def runs_as_nobody_in_particular():
    settings = image.config["config"]
    assert settings["User"] == f"{archive.USER}:{archive.USER}" and settings["Entrypoint"] == [f"/usr/bin/{archive.NAME}"], settings
    assert set(settings["Volumes"]) == {f"/{folder}" for folder in archive.OWN_FOLDERS}, settings


def holds_what_it_needs_and_nothing_else():
    archive.holds_what_it_needs_and_nothing_else(image)


def belongs_to_root_but_for_its_folders():
    archive.belongs_to_root_but_for_its_folders(image)


def has_a_bill_of_materials():
    archive.has_a_bill_of_materials(image)


def names_the_commit_and_its_time():
    labels = image.config["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == archive.version(), labels
    assert labels["org.opencontainers.image.created"] == image.config["created"] == "2023-11-14T22:13:20Z", labels


if __name__ == "__main__":
    image = pack(scratch.folder("pack-image"))
    cases.run([the_same_bytes_at_another_time, is_an_oci_layout, is_what_docker_loads, runs_as_nobody_in_particular,
               holds_what_it_needs_and_nothing_else, belongs_to_root_but_for_its_folders, has_a_bill_of_materials,
               names_the_commit_and_its_time], sys.argv[1:])
