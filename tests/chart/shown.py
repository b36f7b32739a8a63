"""What the pages have an operator type to helm and kubectl, on a real control plane: as it stands there, page by page."""
import fnmatch
import os
import re
import subprocess

import chart
import page_commands
from harness.wait import until

# A page's folder is a clone with the page's own files; where a page has no config.yml the one of deploy/ is meant.
CONFIG = chart.TOP / "deploy" / "config.yml"
PRINTED = "ops-pod-cleaner rbac --config config.yml"      # in the place of its `apply` stands `diff`: nothing is missing
WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "annotations": {"ops-pod-cleaner.io/scaled-down-by": "x"}},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web"}]}}}}


class Operator:
    """A shell in that folder, with helm, kubectl and the program, and the administrator's kubeconfig."""

    def __init__(self, folder, build, server, page):
        self.server = server
        self.folder = folder / page.replace("/", "-")
        self.folder.mkdir()
        (self.folder / "deploy").symlink_to(chart.TOP / "deploy")
        for name, text in {"config.yml": CONFIG.read_text(), **page_commands.files(page)}.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o600)
        self.env = {**os.environ, "PATH": f"{chart.tools()}:{build / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder),
                    "KUBECONFIG": str(server.dir / "kubeconfig")}

    def type(self, text):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"$ {text}\nexit {done.returncode}: {done.stderr}{done.stdout}"
        return done.stdout

    def forget(self):
        """Nothing of the program is in the cluster."""
        self.type("helm uninstall --ignore-not-found --wait ops-pod-cleaner --namespace ops-pod-cleaner")
        for what in ("rbac --config config.yml", "rbac --config config.yml --admission"):
            self.type(f"ops-pod-cleaner {what} | kubectl delete --ignore-not-found -f -")


# --- what is true after a command that has ended well, beside that: (operator, what it printed) ---

def the_chart_is_in(operator, said):
    assert "mode: observe" in said, said
    image = operator.type("kubectl -n ops-pod-cleaner get statefulset ops-pod-cleaner -o jsonpath='{..image}'")
    assert image.startswith("registry.example.com/ops-pod-cleaner:"), image


def the_base_is_in(operator, _):
    assert operator.type("kubectl -n ops-pod-cleaner get statefulset -o name") == "statefulset.apps/ops-pod-cleaner\n"


def the_mode_is_enforce(_, said):
    assert "mode: enforce" in said, said


def the_file_is_in_it(operator, _):
    text = operator.type("kubectl -n ops-pod-cleaner get secret ops-pod-cleaner-config -o jsonpath='{.data.config\\.yml}' | base64 -d")
    lines = {re.sub(r"#.*", "", line).strip().replace('"', "'") for line in (operator.folder / "config.yml").read_text().splitlines()}
    missing = lines - {"", *(line.strip() for line in text.splitlines())}
    assert not missing and len(lines) > 10, (missing, text)


def the_rights_are_in(operator, said):
    assert "clusterrole.rbac.authorization.k8s.io/ops-pod-cleaner-writer created" in said, said
    ask = "kubectl auth can-i get nodes --as system:serviceaccount:ops-pod-cleaner:ops-pod-cleaner-writer || true"
    until("the rights to count", lambda: operator.type(ask).startswith("yes\n"), 20)


def the_policy_is_in(_, said):
    assert "validatingadmissionpolicy.admissionregistration.k8s.io/ops-pod-cleaner-writer created" in said, said


def it_makes_a_kubeconfig(operator, said):
    """What it prints is typed in turn, where the page does not do that itself, and what that writes is used."""
    operator.type(said)
    made = [path.stem for path in operator.folder.glob("*er.kubeconfig")]
    assert made, "no kubeconfig was made"
    for account in made:
        assert operator.type(f"kubectl --kubeconfig {account}.kubeconfig auth whoami").count(f"ops-pod-cleaner-{account}") == 1


def it_says_who_scaled_it_down(_, said):
    assert "ops-pod-cleaner.io/scaled-down-by" in said, said


def a_round_needs_no_more(operator, _):
    """As the page's CronJob: one account, the writer's, with what `rbac` prints and this."""
    operator.type(f"{PRINTED} | kubectl apply -f - && ops-pod-cleaner rbac --kubeconfig-for writer | sh")
    said = operator.type("ops-pod-cleaner run --once --config config.yml --kubeconfig writer.kubeconfig --state-dir state --control-socket ./ctl")
    assert said.startswith("round over: 0 left"), said
    operator.type("kubectl delete clusterrolebinding ops-pod-cleaner-once")


AFTER = (("helm install *", the_chart_is_in), ("kubectl apply -k *", the_base_is_in), ("helm upgrade *mode=enforce", the_mode_is_enforce),
         ("helm upgrade *configFile*", the_file_is_in_it), ("*--admission | kubectl apply *", the_policy_is_in),
         ("*config.yml | kubectl apply *", the_rights_are_in), ("*--kubeconfig-for *", it_makes_a_kubeconfig),
         ("kubectl create clusterrolebinding *", a_round_needs_no_more), ("kubectl *get deployment*", it_says_who_scaled_it_down))
# Other ways to the same: what was done before is taken away.
ANEW = ("kubectl apply -k *", "helm install *", "*config.yml | kubectl apply *")
FIRST = ("kubectl apply -k *",)     # the page goes on with the other one


def is_one(command, patterns):
    return any(fnmatch.fnmatchcase(command.text, pattern) for pattern in patterns)


def run_all(folder, build, server):
    share = page_commands.Share("chart", kubeconfig=server.dir / "kubeconfig")
    server.admin.post("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    server.admin.post("/apis/apps/v1/namespaces/shop/deployments", WORKLOAD)
    for page in sorted({command.page for command in share.commands}):
        operator = Operator(folder, build, server, page)
        for command in sorted(share.of(page), key=lambda c: not is_one(c, FIRST)):
            if is_one(command, ANEW):
                operator.forget()
            text = share.typed(command)
            said = operator.type(f"{PRINTED} | {text}" if text.startswith("kubectl diff") else text)
            for pattern, check in AFTER:
                if is_one(command, [pattern]):
                    check(operator, said)
        operator.forget()
    share.check_all_ran()
