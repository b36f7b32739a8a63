/* R6: the STATUS column as kubectl computes it. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include "rules/status.h"
#include "tests/suite.h"

static void is(const struct pod_facts *p, const char *want, int line)
{
	char buf[STATUS_MAX];

	ck_assert_msg(strcmp(status_of(p, buf), want) == 0, "line %d: expected %s, got %s", line, want, buf);
}
#define IS(p, want) is(&(p), want, __LINE__)

static struct container_facts init(enum container_state state, const char *reason, int32_t exit_code)
{
	return (struct container_facts){ .name = STR_LIT("init"),
					 .kind = CONTAINER_INIT,
					 .state = state,
					 .reason = STR_C(reason),
					 .exit_code = exit_code };
}

TEST(of_main_containers)
{
	struct pod_facts p = pod_healthy();

	IS(p, "Running");
	p = pod_evicted();
	IS(p, "Evicted");
	p = pod_pull_failing();
	IS(p, "ImagePullBackOff");
	p = pod_crashing();
	IS(p, "CrashLoopBackOff");
	p.containers[0].state = CONTAINER_TERMINATED;
	p.containers[0].reason = STR_LIT("");
	p.containers[0].exit_code = 3;
	IS(p, "ExitCode:3");
	/* the first container wins */
	p = pod_crashing();
	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[1].reason = STR_LIT("Error");
	IS(p, "CrashLoopBackOff");
}

TEST(completed_beside_a_running_container)
{
	struct pod_facts p = pod_healthy();

	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[0].state = CONTAINER_TERMINATED;
	p.containers[0].reason = STR_LIT("Completed");
	IS(p, "Running");
	p.ready = false;
	IS(p, "NotReady");
	p.containers[1] = p.containers[0];
	IS(p, "Completed");
}

TEST(of_init_containers)
{
	struct pod_facts p = pod_pull_failing();

	p.initialized = false;
	p.n_containers = 3;
	p.containers[0].reason = STR_LIT("PodInitializing");
	p.containers[1] = init(CONTAINER_TERMINATED, "Completed", 0);
	p.containers[2] = init(CONTAINER_WAITING, "ImagePullBackOff", 0);
	IS(p, "Init:ImagePullBackOff");
	p.containers[2].reason = STR_LIT("PodInitializing");
	IS(p, "Init:1/2");
	p.containers[2] = init(CONTAINER_RUNNING, "", 0);
	IS(p, "Init:1/2");
	p.containers[2] = init(CONTAINER_TERMINATED, "", 7);
	IS(p, "Init:ExitCode:7");
	p.containers[2] = init(CONTAINER_TERMINATED, "Error", 7);
	IS(p, "Init:Error");
	/* a sidecar that has started holds nobody up */
	p.containers[2] = init(CONTAINER_RUNNING, "", 0);
	p.containers[2].started = true;
	IS(p, "PodInitializing");
	/* initialised: what an init container does later does not count */
	p.initialized = true;
	p.containers[0].reason = STR_LIT("CrashLoopBackOff");
	p.containers[2] = init(CONTAINER_WAITING, "ImagePullBackOff", 0);
	IS(p, "CrashLoopBackOff");
}

TEST(terminating)
{
	struct pod_facts p = pod_terminating();

	IS(p, "Terminating");
	p.phase = STR_LIT("Succeeded");
	IS(p, "Completed");
	p.phase = STR_LIT("Running");
	p.reason = STR_LIT("NodeLost");
	IS(p, "Unknown");
}

TEST(nothing_at_all)
{
	struct pod_facts p = { 0 };

	IS(p, "");
	p.phase = STR_LIT("Pending");
	IS(p, "Pending");
}

SUITE("rules/status");
