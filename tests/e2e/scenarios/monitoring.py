"""What deploy/monitoring holds, with a real Prometheus that scrapes the program."""
import json
import re
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request

from harness.daemon import Daemon
from harness.port import free_port
from harness.scenario import scenario
from monitoring import queries

from .sandbox import need_sandbox
from .terminating import stuck


class Prometheus(Daemon):
    """With the alert rules as they are shipped, but for the time that each waits: a second."""

    def __init__(self, t, scraped):
        assert shutil.which("prometheus"), "prometheus is not there: scripts/deps installs it"
        rules = re.sub(r"^( +for:) .*$", r"\1 1s", queries.ALERTS.read_text(), flags=re.M)
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(t.write("alerts.yml", rules))],
                  "scrape_configs": [{"job_name": "ops-pod-cleaner", "static_configs": [{"targets": [scraped]}]}]}
        address = f"127.0.0.1:{free_port()}"
        super().__init__(t, "prometheus", address, [
            "prometheus", f"--config.file={t.write('prometheus.json', json.dumps(config))}", f"--storage.tsdb.path={t.dir / 'tsdb'}",
            f"--web.listen-address={address}", "--log.level=warn"])

    def ask(self, what, **query):
        with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
            return json.load(answer)["data"]

    def rules(self):
        """{alert: its state}; none has an error."""
        rows = [row for group in self.ask("rules")["groups"] for row in group["rules"]]
        assert {row["health"] for row in rows} <= {"ok", "unknown"}, rows
        return {row["name"]: row["state"] for row in rows}

    def firing(self):
        return {name for name, state in self.rules().items() if state == "firing"}


def served(address):
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def check_exposition(address):
    """As text, which promtool reads, and as OpenMetrics, which Prometheus asks for."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        done = subprocess.run(["promtool", "check", "metrics"], input=answer.read(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0,*/*;q=0.1"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0"), answer.headers
        assert answer.read().endswith(b"\n# EOF\n")


def wait_answers(t, server, left):
    """Each of the (panel, query) gets an answer that is not empty."""
    def all_answered():
        left[:] = [(title, query) for title, query in left if not server.ask("query", query=query)["result"]]
        return not left
    try:
        t.until("an answer to each query", all_answered, 30, every=0.5)
    except AssertionError as e:
        raise AssertionError(f"{e}: {left}") from None


# What has happened by then in the scenario, as it is counted.
COUNTED = ('opc_due{verdict="refused",reason="HasFinalizers"} == 1', 'opc_leader == 1', 'opc_mode{mode="enforce"} == 1',
           'opc_settings_last_reload_successful == 1', 'sum(opc_api_requests_total{verb="delete",code="200"}) > 0',
           'sum(opc_api_requests_total{verb="watch",code="200"}) > 0', 'opc_event_to_write_seconds_count > 0',
           'opc_api_read_seconds_count > 0', 'opc_api_write_seconds_count > 0', 'opc_intent_commit_seconds_count > 0',
           'opc_sync_seconds_count > 0', 'opc_action_reasons_total{duty="deleteEvictedPod",reason="Evicted"} > 0',
           'opc_outbox_pending == 0', 'sum(opc_sink_messages_total{outcome="done"}) > 0', 'opc_sandbox{role="worker",feature="seccomp"} == 1')


@scenario("monitoring/prometheus", servers=("apisim",))
def prometheus(t):
    """Each query of the dashboard has an answer; no alert while all is well, and the right one when a reload is refused and at the end."""
    need_sandbox(t)
    ns, sink, address = t.ns(), t.sink(), f"127.0.0.1:{free_port()}"
    crashing = t.objects.pod(ns)
    t.objects.crash(crashing, 9)
    held, _ = stuck(t, ns, finalizers=["example.com/unmount"])
    restarts = {"namespaces": ns, "hours": "0s", "status": "CrashLoopBackOff", "counts": 2, "duration": "*/2 * * * * *", "apiurl": sink.url}
    program = t.program(t.config(evicted=ns, terminating=ns, hours="1s", restarts=restarts, metricsListen=address))
    server = Prometheus(t, address)
    t.canary(ns)
    t.wait_history(program, uid=held["metadata"]["uid"], reason="HasFinalizers")
    t.until("a report", lambda: sink.accepted, 20)
    troubles = [row for row in queries.queries() if row[0] == "Troubles" and "vector(0)" not in row[1]]
    waiting = [row for row in queries.queries() if row[0] == "Age of the oldest message that waits"]
    wait_answers(t, server, [row for row in queries.queries(interval="10s") if row not in troubles + waiting])
    wait_answers(t, server, [("counted", query) for query in COUNTED])
    check_exposition(address)
    t.until("no alert", lambda: set(server.rules().values()) == {"inactive"}, 20, every=0.5)
    assert troubles and set(server.rules()) == {row["alert"] for row in queries.alerts()}
    text = program.config_path.read_text()
    program.config_path.write_text(text + "nonsense: 1\n")
    program.reload()
    t.until("OpcSettingsRefused", lambda: server.firing() == {"OpcSettingsRefused"}, 20, every=0.5)
    wait_answers(t, server, troubles)
    program.config_path.write_text(text)
    program.reload()
    t.until("its end", lambda: not server.firing(), 20, every=0.5)
    sink.script = ["503"] * 1000
    t.objects.crash(crashing, 19)       # there is something to report
    wait_answers(t, server, waiting)
    pid = program.kill("reporter")
    t.until("another reporter", lambda: program.pids("reporter") not in ([], [pid]), 20)
    t.until("what is due, told again", lambda: 'verdict="refused",reason="HasFinalizers"} 1\n' in served(address), 20)
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(30) == 0
    t.until("OpcDown", lambda: server.firing() == {"OpcDown"}, 30, every=0.5)
