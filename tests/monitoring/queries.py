"""What deploy/monitoring asks of Prometheus: the alert rules, and the queries of the dashboard."""
import json
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDER = TOP / "deploy" / "monitoring"
ALERTS, ALERTS_TEST, DASHBOARD = FOLDER / "alerts.yml", FOLDER / "alerts_test.yml", FOLDER / "dashboard.json"


def alerts():
    """[{alert, expr, severity, runbook}] in the order of the file."""
    found = []
    for text in re.split(r"^      - (?=alert: )", ALERTS.read_text(), flags=re.M)[1:]:
        row = {key: re.search(rf"\b{key}: (.+?)}}?$", text, re.M) for key in ("alert", "severity", "runbook")}
        row["expr"] = re.search(r"^ +expr: '(.+)'$", text, re.M)
        found.append({key: match[1].replace("''", "'") if match else "" for key, match in row.items()})
    return found


def panels():
    return json.loads(DASHBOARD.read_text())["panels"]


def queries(interval="5m", cluster=".*"):
    """(title of the panel, query) as Grafana sends them, with All clusters chosen."""
    return [(panel["title"], target["expr"].replace("$__rate_interval", interval).replace("$cluster", cluster))
            for panel in panels() for target in panel.get("targets", ())]


def metrics():
    """{name: its labels}, the table of what is served."""
    table = (TOP / "reporter" / "web" / "metrics.def").read_text()
    served = {name: set(labels.split(",")) - {""} for name, labels in re.findall(r'^M\(\w+, "(\w+)", "\w+", "([\w,]*)"', table, re.M)}
    for name, labels in re.findall(r'^H\(\w+, "(\w+)", "([\w,]*)"', table, re.M):
        of = set(labels.split(",")) - {""}
        served.update({f"{name}_bucket": of | {"le"}, f"{name}_sum": of, f"{name}_count": of})
    return served
