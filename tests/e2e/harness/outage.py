"""Workloads that fail together as in an outage: what the breaker counts, and a wrong tag is not."""
import time


def outage(t, ns, n, apart=0.0, duty="crashLoop"):
    """n Deployments, one made every `apart` seconds, that lost what they ran with: a crash loop is a sign by itself, a pull where it was
    pulled before."""
    found = []
    for _ in range(n):
        found.append(t.objects.workload("Deployment", ns, 1))
        for pod in found[-1].pods():
            t.objects.crash(pod, 1) if duty == "crashLoop" else t.objects.run(pod)
        time.sleep(apart)
    time.sleep(1)           # seen while they ran, or when they began to crash
    if duty == "crashLoop":
        for pod in [pod for workload in found for pod in workload.pods()]:
            t.objects.crash(pod, 21)
    else:
        for workload in found:
            workload.fail_to_pull(message="unauthorized: authentication required")
    return found
