"""Settings that errImagePull has alone take effect by a reload: entries of SWITCHES (scenarios/switches.py)."""
import time

from harness.scenario import judge
from scenarios.image_pull import left_behind
from scenarios.switches import EFFECT_S, duty_config, play, policy_of, switch, taken, turn, victim
from scenarios.worker import count_active, cron_job, is_suspended, job as failing_job


@switch("errImagePull.freshAttempt")
def fresh_attempt(t):
    ns = t.ns()
    duty, attempts = "errImagePull", []

    def make():
        attempts.append(victim(t, duty, ns))
        return attempts
    before, after = (duty_config(duty, ns, freshAttempt=v) for v in ("1h", "0s"))
    program = t.program(before)
    t.policy = policy_of(before)
    workload = make()[0]
    t.until("the fresh attempt", lambda: len(taken(t)) == 1, 15)
    if t.server.has_controllers:
        t.until("the pod that takes its place", workload.pods, 15)
    for pod in workload.pods() or [workload.add_pod(1)]:
        t.objects.fail_to_pull(pod)
    time.sleep(1.5)
    assert not [r for r in t.writes() if judge.kind_of(r) == "scale"], t.writes()
    policy = t.policy
    begin = turn(t, program, after)
    t.policy = policy       # a deletion of the time before is no act of the duty without
    request = t.until("the scale-down", lambda: next((r for r in t.writes() if judge.kind_of(r) == "scale" and r.ok), None), 15)
    assert request.t - begin <= EFFECT_S, f"took effect {request.t - begin:.1f} s after the reload"


@switch("errImagePull.ordinalStuck")
def ordinal_stuck(t):
    ns, duty = t.ns(), "errImagePull"
    play(t, duty_config(duty, ns), duty_config(duty, ns, ordinalStuck="delete"), lambda: left_behind(t, ns, replicas=1)[1:])


@switch("errImagePull.suspendJobs")
def suspend_jobs(t):
    ns = t.ns()
    duty = "errImagePull"
    play(t, duty_config(duty, ns), duty_config(duty, ns, suspendJobs=True), lambda: [failing_job(t, ns)])


@switch("errImagePull.suspendCronJobs")
def suspend_cron_jobs(t):
    ns = t.ns()
    cron, program = cron_job(t, ns), t.program(duty_config("errImagePull", ns, suspendJobs=True))
    for named in (False, True):
        turn(t, program, duty_config("errImagePull", ns, suspendJobs=True, suspendCronJobs=named))
        count_active(t, cron, top := failing_job(t, ns, cron))
        t.until("the Job to be suspended", lambda top=top: is_suspended(t, "Job", top), EFFECT_S + 10)
        assert is_suspended(t, "CronJob", cron) == named
