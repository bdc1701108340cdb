// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/filter: which records a user's conditions let through. */
#include "core/stop/filter.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

#define BIT(n) (1ULL << ((n)-1))
#define NONE   OUTCOME_COUNT

static const struct record_pod WEB = {.known = true,
				      .namespace_ = "default",
				      .name = "web-0",
				      .uid = WORLD_UID_A};
static const struct record_pod UNNAMED = {.known = true, .uid = WORLD_UID_A};
static const struct record_container MAIN = {.known = true, .name = "main", .id = WORLD_ID_A1};
static const struct record_container NAMELESS = {.known = true};

/* Stopped with SIGTERM by runc, killed by containerd-shim, died of it. */
static struct record a_stop(void)
{
	return (struct record){
		.type = RECORD_STOP,
		.stop =
			{
				.pod = WEB,
				.container = MAIN,
				.stop_signal = {.known = true,
						.number = 15,
						.sender.process.comm = "runc"},
				.kill_signal = {.known = true,
						.number = 9,
						.sender.process.comm = "containerd-shim"},
				.exit = {.known = true, .status = 9},
				.outcome = OUTCOME_KILLED,
			},
	};
}

static void assert_matches(const struct filter *f, const struct record *r, bool want, size_t i)
{
	if (filter_matches(f, r) != want)
		fail_msg("line %zu: %s", i, want ? "is left out" : "gets through");
}

static void test_stops(void **state)
{
	static const struct {
		struct filter f;
		bool matches;
	} want[] = {
		{{.outcome = NONE}, true},
		{{.outcome = NONE, .namespace_ = "default"}, true},
		{{.outcome = NONE, .namespace_ = "defaul"}, false},
		{{.outcome = NONE, .namespace_ = ""}, false},
		{{.outcome = NONE, .pod = "web-0"}, true},
		{{.outcome = NONE, .pod = WORLD_UID_A}, true},
		{{.outcome = NONE, .pod = "web"}, false},
		{{.outcome = NONE, .pod = WORLD_UID_B}, false},
		{{.outcome = NONE, .pod = "94dc9966"}, true},
		{{.outcome = NONE, .pod = "94dc996"}, false},
		{{.outcome = NONE, .pod = "94dc9966-21b6"}, false},
		{{.outcome = NONE, .container = "main"}, true},
		{{.outcome = NONE, .container = WORLD_ID_A1}, true},
		{{.outcome = NONE, .container = "aaaa"}, true},
		{{.outcome = NONE, .container = "aaa"}, false},
		{{.outcome = NONE, .container = ""}, false},
		{{.outcome = NONE, .container = "aaab"}, false},
		{{.outcome = NONE, .container = WORLD_ID_A1 "a"}, false},
		{{.outcome = NONE, .container = "mai"}, false},
		{{.outcome = NONE, .namespace_ = "default", .pod = "web-0", .container = "main"},
		 true},
		{{.outcome = NONE, .namespace_ = "kube", .pod = "web-0", .container = "main"},
		 false},
		{{.outcome = OUTCOME_KILLED}, true},
		{{.outcome = OUTCOME_GRACEFUL}, false},
		{{.outcome = OUTCOME_UNKNOWN}, false},
		{{.outcome = NONE, .sigmask = BIT(15)}, true},
		{{.outcome = NONE, .sigmask = BIT(9)}, true},
		{{.outcome = NONE, .sigmask = BIT(9) | BIT(64)}, true},
		{{.outcome = NONE, .sigmask = BIT(2)}, false},
		{{.outcome = NONE, .sender_comm = "runc"}, true},
		{{.outcome = NONE, .sender_comm = "containerd-shim"}, true},
		{{.outcome = NONE, .sender_comm = "run"}, false},
		{{.outcome = NONE, .sender_comm = "runc", .sigmask = BIT(15)}, true},
		/* The number and the sender of one signal, not of two. */
		{{.outcome = NONE, .sender_comm = "runc", .sigmask = BIT(9)}, false},
		{{.outcome = NONE, .sender_comm = "containerd-shim", .sigmask = BIT(9)}, true},
		{{.outcome = OUTCOME_KILLED, .sender_comm = "runc", .pod = "web-0"}, true},
		{{.outcome = OUTCOME_FAILED, .sender_comm = "runc", .pod = "web-0"}, false},
	};
	const struct record stop = a_stop();

	for (size_t i = 0; i < LEN(want); i++)
		assert_matches(&want[i].f, &stop, want[i].matches, i);
}

static void test_what_is_not_known(void **state)
{
	static const struct filter asks[] = {
		{.outcome = NONE, .namespace_ = "default"}, {.outcome = NONE, .pod = "web-0"},
		{.outcome = NONE, .container = "main"},	    {.outcome = NONE, .container = "aaaa"},
		{.outcome = NONE, .sigmask = BIT(15)},	    {.outcome = NONE, .sender_comm = "x"},
	};
	const struct record stop = {
		.type = RECORD_STOP,
		.stop = {.container = NAMELESS, .stop_signal.number = 15},
	};
	const struct filter by_uid = {.outcome = NONE, .pod = WORLD_UID_A};
	struct record unnamed = {.type = RECORD_STOP, .stop.pod = UNNAMED};

	for (size_t i = 0; i < LEN(asks); i++)
		assert_matches(&asks[i], &stop, false, i);
	assert_matches(&by_uid, &unnamed, true, 0);
}

static void test_died_of_it(void **state)
{
	const struct filter f = {.outcome = NONE, .sigmask = BIT(11)};
	struct record crash = {.type = RECORD_STOP,
			       .stop = {.exit = {.known = true, .status = 11 | CORE_BIT}}};

	assert_matches(&f, &crash, true, 0);
	crash.stop.exit.status = EXIT(11);
	assert_matches(&f, &crash, false, 1);
	crash.stop.exit = (struct record_exit){.status = 11};
	assert_matches(&f, &crash, false, 2);
}

static void test_signals(void **state)
{
	static const struct {
		struct filter f;
		bool matches;
	} want[] = {
		{{.outcome = NONE}, false},
		{{.outcome = NONE, .signals = true}, true},
		{{.outcome = NONE, .signals = true, .sigmask = BIT(37)}, true},
		{{.outcome = NONE, .signals = true, .sigmask = BIT(36)}, false},
		{{.outcome = NONE, .signals = true, .sender_comm = "runc"}, true},
		{{.outcome = NONE, .signals = true, .sender_comm = "bash"}, false},
		{{.outcome = NONE, .signals = true, .pod = "web-0"}, true},
		{{.outcome = NONE, .signals = true, .pod = "web-1"}, false},
		{{.outcome = NONE, .signals = true, .container = "main"}, true},
		{{.outcome = NONE, .signals = true, .namespace_ = "kube"}, false},
	};
	const struct record sig = {
		.type = RECORD_SIGNAL,
		.signal = {.number = 37,
			   .pod = WEB,
			   .container = MAIN,
			   .sender.process.comm = "runc"},
	};

	for (size_t i = 0; i < LEN(want); i++)
		assert_matches(&want[i].f, &sig, want[i].matches, i);
}

static void test_others(void **state)
{
	static const struct {
		struct filter f;
		bool told; /* oom and empty records */
	} want[] = {
		{{.outcome = NONE}, true},
		{{.outcome = NONE, .pod = "web-0"}, true},
		{{.outcome = NONE, .pod = "web-1"}, false},
		{{.outcome = NONE, .container = "main"}, true},
		{{.outcome = NONE, .sigmask = BIT(15)}, false},
		{{.outcome = NONE, .sender_comm = "runc"}, false},
		{{.outcome = OUTCOME_GRACEFUL}, false},
	};
	const struct record oom = {.type = RECORD_OOM, .oom = {.pod = WEB, .container = MAIN}};
	const struct record empty = {.type = RECORD_EMPTY,
				     .empty = {.pod = WEB, .container = MAIN}};
	const struct record pod = {.type = RECORD_POD, .pod_state = {.pod = WEB}};
	const struct record attached = {.type = RECORD_ATTACHED}, lost = {.type = RECORD_LOST};

	for (size_t i = 0; i < LEN(want); i++) {
		assert_matches(&want[i].f, &oom, want[i].told, i);
		assert_matches(&want[i].f, &empty, want[i].told, i);
		/* A pod is no container, whatever its containers are called. */
		assert_matches(&want[i].f, &pod, want[i].told && !want[i].f.container, i);
		assert_matches(&want[i].f, &attached, true, i);
		assert_matches(&want[i].f, &lost, true, i);
	}
}

static void test_numbers_out_of_range(void **state)
{
	const struct filter f = {.outcome = NONE, .signals = true, .sigmask = ~0ULL};
	static const uint32_t numbers[] = {0, 65, 128, UINT32_MAX};

	for (size_t i = 0; i < LEN(numbers); i++) {
		struct record sig = {.type = RECORD_SIGNAL, .signal.number = numbers[i]};

		assert_matches(&f, &sig, false, i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a stop matches when every condition holds", test_stops),
		CLAIM("what is not known matches no condition on it", test_what_is_not_known),
		CLAIM("a signal condition is met by the signal a process died of", test_died_of_it),
		CLAIM("signals are shown on request, under the same conditions", test_signals),
		CLAIM("other records match by pod and container, the tracer's own always",
		      test_others),
		CLAIM("a number that is no signal matches none", test_numbers_out_of_range),
	};

	return cmocka_run_group_tests_name("core/stop/filter", tests, NULL, NULL);
}
