// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: inits that die of a signal. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/walk.h"

static void test_killed(void **state)
{
	static const struct walk want[] = {
		WALK(KILLED, PID_NAMESPACE, 9, "its pod's namespace torn down in a request", 0,
		     SEC(2), SENT(0, 15, RUNTIME),
		     SENT_AS(SEC(1), 9, KERNEL, 0, GRACED_SIG_NS_TEARDOWN)),
		WALK(KILLED, KILLED_EARLY, 9, "too early", SEC(30), SEC(28) + 1,
		     SENT(0, 15, RUNTIME), SENT(SEC(28), 9, RUNTIME)),
		WALK(KILLED, GRACE_EXPIRED, 9, "in time", SEC(30), SEC(30) + 1,
		     SENT(0, 15, RUNTIME), SENT(SEC(30), 9, RUNTIME)),
		WALK(KILLED, RUNTIME_LOST, 9, "cleaned up after its shim was lost", 0, 1000,
		     SENT_AS(0, 9, RUNTIME, 0, GRACED_SIG_KEEPER_LOST)),
		WALK(KILLED, RUNTIME_LOST, 9, "the same in a request", SEC(30), SEC(6),
		     SENT(0, 15, RUNTIME), SENT_AS(SEC(5), 9, RUNTIME, 0, GRACED_SIG_KEEPER_LOST)),
		WALK(KILLED, GRACE_EXPIRED, 9,
		     "the shim was lost, and the time of a request was over", SEC(30), SEC(31),
		     SENT(0, 15, RUNTIME), SENT_AS(SEC(30), 9, RUNTIME, 0, GRACED_SIG_KEEPER_LOST)),
		WALK(KILLED, HOST, 9, "the shim was lost, and the host killed it", 0, 1000,
		     SENT_AS(0, 9, SHELL, 0, GRACED_SIG_KEEPER_LOST)),
		WALK(KILLED, GRACE_EXPIRED, 9, "nobody knows the grace", 0, SEC(2),
		     SENT(0, 15, RUNTIME), SENT(SEC(1), 9, RUNTIME)),
		WALK(KILLED, NO_GRACE, 9, "asked by the host, killed by a manager", SEC(2), SEC(3),
		     SENT(0, 15, SHELL), SENT(SEC(2), 9, SYSTEMD)),
		WALK(KILLED, GRACE_EXPIRED, 9,
		     "asked by another pod and by the runtime, killed by that", SEC(2), SEC(4),
		     SENT(0, 15, B1), SENT_AS(SEC(1), 15, RUNTIME, 2, 0), SENT(SEC(3), 9, RUNTIME)),
		WALK(KILLED, GRACE_EXPIRED, 9, "asked by one manager, killed by another", SEC(2),
		     SEC(3), SENT(0, 15, RUNTIME), SENT(SEC(2), 9, SYSTEMD)),
		WALK(KILLED, GRACE_EXPIRED, 9, "asked and killed by one shell", SEC(2), SEC(3),
		     SENT(0, 15, SHELL), SENT(SEC(2), 9, SHELL)),
		WALK(KILLED, GRACE_EXPIRED, 9, "the same of another pod, which gives no time",
		     SEC(2), SEC(3), SENT(0, 15, B1), SENT(MSEC(100), 9, B1)),
		WALK(KILLED, KILLED_EARLY, 9,
		     "asked by a shell first, in a manager's time killed by that", SEC(30), SEC(9),
		     SENT(0, 15, SHELL), SENT_AS(SEC(1), 15, RUNTIME, RESULT_IGNORED, 0),
		     SENT(SEC(8), 9, RUNTIME)),
		WALK(KILLED, HOST, 9, "asked by a manager, killed by a shell", SEC(2), SEC(3),
		     SENT(0, 15, RUNTIME), SENT(SEC(2), 9, SHELL)),
		WALK(KILLED, HOST, 9, "asked by one cgroup of the host, killed by another", SEC(2),
		     SEC(3), SENT(0, 15, SSHD), SENT(SEC(2), 9, SHELL)),
		WALK(KILLED, SAME_POD, 9, "asked by one pod, killed by another", SEC(2), SEC(3),
		     SENT(0, 15, B1), SENT(SEC(2), 9, A2)),
		WALK(KILLED, NO_GRACE, 9, "by cgroup.kill", 0, 1,
		     SENT_AS(0, 9, RUNTIME, 0, GRACED_SIG_INFO_NONE)),
	};

	assert_walks(want, LEN(want));
}

static void test_died(void **state)
{
	static const struct walk want[] = {
		WALK(TERMINATED, STOP_SIGNAL, 3 | CORE_BIT, "of a stop signal with a core", 0, 1,
		     SENT(0, 3, SHELL)),
		WALK(TERMINATED, STOP_SIGNAL, 37, "of SIGRTMIN+3", 0, 1, SENT(0, 37, SYSTEMD)),
		WALK(TERMINATED, STOP_SIGNAL, 2, "of the second of two stop signals", 0, SEC(2),
		     SENT(0, 15, RUNTIME), SENT(SEC(1), 2, SHELL)),
		WALK(TERMINATED, SAME_CONTAINER, 15, "of a stop signal its own child sent", 0, 1,
		     SENT(0, 15, A1_CHILD)),
		WALK(CRASHED, SELF, 6 | CORE_BIT, "by its own abort", 0, 1, SENT(0, 6, A1)),
		WALK(TERMINATED, SAME_CONTAINER, 10, "by its container", 0, 1,
		     SENT(0, 10, A1_CHILD)),
		WALK(TERMINATED, SAME_POD, 10, "by its pod", 0, 1, SENT(0, 10, A2)),
		WALK(TERMINATED, OTHER_POD, 10, "by another pod", 0, 1, SENT(0, 10, B1)),
		WALK(TERMINATED, HOST, 1, "by the host", 0, 1, SENT(0, 1, SHELL)),
		WALK(TERMINATED, OTHER_POD, 10, "of what came last", 0, 3, SENT(0, 10, SHELL),
		     SENT(1, 10, B1), SENT(2, 12, A2)),
	};

	assert_walks(want, LEN(want));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("who killed a container, and whether it had been asked, is its cause",
		      test_killed),
		CLAIM("who sent the signal it died of is its cause", test_died),
	};

	return cmocka_run_group_tests_name("core/engine: kills", tests, NULL, NULL);
}
