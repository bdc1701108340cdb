// SPDX-License-Identifier: Apache-2.0
/* Claims about core/story/story: the sentence of each way to end, what happened in words, and what
 * to do. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/stop/advice.h"
#include "core/story/part.h"
#include "lib/claim.h"

#define MS	 UINT64_C(1000000)
#define S	 (1000 * MS)
#define ASKED_NS (100 * S)
#define CODE(n)	 ((uint32_t)(n) << 8)
#define EXIT(n)                                                         \
	{                                                               \
		.known = true, .status = (n), .at_ns = ASKED_NS + 2 * S \
	}
#define PROC(p, n, name)                                  \
	{                                                 \
		.pid = (p), .ns_pid = (n), .comm = (name) \
	}
#define APP PROC(4201, 1, "app")
#define RUNC                                           \
	{                                              \
		SENDER_RUNTIME, PROC(700, 700, "runc") \
	}
#define SENT(n, result_, at)                                                                 \
	{                                                                                    \
		.known = true, .number = (n), .result = (result_), .at_ns = ASKED_NS + (at), \
		.sender = RUNC                                                               \
	}
#define SENT_BY(n, kind_, pid_, name)                                        \
	{                                                                    \
		.known = true, .number = (n), .at_ns = ASKED_NS, .sender = { \
			.kind = (kind_),                                     \
			.process = PROC(pid_, pid_, name)                    \
		}                                                            \
	}
#define GRACE(s)                                \
	{                                       \
		.from = GRACE_SPEC, .ns = (s)*S \
	}

static const char *sentence(struct buf *out, const struct record_stop *stop)
{
	buf_reset(out);
	story_add_why(out, stop);
	assert_int_equal(buf_error(out), 0);
	return buf_str(out);
}

struct row {
	struct record_stop stop;
	const char *want;
};
static void assert_rows(const struct row *rows, size_t n)
{
	_cleanup_(buf_free) struct buf out = {};

	for (size_t i = 0; i < n; i++)
		assert_string_equal(sentence(&out, &rows[i].stop), rows[i].want);
}

#define STOP(outcome_, cause_, status_)                                         \
	.process = APP, .outcome = OUTCOME_##outcome_, .cause = CAUSE_##cause_, \
	.exit = EXIT(status_)

/* --- unasked --------------------------------------------------------------------------------- */

#define PARENT_ENDED \
	"because its parent, or the thread that had started it, had ended (PR_SET_PDEATHSIG)."

static void each_way_to_end_unasked_has_its_sentence(void **state)
{
	static const struct row rows[] = {
		{{STOP(COMPLETED, SELF, CODE(0))},
		 "app[1] exited with code 0 by itself; no request to stop was seen."},
		{{STOP(FAILED, SELF, CODE(3)), .deaf = true},
		 "app[1] exited with code 3 by itself; no request to stop from outside was seen."},
		{{STOP(FAILED, SAME_CONTAINER, CODE(143)),
		  .stop_signal = SENT_BY(15, SENDER_CONTAINER, 4205, "kill")},
		 "app[1] exited with code 143 after SIGTERM from kill[4205] (in a container)."},
		{{STOP(CRASHED, KERNEL, 11)}, "app[1] crashed: SIGSEGV."},
		{{STOP(CRASHED, KERNEL, 14)}, "app[1] was ended by SIGALRM from the kernel."},
		{{STOP(CRASHED, SELF, 6)}, "app[1] crashed: SIGABRT, sent by no other process."},
		{{STOP(CRASHED, SELF, 11), .abort_ns = 45000},
		 "app[1] crashed: SIGSEGV, 45.0µs after it raised SIGABRT, as abort() does; PID 1 does not "
		 "get that."},
		{{STOP(CRASHED, UNKNOWN, 6)}, "app[1] crashed: SIGABRT; who sent it was not seen."},
		{{STOP(CRASHED, SAME_CONTAINER, 6)},
		 "app[1] died of SIGABRT, sent by another process of its container."},
		{{STOP(CRASHED, SAME_POD, 6)},
		 "app[1] died of SIGABRT, sent by another container of its pod."},
		{{STOP(CRASHED, OTHER_POD, 6)},
		 "app[1] died of SIGABRT, sent by another container."},
		{{STOP(CRASHED, HOST, 6)},
		 "app[1] died of SIGABRT, sent by a process of the host."},
		{{STOP(FAILED, SELF, CODE(1)), .oom_kills = 2},
		 "app[1] exited with code 1 by itself; no request to stop was seen. In its life the OOM "
		 "killer ended 2 of its processes."},
		{{STOP(TERMINATED, HOST, 2)},
		 "app[1] was ended by SIGINT from its terminal, or from a process of the host."},
		{{STOP(TERMINATED, PARENT_DEATH, 10)},
		 "app[1] was ended by SIGUSR1, sent " PARENT_ENDED},
	};

	assert_rows(rows, LEN(rows));
}

static void each_sigkill_has_its_sentence(void **state)
{
	static const struct row rows[] = {
		{{STOP(KILLED, UNKNOWN, 9)}, "app[1] was killed; by whom was not seen."},
		{{STOP(KILLED, UNKNOWN, 9), .kill_signal = SENT_BY(9, SENDER_UNKNOWN, 0, NULL)},
		 "app[1] was killed by an unknown sender."},
		{{STOP(KILLED, UNKNOWN, 9), .kill_signal = SENT_BY(9, SENDER_UNPLACED, 77, "sh")},
		 "app[1] was killed by sh[77] (perhaps in a container)."},
		{{STOP(KILLED, PID_NAMESPACE, 9),
		  .kill_signal = SENT_BY(9, SENDER_KERNEL, 4201, "app")},
		 "app[1] was killed because the init of its pid namespace had ended."},
		{{STOP(KILLED, PARENT_DEATH, 9)}, "app[1] was killed " PARENT_ENDED},
		{{STOP(KILLED, KERNEL, 9), .kill_signal = SENT_BY(9, SENDER_KERNEL, 4201, "app")},
		 "app[1] was killed by the kernel."},
		{{STOP(KILLED, NO_GRACE, 9), .kill_signal = SENT(9, 0, 0)},
		 "app[1] was killed by runc[700] (the runtime), which had not asked it to stop."},
		{{STOP(KILLED, NO_GRACE, 9), .kill_signal = SENT(9, 0, 0),
		  .gaps = 1u << GAP_STOP_SIGNAL_UNKNOWN},
		 "app[1] was killed by runc[700] (the runtime); no request to stop was seen."},
		{{STOP(KILLED, SELF, 9)}, "app[1] killed itself."},
		{{STOP(KILLED, SELF, 2)}, "app[1] was ended by reboot(2)."},
		{{STOP(KILLED, SAME_CONTAINER, 9)},
		 "app[1] was killed by another process of its container."},
		{{STOP(KILLED, HOST, 9), .kill_signal = SENT_BY(9, SENDER_HOST, 4711, "bash")},
		 "app[1] was killed by bash[4711] (on the host)."},
		{{STOP(KILLED, HOST, 9), .kill_signal = SENT_BY(9, SENDER_HOST, 0, NULL)},
		 "app[1] was killed by a process of the host."},
		{{STOP(KILLED, RUNTIME_LOST, 9), .kill_signal = SENT(9, 0, 0)},
		 "app[1] was killed by runc[700] (the runtime) because its shim had ended."},
		{{STOP(KILLED, RUNTIME_LOST, 9), .kill_signal = SENT(9, 0, 0),
		  .keeper_signal = SENT_BY(9, SENDER_HOST, 4711, "bash")},
		 "app[1] was killed by runc[700] (the runtime) because its shim had ended: bash[4711] (on "
		 "the host) had sent that one SIGKILL."},
	};

	assert_rows(rows, LEN(rows));
}

static void a_sender_in_a_container_is_placed(void **state)
{
	struct record_stop stop = {STOP(KILLED, OTHER_POD, 9), .pod = {.known = true, .uid = "u"},
				   .container = {.known = true, .id = "c"},
				   .kill_signal = SENT_BY(9, SENDER_POD, 4711, "spider")};
	struct record_sender *s = &stop.kill_signal.sender;
	_cleanup_(buf_free) struct buf out = {};

	assert_string_equal(sentence(&out, &stop), "app[1] was killed by spider[4711] (in a pod).");
	s->pod = (struct record_pod){.known = true, .uid = "v", .namespace_ = "batch", .name = "x"};
	s->container = (struct record_container){.known = true, .id = "d"};
	assert_string_equal(sentence(&out, &stop),
			    "app[1] was killed by spider[4711] (in pod batch/x).");
	s->container.name = "web";
	s->ancestors[0] = "sh";
	s->ancestors[1] = "cron";
	assert_string_equal(sentence(&out, &stop),
			    "app[1] was killed by spider[4711] (in pod batch/x, container web; "
			    "parents: sh, cron).");
	s->container.name = NULL;
	s->ancestors[0] = NULL;
	s->pod.uid = "u";
	assert_string_equal(sentence(&out, &stop),
			    "app[1] was killed by spider[4711] (in its pod).");
	s->container.id = "c";
	assert_string_equal(sentence(&out, &stop),
			    "app[1] was killed by spider[4711] (in its container).");
}

static void each_kind_of_memory_has_its_sentence(void **state)
{
	static const struct row rows[] = {
		{{STOP(OOM_KILLED, OOM_CONTAINER, 9)},
		 "app[1] was killed by the OOM killer: the container's memory limit was reached."},
		{{STOP(OOM_KILLED, OOM_POD, 9)},
		 "app[1] was killed by the OOM killer: the pod's memory limit was reached."},
		{{STOP(OOM_KILLED, OOM_NODE, 9)},
		 "app[1] was killed by the OOM killer: the node's memory, or a limit above the pod, ran "
		 "out."},
		{{STOP(OOM_KILLED, OOM_UNKNOWN, 9)},
		 "app[1] was killed by the OOM killer; whose memory ran out is not known."},
		{{STOP(OOM_KILLED, OOM_USERSPACE, 9),
		  .kill_signal = SENT_BY(9, SENDER_HOST, 812, "earlyoom")},
		 "app[1] was killed to free memory by earlyoom[812] (on the host)."},
		{{STOP(OOM_KILLED, OOM_USERSPACE, 15),
		  .stop_signal = SENT_BY(15, SENDER_HOST, 812, "earlyoom")},
		 "app[1] was stopped to free memory by earlyoom[812] (on the host)."},
		{{STOP(OOM_KILLED, OOM_USERSPACE, CODE(0)),
		  .stop_signal = SENT_BY(15, SENDER_HOST, 812, "earlyoom")},
		 "app[1] was stopped to free memory by earlyoom[812] (on the host)."},
		/* In a stop, which it does not make a slow one. */
		{{STOP(OOM_KILLED, OOM_CONTAINER, 9), .stop_signal = SENT(15, 0, 0)},
		 "app[1] was killed by the OOM killer: the container's memory limit was reached."},
	};

	assert_rows(rows, LEN(rows));
}

static void what_was_not_seen_is_not_claimed(void **state)
{
	static const struct row rows[] = {
		{{.process = APP}, "What ended app[1] was not seen."},
		{{.process = APP, .stop_signal = SENT(15, 0, 0)},
		 "What ended app[1] after SIGTERM from runc[700] (the runtime) was not seen."},
		{{.process = {}}, "What ended the init was not seen."},
		{{.process = APP, .exit = {.reported = true, .code = 137}},
		 "What ended app[1] was not seen. Its runtime reports exit code 137."},
		{{.process = APP, .outcome = OUTCOME_OOM_KILLED, .cause = CAUSE_OOM_UNKNOWN},
		 "app[1] was killed by the OOM killer, as its runtime reports; its end was not seen."},
		{{.process = PROC(7, 0, NULL), .outcome = OUTCOME_KILLED, .exit = EXIT(9)},
		 "?[7 on the host] was killed; by whom was not seen."},
		{{.process = PROC(7, 0, "\x1b\xc3\xa9"), .outcome = OUTCOME_KILLED, .exit = EXIT(9)},
		 "\\x1b\xc3\xa9[7 on the host] was killed; by whom was not seen."},
	};

	assert_rows(rows, LEN(rows));
}

/* --- a child's end --------------------------------------------------------------------------- */

#define TINI PROC(4200, 1, "tini")
#define VIA(how_)                                \
	{                                        \
		PROC(4207, 7, "python3"), (how_) \
	}

#define IN(ns) (ASKED_NS + (ns))
#define PASSED_ON(how, why, with, list)                                                      \
	.process = TINI, .exit = EXIT(with), .outcome = OUTCOME_##how, .cause = CAUSE_##why, \
	.via = VIA(VIA_PASSED_ON), .processes = list, .n_processes = 2

static const struct record_member by_oom[] = {
	{.process = TINI, .exit = EXIT(CODE(137)), .by = ENDED_ITSELF},
	{.process = PROC(4207, 7, "python3"), .parent_pid = 4200, .exit = EXIT(9), .by = ENDED_OOM},
};

static const struct record_member by_thread[] = {
	{.process = TINI, .exit = EXIT(CODE(137)), .by = ENDED_ITSELF},
	{.process = PROC(4207, 7, "python3"),
	 .parent_pid = 4200,
	 .exit = EXIT(9),
	 .fatal = {9, 0, IN(0), SENDER_KERNEL, TINI},
	 .by = ENDED_PARENT_DEATH},
};

static const struct record_member by_code[] = {
	{.process = TINI, .exit = EXIT(CODE(3))},
	{.process = PROC(4207, 7, "python3"), .parent_pid = 4206, .exit = EXIT(CODE(3))},
};

static const struct record_member by_abort[] = {
	{.process = TINI, .exit = EXIT(6)},
	{.process = PROC(4207, 7, "python3"), .parent_pid = 4200, .exit = EXIT(6)},
};

static void the_end_of_a_child_is_told_as_its_own(void **state)
{
	static const struct row rows[] = {
		{{PASSED_ON(OOM_KILLED, OOM_CONTAINER, CODE(137), by_oom)},
		 "python3[7], child of tini[1], was killed by the OOM killer: the container's memory "
		 "limit was reached. tini[1] passed 137 on."},
		{{.process = TINI,
		  .exit = EXIT(CODE(137)),
		  .outcome = OUTCOME_KILLED,
		  .cause = CAUSE_HOST,
		  .via = VIA(VIA_INFERRED),
		  .processes = by_oom,
		  .n_processes = 2,
		  .kill_signal = SENT_BY(9, SENDER_HOST, 4711, "bash")},
		 "python3[7], child of tini[1], was killed by bash[4711] (on the host). tini[1] passed 137 "
		 "on, as far as can be seen: it may have been another child's, or its own."},
		{{PASSED_ON(FAILED, SELF, CODE(3), by_code)},
		 "python3[7], below tini[1], exited with code 3. tini[1] passed 3 on."},
		{{PASSED_ON(CRASHED, SELF, 6, by_abort)},
		 "python3[7], child of tini[1], crashed: SIGABRT, sent by no other process. tini[1] sent "
		 "itself the same signal."},
		{{PASSED_ON(KILLED, PARENT_DEATH, CODE(137), by_thread)},
		 "python3[7], child of tini[1], was killed because the thread that was its parent had "
		 "ended (PR_SET_PDEATHSIG). tini[1] passed 137 on."},
		/* A record whose list was left out. */
		{{.process = TINI,
		  .exit = EXIT(CODE(137)),
		  .outcome = OUTCOME_KILLED,
		  .cause = CAUSE_HOST,
		  .via = VIA(VIA_PASSED_ON)},
		 "python3[7], child of tini[1], was killed by a process of the host. tini[1] passed 137 "
		 "on."},
	};

	assert_rows(rows, LEN(rows));
}

/* --- asked ----------------------------------------------------------------------------------- */

#define NPM  PROC(4300, 1, "npm")
#define SH   PROC(4308, 8, "sh")
#define NODE PROC(4309, 9, "node")
static const struct record_member npm[] = {
	{.process = NPM, .exit = EXIT(CODE(143))},
	{.process = NODE, .cut = true, .by = ENDED_PID_NAMESPACE, .exit = EXIT(9)},
	{.process = SH,
	 .asked = {15, 0, IN(MS), SENDER_CONTAINER, NPM},
	 .exit = {.known = true, .status = 15, .at_ns = IN(2 * MS)}},
};

static const struct record_member su[] = {
	{.process = NPM, .exit = EXIT(CODE(0))},
	{.process = NODE,
	 .cut = true,
	 .by = ENDED_CONTAINER,
	 .exit = EXIT(9),
	 .disposition = DISPOSITION_IGNORED,
	 .asked = {15, 1, IN(MS), SENDER_CONTAINER, NPM},
	 .fatal = {9, 0, IN(2 * S), SENDER_CONTAINER, NPM}},
};

static const struct record_member left[] = {{.process = APP, .exit = EXIT(0)},
					    {.process = NODE},
					    {.process = SH, .exit = EXIT(15)}};

static void a_stop_that_went_well_has_its_sentence(void **state)
{
	static const struct row rows[] = {
		{{STOP(GRACEFUL, STOP_SIGNAL, CODE(0)), .stop_signal = SENT(15, 0, 0),
		  .latency_known = true, .latency_ns = 48 * MS},
		 "app[1] ended 48.0ms after SIGTERM from runc[700] (the runtime)."},
		{{STOP(GRACEFUL, STOP_SIGNAL, CODE(1)), .stop_signal = SENT(15, 0, 0),
		  .latency_known = true, .latency_ns = 48 * MS},
		 "app[1] exited with code 1, 48.0ms after SIGTERM from runc[700] (the runtime)."},
		{{STOP(GRACEFUL, SELF, CODE(1)), .stop_signal = SENT(15, 1, 0),
		  .latency_known = true, .latency_ns = 9 * S},
		 "app[1] exited with code 1 by itself, 9.00s after SIGTERM from runc[700] (the runtime), "
		 "which it did not hear."},
		{{STOP(GRACEFUL, PARENT_DEATH, CODE(0)),
		  .stop_signal = SENT_BY(15, SENDER_KERNEL, 0, NULL)},
		 "app[1] ended after SIGTERM, sent " PARENT_ENDED},
		{{STOP(TERMINATED, STOP_SIGNAL, 15), .stop_signal = SENT(15, 0, 0)},
		 "app[1] was ended by SIGTERM from runc[700] (the runtime)."},
		{{STOP(TERMINATED, STOP_SIGNAL, 2), .stop_signal = SENT(15, 0, 0)},
		 "app[1] was ended by SIGINT."},
		/* reboot(2) in a stop. */
		{{STOP(GRACEFUL, STOP_SIGNAL, 2), .stop_signal = SENT(37, 0, 0)},
		 "app[1] ended after SIGRTMIN+3 from runc[700] (the runtime)."},
	};

	assert_rows(rows, LEN(rows));
}

static void who_was_cut_is_named(void **state)
{
	static const struct row rows[] = {
		{{.process = NPM,
		  .outcome = OUTCOME_GRACEFUL,
		  .cause = CAUSE_STOP_SIGNAL,
		  .exit = EXIT(CODE(143)),
		  .stop_signal = SENT(15, 0, 0),
		  .latency_known = true,
		  .latency_ns = 3 * MS,
		  .cut = 1,
		  .processes = npm,
		  .n_processes = 3,
		  .forward = {.count = 1, .number = 15, .to = SH}},
		 "npm[1] passed SIGTERM to sh[8], which died of it, and exited with code 143, 3.00ms after "
		 "SIGTERM from runc[700] (the runtime); node[9] never received it and was killed when "
		 "npm[1] ended."},
		{{.process = NPM,
		  .outcome = OUTCOME_GRACEFUL,
		  .cause = CAUSE_STOP_SIGNAL,
		  .exit = EXIT(CODE(0)),
		  .stop_signal = SENT(15, 0, 0),
		  .latency_known = true,
		  .latency_ns = 2 * S,
		  .cut = 3,
		  .processes = su,
		  .n_processes = 2,
		  .forward = {.count = 1, .number = 15, .result = RESULT_IGNORED, .to = NODE}},
		 "npm[1] passed SIGTERM to node[9], which ignores it, and ended 2.00s after SIGTERM from "
		 "runc[700] (the runtime); node[9] was sent SIGTERM, which it ignores, and was killed 2.00s "
		 "later by npm[1] (and 2 more)."},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .stop_signal = SENT(15, 0, 0),
		  .latency_known = true, .latency_ns = S, .gaps = 1u << GAP_NOT_EMPTY,
		  .processes = left, .n_processes = 3},
		 "app[1] ended 1.00s after SIGTERM from runc[700] (the runtime). Other processes "
		 "of its cgroup were left: node[9]."},
		/* They are not listed. */
		{{STOP(TERMINATED, STOP_SIGNAL, 15), .stop_signal = SENT(15, 0, 0), .cut = 2},
		 "app[1] was ended by SIGTERM from runc[700] (the runtime); 2 of its processes were "
		 "killed."},
	};

	assert_rows(rows, LEN(rows));
}

static void a_stop_that_was_ended_by_sigkill_has_its_sentence(void **state)
{
	static const struct row rows[] = {
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 10 * S), .grace = GRACE(10), .deliver_ns = IN(MS / 5)},
		 "app[1] took SIGTERM after 200µs and did not end; runc[700] (the runtime) killed it when "
		 "its grace period of 10.0s was over."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 10 * S),
		  .forward = {.count = 1, .number = 15, .to = SH}},
		 "app[1] was sent SIGTERM, passed SIGTERM to sh[8], and did not end; runc[700] (the "
		 "runtime) killed it 10.0s later."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 15 * S), .grace = GRACE(10)},
		 "app[1] was sent SIGTERM and did not end; runc[700] (the runtime) killed it 15.0s later, "
		 "5.00s after its grace period of 10.0s was over."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 4 * S), .grace = GRACE(2)},
		 "app[1] was sent SIGTERM and did not end; runc[700] (the runtime) killed it when its "
		 "grace period of 2.00s was over."},
		{{STOP(KILLED, KILLED_EARLY, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 2 * S), .grace = {.from = GRACE_ASSUMED, .ns = 30 * S}},
		 "app[1] was sent SIGTERM and did not end; runc[700] (the runtime) killed it 2.00s later, "
		 "before its assumed grace period of 30.0s was over."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 0, 0),
		  .kill_signal = SENT(9, 0, 12 * MS), .grace = GRACE(0)},
		 "app[1] was sent SIGTERM and did not end; runc[700] (the runtime) killed it 12.0ms later: "
		 "its grace period is 0."},
		{{STOP(KILLED, DEAF_GRACE, 9), .stop_signal = SENT(15, 1, 0),
		  .kill_signal = {true,
				  9,
				  0,
				  ASKED_NS + 2 * S,
				  {.kind = SENDER_GRACED, .process = PROC(900, 900, "graced")}},
		  .grace = GRACE(30), .deaf = true, .reason = UNHEARD_NO_HANDLER},
		 "app[1] has no handler for SIGTERM and never heard it; graced[900] killed it 2.00s later, "
		 "as shutdown.deafGrace says."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 1, 0), .grace = GRACE(10),
		  .kill_signal = SENT(9, 0, 10 * S), .deaf = true},
		 "app[1] never heard SIGTERM; runc[700] (the runtime) killed it when its grace period of "
		 "10.0s was over."},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 1, 0), .grace = GRACE(10),
		  .kill_signal = SENT(9, 0, 10 * S), .deaf = true, .reason = UNHEARD_SHELL,
		  .cut = 1, .processes = npm, .n_processes = 2},
		 "app[1] is a shell that never heard SIGTERM and passes nothing on; runc[700] (the runtime) "
		 "killed it when its grace period of 10.0s was over. node[9] never received it and was "
		 "killed when app[1] ended."},
	};

	assert_rows(rows, LEN(rows));
}

static void each_reason_has_words(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record_stop stop = {STOP(KILLED, GRACE_EXPIRED, 9), .stop_signal = SENT(15, 1, 0),
				   .kill_signal = SENT(9, 0, 10 * S)};

	for (unsigned int reason = 1; reason < UNHEARD_COUNT; reason++) {
		const char *text, *page;

		stop.reason = reason;
		assert_non_null(strstr(sentence(&out, &stop), "SIGTERM"));
		assert_null(strchr(buf_str(&out), '$'));
		assert_non_null(unheard_remark(reason));
		assert_null(strchr(unheard_remark(reason), '$'));
		if (advice_of_unheard(reason) < ADVICE_TOPICS && reason != UNHEARD_RERAISED &&
		    reason != UNHEARD_STOPPED) {
			assert_true(story_remedy(&stop, 0, &text, &page));
			assert_string_equal(text, advice_remedy(advice_of_unheard(reason)));
		}
	}
	assert_non_null(unheard_of_init(UNHEARD_COUNT));
	assert_non_null(unheard_remark(UNHEARD_COUNT));
}

static void a_column_has_a_short_form(void **state)
{
	static const struct row rows[] = {
		{{STOP(GRACEFUL, STOP_SIGNAL, 0)}, ""},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .cut = 1}, ""},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .cut = 2}, "2 cut"},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .cut = 1, .processes = npm, .n_processes = 3},
		 "node[9] cut unasked"},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .cut = 3, .processes = su, .n_processes = 2},
		 "node[9] cut +2"},
		{{STOP(OOM_KILLED, OOM_CONTAINER, CODE(137)), .via = VIA(VIA_PASSED_ON)},
		 "via python3[7]"},
		{{STOP(KILLED, HOST, CODE(137)), .via = VIA(VIA_INFERRED)},
		 "perhaps via python3[7]"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};

		story_add_note(&out, &rows[i].stop);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

/* --- what happened --------------------------------------------------------------------------- */

static void assert_events(const struct record_stop *stop, const char *const *want, size_t n)
{
	struct story_event events[STORY_LINES];
	_cleanup_(buf_free) struct buf out = {};
	size_t more;

	assert_int_equal(story_events(stop, events, &more), n);
	assert_int_equal(more, 0);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&out);
		story_add_event(&out, stop, events + i);
		assert_string_equal(buf_str(&out), want[i]);
	}
}

static void what_happened_is_in_its_order(void **state)
{
	static const struct record_stop stop = {
		.process = NPM,
		.outcome = OUTCOME_GRACEFUL,
		.exit = EXIT(CODE(143)),
		.stop_signal = SENT(15, 0, 0),
		.processes = npm,
		.n_processes = 3,
		.cut = 1,
		.requests = {{.number = 15,
			      .at_ns = ASKED_NS,
			      .taken_ns = IN(MS),
			      .sender = SENDER_RUNTIME,
			      .process = PROC(700, 700, "runc")}},
		.empty_ns = IN(3 * S),
	};
	static const char *const want[] = {
		"runc[700] (the runtime) sent SIGTERM to npm[1], which took it after 1.00ms",
		"npm[1] sent SIGTERM to sh[8]",
		"sh[8] died of SIGTERM",
		"node[9] was killed with the pid namespace; it had received no stop signal",
		"npm[1] exited with code 143",
		"no process was left",
	};

	assert_events(&stop, want, LEN(want));
}

static void signals_and_ends_are_told_with_their_senders(void **state)
{
	static const struct record_member list[] = {
		{.process = APP, .exit = EXIT(9)},
		{.process = NODE,
		 .cut = true,
		 .exit = {.known = true, .status = 9, .at_ns = IN(1)},
		 .disposition = DISPOSITION_IGNORED,
		 .asked = {15, 1, IN(0), SENDER_CONTAINER, APP},
		 .fatal = {9, 0, IN(1), SENDER_CONTAINER, APP},
		 .by = ENDED_CONTAINER},
		{.process = SH,
		 .exit = {.known = true, .status = 6, .at_ns = IN(2)},
		 .fatal = {6, 0, IN(2), SENDER_CONTAINER, SH},
		 .by = ENDED_ITSELF},
		{.process = SH,
		 .exit = {.known = true, .status = 11, .at_ns = IN(3)},
		 .fatal = {11, 0, IN(3), SENDER_KERNEL, SH},
		 .by = ENDED_KERNEL},
		{.process = SH,
		 .exit = {.known = true, .status = 9, .at_ns = IN(4)},
		 .by = ENDED_OOM},
		{.process = SH, .exit = {.known = true, .status = CODE(7), .at_ns = IN(5)}},
		{.process = SH,
		 .exit = {.known = true, .status = 10, .at_ns = IN(6)},
		 .fatal = {10, 0, IN(6), SENDER_HOST, PROC(4711, 4711, "bash")},
		 .by = ENDED_HOST},
		{.process = SH,
		 .parent_pid = 1,
		 .exit = {.known = true, .status = 15, .at_ns = IN(6)},
		 .fatal = {15, 0, IN(6), SENDER_KERNEL, NODE},
		 .by = ENDED_PARENT_DEATH},
		{.process = SH}, /* lives */
	};
	static const struct record_stop stop = {
		STOP(KILLED, HOST, 9),
		.processes = list,
		.n_processes = LEN(list),
		.kill_signal = SENT(9, 0, 2 * S),
	};
	static const char *const want[] = {
		"app[1] sent SIGTERM to node[9] (ignored)",
		"node[9] was killed by app[1]",
		"sh[8] died of SIGABRT, which it sent itself",
		"sh[8] died of SIGSEGV, sent by the kernel",
		"sh[8] was killed by the OOM killer",
		"sh[8] exited with code 7",
		"sh[8] died of SIGUSR1, sent by bash[4711] (on the host)",
		"sh[8] died of SIGTERM, sent because its parent had died (PR_SET_PDEATHSIG)",
		"runc[700] (the runtime) killed app[1]",
		"app[1] ended",
	};

	assert_events(&stop, want, LEN(want));
}

static void what_a_process_sent_itself_is_told_as_that(void **state)
{
	static const struct record_member list[] = {
		{.process = APP, .exit = EXIT(9)},
		{.process = NODE,
		 .exit = {.known = true, .status = 9, .at_ns = IN(3)},
		 .asked = {15, 0, IN(1), SENDER_CONTAINER, NODE},
		 .fatal = {9, 0, IN(2), SENDER_CONTAINER, NODE},
		 .by = ENDED_ITSELF},
	};
	static const struct record_stop stop = {
		STOP(KILLED, SELF, 9),
		.processes = list,
		.n_processes = LEN(list),
		.requests = {{.number = 15,
			      .at_ns = IN(0),
			      .sender = SENDER_CONTAINER,
			      .process = APP}},
		.kill_signal = {.known = true,
				.number = 9,
				.at_ns = IN(4),
				.sender = {SENDER_CONTAINER, APP}},
	};
	static const char *const want[] = {
		"app[1] sent SIGTERM to itself",
		"node[9] sent SIGTERM to itself",
		"node[9] killed itself",
		"app[1] killed itself",
		"app[1] ended",
	};

	assert_events(&stop, want, LEN(want));
}

static void requests_in_vain_say_why(void **state)
{
	static const struct record_stop stop = {
		STOP(OOM_KILLED, OOM_CONTAINER, 9),
		.requests = {{.number = 15,
			      .result = RESULT_IGNORED,
			      .at_ns = IN(0),
			      .reason = UNHEARD_SHELL,
			      .sender = SENDER_KUBELET},
			     {.number = 2,
			      .result = RESULT_ALREADY_PENDING,
			      .at_ns = IN(1),
			      .sender = SENDER_UNKNOWN}},
	};
	static const struct record_stop unlisted = {STOP(TERMINATED, STOP_SIGNAL, 15),
						    .stop_signal = SENT(15, 0, 0)};
	static const char *const want[] = {
		"the kubelet sent SIGTERM to app[1], in vain: a shell without a handler",
		"an unknown sender sent SIGINT to app[1] (already_pending)",
		"app[1] was killed by the OOM killer",
	};
	static const char *const want_unlisted[] = {
		"runc[700] (the runtime) sent SIGTERM to app[1]",
		"app[1] died of SIGTERM",
	};

	assert_events(&stop, want, LEN(want));
	assert_events(&unlisted, want_unlisted, LEN(want_unlisted));
}

static void of_many_processes_those_that_were_cut_are_kept(void **state)
{
	struct record_member list[RECORD_MEMBERS] = {{.process = APP}};
	struct record_stop stop = {STOP(GRACEFUL, STOP_SIGNAL, CODE(0)),
				   .stop_signal = SENT(15, 0, 0), .processes = list,
				   .n_processes = LEN(list), .empty_ns = IN(3 * S)};
	struct story_event events[STORY_LINES];
	size_t more, cut = 0, n;

	for (uint32_t i = 1; i < LEN(list); i++)
		list[i] = (struct record_member){
			.process = PROC(4300 + i, i, "worker"),
			.exit = {.known = true, .status = 9, .at_ns = IN(i)},
			.cut = i > 11,
		};
	n = story_events(&stop, events, &more);
	assert_int_equal(n, STORY_LINES);
	assert_int_equal(more, 15 + 3 - STORY_LINES);
	for (size_t i = 0; i < n; i++) {
		cut += events[i].what == STORY_END && list[events[i].index].cut;
		assert_true(!i || events[i].at_ns >= events[i - 1].at_ns);
	}
	assert_int_equal(cut, 4);
	assert_int_equal(events[0].what, STORY_ASKED);
	assert_int_equal(events[n - 2].what, STORY_EXITED);
	assert_int_equal(events[n - 1].what, STORY_EMPTIED);
}

/* --- what to do ------------------------------------------------------------------------------ */

static void each_trouble_has_a_remedy(void **state)
{
	static const struct {
		struct record_stop stop;
		const char *begin, *page;
	} rows[] = {
		{{STOP(OOM_KILLED, OOM_CONTAINER, 9)}, "Raise the limit", NULL},
		{{STOP(OOM_KILLED, OOM_POD, 9)}, "Raise the limit", NULL},
		{{STOP(OOM_KILLED, OOM_NODE, 9)}, "Give the pod", NULL},
		{{STOP(OOM_KILLED, OOM_USERSPACE, 9)}, "Give the pod", NULL},
		{{STOP(OOM_KILLED, OOM_UNKNOWN, 9)}, "Compare the memory", NULL},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .cut = 1, .processes = npm, .n_processes = 3},
		 "Have each process asked",
		 "exec-in-a-script"},
		{{STOP(GRACEFUL, STOP_SIGNAL, 0), .cut = 1, .processes = su, .n_processes = 2},
		 "Have the process that does",
		 "ignored-or-blocked"},
		{{STOP(KILLED, GRACE_EXPIRED, 9)},
		 "See what it waits for",
		 "it-hears-and-takes-10-seconds-all-the-same"},
		{{STOP(KILLED, GRACE_EXPIRED, 9),
		  .stop_signal = SENT_BY(15, SENDER_HOST, 4711, "bash"),
		  .kill_signal = SENT_BY(9, SENDER_RUNTIME, 4712, "runc")},
		 "No manager asked it to stop, so it had no grace period",
		 NULL},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .reason = UNHEARD_TRAP},
		 "Start the app with &",
		 "trap-and-wait"},
		{{STOP(KILLED, GRACE_EXPIRED, 9), .reason = UNHEARD_SUSPENDS},
		 "Name a signal that ends the program by STOPSIGNAL",
		 "stopsignal"},
		{{STOP(KILLED, KILLED_EARLY, 9)}, "Look for a shorter timeout", NULL},
		{{STOP(KILLED, NO_GRACE, 9)},
		 "Stop it by what asks first (docker stop, kubectl delete): docker kill, docker rm -f, a "
		 "grace period of 0 and STOPSIGNAL SIGKILL do not.",
		 NULL},
		{{STOP(KILLED, RUNTIME_LOST, 9)}, "See why its shim ended", NULL},
		{{STOP(KILLED, HOST, 9)}, "It was no stop", NULL},
		{{STOP(KILLED, OTHER_POD, 9)}, "It was no stop", NULL},
		{{STOP(FAILED, SELF, CODE(1))}, "See the program's own log: it", NULL},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const char *text, *page;

		assert_true(story_remedy(&rows[i].stop, 0, &text, &page));
		assert_memory_equal(text, rows[i].begin, strlen(rows[i].begin));
		assert_int_equal(text[strlen(text) - 1], '.');
		assert_true(page == rows[i].page || !strcmp(page, rows[i].page));
		assert_false(story_remedy(&rows[i].stop, 1, &text, &page));
	}
}

static void what_went_well_has_none(void **state)
{
	static const struct record_stop stops[] = {
		{STOP(GRACEFUL, STOP_SIGNAL, 0)}, {STOP(TERMINATED, STOP_SIGNAL, 15)},
		{STOP(COMPLETED, SELF, 0)},	  {.process = APP},
		{STOP(KILLED, UNKNOWN, 9)},
	};
	const char *text, *page;

	for (size_t i = 0; i < LEN(stops); i++)
		assert_false(story_remedy(stops + i, 0, &text, &page));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each way to end unasked has its sentence",
		      each_way_to_end_unasked_has_its_sentence),
		CLAIM("each SIGKILL has its sentence", each_sigkill_has_its_sentence),
		CLAIM("a sender in a container is placed", a_sender_in_a_container_is_placed),
		CLAIM("each kind of memory that runs out has its sentence",
		      each_kind_of_memory_has_its_sentence),
		CLAIM("what was not seen is not claimed, and names are printable",
		      what_was_not_seen_is_not_claimed),
		CLAIM("the end of a child that init passed on is reported as the child's",
		      the_end_of_a_child_is_told_as_its_own),
		cmocka_unit_test(a_stop_that_went_well_has_its_sentence),
		CLAIM("a process that was cut is named, with whether it was asked",
		      who_was_cut_is_named),
		CLAIM("a stop that SIGKILL ended has its sentence",
		      a_stop_that_was_ended_by_sigkill_has_its_sentence),
		CLAIM("each reason why a signal was not acted on has words and a remedy",
		      each_reason_has_words),
		CLAIM("a column has a short form of what was cut, and whose end was passed on",
		      a_column_has_a_short_form),
		CLAIM("what happened is reported in its order", what_happened_is_in_its_order),
		CLAIM("signals and ends are reported with who sent them",
		      signals_and_ends_are_told_with_their_senders),
		CLAIM("what a process sent itself is reported as that",
		      what_a_process_sent_itself_is_told_as_that),
		CLAIM("requests in vain say why", requests_in_vain_say_why),
		CLAIM("of many processes those that were cut are kept",
		      of_many_processes_those_that_were_cut_are_kept),
		CLAIM("each trouble has one remedy", each_trouble_has_a_remedy),
		CLAIM("what went well, or is not known, has no remedy", what_went_well_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
