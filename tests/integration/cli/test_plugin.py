#!/usr/bin/env python3
"""`kubectl ops_pod_cleaner`: which pod it asks, what it hands on, and what it says when that is not possible. kubectl is played."""
import os
import pathlib
import subprocess
import sys
import unicodedata

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "tests"))
import cases  # noqa: E402
import scratch  # noqa: E402

PLUGIN = TOP / "cli" / "kubectl-ops_pod_cleaner"
HOME = scratch.folder("plugin")
# Writes down what it was called with, a word a line; says what files name pods, lease and exec hold, and ends as NAME.code says.
KUBECTL = """#!/bin/sh
printf '%s\\n' "$@" -- >>"$HOME/calls"
for word in "$@"; do
	case $word in get | exec) verb=$word ;; --) break ;; pods) verb=pods ;; leases*) verb=lease ;; *-replica-1) verb=replicas ;; esac
	case $word in a-*) pod=$word ;; esac
done
case " $* " in *" --with-answers "*) cat >"$HOME/given" ;; esac
[ ! -e "$HOME/$pod.code" ] || exit "$(cat "$HOME/$pod.code")"
[ ! -e "$HOME/$verb" ] || cat "$HOME/$verb"
[ ! -e "$HOME/$verb.code" ] || { echo "error: forbidden $verb" >&2; exit "$(cat "$HOME/$verb.code")"; }
"""


def call(*args, pods="", lease="", replicas="", answer="", codes=None, path=None, stdin="", env=None):
    """(exit code, stdout, stderr, calls) of the plugin where kubectl answers so."""
    for old in HOME.iterdir():
        old.unlink()
    for name, text in (("pods", pods), ("lease", lease), ("replicas", replicas), ("exec", answer), ("kubectl", KUBECTL)):
        (HOME / name).write_text(text)
    for name, code in (codes or {}).items():
        (HOME / f"{name}.code").write_text(str(code))
    (HOME / "kubectl").chmod(0o755)
    done = subprocess.run(["/bin/sh", PLUGIN, *args], env={"HOME": str(HOME), "PATH": path or f"{HOME}:{os.environ['PATH']}", **(env or {})},
                          input=stdin, capture_output=True, text=True, timeout=30, check=False)
    calls = (HOME / "calls").read_text() if (HOME / "calls").exists() else ""
    return done.returncode, done.stdout, done.stderr, calls


def last_call(calls):
    """The words of the last call, of which one may be `--`."""
    words = calls.splitlines()
    return words[max(i for i, word in enumerate(words) if word.startswith("--namespace=")):]


def the_leader_is_asked():
    code, out, err, calls = call("status", "-o", "wide", pods="ops-pod-cleaner-0\nops-pod-cleaner-1\n", lease="ops-pod-cleaner-1_7", answer="fine\n")
    assert (code, out, err) == (0, "fine\n", ""), (code, out, err)
    assert last_call(calls) == ["--namespace=ops-pod-cleaner", "exec", "--container=ops-pod-cleaner", "ops-pod-cleaner-1", "--",
                                "/usr/bin/ops-pod-cleaner", "status", "-o", "wide", "--"], calls


def the_leader_by_its_whole_name():
    calls = call("status", pods="ops-pod-cleaner-10\nops-pod-cleaner-1\n", lease="ops-pod-cleaner-1_7")[3]
    assert "ops-pod-cleaner-1" in last_call(calls), calls


def the_only_pod_needs_no_lease():
    code, _, err, calls = call("plan", pods="janitor-5d8f\n")
    assert code == 0 and err == "" and "janitor-5d8f" in last_call(calls), (err, calls)


def nobody_leads_is_said():
    code, _, err, calls = call("status", pods="a-0\na-1\n", lease="gone-7_1")
    assert code == 0 and "none of these pods leads at present: a-0 a-1, asking a-0" in err, err
    assert "a-0" in last_call(calls)


THREE = {"pods": "a-0\na-1\na-2\n", "lease": "a-1_7", "replicas": "a-2_9\na-0_3\ngone-4_4\n"}


def asked_in(calls):
    """The pods in which the command was run, in order."""
    words = calls.splitlines()
    return [words[i + 1] for i, word in enumerate(words) if word == "--container=ops-pod-cleaner"]


def each_that_shares_is_asked():
    code, out, err, calls = call("show", "7", **THREE, answer="row\n")
    assert (code, out, err) == (0, "row\nrow\n", "--- a-0\n--- a-2\n"), (code, out, err)
    assert asked_in(calls) == ["a-0", "a-2"], calls
    assert asked_in(call("history", "--follow", **THREE)[3]) in (["a-0", "a-2"], ["a-2", "a-0"])
    assert asked_in(call("explain", "-f", "-", **{**THREE, "replicas": ""})[3]) == ["a-1"]


def those_that_share_are_shown_as_one():
    """Each but the first prints its answers, which the first gets with the names of all."""
    for words in (("history", "--since", "1h"), ("status",), ("plan", "-o", "json"), ("restore", "--list")):
        code, out, err, calls = call(*words, **THREE, answer="row\n", codes={"a-2": 3})
        assert (code, out, err) == (0, "row\n", ""), (code, out, err)
        asked = [call.split("\n") for call in calls.split("--container=ops-pod-cleaner\n")[1:]]
        ends = {a[0]: a[3:a.index("--", 2)] for a in asked}
        assert ends == {"a-0": [*words, "--with-answers"], "a-2": [*words, "--answers"]}, ends
        assert (HOME / "given").read_text() == "ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-2\n"
    call("plan", **THREE, answer="row\n")
    assert (HOME / "given").read_text().endswith("replica a-2\nrow\n")
    assert call("plan", "--detailed-exitcode", **THREE, codes={"a-0": 2})[0] == 2
    assert not [c for c in call("status", pods="a-0\na-1\n", lease="a-1_7")[3].splitlines() if "answers" in c]


def a_number_means_one_replica():
    """Two that have a scale-down of that number restore none; where one has, it alone is asked to."""
    code, out, err, calls = call("restore", "17", "-y", **THREE, answer="row\n")
    assert code == 64 and out == "" and "replicas a-0 a-2 each have an action of that number" in err, (code, out, err)
    assert calls.count("--dry-run") == calls.count("restore\n") == 2, calls
    code, out, err, calls = call("restore", "17", "-y", **THREE, answer="row\n", codes={"a-0": 1})
    assert (code, out, err) == (0, "row\n", "") and asked_in(calls) == ["a-0", "a-2", "a-2"], (code, out, err, calls)
    code, out, err, calls = call("restore", "17", **THREE, codes={"a-0": 1, "a-2": 1})
    assert code == 1 and asked_in(calls)[2:] == ["a-0", "a-2"], (code, calls)
    assert asked_in(call("restore", "shop/web", **THREE)[3]) == asked_in(call("show", "17", **THREE)[3]) == ["a-0", "a-2"]


def what_one_knows_is_enough():
    for command, wanted in (("explain", 0), ("show", 0), ("restore", 0), ("log-level", 3), ("pause", 3)):
        assert call(command, "x", **THREE, codes={"a-0": 3})[0] == wanted, command
        assert call(command, "x", **THREE, codes={"a-0": 3, "a-2": 4})[0] == (3 if wanted == 0 else 4), command


def every_replica_is_paused_and_resumed():
    """The one that leads first; a standby that was not told would act as soon as it leads. One that is not paused has nothing to resume."""
    two = {**THREE, "pods": "a-0\na-1\n", "replicas": ""}
    for command in ("pause", "resume"):
        assert asked_in(call(command, "--reason", "-", **two)[3]) == ["a-1", "a-0"], command
        assert asked_in(call(command, **THREE)[3]) == ["a-1", "a-0", "a-2"], command
    assert call("pause", **two, codes={"a-0": 69})[0] == call("resume", **two, codes={"a-0": 69})[0] == 69
    assert call("pause", **two, codes={"a-0": 1})[0] == 1
    assert call("resume", **two, codes={"a-0": 1})[0] == 0
    assert call("resume", **two, codes={"a-0": 1, "a-1": 1})[0] == 1


def words_arrive_as_they_are():
    calls = call("pause", "--reason", "two  words; $HOME `x` 'y'", pods="a\n")[3]
    assert "two  words; $HOME `x` 'y'" in calls.splitlines(), calls


def options_of_kubectl_stand_first():
    both = (["--context", "east", "--kubeconfig", "/k", "-n", "janitors"], ["--context=east", "--kubeconfig=/k", "--namespace=janitors"])
    for options in both:
        calls = call(*options, "history", "-n", "web", pods="a\n")[3].splitlines()
        assert calls.count("--context=east") == calls.count("--kubeconfig=/k") == calls.count("--namespace=janitors") == 3, calls
        assert calls[-4:-1] == ["history", "-n", "web"], calls


def what_stands_in_the_way_is_said():
    for how, wanted, text in (
            ({"pods": ""}, 69, "no pod runs in namespace ops-pod-cleaner with label app.kubernetes.io/name=ops-pod-cleaner: name another one"),
            ({"codes": {"pods": 1}}, 69, "the pods in namespace ops-pod-cleaner cannot be listed, see above"),
            ({"pods": "a\nb\n", "codes": {"lease": 1}}, 0, "who leads cannot be asked, see above: this needs the right to get leases"),
            ({"path": "/nowhere"}, 69, "there is no kubectl on the PATH")):
        code, _, err, _ = call("status", **how)
        assert code == wanted and text in err, (how, code, err)
    assert "error: forbidden pods" in call("status", codes={"pods": 1})[2]


def the_exit_code_is_that_of_the_command():
    assert call("plan", "--detailed-exitcode", pods="a\n", codes={"exec": 2})[0] == 2


def the_language_goes_along():
    for env in ({"LANG": "zh_CN.UTF-8"}, {"LC_ALL": "zh_CN.UTF-8", "LANG": "C"}):
        calls = call("status", pods="a\n", env=env)[3]
        assert "/usr/bin/ops-pod-cleaner --language zh_CN.UTF-8 status" in " ".join(last_call(calls)), calls
    for env in ({"LANG": "en_US.UTF-8"}, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}):
        assert "--language" not in call("status", pods="a\n", env=env)[3], env


def misuse_is_refused():
    for args, text in (((), "no command was given"), (("-n",), "-n needs a value"), (("--nonsense", "status"), "there is no option --nonsense"),
                       (("run",), "which runs there already")):
        code, _, err, calls = call(*args, pods="a\n")
        assert code == 64 and text in err and not calls, (args, code, err, calls)
    code, out, _, _ = call("--help")
    assert code == 0 and "Needs to get leases, list pods and create pods/exec" in out
    assert max(map(len, out.splitlines())) <= 80


CHINESE = {"LANG": "zh_CN.UTF-8"}


def what_it_says_itself_is_in_the_language_of_the_caller():
    for args, how, wanted, text in (
            ((), {}, 64, "没有给出命令"), (("-n",), {}, 64, "-n 后面缺少参数"), (("--nonsense", "status"), {}, 64, "没有 --nonsense 这个选项"),
            (("run",), {}, 64, "它在 Pod 中已经运行"), (("status",), {"pods": ""}, 69, "命名空间 ops-pod-cleaner 中没有带标签"),
            (("status",), {"codes": {"pods": 1}}, 69, "无法列出命名空间 ops-pod-cleaner 中的 Pod"),
            (("status",), {"codes": {"lease": 1}}, 0, "需要命名空间 ops-pod-cleaner 中 get leases 的权限"),
            (("status",), {"lease": "gone-7_1"}, 0, "目前都不是 leader：a b，改为询问 a"), (("status",), {"path": "/nowhere"}, 69, "找不到 kubectl")):
        code, _, err, _ = call(*args, **{"pods": "a\nb\n", "env": CHINESE, **how})
        ours = [line for line in err.splitlines() if line.startswith("kubectl ops_pod_cleaner: ")]
        assert code == wanted and text in err, (args, how, code, err)
        assert ours and not any(line.isascii() for line in ours), (args, how, err)
    code, out, err, _ = call("--help", env=CHINESE)
    assert code == 0 and err == "" and out.startswith("用法：kubectl ops_pod_cleaner [--context C]"), (code, out, err)
    wide = [sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) for line in out.splitlines()]
    assert max(wide) <= 80, wide


def its_language_is_found_as_the_program_finds_it():
    for chinese in ({"LANG": "zh"}, {"LANG": "zh_TW.utf8"}, {"LANG": "zh@radical"}, {"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "C"}):
        assert not call("--help", env=chinese)[1].startswith("usage"), chinese
    for english in ({}, {"LANG": "zh_CN.GB18030"}, {"LANG": "zha_CN.UTF-8"}, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"},
                    {"LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}):
        assert call("--help", env=english)[1].startswith("usage: kubectl"), english


def what_is_typed_goes_along_only_when_it_is_asked_for():
    assert "--stdin" not in call("status", pods="a\n", stdin="x")[3]
    assert "--stdin" in call("config", "check", "-", pods="a\n", stdin="x")[3]


cases.run([the_leader_is_asked, the_leader_by_its_whole_name, the_only_pod_needs_no_lease, nobody_leads_is_said,
           each_that_shares_is_asked, those_that_share_are_shown_as_one, a_number_means_one_replica, what_one_knows_is_enough, every_replica_is_paused_and_resumed, words_arrive_as_they_are,
           options_of_kubectl_stand_first, what_stands_in_the_way_is_said, the_exit_code_is_that_of_the_command, the_language_goes_along,
           misuse_is_refused, what_it_says_itself_is_in_the_language_of_the_caller,
           its_language_is_found_as_the_program_finds_it, what_is_typed_goes_along_only_when_it_is_asked_for], sys.argv[1:])
