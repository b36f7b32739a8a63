"""Mode observe, the original configuration file, reload, refusals of bad files."""
import os
import re
import socket
import subprocess
import time

from harness.scenario import Skip, scenario
from harness.servers import TESTS
from scenarios.switches import FIXED, SWITCHES, duty_config, policy_of, victim

ORIGINAL = (TESTS / "golden" / "original.yml").read_text()


@scenario("mode/observe")
def observe(t):
    """The whole path with dryRun=All at the write: nothing changes, every row is marked, nothing is tried over and over."""
    ns = t.ns()
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, hours="1s", mode="observe")
    evicted = t.objects.evict(t.objects.pod(ns))
    stuck = t.objects.pod(ns)
    t.objects.stop_containers(stuck)
    t.objects.terminate(stuck, 1)
    workload = t.objects.workload("Fleet", ns, 2)
    workload.fail_to_pull()
    t.wait_write(evicted, dry=True)
    t.wait_write(stuck, dry=True)
    t.wait_write(workload, dry=True)
    t.until("3 rows", lambda: len([r for r in program.history() if r["outcome"] == "would"]) >= 3, 5)
    assert all(r["observe"] for r in program.history()), program.history()
    time.sleep(2)
    assert not t.writes(), t.writes()
    t.expect(deleted=[evicted], forced=[stuck], scaled=[workload], dry=True)
    assert t.objects.get(evicted) and t.objects.get(stuck) and workload.wanted() == 2


def wait_for_port(port, timeout=30):
    """The original file cannot name another one. False when it does not become free."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return True
        except OSError:
            time.sleep(0.2)
    return False


@scenario("mode/original-config", alone=True, timeout=90)
def original(t):
    """The file of the original program, unchanged, in the namespace it names."""
    ns = t.ns("default")
    t.policy.evicted = t.policy.terminating = t.policy.image_pull = {"default"}
    t.policy.terminating_hours = 120
    folder = t.dir / "cwd"
    folder.mkdir()
    program = t.program(ORIGINAL, start=False, cwd=folder)
    if not wait_for_port(9464):
        raise Skip("127.0.0.1:9464, where metrics are served by default, is taken by another process")
    check = program.ask_plain("config", "check", str(program.config_path))
    assert check.returncode == 0, check.stdout + check.stderr
    program.start()
    evicted = t.objects.evict(t.objects.pod(ns, f"{t.prefix}-evicted"))
    stuck = t.objects.pod(ns, f"{t.prefix}-stuck")
    t.objects.stop_containers(stuck)
    t.objects.terminate(stuck, 1)
    workload = t.objects.workload("Deployment", ns, 1, f"{t.prefix}-web")
    begin = time.time()
    workload.fail_to_pull()
    t.wait_write(evicted)
    request = t.wait_write(workload, 20)
    assert 0 <= request.t - begin - 5 < 5, f"{request.t - begin:.3f} s after it began to fail"
    t.expect(deleted=[evicted], scaled=[workload])


@scenario("mode/config-in-the-working-directory")
def working_directory(t):
    """Without --config it takes ./config.yml, as the original did; but never as root, whoever owns that file."""
    ns = t.ns()
    program = t.program(t.config(evicted=ns), start=False)
    program.cwd = program.dir
    command = [c for c in program.command() if c != "--config" and c != str(program.config_path)]
    program.command = lambda: command
    program.env["XDG_CONFIG_HOME"] = str(program.dir / "none")
    if os.getuid() == 0:
        refused = subprocess.run(command, cwd=program.dir, env=program.env, capture_output=True, text=True, timeout=20)
        assert refused.returncode == 78 and "root does not take ./config.yml" in refused.stderr, refused
        command += ["--config", "./config.yml"]
    program.start()
    t.expect(deleted=[t.canary(ns)])


@scenario("reload/good")
def reload_good(t):
    """SIGHUP takes a new namespace in and another one out, without restarting a process."""
    t.complete = False      # what is evicted in the first namespace afterwards stays
    first, second = t.ns(), t.ns()
    program = t.run(evicted=first)
    gone = [t.canary(first)]
    before = program.lasting()
    generation = program.status()["generation"]
    program.write_config(t.config(evicted=second))
    program.reload()
    t.until("the new generation", lambda: program.status()["generation"] > generation, 10)
    gone.append(t.canary(second))
    stays = t.objects.evict(t.objects.pod(first))
    gone.append(t.canary(second))
    t.expect(deleted=gone)
    assert t.objects.get(stays)
    after = program.lasting()
    assert before == after, f"processes changed: {before} {after}"


@scenario("reload/bad")
def reload_bad(t):
    """A file with an error leaves every process on the old settings, and says where the error is."""
    ns = t.ns()
    program = t.run(evicted=ns)
    gone = [t.canary(ns)]
    generation = program.status()["generation"]
    program.config_path.write_text("deleteEvictedPod:\n  enable: true\n  namespace: nowhere\n")
    program.reload()
    t.until("the error in the log", lambda: "config.yml:3" in program.log(), 10)
    assert program.status()["generation"] == generation
    gone.append(t.canary(ns))
    program.config_path.unlink()
    program.reload()
    time.sleep(0.5)
    gone.append(t.canary(ns))
    assert program.status()["generation"] == generation
    t.expect(deleted=gone)


@scenario("reload/bad-in-their-language")
def reload_bad_language(t):
    """Who asks for a reload is told in the language of the own terminal what is wrong; the log stays English."""
    ns = t.ns()
    program = t.program(t.config(evicted=ns))
    good = program.config_path.read_text()
    chinese, english = {"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, {"LANG": "C.UTF-8", "LC_ALL": ""}
    program.config_path.write_text("workers: many\n")
    for env, said, other in ((chinese, "不是", "is not"), (english, "is not", "不是"), (chinese, "不是", "is not")):
        answer = program.ask("reload", timeout=20, env=env)
        assert answer.returncode and said in answer.stderr and other not in answer.stderr and "config.yml:1:10" in answer.stderr, answer
    assert "不是" not in program.log() and '\\"many\\" is not' in program.log()
    program.config_path.write_text(good)
    program.ask("reload", timeout=20, check=True)
    t.expect(deleted=[t.canary(ns)])


@scenario("reload/storm")
def reload_storm(t):
    """Fifty SIGHUPs while pods are evicted: nothing is lost, the tree stays up."""
    ns = t.ns()
    program = t.run(evicted=ns)
    gone = []
    for i in range(50):
        program.reload()
        if i % 5 == 0:
            gone.append(t.objects.evict(t.objects.pod(ns)))
        time.sleep(0.02)
    for pod in gone:
        t.wait_write(pod)
    t.expect(deleted=gone)


BAD = (
    ("unknown-key", "deleteEvictedPods:\n  enable: true\n", ":1:1:"),
    ("duplicate-key", "mode: observe\nmode: enforce\n", ":2:1:"),
    ("wrong-type", "deleteEvictedPod:\n  enable: perhaps\n", ":2:11:"),
    ("bad-duration", "errImagePull:\n  enable: true\n  hours: 1y\n", ":3:10:"),
    ("both-spellings", "delteEvictedPod:\n  enable: true\ndeleteEvictedPod:\n  enable: true\n", ":3:1:"),
    ("bad-cron", "tooManyRestart:\n  enable: true\n  duration: \"61 * * * * *\"\n", ":3:"),
    ("tab", "deleteEvictedPod:\n\tenable: true\n", ":2:"),
    ("alias-bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", ":"),
)


@scenario("mode/bad-config", servers=("apisim",))
def bad_config(t):
    """A file with an error: FILE:LINE:COLUMN, exit 78, and nothing starts."""
    for name, text, place in BAD:
        program = t.program(text, start=False)
        program.start(wait=False)
        try:
            code = program.process.wait(10)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name}: still running") from None
        assert code == 78, f"{name}: exit {code}: {program.log()}"
        assert f"config.yml{place}" in program.log(), f"{name}: no 'config.yml{place}' in: {program.log()}"
    t.expect()


@scenario("mode/ipv4-names")
def by_name(t):
    """The API server by a name instead of an address: the loader resolves it, the confined roles need not."""
    ns = t.ns()
    text = t.server.kubeconfig("cleaner").replace("//127.0.0.1:", "//localhost:")
    program = t.program(t.config(evicted=ns), t.write("kubeconfig-name", text))
    t.expect(deleted=[t.canary(ns)])
    assert program.is_ready()


@scenario("mode/observe-read-only")
def read_only(t):
    """A credential that may only read is enough to observe: said once, in the log and in status; the history says would."""
    ns = t.ns()
    config = {**duty_config("deleteEvictedPod", ns), "mode": "observe"}
    program = t.program(config, t.kubeconfig("cleaner-reader"))
    t.policy = policy_of(config)
    t.policy.observe = True
    pods = [victim(t, "deleteEvictedPod", ns) for _ in range(3)]
    for pod in pods:
        row = t.wait_history(program, uid=pod["metadata"]["uid"], outcome="would", reason="Evicted", http=403)
        assert "the server was not asked" in row["found"] and "has no right" in row["found"], row
    assert {r["outcome"] for r in program.history()} == {"would"}, program.history()
    said = t.until("the line of the log", lambda: [line for line in program.log().splitlines() if "server-side dry run skipped" in line])
    assert len(said) == 1 and "remedy" in said[0], said
    assert "server-side dry run skipped" in program.ask("status", check=True).stdout
    assert not [r for r in t.requests() if r.code == 403], "nothing is asked that is refused"
    assert not t.writes(), t.writes()


@scenario("reload/every-setting", servers=("apisim",))
def every_setting(t):
    """No key without its scenario: the program lists its keys, and says which of them a reload does not change."""
    program = t.program("", start=False)
    text = program.ask_plain("config", "help").stdout
    keys, restart = set(), set()
    for block in re.split(r"\n(?=\S)", text):
        key = re.match(r"([\w.\[\]]+)(?: \(or [^)]*\))?: (.*)", block)
        if not key or key.group(2) == "section":
            continue
        keys.add(key.group(1))
        if "Changed by a restart, not by a reload." in re.sub(r"\s+", " ", block):
            restart.add(key.group(1))
    assert len(keys) > 100, text
    assert restart == set(FIXED), f"a restart changes {sorted(restart ^ set(FIXED))}, or does not"
    assert keys - restart == set(SWITCHES), f"without a scenario, or without a key: {sorted((keys - restart) ^ set(SWITCHES))}"
