// SPDX-License-Identifier: Apache-2.0
// The scenes: what a container can do to itself or have done to it, with the verdict for each.
#include "lib/kernel/scene.h"

#include <signal.h>
#include <sys/syscall.h>

#define MIB   (1024u * 1024u)
#define RTMIN 34 /* the C library's SIGRTMIN, which is no constant */

#define SCENE(number, of, by, text, ...)                                              \
	{                                                                             \
		.row = number, .outcome = of, .cause = by, .claim = text, __VA_ARGS__ \
	}
#define RUNS(...)  .argv = {__VA_ARGS__}
#define FAULT(...) .prog = "faults", .argv = {__VA_ARGS__}
#define ACTS(...)  .acts = {__VA_ARGS__}
#define HOST_PIDS  .host_pidns = true
#define DEAF	   .deaf = true, .stop_result = "ignored"

const struct scene scene_table[] = {
	/* The memory of its cgroup, of its pod's, of what is above. */
	SCENE(2, "oom-killed", "oom-container", "init dies of its container's memory limit",
	      RUNS("oom"), .memory = 16 * MIB, .kernel_kill = true, .oom_kills = 1),
	SCENE(3, "oom-killed", "oom-pod", "init dies of its pod's memory limit", RUNS("oom"),
	      .pod_memory = 16 * MIB, .kernel_kill = true, .oom_kills = 1),
	SCENE(4, "oom-killed", "oom-node", "init dies of a memory limit above its pod", RUNS("oom"),
	      .whole_node = true, .kernel_kill = true, .oom_kills = 1),

	/* Killed: nobody seen, the kernel, a runtime, somebody else. */
	SCENE(6, "killed", "unknown",
	      "an end as by SIGKILL that no signal explains is a kill unseen",
	      FAULT("seccomp-strict"), .gaps = "['kill-unseen']"),
	SCENE(8, "killed", "kernel", "the processor time limit kills in the kernel's name",
	      FAULT("rlimit-cpu"), .slow = true, .kernel_kill = true),
	SCENE(8, "killed", "kernel", "a tracer inside that leaves kills in the kernel's name",
	      FAULT("exitkill"), .kernel_kill = true),
	SCENE(8, "killed", "kernel", "a tracer outside that leaves kills in the kernel's name",
	      RUNS("deaf"), ACTS({BY_TRACER}), .kernel_kill = true),
	SCENE(9, "killed", "killed-early",
	      "a runtime that kills before the grace period is over kills early", RUNS("deaf"),
	      ACTS({BY_RUNTIME, SIGTERM}, {BY_RUNTIME, SIGKILL}), DEAF,
	      .gaps = "['grace-uncertain']"),
	SCENE(10, "killed", "grace-expired",
	      "the process that asked is its own escalation, and has no grace period",
	      RUNS("sigign"), ACTS({BY_HERE, SIGTERM}, {BY_HERE, SIGKILL}),
	      .stop_result = "ignored"),
	SCENE(10, "killed", "grace-expired",
	      "a runtime that waits the grace period out kills a deaf init", RUNS("deaf"),
	      ACTS({BY_RUNTIME, SIGTERM, true}), DEAF, .slow = true),
	SCENE(10, "killed", "grace-expired",
	      "a runtime that waits the grace period out kills an init slow to stop",
	      RUNS("graceful", "0", "60000"), ACTS({BY_RUNTIME, SIGTERM, true}), .slow = true),
	SCENE(10, "killed", "grace-expired",
	      "a neighbour that asked and waited is its own escalation", RUNS("sigign"),
	      ACTS({BY_OTHER_POD, SIGTERM, true}), .slow = true, .stop_result = "ignored"),
	SCENE(11, "killed", "no-grace", "a runtime that kills without asking gives no grace",
	      RUNS("graceful"), ACTS({BY_RUNTIME, SIGKILL})),
	SCENE(11, "killed", "no-grace", "a signal outside the stop set opens no request",
	      RUNS("graceful"), ACTS({BY_RUNTIME, SIGWINCH}, {BY_RUNTIME, SIGKILL}),
	      .gaps = "['stop-signal-unknown']"),
	SCENE(11, "killed", "no-grace",
	      "a runtime that kills what a neighbour asked gives no grace",
	      RUNS("graceful", "0", "60000"), ACTS({BY_OTHER_POD, SIGTERM}, {BY_RUNTIME, SIGKILL})),
	SCENE(10, "killed", "grace-expired",
	      "a runtime that asks after a neighbour did gives its own grace", RUNS("deaf"),
	      ACTS({BY_OTHER_POD, SIGTERM}, {BY_RUNTIME, SIGTERM, true}), DEAF, .slow = true),
	SCENE(12, "killed", "self", "a process outside pid namespaces can kill itself",
	      FAULT("raise", "9"), HOST_PIDS),
	SCENE(13, "killed", "same-container", "a process of the same container kills init",
	      RUNS("graceful"), ACTS({BY_SAME_CONTAINER, SIGKILL})),
	SCENE(14, "killed", "same-pod", "another container of the pod kills init", RUNS("graceful"),
	      ACTS({BY_SAME_POD, SIGKILL})),
	SCENE(15, "killed", "other-pod", "a container of another pod kills init", RUNS("graceful"),
	      ACTS({BY_OTHER_POD, SIGKILL})),
	SCENE(15, "killed", "other-pod",
	      "a neighbour that kills what the host asked is no escalation", RUNS("sigign"),
	      ACTS({BY_HERE, SIGTERM}, {BY_OTHER_POD, SIGKILL}), .stop_result = "ignored"),
	SCENE(16, "killed", "host", "a process of the host kills init", RUNS("graceful"),
	      ACTS({BY_HERE, SIGKILL})),
	SCENE(16, "killed", "host", "the host that kills what a neighbour asked is no escalation",
	      RUNS("sigign"), ACTS({BY_OTHER_POD, SIGTERM}, {BY_HERE, SIGKILL}),
	      .stop_result = "ignored"),

	/* Died of the stop signal. */
	SCENE(17, "terminated", "stop-signal",
	      "the stop signal's default action ends an init without a shield", RUNS("deaf"),
	      ACTS({BY_RUNTIME, SIGTERM}), HOST_PIDS),
	SCENE(17, "terminated", "stop-signal",
	      "raising the stop signal again after the clean-up is dying of it", RUNS("reraise"),
	      ACTS({BY_RUNTIME, SIGINT}), HOST_PIDS),
	SCENE(17, "terminated", "stop-signal", "SIGRTMIN+3 is a stop signal", RUNS("deaf"),
	      ACTS({BY_HERE, RTMIN + 3}), HOST_PIDS),

	/* Crashed. */
	SCENE(20, "crashed", "self", "a fault is a crash by itself", FAULT("segv")),
	SCENE(20, "crashed", "self", "abort is a crash by itself", FAULT("abort"), HOST_PIDS),
	SCENE(20, "crashed", "self", "a signal to itself is a crash by itself",
	      FAULT("raise", "10"), HOST_PIDS),
	SCENE(20, "crashed", "self", "a fault in the stop signal's handler is a crash by itself",
	      RUNS("crash-in-handler"), ACTS({BY_RUNTIME, SIGTERM})),
	SCENE(21, "crashed", "kernel", "a timer that nobody handles is a crash by the kernel",
	      FAULT("profile"), HOST_PIDS),
	SCENE(21, "crashed", "kernel", "the soft processor time limit is a crash by the kernel",
	      FAULT("rlimit-xcpu"), HOST_PIDS, .slow = true),
	SCENE(22, "terminated", "same-container",
	      "a process of the same container ends init by its stop signal", RUNS("deaf"),
	      ACTS({BY_SAME_CONTAINER, SIGTERM}), HOST_PIDS),
	SCENE(22, "terminated", "same-container", "a process of the same container ends init",
	      RUNS("deaf"), ACTS({BY_SAME_CONTAINER, SIGUSR1}), HOST_PIDS),
	SCENE(23, "terminated", "same-pod", "another container of the pod ends init", RUNS("deaf"),
	      ACTS({BY_SAME_POD, SIGUSR1}), HOST_PIDS),
	SCENE(24, "terminated", "other-pod", "a container of another pod ends init", RUNS("deaf"),
	      ACTS({BY_OTHER_POD, SIGUSR2}), HOST_PIDS),
	SCENE(25, "crashed", "host", "a watchdog's SIGABRT from the host is a crash by the host",
	      RUNS("deaf"), ACTS({BY_HERE, SIGABRT}), HOST_PIDS),
	SCENE(25, "terminated", "host", "a runtime's other signal is an end by the host",
	      RUNS("deaf"), ACTS({BY_RUNTIME, SIGUSR1}), HOST_PIDS,
	      .gaps = "['stop-signal-unknown']"),

	/* Exited when asked. */
	SCENE(26, "graceful", "stop-signal",
	      "an init that handles the stop signal stops gracefully", RUNS("graceful"),
	      ACTS({BY_RUNTIME, SIGTERM})),
	SCENE(26, "graceful", "stop-signal", "an exit code other than 0 is graceful all the same",
	      RUNS("graceful", "143", "20"), ACTS({BY_HERE, RTMIN + 3}), .stages = true),
	SCENE(26, "graceful", "stop-signal", "another container of the pod may ask",
	      RUNS("graceful"), ACTS({BY_SAME_POD, SIGINT})),
	SCENE(26, "graceful", "stop-signal", "a container of another pod may ask", RUNS("graceful"),
	      ACTS({BY_OTHER_POD, SIGQUIT}), HOST_PIDS),
	SCENE(26, "graceful", "stop-signal",
	      "a blocked stop signal that a thread waits for is heard", RUNS("sigwait"),
	      ACTS({BY_RUNTIME, SIGTERM}), .in_syscall = SYS_rt_sigtimedwait),
	SCENE(26, "graceful", "stop-signal", "a stop signal read from a signalfd is heard",
	      RUNS("signalfd"), ACTS({BY_RUNTIME, SIGTERM}), .in_syscall = SYS_read),
	SCENE(26, "graceful", "stop-signal",
	      "children that init leaves behind are collateral kills", RUNS("shell", "3"),
	      ACTS({BY_RUNTIME, SIGTERM}), .collateral_kills = 3),
	SCENE(27, "graceful", "self",
	      "an init that ignores the stop signal on purpose and exits is not deaf",
	      RUNS("sigign", "4"), ACTS({BY_RUNTIME, SIGTERM}), .stop_result = "ignored"),
	SCENE(27, "graceful", "self", "a deaf init that happens to exit did not hear",
	      RUNS("wait", "exit", "0"), ACTS({BY_RUNTIME, SIGTERM}), DEAF),

	/* Exited unasked. */
	SCENE(28, "completed", "self", "an exit with 0 that nobody asked for is a completion",
	      RUNS("exit", "0")),
	SCENE(27, "completed", "same-container",
	      "an exit with 0 after a stop signal from inside is the container's own doing",
	      RUNS("graceful"), ACTS({BY_SAME_CONTAINER, SIGTERM})),
	SCENE(27, "failed", "same-container",
	      "an exit with another code after a stop signal from inside, too",
	      RUNS("graceful", "143"), ACTS({BY_SAME_CONTAINER, SIGINT}), HOST_PIDS),
	SCENE(26, "graceful", "stop-signal",
	      "a request after a stop signal from inside is a request",
	      RUNS("graceful", "0", "0", "2"),
	      ACTS({BY_SAME_CONTAINER, SIGINT}, {BY_RUNTIME, SIGTERM})),
	SCENE(28, "completed", "self",
	      "a stop signal from inside that init ignores explains nothing",
	      RUNS("wait", "exit", "0"), ACTS({BY_SAME_CONTAINER, SIGTERM}),
	      .stop_result = "ignored"),
	SCENE(29, "failed", "self", "another exit code is a failure", RUNS("exit", "1"),
	      .stages = true),
	SCENE(29, "failed", "self", "the exit code 137 is not a signal", RUNS("exit", "137")),
	SCENE(29, "failed", "self", "the exit code 143 is not a signal", RUNS("exit", "143"),
	      HOST_PIDS),
	SCENE(29, "failed", "self", "an OOM-killed child is counted while init exits by itself",
	      RUNS("child-oom", "6"), .memory = 16 * MIB, .oom_kills = 1),
};

const size_t scene_count = sizeof(scene_table) / sizeof(scene_table[0]);
