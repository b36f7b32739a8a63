"""The chart, rendered; and its objects on a server."""
import functools
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
CHART, KUSTOMIZE = TOP / "deploy" / "chart", TOP / "deploy" / "kustomize"
NAME = "ops-pod-cleaner"
VERSION = "1.34.0"      # of the server that a rendered chart is for
# Kinds that no namespace holds.
FREE = {"Namespace", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}


@functools.cache
def tools():
    """The folder with helm and kustomize, built when they are not there."""
    done = subprocess.run([TOP / "tests" / "chart" / "build"], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip())


def helm(*args, code=0):
    """What it printed; its errors, when it is to fail."""
    done = subprocess.run([tools() / "helm", *map(str, args)], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == (code != 0), f"helm {' '.join(map(str, args))}: exit {done.returncode}: {done.stderr}{done.stdout}"
    return done.stderr if code else done.stdout


def render(*args, namespace=NAME, version=VERSION):
    return helm("template", NAME, CHART, "--namespace", namespace, "--kube-version", version, *args)


def documents(text):
    """The objects of a rendered chart, in order: (kind, name, YAML)."""
    found = []
    for document in re.split(r"^---\n", text, flags=re.M):
        kind = re.search(r"^kind: (\w+)$", document, re.M)
        name = re.search(r"^metadata:(?: \{|\n  )name: ([\w.-]+)", document, re.M)
        if kind:
            found.append((kind[1], name[1], document))
    return found


def config_of(text):
    """config.yml of the rendered Secret."""
    block = re.search(r"^  config\.yml: \|\n((?:    .*\n)+)", text, re.M)[1]
    return re.sub(r"^    ", "", block, flags=re.M)


def path_of(kind, document, namespace=NAME):
    """Where a server has the objects of that kind."""
    version = re.search(r"^apiVersion: (\S+)$", document, re.M)[1]
    group = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = re.sub(r"ys$", "ies", kind.lower() + "s")
    own = re.search(r"^(?:metadata: \{.*|  )namespace: ([\w-]+)", document, re.M)
    return f"{group}/{plural}" if kind in FREE else f"{group}/namespaces/{own[1] if own else namespace}/{plural}"
