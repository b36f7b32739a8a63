"""Which test runs which command of the operators' pages: the table of tests/page_commands.py."""

PAGES = ("README.md", "SECURITY.md", "docs/quick-start.md", "docs/pod.md", "docs/upgrade.md", "docs/troubleshooting.md", "docs/moving-over.md",
         "docs/faq.md", "docs/without-a-daemon.md")

# runner -> the program that runs its share, a step of scripts/check or one of its tests.
RUNNERS = {
    "pages": "tests/integration/cli/test_pages.py",     # this program alone, on the cluster in memory
    "demo": "demo/selftest",
    "package": "tests/package/run",                     # what makes the package
    "install": "tests/package/run",                     # deb: make, on a machine that is this one and keeps nothing of it
    "boot": "tests/package/run",                        # a booted Debian with systemd
    "image": "tests/image/run",
    "chart": "tests/chart/run",                         # helm and kubectl on the real control plane
    "node": "tests/node/run",                           # the pods themselves, on a real kubelet
}

# runner, page, command (as a file name's pattern): each command of a page is in one row.
CLAIMS = (
    ("demo", "README.md", "make demo STAY=1"),
    ("install", "README.md", "make build"),
    ("install", "README.md", "sudo make install"),
    ("install", "README.md", "make uninstall"),
    ("pages", "README.md", "ops-pod-cleaner plan *"),
    ("package", "README.md", "make deb"),
    ("boot", "README.md", "sudo apt install *"),
    ("boot", "README.md", "sudo install *"),
    ("boot", "README.md", "sudo systemctl enable *"),
    ("boot", "README.md", "sudo systemd-*"),
    ("boot", "README.md", "sudo usermod *"),
    ("boot", "docs/troubleshooting.md", "sudo usermod *"),
    ("image", "README.md", "make image"),
    ("chart", "README.md", "helm install *"),
    ("node", "README.md", "kubectl ops_pod_cleaner *"),
    ("chart", "README.md", "ops-pod-cleaner rbac *"),
    ("chart", "README.md", "kubectl diff *"),
    ("install", "docs/quick-start.md", "make build"),
    ("install", "docs/quick-start.md", "sudo make install"),
    ("install", "docs/quick-start.md", "ops-pod-cleaner version"),
    ("chart", "docs/quick-start.md", "ops-pod-cleaner rbac *"),
    ("image", "docs/pod.md", "make image"),
    ("node", "docs/pod.md", "sudo ctr *"),
    ("chart", "docs/pod.md", "helm *"),
    ("chart", "docs/pod.md", "kubectl apply *"),
    ("chart", "docs/pod.md", "ops-pod-cleaner rbac *"),
    ("node", "docs/pod.md", "kubectl ops_pod_cleaner *"),
    ("node", "docs/pod.md", "kubectl -n *"),
    ("boot", "docs/upgrade.md", "sudo *"),
    ("boot", "docs/upgrade.md", "systemctl *"),
    ("node", "docs/upgrade.md", "kubectl ops_pod_cleaner *"),
    ("boot", "docs/troubleshooting.md", "systemctl *"),
    ("boot", "docs/troubleshooting.md", "journalctl *"),
    ("node", "docs/troubleshooting.md", "kubectl -n *"),
    ("chart", "docs/troubleshooting.md", "kubectl --kubeconfig *"),
    ("chart", "docs/troubleshooting.md", "ops-pod-cleaner rbac *"),
    ("node", "docs/troubleshooting.md", "kubectl ops_pod_cleaner *"),
    ("chart", "docs/faq.md", "kubectl *"),
    ("chart", "docs/without-a-daemon.md", "kubectl create *"),
)

# why, page, command: what no test runs.
NOT_RUN = (
    ("`make demo STAY=1`, which is run, does the same and then stays", "README.md", "make demo"),
    ("it is what runs these tests", "README.md", "make check"),
    ("it measures for many minutes and writes docs/benchmarks.md", "README.md", "make bench"),
    ("it takes ten minutes and writes docs/torture.md; scripts/check runs its program for one", "README.md", "make torture"),
    ("it builds control planes and takes an hour; the step e2e-cluster of scripts/check runs the pinned one", "README.md", "make versions"),
)

# runner, what a page says, what is typed instead: names that are another one's at every reader's, and sudo where root types.
SUBSTITUTIONS = (
    ("boot", "sudo ", ""),
    ("boot", "USER", "lisa"),
    ("boot", "./build/dist/deb/", "/packages/"),
    ("chart", "REGISTRY", "registry.example.com"),
    ("chart", "FILE", "{kubeconfig}"),
    ("chart", "NAMESPACE", "shop"),
    ("chart", "NAME", "web"),
    ("install", "sudo ", ""),
    ("node", "sudo ", ""),
    ("node", "build/image/ops-pod-cleaner.tar", "{image}"),
)
