#!/usr/bin/env python3
"""The commands that need no running instance, as a person or a script meets them: output, exit codes, help, bad input."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TESTS))
import cases  # noqa: E402
import scratch  # noqa: E402
from answers import answer  # noqa: E402

PROGRAM = sys.argv[1]
HOME = str(scratch.folder("cli"))
ORIGINAL = (TESTS / "golden" / "original.yml").read_text()
POD = """apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: default
  uid: 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
  resourceVersion: "7"
  creationTimestamp: "2026-01-01T00:00:00Z"
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: aaaaaaaa-4b5a-6978-8796-a5b4c3d2e1f0, controller: true}
spec:
  nodeName: node-1
  containers: [{name: app, image: x}]
status:
  phase: Failed
  reason: Evicted
"""


def call(*args, code=0, stdin=None, env=None):
    r = subprocess.run([PROGRAM, *args], input=stdin, capture_output=True, text=True, timeout=30,
                       env={"HOME": HOME, "PATH": os.environ["PATH"], **(env or {})}, cwd=HOME)
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    assert "\x1b" not in r.stdout + r.stderr, ("ANSI in a pipe", args)
    return r.stdout if code == 0 else r.stdout + r.stderr


def write(name, text):
    path = pathlib.Path(HOME, name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def every_command_has_help():
    names = re.findall(r"^  ([a-z-]+) ", call("--help"), re.M)
    assert {"run", "status", "history", "show", "explain", "plan", "pause", "resume", "restore", "reload", "config", "cron",
            "version"} <= set(names), names
    for name in names:
        if name != "version":
            text = call(name, "--help")
            assert f"usage: ops-pod-cleaner {name}" in text
            assert not [line for line in text.splitlines() if len(line) > 80], text
    assert not [line for line in call("--help").splitlines() if len(line) > 80]


def every_verb_says_that_nobody_answers_and_what_it_prints_as():
    words = {"show": ["7"], "explain": ["a/b"], "log-level": ["debug"], "restore": ["7", "--yes"]}
    for name in re.findall(r"^  ([a-z-]+) ", call("--help"), re.M):
        text = call(name, "--help")
        if "--output" in text and "--control-socket" in text and name != "report":
            said = json.JSONDecoder().raw_decode(call(name, *words.get(name, []), "-o", "json", "--control-socket", HOME + "/nobody", code=69))[0]
            assert said["error"]["exitCode"] == 69 and "no running instance" in said["error"]["message"], (name, said)
        if "--output" in text:
            assert "--output takes" in call(name, *words.get(name, []), "-o", "yaml", code=64), name
        if "--control-socket" in text and name != "run":
            assert "no running instance" in call(name, *words.get(name, []), "--control-socket", HOME + "/nobody", code=69), name


def version():
    assert re.match(r"ops-pod-cleaner \d+\.\d+\.\d+ \(\w+\)(\nTEST-BUILD)?$", call("version").strip())
    assert call("--version") == call("version")


def misuse_is_64_and_helps():
    assert "did you mean 'history'" in call("histroy", code=64)
    assert "did you mean 'plan'" in call("pln", code=64)
    assert "did you mean" not in call("top", code=64)
    assert "usage" in call(code=64)
    for args in (("status", "--nonsense"), ("cron",), ("cron", "next"), ("config",), ("config", "check"), ("explain",),
                 ("history", "--since", "yesterday"), ("history", "--limit", "0"), ("history", "--duty", "x"),
                 ("history", "--outcome", "x"), ("show",), ("show", "x"), ("show", "0"), ("show", "1", "2"), ("plan", "x"),
                 ("plan", "--duty", "tooManyRestart"), ("plan", "-o", "xml"), ("pause", "--for", "0s"), ("pause", "--for", "x"),
                 ("pause", "a", "b"), ("pause", "deleteEvictedPod", "errImagePull"), ("pause", "tooManyRestart"),
                 ("pause", "--reason", "x" * 201), ("resume", "--for", "2h"), ("restore",), ("restore", "web"), ("restore", "0"),
                 ("restore", "a/b", "7"), ("restore", "a/b", "c/d"), ("restore", "7", "--since", "2h"), ("restore", "--since", "x"),
                 ("status", "-o", "xml"), ("status", "extra"), ("history", "extra"), ("reload", "extra"),
                 ("version", "extra"), ("resume", "a", "b", "c"), ("cron", "next", "@daily", "extra"), ("config", "help", "extra"),
                 ("status", "--duty", "deleteEvictedPod"), ("history", "--limit"), ("history", "--namespace", "x" * 64),
                 ("run", "extra"), ("explain", "nonamespace"),
                 ("explain", "--watch", "-f", "pod.yml")):
        assert "--help" in call(*args, code=64), args


def explain_tells_every_rule():
    config, pod = write("c.yml", ORIGINAL), write("pod.yml", POD)
    rows = answer(call("explain", "--config", config, "-f", pod, "-o", "json", "--rules"))
    evicted = next(r for r in rows if r["duty"] == "deleteEvictedPod")
    assert evicted["verdict"] == "act" and len(evicted["rules"]) > 3, evicted
    assert [r["result"] for r in evicted["rules"]] == ["passed"] * (len(evicted["rules"]) - 1) + ["decided"], evicted["rules"]
    other = next(r for r in rows if r["duty"] == "deleteTerminatingPod")
    assert [r["result"] for r in other["rules"]].count("decided") == 1 and other["rules"][-1]["result"] != "passed", other["rules"]
    assert "rules" not in answer(call("explain", "--config", config, "-f", pod, "-o", "json"))[0]
    text = call("explain", "--config", config, "-f", pod, "--rules")
    assert "RULE" in text and "not reached" not in text and "decided" in text, text
    assert "not reached" in call("explain", "--config", config, "-f", pod, "--rules", "-o", "wide")
    said, empty = text.splitlines()[:2]
    assert re.match(r"\S+/\S+: will be deleted now by deleteEvictedPod, because the kubelet evicted this pod", said) and not empty, text


def explain_begins_with_a_sentence():
    """What is due and when, what is left alone, and why: of each pod once."""
    running = POD.replace("phase: Failed\n  reason: Evicted", "phase: Running")
    stuck = running.replace("  creationTimestamp", '  deletionTimestamp: "2026-01-01T10:00:00Z"\n  deletionGracePeriodSeconds: 30\n  creationTimestamp')
    for pod, now, wanted in ((stuck, "2026-01-01T10:01:00Z", r": will be deleted by force by deleteTerminatingPod at \S+, unless it changes: the state has not"),
                             (running, "2026-01-01T10:01:00Z", r": skipped: no duty applies to it now")):
        text = call("explain", "--config", write("c.yml", ORIGINAL), "-f", write("pod.yml", pod), "--now", now)
        assert re.search(wanted, text.splitlines()[0]), text


def speaks_the_language_of_the_locale():
    """Sentences, on either way out; what scripts read, codes and help stay as they are, in whatever locale."""
    config, pod = write("c.yml", ORIGINAL), write("pod.yml", POD)
    words = ("explain", "--config", config, "-f", pod, "--rules")
    for env in ({"LANG": "zh_CN.UTF-8"}, {"LC_ALL": "zh_CN.UTF-8", "LANG": "C"}):
        text = call(*words, env=env)
        assert "default/web-1：将被删除，现在由 deleteEvictedPod 执行，因为：" in text and "Evicted" in text and "VERDICT" in text, text
        assert "据此判定" in text and "decided" not in text and "清理任务是否启用：deleteEvictedPod 已启用" in text and "is it enabled" not in text, text
        assert "未知的选项 '--nonsense'；用法见" in call("plan", "--nonsense", code=64, env=env)
    for env in ({}, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, {"LANG": "zh_CN.GB18030"}):
        assert call(*words, env=env) == call(*words), env
    for option in (("--language", "zh"), ("--language=zh_CN.UTF-8",)):
        assert call(*option, *words) == call(*words, env={"LANG": "zh_CN.UTF-8"}), option
    assert call("--language", "C", *words, env={"LC_ALL": "zh_CN.UTF-8"}) == call(*words)
    assert "usage: ops-pod-cleaner [--language LOCALE]" in call("--language", code=64)
    chinese = {"LANG": "zh_CN.UTF-8"}
    for same in ((*words, "-o", "json"), ("plan", "--help"), ("--help",), ("config", "check", config, "-o", "json"), ("completion", "bash")):
        assert re.sub(r"20\d\d-[^\"]*", "", call(*same, env=chinese)) == re.sub(r"20\d\d-[^\"]*", "", call(*same)), same
    assert not re.search("[\u4e00-\u9fff]", call(*words, "-o", "json", env=chinese))


def diagnostics_speak_the_language_of_the_locale():
    """What is wrong with a file, whichever command finds it, and with a schedule; JSON and a locale that is not spoken are English."""
    bad, warned = write("bad.yml", "errImagePull:\n  hours: 2w\n  enabel: true\n"), write("warned.yml", ORIGINAL)
    pod, chinese = write("pod.yml", POD), {"LC_MESSAGES": "zh_CN.UTF-8"}
    for words in (("config", "check", bad), ("config", "print", bad), ("rbac", "--config", bad), ("explain", "--config", bad, "-f", pod),
                  ("plan", "--config", bad, "--kubeconfig", "/nowhere")):
        text = call(*words, code=78, env=chinese)
        assert "bad.yml:2:10: errImagePull.hours: 时长的单位未知 \"2w\"；周数和天数请换算成小时：应写 336h\n" in text, text
        assert "bad.yml:3:3: 未知的配置项 \"errImagePull.enabel\"：是否想写 enable？" in text, text
        for env in ({"LC_ALL": "C", **chinese}, {"LC_MESSAGES": "de_DE.UTF-8"}):
            assert call(*words, code=78, env=env) == call(*words, code=78), words
    assert "warned.yml:18:1: 警告：deleteEvictedPod: 会保留 Job 的 Pod" in call("config", "check", warned, env=chinese)
    assert "unknown unit in duration" in call("config", "check", bad, "-o", "json", code=78, env=chinese)
    assert call("cron", "next", "0 61 * * * *", code=65, env=chinese).splitlines()[1] == "  ^ 61 大于上限 59（字段：分）"
    assert "没有这个时区" in call("cron", "next", "@daily", "--timezone", "Mars/Olympus", code=65, env=chinese)


def a_shell_completes_what_is_taken():
    """And offers nothing that the command refuses."""
    script = call("completion", "bash")

    def offered(*words):
        line = " ".join(f"'{word}'" for word in words)
        out = subprocess.run(["bash", "--norc", "-c", f'{script}\nCOMP_WORDS=(ops-pod-cleaner {line}); COMP_CWORD={len(words)}\n'
                              '_ops_pod_cleaner; printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, cwd=HOME, check=True)
        return set(out.stdout.split())

    write("here.yml", "")
    assert offered("report", "-o", "") == {"text", "json", "html"}, offered("report", "-o", "")
    assert offered("plan", "-o", "") == {"table", "wide", "json"}
    duties = {"deleteEvictedPod", "errImagePull"}
    words = offered("pause", "")
    assert duties <= words and "tooManyRestart" not in words and "here.yml" not in words, words
    assert offered("pause", "errI") == {"errImagePull"}
    assert "here.yml" in offered("config", "check", "") and "here.yml" in offered("explain", "-f", "")
    assert "check" in offered("config", "") and "here.yml" not in offered("status", "")


def names_are_taken_as_they_are_printed():
    """Durations with days; duties in any case; objects as kubectl names them."""
    assert "168h0m0s" in call("config", "print", write("days.yml", "errImagePull: {hours: 7d}\n"))
    assert call("config", "print", write("days.yml", "errImagePull: {hours: 7D}\n"), code=78)
    for words in (("pause", "ERRIMAGEPULL"), ("pause", "--for", "3d"), ("explain", "pod/web-1", "-n", "shop"), ("explain", "web-1", "-n", "shop")):
        text = call(*words, "--control-socket", "/nowhere", code=69)
        assert "no running instance" in text, text
    assert "with -n NAMESPACE" in call("explain", "web-1", code=64)


def the_sockets_of_the_system_are_looked_for():
    """Who is not root is told what is missing to ask the instance of the machine."""
    def of_system(script, code):
        # A /run of its own, and a program that everybody may execute.
        begin = f"mount -t tmpfs -o mode=0755 none /run && install -m 0755 {PROGRAM} /run/program && {script} && "
        ask = "exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nowhere /run/program status"
        r = subprocess.run(["unshare", "-m", "sh", "-c", begin + ask], capture_output=True, text=True, timeout=30, cwd="/")
        assert r.returncode == code, r
        return r.stderr

    if os.geteuid() != 0:
        return  # nobody else to be
    said = of_system("mkdir -m 0710 /run/ops-pod-cleaner", 77)
    assert "sudo" in said and "join the group ops-pod-cleaner" in said and "/run/ops-pod-cleaner/" in said, said
    said = of_system("mkdir -m 0710 /run/ops-pod-cleaner@east", 69)
    assert "no running instance" in said and "--control-socket /run/ops-pod-cleaner@east/control.sock" in said, said
    assert "another instance" not in of_system("true", 69)


def rbac_is_printed_as_json():
    config = write("config.yml", ORIGINAL)
    objects = json.loads(call("rbac", "--config", config, "-o", "json"))
    kinds = [o["kind"] for o in objects["items"]]
    assert objects["kind"] == "List" and kinds[0] == "Namespace" and "ClusterRoleBinding" in kinds, kinds
    assert len(kinds) == call("rbac", "--config", config).count("\n---\n") + 1
    policy = json.loads(call("rbac", "--config", config, "--admission", "-o", "json"))
    assert {o["kind"] for o in policy["items"]} >= {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}, policy
    assert answer(call("rbac", "--kubeconfig-for", "reader", "-o", "json"))["script"] == call("rbac", "--kubeconfig-for", "reader")
    wrong = answer(call("rbac", "--config", config, "--kinds", "x", "-o", "json", code=64).partition("\n}")[0] + "\n}")
    assert wrong["error"]["exitCode"] == 64, wrong


def manual_page_has_every_command():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "man" / "ops-pod-cleaner.8"
    for name in re.findall(r"^  ([a-z-]+) ", call("--help"), re.M):
        assert ".SS " + name.replace("-", "\\-") + "\n" in page.read_text(), name


def original_configuration_is_ok():
    out = call("config", "check", write("config.yml", ORIGINAL))
    assert re.search(r"config\.yml: ok$", out, re.M), out
    assert "error" not in out


def whether_a_file_acts_is_said():
    for text, mode in ((ORIGINAL, "enforce"), ("mode: observe\n" + ORIGINAL, "observe")):
        config = write("config.yml", text)
        assert f"\nMode: {mode}: " in call("config", "check", config)
        assert f"\n模式：{mode}：" in call("config", "check", config, env={"LC_ALL": "zh_CN.UTF-8"})
        assert answer(call("config", "check", config, "-o", "json"))["mode"] == mode


def the_versions_that_were_tried_are_named():
    table = pathlib.Path(__file__).resolve().parents[3] / "model" / "kubernetes.def"
    versions = [".".join(row) for row in re.findall(r"^KUBERNETES\((\d+), (\d+), (\d+), ", table.read_text(), re.M)]
    config = write("config.yml", ORIGINAL)
    assert versions and f"\nKubernetes: tried on {', '.join(versions)}; `status` names" in call("config", "check", config)
    assert f"{', '.join(versions)} 上验证" in call("config", "check", config, env={"LC_ALL": "zh_CN.UTF-8"})
    assert answer(call("config", "check", config, "-o", "json"))["triedOnKubernetes"] == [f"v{v}" for v in versions]


def the_file_may_be_named_as_everywhere():
    good, other = write("config.yml", ORIGINAL), write("other.yml", "mode: observe\n")
    for verb in ("check", "print"):
        plain = call("config", verb, good)
        for words in ((verb, "--config", good), ("--config", good, verb), (verb, f"--config={good}"), (verb, good, "--config", good)):
            assert call("config", *words) == plain, words
        said = call("config", verb, other, "--config", good, code=64)
        assert f"two files, '{other}' and --config '{good}': name one" in said, said
    assert "-: ok" in call("config", "check", "--config", "-", stdin="mode: observe\n")
    for words in (("help",), ("schema",), ()):
        assert "needs `check FILE`" in call("config", *words, "--config", good, code=64), words


def errors_have_a_place_and_a_remedy():
    bad = write("bad.yml", "errImagePull:\n  hours: 2w\n  enabel: true\ndeleteEvictedPod: {enable: true}\n"
                           "delteEvictedPod: {enable: true}\n")
    out = call("config", "check", bad, code=78)
    assert re.search(r"bad\.yml:2:10: .*336h", out) and re.search(r"bad\.yml:3:3: .*did you mean enable", out), out
    assert re.search(r"bad\.yml:5:1: .*two spellings", out), out


def a_file_of_a_sink_is_read_too():
    config = write("sinks.yml", "sinks: [{name: a, type: feishu, urlFile: hook}]\n")
    hook = write("hook", "https://hooks.slack.com/services/HIDE\n")
    os.chmod(hook, 0o600)
    said = call("config", "check", config, code=78)
    assert f'{hook}: sinks[].urlFile (a): hooks.slack.com is the host of a Slack webhook, not of a Feishu bot' in said and "sinks.yml: ok" not in said, said
    assert "HIDE" not in said
    chinese = call("config", "check", config, code=78, env={"LC_ALL": "zh_CN.UTF-8"})
    assert f'{hook}: sinks[].urlFile (a): hooks.slack.com 是“Slack 机器人”的主机' in chinese, chinese
    write("hook", "https://open.feishu.cn/open-apis/bot/v2/hook/HIDE\r\n")
    said = call("config", "check", config, env={"OPC_PASSWD": "/dev/null"})
    assert "sinks.yml: ok" in said and "hook: " not in said, said


KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: prod, cluster: {server: "https://10.0.0.1:6443"}}]
contexts:
- {name: prod, context: {cluster: prod, user: reader}}
- {name: writer, context: {cluster: prod, user: writer}}
current-context: prod
users: [{name: reader, user: {token: HIDE}}, {name: writer, user: {token: HIDE}}]
"""


def check_says_which_clusters():
    kubeconfig = write("kc", KUBECONFIG)
    os.chmod(kubeconfig, 0o600)
    duty = "deleteEvictedPod: {enable: true, includeJobs: false, namespaces: a}\n"
    one = write("one.yml", "kubeconfig: kc\nwriterContext: writer\n" + duty)
    nobody = {"OPC_PASSWD": "/dev/null"}
    said = " ".join(call("config", "check", one, env=nobody).split())
    assert (f"one.yml: ok Mode: enforce: it acts as soon as it runs with this file; `mode: observe` writes nothing Clusters: default: https://10.0.0.1:6443, context prod, user reader, {kubeconfig} "
            f"workers: https://10.0.0.1:6443, context writer, user writer, {kubeconfig} Namespaces:") in said and "HIDE" not in said, said
    assert "https://10.0.0.1:6443，context prod，用户 reader" in call("config", "check", one, env={**nobody, "LC_ALL": "zh_CN.UTF-8"})
    place = {"server": "https://10.0.0.1:6443", "context": "writer", "user": "writer", "kubeconfig": kubeconfig}
    assert answer(call("config", "check", one, "-o", "json", env=nobody))["clusters"] == [
        {**place, "name": "default", "context": "prod", "user": "reader", "writer": place}]
    os.chmod(kubeconfig, 0o644)
    assert call("config", "check", one, env=nobody).count("holds a secret that other users can read") == 1     # one file, two contexts
    os.chmod(kubeconfig, 0o600)
    wrong = write("wrong.yml", "kubeconfig: kc\nwriterContext: wrtier\n" + duty)
    said = call("config", "check", wrong, code=78, env=nobody)
    assert f'{kubeconfig}: there is no context "wrtier"; there is: prod, writer' in said and "wrong.yml: ok" not in said, said
    two = write("two.yml", "clusters:\n- {name: a, kubeconfig: kc}\n- name: b\n  kubeconfig: nowhere\n  context: x\n" + duty)
    said = call("config", "check", two, env=nobody)
    assert "two.yml:3:3: warning: clusters[].kubeconfig: " in said and "nowhere: No such file" in said, said
    assert "server not known here, context x, " in " ".join(said.split()), said
    same = write("same.yml", "clusters: [{name: a, kubeconfig: kc}, {name: b, kubeconfig: kc, context: writer}]\n" + duty)
    said = call("config", "check", same, env=nobody)
    assert said.count("a and b are one API server, https://10.0.0.1:6443: remove one") == 1, said
    assert "one API server" not in call("config", "check", one, env=nobody)
    assert "Clusters:" not in call("config", "check", write("none.yml", duty))
    said = call("config", "check", "--strict", "-", stdin="kubeconfig: credentials/reader\n" + duty)   # beside nothing: there is no saying
    assert "-: ok" in said and "server not known here, credentials/reader" in said and "warning" not in said, said
    assert "No such file" in call("config", "check", "-", stdin="kubeconfig: /nowhere/reader\n" + duty)
    if os.getuid() == 0:
        service = write("passwd", "ops-pod-cleaner:x:4242:4242::/:/bin/false\n")
        said = call("config", "check", one, env={"OPC_PASSWD": service})
        assert f"{kubeconfig}: warning: kubeconfig: user ops-pod-cleaner, who runs the service, cannot read it" in said, said


def files_that_are_no_configuration():
    cases = {"absent.yml": None, "binary.yml": b"\x00\x01\xff", "bomb.yml": "a: &a [x]\nb: [*a,*a]\n",
             "huge.yml": b"#" * (100 << 20), "empty.yml": "", "tab.yml": "errImagePull:\n\tenable: true\n"}
    for name, text in cases.items():
        path = str(pathlib.Path(HOME, name)) if text is None else write(name, text)
        if name == "empty.yml":
            continue  # nothing is set: valid
        out = call("config", "check", path, code=78)
        assert name in out and len(out) < 2000, (name, out[:500])
    os.unlink(os.path.join(HOME, "huge.yml"))
    os.mkfifo(os.path.join(HOME, "fifo.yml"))
    call("config", "check", os.path.join(HOME, "fifo.yml"), code=78)
    call("config", "check", HOME, code=78)


def effective_configuration_reads_back_and_hides_secrets():
    path = write("config.yml", ORIGINAL)
    out = call("config", "print", path)
    assert "hook/xxxx" not in out and "hidden" in out, out


def every_key_is_explained():
    out = call("config", "help")
    assert out == call("--help-config")
    for key in ("errImagePull.hours", "mode", "excludeNamespaces", "clusters", "sandbox", "stateDir", "metricsListen"):
        assert key in out, key


def cron_next():
    at = ("--from", "2026-01-01T00:00:00Z")
    # Where nobody names a zone it is that of the machine, as `timeZone` is in a file that does not name it.
    assert call("cron", "next", "0 9 * * 1", *at, "--count", "1", env={"TZ": "Asia/Shanghai"}).strip() == "2026-01-05T09:00:00+08:00"
    at = (*at, "--timezone", "UTC")
    assert call("cron", "next", "*/3 * * * * *", *at, "--count", "2").split() == ["2026-01-01T00:00:03Z", "2026-01-01T00:00:06Z"]
    assert call("cron", "next", "0 9 * * 1", *at[:2], "--count", "1", "--timezone", "Asia/Shanghai").strip() == "2026-01-05T09:00:00+08:00"
    assert call("cron", "next", "@daily", *at, "--count", "1").strip() == "2026-01-02T00:00:00Z"
    assert call("cron", "next", "@every 90s", *at, "--count", "1").strip() == "2026-01-01T00:01:30Z"
    assert call("cron", "next", "0 0 0 30 2 *", *at) == ""  # the 30th of February: never
    out = call("cron", "next", "0 61 * * * *", code=65)
    assert out.splitlines()[1].startswith("  ^ 61"), out
    assert "time zone 'Mars/Olympus'" in call("cron", "next", "@daily", "--timezone", "Mars/Olympus", code=65)


def explain_offline():
    config, pod = write("config.yml", ORIGINAL), write("pod.yml", POD)
    rows = answer(call("explain", "--config", config, "-f", pod, "--now", "2026-01-02T00:00:00Z", "-o", "json"))
    assert {"deleteEvictedPod", "deleteTerminatingPod", "errImagePull", "tooManyRestart"} <= {r["duty"] for r in rows}, rows
    assert rows[0]["verdict"] == "act" and rows[0]["reason"] == "Evicted" and (rows[0]["namespace"], rows[0]["name"]) == ("default", "web-1"), rows[0]
    assert all(r["verdict"] != "act" for r in rows[1:]), rows
    table = call("explain", "--config", config, "-f", "-", stdin=POD)
    assert table.splitlines()[2].split()[:3] == ["POD", "DUTY", "VERDICT"], table


def explain_threshold_by_the_second():
    config = write("config.yml", ORIGINAL)
    pod = write("stuck.yml", POD.replace("  creationTimestamp", '  deletionTimestamp: "2026-01-01T10:00:00Z"\n'
                                         "  deletionGracePeriodSeconds: 30\n  creationTimestamp")
                .replace("phase: Failed\n  reason: Evicted", "phase: Running"))

    def verdict(now):
        rows = answer(call("explain", "--config", config, "-f", pod, "--now", now, "-o", "json"))
        return next(r for r in rows if r["duty"] == "deleteTerminatingPod")

    wait = verdict("2026-01-01T10:01:59Z")
    assert wait["verdict"] == "wait" and wait["until"].startswith("2026-01-01T10:02:00"), wait
    assert verdict("2026-01-01T10:02:01Z")["verdict"] == "act"


def explain_refuses_what_is_no_pod():
    config = write("config.yml", ORIGINAL)
    for text, part in (("kind: Service\nmetadata: {name: x, uid: y}\n", "is a Service"), ("", "empty"), ("[1", "did not find"),
                       ("a: 1\nb: *x\n", "undefined alias"), ("kind: Pod\n", "is no pod"), ("\x00", "")):
        assert part in call("explain", "--config", config, "-f", write("odd.yml", text), code=65), text


def run_names_what_it_takes_and_what_is_wrong():
    # The original's file in the working directory is taken where the default does not exist.
    write("config.yml", "errImagePull: {hours: 2w}\n")
    env = {"XDG_RUNTIME_DIR": HOME, "XDG_CONFIG_HOME": HOME + "/none", "XDG_STATE_HOME": HOME + "/state"}
    options = () if os.geteuid() else ("--control-socket", HOME + "/s/control.sock", "--config", HOME + "/config.yml")
    out = call("run", *options, code=78, env=env)
    assert "config.yml:1:23" in out and "336h" in out, out


def root_takes_no_file_of_the_working_directory():
    # Whoever may write to a folder that root stands in would run a program as root, by an exec plugin.
    write("config.yml", "errImagePull: {hours: 2w}\n")
    env = {"XDG_RUNTIME_DIR": HOME, "XDG_CONFIG_HOME": HOME + "/none", "XDG_STATE_HOME": HOME + "/state"}
    out = call("run", "--control-socket", HOME + "/s/control.sock", code=78, env=env)
    if os.geteuid() == 0:
        assert "/etc/ops-pod-cleaner/config.yml" in out and "config.yml:1:23" not in out and "--config ./config.yml" in out, out
    else:
        assert "config.yml:1:23" in out, out


def a_file_of_another_user_is_refused():
    path = write("others.yml", ORIGINAL)
    for change, part in ((lambda: os.chmod(path, 0o664), "chmod go-w"), (lambda: os.chown(path, 1000, 0), "belongs to user 1000")):
        if os.geteuid() and "user" in part:
            continue
        change()
        out = call("run", "--config", path, "--control-socket", HOME + "/s/control.sock", "--state-dir", HOME + "/state", code=78)
        assert part in out, out


def one_dash_as_in_the_original():
    write("config.yml", ORIGINAL)
    for flag in ("-kubeconfig", "--kubeconfig"):
        sock = HOME + "/s/control.sock"
        program = scratch.start([PROGRAM, "run", "--config", HOME + "/config.yml", "--control-socket", sock, "--state-dir", HOME + "/state",
                                 flag, HOME + "/no-such-kubeconfig"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"HOME": HOME, "PATH": os.environ["PATH"]})
        out, end = "", time.monotonic() + 20
        while "no-such-kubeconfig: cannot be read" not in out:  # it waits for it
            assert time.monotonic() < end and program.poll() is None, out
            time.sleep(0.1)
            out = subprocess.run([PROGRAM, "status", "--control-socket", sock], capture_output=True, text=True, timeout=30, env={"HOME": HOME, "PATH": os.environ["PATH"]}).stdout
        program.terminate()
        assert program.wait(30) == 0


def every_verb_refuses_what_it_does_not_know():
    for name in re.findall(r"^  ([a-z-]+) ", call("--help"), re.M):
        assert "unknown option '--no-such'" in call(name, "--no-such", code=64), name
        assert "--help" in call(name, *["x/y"] * 3, "--no-such", code=64), name
        if name not in ("restore", "pause", "resume", "show"):
            assert "--help" in call(name, *["x/y"] * 3, code=64), name


def a_full_disk_is_an_error():
    config = write("config.yml", ORIGINAL)
    for args in (["version"], ["--help"], ["config", "print", config], ["config", "check", config], ["cron", "next", "@daily"],
                 ["completion", "bash"], ["history", "--help"]):
        with open("/dev/full", "w") as full:
            r = subprocess.run([PROGRAM, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        assert r.returncode == 1 and "No space left" in r.stderr, (args, r)


def json_of_what_needs_no_instance():
    assert set(answer(call("version", "-o", "json"))) == {"version", "revision"}
    times = answer(call("cron", "next", "0 9 * * 1", "--from", "2026-11-22T00:00:00Z", "--timezone", "Asia/Shanghai", "--count", "2",
                            "-o", "json"))
    assert times == ["2026-11-23T09:00:00+08:00", "2026-11-30T09:00:00+08:00"], times
    config = write("config.yml", ORIGINAL)
    assert answer(call("config", "check", config, "-o", "json"))["ok"] is True
    printed = json.loads(call("config", "print", config, "-o", "json"))
    assert printed["errImagePull"]["enable"] in (True, False) and printed["mode"] == "enforce", printed
    bad = answer(call("config", "check", write("bad.yml", "mode: enforc\n"), "-o", "json", code=78))
    assert bad["ok"] is False and [m["line"] for m in bad["messages"] if m["error"]] == [1], bad


def check_says_where_each_duty_works():
    config = write("places.yml", 'deleteEvictedPod: {enable: true, includeJobs: false, namespaces: ["team-*", "label:env=dev", "!team-x", kube-system]}\n'
                   'crashLoop: {enable: true, namespaces: ["!team-x"]}\nerrImagePull: {enable: true, namespaces: shop, hours: 24h}\n'
                   'excludeNamespaces: "*-pay"\n')
    out = call("config", "check", config)
    words = " ".join(out.split())
    assert max(map(len, out.split("Namespaces:")[1].splitlines())) <= 80, out
    assert "deleteEvictedPod: those named team-*, those labelled env=dev, kube-system, except team-x, except protected ones" in words, out
    assert "crashLoop: all namespaces, except team-x, except protected ones (below) not named here" in words, out
    assert "errImagePull: shop crashLoop: all" in words and "never: those named *-pay protected: kube-system, kube-public" in words, out
    assert "deleteFinishedPod" not in out and "works in no namespace" not in out, out
    listed = [("team-a", {}), ("team-x", {}), ("team-pay", {}), ("web", {"env": "dev"}), ("kube-system", {}), ("kube-public", {}), ("shop", {})]
    cluster = write("namespaces.json", json.dumps({"kind": "List", "items": [{"metadata": {"name": n, "labels": l}} for n, l in listed]}))
    told = answer(call("config", "check", config, "--namespaces", cluster, "-o", "json"))["namespaces"]
    assert {duty: row["namespaces"] for duty, row in told.items()} == {
        "deleteEvictedPod": ["team-a", "web", "kube-system"], "crashLoop": ["team-a", "web", "shop"], "errImagePull": ["shop"]}, told
    out = call("config", "check", config, "--namespaces", "-", stdin=pathlib.Path(cluster).read_text())
    assert "of 7, 3: team-a, web, kube-system" in out, out
    assert "kubectl get namespaces" in call("config", "check", config, "--namespaces", config, code=65)
    call("config", "print", config, "--namespaces", cluster, code=64)


def check_says_when_schedules_fire():
    text = """timeZone: Asia/Shanghai
tooManyRestart: {enable: true, namespaces: a, apiurlFile: nowhere/url, timeZone: Europe/Berlin}
deleteEvictedPod: {enable: true, namespaces: a, includeJobs: true, windows: [0 9 * * 1-5 for 8h]}
overrides: [{name: night, namespaces: b, deleteEvictedPod: {windows: [CRON_TZ=UTC 30 22 * * * for 1h]}}]
errImagePull: {windows: [0 9 * * 1 for 8h]}
"""
    path = write("schedules.yml", text)
    told = answer(call("config", "check", path, "-o", "json"))["schedules"]
    assert [(s["key"], s["zone"]) for s in told] == [
        ("tooManyRestart.duration", "Europe/Berlin"), ("deleteEvictedPod.windows", "Asia/Shanghai"),
        ("override night: deleteEvictedPod.windows", "UTC")] or sorted(s["zone"] for s in told) == [
            "Asia/Shanghai", "Europe/Berlin", "UTC"], told
    for s in told:      # as `cron next` says
        spec = s["schedule"].split(" for ")[0]
        assert s["next"] == call("cron", "next", spec, "--timezone", s["zone"], "--count", "3").split(), s
    shown = call("config", "check", path)
    assert all(t in shown for s in told for t in s["next"]), shown
    assert "schedules.yml:2:47: warning: tooManyRestart.apiurlFile: " in shown and "nowhere/url: No such file" in shown, shown
    write("nowhere-url", "https://x.y/z")
    there = write("there.yml", text.replace("nowhere/url", "nowhere-url"))
    assert "No such file" not in call("config", "check", there)
    off = write("off.yml", "deleteEvictedPod: {enable: true, namespaces: a}\n")
    assert "Next runs" not in call("config", "check", off)


def check_reads_standard_input():
    assert "-: ok" in call("config", "check", "-", stdin=ORIGINAL)
    assert "-:1:" in call("config", "check", "-", stdin="mode: enforc\n", code=78)
    assert "is larger than" in call("config", "check", "-", stdin="#" * (1 << 20) + "x", code=78)


def strict_takes_no_warning():
    warned = "deleteEvictedPod:\n  enable: true\n  includeJobs: false\n  namespaces: shop\nerrImagePull:\n  enable: true\n  namespaces: shop\n  hours: 1s\n"
    assert "warning" in call("config", "check", "-", stdin=warned)
    assert "with --strict a warning is an error" in call("config", "check", "--strict", "-", stdin=warned, code=78)
    call("config", "check", "--strict", "-", stdin=warned.replace("1s", "24h") + "mode: observe\n")


def fits(schema, value, place=""):
    """The part of JSON Schema that ours uses."""
    if "anyOf" in schema:
        assert any(not trouble(s, value) for s in schema["anyOf"]), (place, value)
    if "enum" in schema:
        assert value in schema["enum"], (place, value)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if "type" in schema:
        assert isinstance(value, kinds[schema["type"]]), (place, value)
    if "pattern" in schema:
        assert re.search(schema["pattern"], value), (place, value)
    if "minimum" in schema:
        assert schema["minimum"] <= value <= schema["maximum"], (place, value)
    for key, item in value.items() if schema.get("type") == "object" else ():
        assert key in schema["properties"], (place, key)
        fits(schema["properties"][key], item, f"{place}.{key}")
    for item in value if schema.get("type") == "array" else ():
        fits(schema["items"], item, place)


def trouble(schema, value):
    try:
        fits(schema, value)
    except AssertionError as e:
        return e
    return None


def the_schema_fits_what_the_program_takes():
    schema = json.loads(call("config", "schema"))
    assert schema == json.loads(call("config", "help", "-o", "json"))
    original = write("config.yml", ORIGINAL)
    more = write("more.yml", ORIGINAL + "overrides:\n- name: a\n  namespaces: shop\n  errImagePull: {hours: 2h}\n"
                 "clusters:\n- {name: a, kubeconfig: x}\n")
    for path in (original, more):
        fits(schema, json.loads(call("config", "print", path, "-o", "json")))
    for wrong in ({"mode": "dryrun"}, {"errImagePull": {"hours": "2 days"}}, {"errImagePull": {"enabled": True}}, {"workers": 0},
                  {"overrides": [{"nam": "a"}]}, {"deleteEvictedPod": True}):
        assert trouble(schema, wrong), wrong


def bash_completes_what_the_tables_hold():
    script = write("completion.bash", call("completion", "bash"))

    def complete(*words):
        text = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ops_pod_cleaner; printf "%s\\n" "${COMPREPLY[@]}"'
        r = subprocess.run(["bash", "-c", text, "-", script, "ops-pod-cleaner", *words], capture_output=True, text=True, timeout=30)
        assert r.returncode == 0 and not r.stderr, r
        return r.stdout.split()
    assert complete("pl") == ["plan"]
    assert complete("history", "--ou") == ["--outcome", "--output"]
    assert complete("history", "--outcome", "fo") == ["forbidden"]
    duties = re.findall(r'^\tD\(X, \w+, \w+, \d+, "(delete\w+)"', (TESTS.parent / "model" / "duties.def").read_text(), re.M)
    assert len(duties) >= 3 and complete("plan", "--duty", "delete") == sorted(duties), duties
    assert complete("status", "-o", "j") == ["json"]
    assert complete("report", "--cl") == ["--cluster"]
    assert 'report:--cluster) COMPREPLY=($(compgen -W "$(ops-pod-cleaner names clusters ' in pathlib.Path(script).read_text()
    assert complete("config", "ch") == ["check"]
    write("some.yml", "")
    assert str(HOME) + "/some.yml" in complete("run", "--config", HOME + "/some")
    for shell in ("zsh", "fish"):
        text = call("completion", shell)
        for name in re.findall(r"^  ([a-z-]+) ", call("--help"), re.M):
            assert name in text, (shell, name)
            for option in re.findall(r"--([a-z-]+)", call(name, "--help")):
                assert option in text, (shell, name, option)


CASES = [the_sockets_of_the_system_are_looked_for, every_verb_refuses_what_it_does_not_know, a_full_disk_is_an_error, json_of_what_needs_no_instance, check_reads_standard_input,
         strict_takes_no_warning, the_schema_fits_what_the_program_takes, bash_completes_what_the_tables_hold,
         every_command_has_help, version, misuse_is_64_and_helps,
         manual_page_has_every_command, original_configuration_is_ok, the_file_may_be_named_as_everywhere, errors_have_a_place_and_a_remedy, a_file_of_a_sink_is_read_too, check_says_which_clusters,
         files_that_are_no_configuration, effective_configuration_reads_back_and_hides_secrets, every_key_is_explained, cron_next,
         check_says_where_each_duty_works, check_says_when_schedules_fire, every_verb_says_that_nobody_answers_and_what_it_prints_as, explain_offline, explain_begins_with_a_sentence, speaks_the_language_of_the_locale, diagnostics_speak_the_language_of_the_locale, explain_threshold_by_the_second, explain_refuses_what_is_no_pod, explain_tells_every_rule,
         run_names_what_it_takes_and_what_is_wrong, root_takes_no_file_of_the_working_directory, a_file_of_another_user_is_refused, one_dash_as_in_the_original]


cases.run(CASES, sys.argv[2:])
