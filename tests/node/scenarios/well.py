"""A pod that is well."""
from harness.scenario import scenario

from kit import pods


@scenario("well/is-left-alone", servers=("node",))
def well(t):
    """A real pod that runs and is Ready, with every duty on: nothing is done, and explain says none of every duty."""
    ns = t.ns()
    pod = pods.pod(t, ns, "runs", pods.container())
    t.until("the pod to be Ready", lambda: pods.is_ready(t.objects.get(pod)), 30, every=0.2)
    t.server.keep("well", pod)
    program = t.run(evicted=ns, terminating=ns, image_pull=ns, finished=ns, crash_loop=ns, hours="1s", crashLoop={"counts": 1})
    t.never("a write", t.writes, 2)
    verdicts = {row["duty"]: (row["verdict"], row["reason"]) for row in program.ask_json("explain", f"{ns}/runs")}
    assert len(verdicts) >= 5 and {verdict for verdict, _ in verdicts.values()} == {"none"}, verdicts
    assert verdicts["errImagePull"] == ("none", "NotFailing") and verdicts["deleteEvictedPod"] == ("none", "NotEvicted"), verdicts
    t.expect()
