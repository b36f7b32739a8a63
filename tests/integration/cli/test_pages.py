#!/usr/bin/env python3
"""What the pages show is what the program prints: every block ```console of them is run and compared.

A block ```yaml or ```json whose first line is "# NAME" is written to the file NAME first. In a block ```console a line
"$ COMMAND" is run by bash on a terminal of 80 columns, in the page's own folder; the lines below it are its output, where …
stands for anything. A page with the comment <!-- cluster --> has the cluster of page_cluster.py as its ~/.kube/config; a question
to the program is asked there again until it is answered as the page says. Commands of a block ```sh are run where
tests/page_claims.py says, here those that need this program and a cluster alone; `code` must be commands that exist, with options
that they have. A page below docs/zh is its twin in Chinese: same headings, same blocks, same commands.

    test_pages.py PROGRAM [--print] [PAGE...]      --print also shows what every command prints, for whoever writes a page
"""
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import fcntl

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests" / "e2e"), str(pathlib.Path(__file__).parent)]
import scratch  # noqa: E402
from page_cluster import PageCluster  # noqa: E402
from page_commands import Share  # noqa: E402
from page_words import check_links, check_troubles, check_twin, check_words  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
QUESTION = re.compile(r"ops-pod-cleaner (status|history|plan|explain|show|log-level)\b")
# Pages for operators and for the owners of workloads: each has its twin in Chinese.
TWINS = {"README.md", "quick-start.md", "pod.md", "troubleshooting.md", "upgrade.md", "faq.md", "moving-over.md", "reasons.md",
         "configuration.md", "without-a-daemon.md"}
SHARE = Share("pages")
PATIENCE = 30       # seconds in which a question gets its answer

# Where the pages' commands find the running program, whoever runs the test.
WRAPPER = """#!/bin/bash
case "$*" in
*" --config "* | *" --kubeconfig "* | *" --context "*) [[ $1 == run ]] || exec {program} "$@" ;;     # these ask no instance
esac
case "$1" in
run) exec {program} "$@" --state-dir {folder}/state --control-socket {folder}/control.sock ;;
{asking}) exec {program} "$@" --control-socket {folder}/control.sock ;;
*) exec {program} "$@" ;;
esac
"""


def verbs_that_ask():
    """The commands that have --control-socket, by their own help."""
    names = re.findall(r"^  ([\w-]+) ", subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout, re.M)
    return [n for n in names if n != "run" and "--control-socket" in
            subprocess.run([PROGRAM, n, "--help"], capture_output=True, text=True, check=False).stdout]


class Session:
    """One shell on a terminal of 80 columns: `echo $?` is that of the command before."""

    def __init__(self, folder):
        (folder / "bin").mkdir()
        wrapper = folder / "bin" / "ops-pod-cleaner"
        wrapper.write_text(WRAPPER.format(program=PROGRAM, folder=folder, asking="|".join(verbs_that_ask())))
        wrapper.chmod(0o755)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1",
               "TZ": "UTC", **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}
        self.shell = scratch.start(["bash"], cwd=folder, stdin=subprocess.PIPE, stdout=slave, stderr=slave, env=env)
        os.close(slave)

    def run(self, command):
        """What the command prints."""
        self.shell.stdin.write(f"{command}\ncode=$?; printf '\\036'; (exit $code)\n".encode())
        self.shell.stdin.flush()
        text, end = b"", time.monotonic() + 20
        while not text.endswith(b"\x1e"):
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                return text.decode() + "(goes on after 20 s)"
            text += os.read(self.master, 65536)
        return re.sub(r"[^\n]*\r(\x1b\[K)?", "", text[:-1].decode().replace("\r\n", "\n"))      # progress that was erased

    def close(self):
        self.shell.stdin.write(b"kill %% 2>/dev/null; wait\nexit\n")
        self.shell.stdin.close()
        while True:
            try:
                if not os.read(self.master, 65536):
                    break
            except OSError:
                break
        os.close(self.master)
        self.shell.wait(30)


def pages():
    """README and everything below docs, with their twins."""
    for path in [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]:
        twin = TOP / "README.zh.md" if path.name == "README.md" else TOP / "docs" / "zh" / path.name
        yield path, path.read_text(), twin


def calls(text):
    """(command, expected output) of one block."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more
        yield command, expected


def differs(expected, printed):
    pattern = ".*?".join(re.escape(part) for part in tidy(expected).split("…"))
    return not re.fullmatch(pattern, tidy(printed), re.S)


def tidy(text):
    """Without what depends on how long a folder's name or a version is: where a long line was broken, and blanks at its end."""
    return re.sub(r"(?<=\S)\n {4,}(?=\S)", " ", re.sub(r" +$", "", text, flags=re.M)).strip()


def answer(session, command, expected, patient):
    """What it prints; of a question to a cluster, when it has become what the page says."""
    end = time.monotonic() + PATIENCE
    while True:
        printed = session.run(command)
        if not differs(expected, printed) or not patient or not QUESTION.search(command) or time.monotonic() > end:
            return printed
        time.sleep(0.2)


def check_shown(text):
    folder = scratch.folder("page")
    cluster, session = None, None
    try:
        if (with_cluster := "<!-- cluster -->" in text):
            cluster = PageCluster(folder / "server", PROGRAM.parents[1])
            (folder / ".kube").mkdir()
            (folder / ".kube" / "config").write_text(cluster.kubeconfig())
        session = Session(folder)
        for kind, body in BLOCK.findall(text):
            if kind == "console":
                for command, expected in calls(body):
                    got = answer(session, command, expected, with_cluster)
                    if "--print" in sys.argv:
                        print(f"$ {command}\n{got}", end="", flush=True)
                    if differs(expected, got):
                        yield f"$ {command}\n--- the page says\n{expected}--- it prints\n{got}"
            elif re.match(r"# [\w.-]+\n", body):
                if cluster:
                    body = body.replace("https://open.feishu.cn/open-apis/bot/v2/hook/0123", cluster.sink.url)
                (folder / body.split("\n", 1)[0][2:]).write_text(body)
    finally:
        if session:
            session.close()
        if cluster:
            cluster.close()


def check_typed(page):
    """What stands in a block ```sh, and is this test's: it ends well."""
    if not SHARE.of(page):
        return
    folder = scratch.folder("typed")
    cluster = PageCluster(folder / "server", PROGRAM.parents[1])
    try:
        (folder / ".kube").mkdir()
        (folder / ".kube" / "config").write_text(cluster.kubeconfig())
        (folder / "deploy").symlink_to(TOP / "deploy")
        for command in SHARE.of(page):
            done = subprocess.run(["bash", "-c", SHARE.typed(command)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  env={**os.environ, "HOME": str(folder), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})
            if done.returncode:
                yield f"$ {command.text}\nexit {done.returncode}: {done.stdout}{done.stderr}"
    finally:
        cluster.close()


def check(path, text, twin):
    yield from check_typed(str(path.relative_to(TOP)))
    if "```console" in text:
        yield from check_shown(text)
    yield from check_words(PROGRAM, TOP, text)
    yield from check_links(path.parent, text)
    if path.name == "troubleshooting.md":
        yield from check_troubles(TOP, text)
    if path.name in TWINS and not twin.exists():
        yield f"{twin.relative_to(TOP)} is missing"
    elif twin.exists():
        yield from (f"{twin.relative_to(TOP)}: {e}" for e in check_twin(text, twin.read_text()))
        yield from check_words(PROGRAM, TOP, twin.read_text())
        yield from check_links(twin.parent, twin.read_text())


def main():
    passed, failed = 0, 0
    os.umask(0o077)
    only = [a for a in sys.argv[2:] if a != "--print"]
    for path, text, twin in pages():
        if only and path.name not in only:
            continue
        found = list(check(path, text, twin))
        passed += not found
        failed += len(found)
        print("\n".join(f"{path.relative_to(TOP)}: {e}" for e in found) or f"ok {path.relative_to(TOP)}", flush=True)
    if not only:
        SHARE.check_all_ran()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or passed == 0)


main()
