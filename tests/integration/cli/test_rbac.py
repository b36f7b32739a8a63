#!/usr/bin/env python3
"""`ops-pod-cleaner rbac`: what a configuration needs, and no more; the policy follows the configuration. What the policy does is
for a real server to say: tests/e2e/scenarios/admission.py, rbac.py."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "tests"))
import cases  # noqa: E402
import scratch  # noqa: E402

PROGRAM = sys.argv[1]
HOME = scratch.folder("rbac")
ALWAYS = {"reader", "observer", "writer", "leader"}
BOTH = {"observer", "nodes", "namespaces"}
NO_LEASE = "leaderElection: {presence: false}\n"


def call(*args, code=0):
    r = subprocess.run([PROGRAM, "rbac", *args], capture_output=True, text=True, timeout=30, cwd=HOME,
                       env={"HOME": str(HOME), "PATH": os.environ["PATH"]})
    assert r.returncode == code, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout if code == 0 else r.stderr


def printed(config, *args, code=0):
    path = HOME / "c.yml"
    path.write_text(config)
    path.chmod(0o600)
    return call("--config", str(path), *args, code=code)


def duty(name, **more):
    fields = {"enable": "true", "namespaces": "web", **more}
    return f"{name}: {{" + ", ".join(f"{k}: {v}" for k, v in fields.items()) + "}\n"


def roles(text):
    return set(re.findall(r"kind: (?:Cluster)?Role\nmetadata: {name: ops-pod-cleaner-(\w+)", text))


def bound(text):
    return {(m[1], m[2]) for m in re.finditer(r"RoleBinding\nmetadata: {name: ops-pod-cleaner-(\w+).*\n.*\nsubjects:\n((?:  - .*\n)+)", text)}


def expression(policy, name):
    m = re.search(rf"    - name: {name}\n      expression: \|-\n((?:        .*\n)+)", policy)
    return re.sub(r"\s+", " ", m[1]).strip() if m else None


def demand(policy, message):
    m = re.search(rf"    - message: \"{message}\"\n.*\n.*\n((?:        .*\n)+)", policy)
    return re.sub(r"\s+", " ", m[1]).strip()


def deploy_is_what_is_printed():
    config = str(TOP / "deploy" / "config.yml")
    assert call("--config", config) == (TOP / "deploy" / "rbac.yaml").read_text()
    assert call("--config", config, "--admission") == (TOP / "deploy" / "admission.yaml").read_text()


def no_role_that_is_not_needed():
    for config, wanted in ((duty("deleteEvictedPod"), set()), (duty("deleteFinishedPod"), set()),
                           (duty("deleteTerminatingPod"), {"nodes"}),
                           (duty("errImagePull"), {"marker", "restorer"}), (duty("crashLoop"), {"marker", "restorer"}),
                           (duty("errImagePull", suspendJobs="true"), {"marker", "restorer", "suspender"}),
                           (duty("deleteEvictedPod", announce="5m"), {"announcer"}),
                           (duty("deleteEvictedPod", namespaces="\"label:team=web\""), {"namespaces"}),
                           ("leaderElection: {enable: true}\n" + duty("deleteEvictedPod"), set()),
                           ("leaderElection: {enable: true, presence: false}\n" + duty("deleteEvictedPod"), set()),
                           (duty("deleteEvictedPod", enable="false"), set())):
        text = printed(config)
        assert roles(text) == ALWAYS | wanted, (config, roles(text))
        assert ("verbs: [delete]" in text) == ("delete" in config and "enable: false" not in config), config
        assert ("/scale" in text) == ("errImagePull" in config or "crashLoop" in config), config
    assert roles(printed(NO_LEASE + duty("deleteEvictedPod"))) == ALWAYS - {"leader"}
    override = duty("crashLoop", enable="false") + "overrides:\n  - {name: x, namespaces: web, crashLoop: {enable: true}}\n"
    assert "marker" in roles(printed(override)), "an override switches it on"


def a_report_by_the_names_of_workloads_reads_their_owners():
    report = duty("tooManyRestart", apiurl="http://127.0.0.1:9/open-apis/bot/v2/hook/0123")
    text = printed(duty("deleteEvictedPod") + report)
    assert "deployments, statefulsets, replicasets" in text
    assert "{apiGroups: [apps], resources: [controllerrevisions], verbs: [get]}" in text, text
    assert "controllerrevisions" not in printed(duty("deleteEvictedPod") + duty("errImagePull"))


def two_accounts_and_each_its_own():
    text = printed("leaderElection: {enable: true}\n" + duty("deleteTerminatingPod") + duty("errImagePull"))
    for role, subjects in bound(text):
        reader, writer = "ops-pod-cleaner-reader" in subjects, "ops-pod-cleaner-writer" in subjects
        assert reader == (role in ("reader", "leader") or role in BOTH), (role, subjects)
        assert writer == (role not in ("reader", "leader")), (role, subjects)
    assert "name: \"robot\"" in printed(duty("errImagePull"), "--writer", "robot")


def what_changes_all_of_an_object_is_bound_beside_the_policy_only():
    config = duty("errImagePull", suspendJobs="true", announce="1h")
    guarded = {"announcer", "marker", "suspender", "restorer"}
    assert not {role for role, _ in bound(printed(config))} & guarded
    text = printed(config, "--admission")
    assert {role for role, _ in bound(text)} == guarded
    assert text.index("kind: ValidatingAdmissionPolicyBinding") < text.index("RoleBinding\nmeta")


def namespaces_are_bound_one_by_one():
    text = printed(duty("deleteTerminatingPod"), "--namespace", "web")
    assert "kind: RoleBinding\nmetadata: {name: ops-pod-cleaner-writer, namespace: web}" in text
    assert "kind: ClusterRoleBinding\nmetadata: {name: ops-pod-cleaner-nodes}" in text


def kinds_join_those_that_are_known():
    config = duty("errImagePull")
    assert "resources: [fleets/scale], verbs: [patch]" in printed(config, "--kinds", "fleets.example.com")
    policy = printed(config, "--admission", "--kinds", "fleets.example.com")
    assert "'UPDATE example.com/fleets/scale'" in expression(policy, "scales")
    # Nobody knows their field: they are not written as a whole, and no right to restore them is given.
    assert expression(policy, "by_scale") == "['UPDATE example.com/fleets/scale']"
    assert expression(policy, "others") == "['UPDATE example.com/fleets']" and "fleets" not in expression(policy, "wholes")
    restorer = printed(config, "--kinds", "fleets.example.com").split("name: ops-pod-cleaner-restorer}")[1].split("---")[0]
    assert "verbs: [restore]" in restorer and "deployments" in restorer and "fleets" not in restorer and "/scale" not in restorer, restorer
    for bad in ("fleets", ".x", "x.", "A.b", "x.y;z"):
        assert "RESOURCE.GROUP" in printed(config, "--kinds", bad, code=64), bad


def the_policy_is_for_the_writer_alone():
    policy = printed(duty("deleteEvictedPod"), "--admission")
    # In whatever namespace it is: who installs the program in another one, as by an overlay of kustomize, renames no text in here.
    assert "ops-pod-cleaner:" not in re.sub(r"(?m)#.*$", "", policy) and "'ops-pod-cleaner'" not in expression(policy, "protected")
    assert "endsWith(':ops-pod-cleaner-writer')" in policy and expression(policy, "home") == "request.userInfo.username.split(':')[2]"
    other = printed(duty("deleteEvictedPod"), "--admission", "--writer", "o'neil")
    assert "request.userInfo.username == 'o\\x27neil'" in other and expression(other, "home") == "'ops-pod-cleaner'"
    assert "failurePolicy: Fail" in policy and "validationActions: [Deny]" in policy
    # A parameter that cannot be read refuses everybody.
    assert "param" not in policy


def the_policy_knows_the_namespaces():
    policy = printed(duty("deleteEvictedPod", namespaces="[web, 'team-*', '!team-x', 'label:tier=ba*', '!label:keep=true']")
                     + "excludeNamespaces: [vault, 'pay*']\n", "--admission")
    assert expression(policy, "excluded") == "(variables.ns in ['vault'] || variables.ns.matches('^pay.*$'))"
    assert expression(policy, "named_deleteEvictedPod") == "variables.ns in ['web']"
    where = expression(policy, "in_deleteEvictedPod")
    assert where == ("variables.ns != '' && !variables.excluded && (variables.named_deleteEvictedPod || !variables.protected) && "
                     "(variables.ns in ['web'] || variables.ns.matches('^team-.*$') || "
                     "('tier' in variables.labels && variables.labels['tier'].matches('^ba.*$'))) && "
                     "!(variables.ns in ['team-x'] || ('keep' in variables.labels && variables.labels['keep'].matches('^true$')))"), where
    assert "'kube-system'" in expression(policy, "protected") and "variables.ns == variables.home" in expression(policy, "protected")
    everywhere = expression(printed(duty("crashLoop", namespaces="\"!vault\""), "--admission"), "in_crashLoop")
    assert everywhere.endswith("(true) && !(variables.ns in ['vault'])"), everywhere
    nowhere = expression(printed(duty("crashLoop"), "--admission"), "excluded")
    assert nowhere == "(false)", nowhere


def the_policy_knows_what_is_due():
    def due(name, **more):
        return expression(printed(duty(name, **more), "--admission"), "due_" + name)
    assert due("deleteEvictedPod").endswith("'Pod'])") and "o.kind in ['Job', 'Workflow.argoproj.io'" in due("deleteEvictedPod")
    assert due("deleteEvictedPod", includeJobs="true").endswith("'Evicted'")
    assert "size() == 0 && request.?options.?gracePeriodSeconds.orValue(1) == 0" in due("deleteTerminatingPod")
    finished = due("deleteFinishedPod", reasons="[NodeLost]")
    assert "in ['Failed']" in finished and "in ['NodeLost']" in finished and "owners.size() > 0" in finished, finished
    assert "reason" not in due("deleteFinishedPod", reasons="\"*\"", includeBarePods="true")
    assert due("errImagePull") is None, "it deletes nothing"
    assert "in ['ErrImagePull', 'ImagePullBackOff']" in due("errImagePull", freshAttempt="10m")
    assert "StatefulSet" not in due("errImagePull", freshAttempt="10m", ordinalStuck="delete")
    assert "o.kind == 'StatefulSet'" in due("errImagePull", ordinalStuck="delete") and "gracePeriodSeconds" in due("errImagePull", ordinalStuck="delete")
    assert 'resources: [pods], verbs: [delete]' in printed(duty("errImagePull", ordinalStuck="delete"))
    assert due("crashLoop") is None


def every_duty_that_deletes_stands_in_the_policy():
    text = (TOP / "model" / "duties.def").read_text()
    deleting = re.findall(r'D\(X, \w+, \w+, \d+, "(\w+)", "\w*", \d+, ACTS, (?:FORCE_)?DELETE,', text)
    assert len(deleting) >= 3, deleting
    for name in deleting:
        assert expression(printed(duty(name), "--admission"), "due_" + name), name


def the_policy_demands():
    policy = printed(duty("deleteEvictedPod") + duty("errImagePull", suspendJobs="true"), "--admission")
    assert demand(policy, "no duty works in this namespace") == "false || variables.in_deleteEvictedPod || variables.in_errImagePull"
    assert demand(policy, "no duty deletes this pod") == "variables.what != 'DELETE pods' || variables.due_deleteEvictedPod"
    scales = demand(policy, "no duty scales or suspends in this namespace")
    assert scales.endswith("|| variables.in_errImagePull") and "deleteEvictedPod" not in scales, scales
    assert "variables.lowers || variables.raises" in scales, scales
    assert "preconditions.?uid" in policy and "preconditions.?resourceVersion" in policy
    assert expression(policy, "suspends") == "['UPDATE batch/jobs']"
    only = printed(duty("deleteEvictedPod"), "--admission")
    nothing = ("scales", "by_scale", "wholes", "others", "suspends", "annotates")
    assert [expression(only, name) for name in nothing] == ["[]"] * len(nothing)
    assert expression(printed(duty("deleteEvictedPod", announce="5m"), "--admission"), "wholes") == "[]", "an announcement changes no replicas"
    assert expression(printed(duty("deleteEvictedPod", announce="5m"), "--admission"), "annotates").startswith("['UPDATE pods', ")


def the_policy_suspends_what_fails():
    def policy(**keys):
        return printed(duty("errImagePull", hours="2h", **keys), "--admission")
    jobs, both = policy(suspendJobs="true"), policy(suspendJobs="true", suspendCronJobs="true")
    assert expression(policy(suspendCronJobs="true"), "suspends") == "[]"
    assert expression(both, "suspends") == "['UPDATE batch/jobs', 'UPDATE batch/cronjobs']"
    noted = demand(jobs, "a suspension notes by which action it was made, and how to undo it")
    for part in ("by", "action", "undo"):
        assert f"'ops-pod-cleaner.io/scaled-down-{part}' in variables.after" in noted, (part, noted)
    job = demand(jobs, "a Job is suspended that has run for hours, with pods of which none is Ready")
    assert "?active.orValue(0) > 0" in job and "timestamp(oldObject.status.startTime) >= duration('7195s')" in job, job
    cron = demand(both, "a CronJob is suspended that has an active Job and no success since it was last scheduled, nor for hours")
    for what in ("active.orValue([]).size() > 0", "timestamp(oldObject.status.lastSuccessfulTime) < timestamp(oldObject.status.lastScheduleTime)",
                 "duration('7195s')"):
        assert what in cron, (what, cron)
    back = demand(jobs, "a Job is resumed only by the mark that comes off, with the right to restore")
    assert "'ops-pod-cleaner'" in back and "variables.unmarked" in back and "check('restore').allowed()" in back, back


def the_policy_frees_no_claim():
    held = demand(printed(duty("deleteTerminatingPod"), "--admission"),
                  "a pod with a ResourceClaim is deleted by force only with the right to force it, or when its phase is over or it has no node")
    for what in ("gracePeriodSeconds.orValue(1) != 0", "resourceClaims.orValue([]).size() == 0", "resourceClaimStatuses.orValue([]).size() == 0",
                 "!oldObject.?status.?extendedResourceClaimStatus.hasValue()", "|| authorizer.requestResource.check('force').allowed()"):
        assert what in held, (what, held)


def the_policy_binds_replicas_to_the_mark():
    policy, mark = printed(duty("errImagePull"), "--admission"), "'ops-pod-cleaner.io/scaled-down-from'"
    assert expression(policy, "wholes").count("UPDATE") == 5 and "/scale" not in expression(policy, "wholes")
    assert demand(policy, "a scale-down notes how many replicas there were") == (
        f"!variables.lowers || variables.after[?{mark}].orValue('') == string(variables.was)")
    back = demand(policy, "replicas go to 0, or from 0 to what the mark on the object says")
    assert back == (f"variables.was == variables.will || variables.lowers || "
                    f"(variables.raises && string(variables.will) == variables.before[?{mark}].orValue('') && "
                    "variables.unmarked && authorizer.requestResource.check('restore').allowed())"), back
    kept = demand(policy, "a mark comes with what it notes, and goes when that is over")
    assert kept.startswith("!variables.patches || !variables.remarks || variables.lowers || variables.halts || "
                           "(variables.unmarked && (variables.will > 0 || variables.resumes)) ||"), kept
    serves = demand(policy, "what serves is neither scaled to 0 nor suspended")
    assert "readyReplicas.orValue(0) == 0" in serves and "?ready.orValue(0) == 0" in serves and "variables.halts" in serves, serves
    spared = demand(policy, "this workload is spared: by its annotations, its owner, or the claims that would be deleted")
    for what in ("owners.size() == 0", "io/ignore'].orValue('') != 'true'", "io/skip'].orValue('') != 'all'", "whenScaled.orValue('') != 'Delete'"):
        assert what in spared, (what, spared)


def the_policy_bounds_what_is_written():
    policy = printed(duty("errImagePull"), "--admission")
    texts = demand(policy, "our annotations hold only what this program writes: a time, a number, a bounded text, the command that undoes it on this very object")
    source = (TOP / "model" / "annotations.c").read_text()
    parts = re.findall(r'ANNOTATION_PREFIX "(scaled-down-\w+)"', source)
    assert len(parts) >= 7, parts
    for key in [*parts, "announced"]:
        assert re.search(rf"\(k == 'ops-pod-cleaner.io/{key}' && variables.after\[k\][. ]", texts), (key, texts)
    assert "/null" not in texts and "(null)" not in texts, texts
    assert "'kubectl -n ' + variables.ns + ' scale ' + variables.whose" in expression(policy, "ways_back")
    reasons = expression(policy, "reasons")
    warns = re.findall(r'^REASON\(\w+, "(\w+)", \w+, WARNING', (TOP / "model" / "reasons.def").read_text(), re.M)
    told = re.findall(r'^OBJECT_EVENT\(\w+, "(\w+)"', (TOP / "model" / "object_events.def").read_text(), re.M)
    assert len(warns) >= 10 and len(told) >= 5, (warns, told)
    assert all(f"'{code}'" in reasons for code in warns + told), reasons


def annotations_of_webhooks_are_named():
    def allowed(*args, code=0):
        return printed(duty("errImagePull"), "--admission", *args, code=code)
    assert expression(allowed(), "allowed") == "[]"
    assert expression(allowed("--webhook-annotations", "policies.example.com/,a.example.com/b"), "allowed") == "['policies.example.com/', 'a.example.com/b']"
    for wrong in ("", "x", "/x", "a/,", "ops-pod-cleaner.io/", "ops-pod-cleaner.io/scaled-down-from", "a.example.com/'||true"):
        assert "--webhook-annotations" in allowed("--webhook-annotations", wrong, code=64), wrong


def a_token_for_a_bastion():
    text = call("--kubeconfig-for", "writer")
    assert "create token" in text and "umask 077" in text and "until [" not in text
    # Where the right to the Lease is, and the chart's Lease: an instance outside of the cluster looks there.
    assert "user: writer, namespace: ops-pod-cleaner}" in text
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
    assert "reader or writer" in call("--kubeconfig-for", "root", code=64)
    with tempfile.TemporaryDirectory() as folder:
        kubectl, made = pathlib.Path(folder, "kubectl"), pathlib.Path(folder, "writer.kubeconfig")
        kubectl.write_text('#!/bin/sh\ncase "$*" in *"create token"*) echo "short-$5";; *get*) printf bGFzdGluZw==;; *.server*) echo https://x:6443;;'
                           ' *authority*) echo Q0E=;; *proxy-url*) echo http://proxy:3128;; *contexts*) echo prod/shop:eu;; esac\n')
        kubectl.chmod(0o755)

        def run(script, **more):
            return subprocess.run(["bash"], input=script, text=True, cwd=folder, timeout=30, capture_output=True, check=False,
                                  env={"PATH": f"{folder}:/usr/bin:/bin", **more})

        assert run(text).returncode == 0
        assert "token: short-ops-pod-cleaner-writer" in made.read_text() and made.stat().st_mode & 0o777 == 0o600, made.read_text()
        assert "server: https://x:6443" in made.read_text() and "certificate-authority-data: Q0E=" in made.read_text()
        # What the way to the server needs is kept, and the name by which messages call the cluster.
        assert "    proxy-url: http://proxy:3128\ncontexts:\n- name: \"prod/shop:eu\"\n" in made.read_text(), made.read_text()
        assert "current-context: \"prod/shop:eu\"" in made.read_text() and "tls-server-name" not in made.read_text()
        run(text.replace("token=$(short)", "token=$(lasting)"))
        assert "token: lasting" in made.read_text(), made.read_text()
        made.unlink()
        kubectl.write_text("#!/bin/sh\nexit 1\n")      # no right to make one: it ends, and says so
        failed = run(text)
        assert "is not written" in failed.stderr and failed.returncode == 1 and not made.exists(), failed


def a_wrong_configuration_prints_nothing():
    assert "c.yml:1:1" in printed("nonsense: 1\n", code=78)


CASES = [deploy_is_what_is_printed, no_role_that_is_not_needed, a_report_by_the_names_of_workloads_reads_their_owners,
         two_accounts_and_each_its_own,
         what_changes_all_of_an_object_is_bound_beside_the_policy_only, namespaces_are_bound_one_by_one, kinds_join_those_that_are_known,
         the_policy_is_for_the_writer_alone, the_policy_knows_the_namespaces, the_policy_knows_what_is_due, every_duty_that_deletes_stands_in_the_policy, the_policy_demands, the_policy_suspends_what_fails,
         the_policy_binds_replicas_to_the_mark, the_policy_bounds_what_is_written, annotations_of_webhooks_are_named,
         a_token_for_a_bastion, a_wrong_configuration_prints_nothing]


cases.run(CASES, sys.argv[2:])
