// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/filter: which records a user's conditions let through. */
#include "core/stop/filter.h"

#include <errno.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define BIT(n) (1ULL << ((n)-1))
#define IS(o)  (UINT32_C(1) << OUTCOME_##o)
/* One list of names. */
#define N(list)                         \
	{                               \
		.lists = {list}, .n = 1 \
	}

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
		{{}, true},
		{{.namespaces = N("default")}, true},
		{{.namespaces = N("defaul")}, false},
		{{.pods = N("web-0")}, true},
		{{.pods = N(WORLD_UID_A)}, true},
		{{.pods = N("web-1")}, false},
		{{.pods = N(WORLD_UID_B)}, false},
		{{.pods = N("94dc9966")}, true},
		{{.pods = N("94dc996")}, false},
		{{.pods = N("94dc9966-21b6")}, false},
		{{.containers = N("main")}, true},
		{{.containers = N(WORLD_ID_A1)}, true},
		{{.containers = N("aaaa")}, true},
		{{.containers = N("aaa")}, false},
		{{.containers = N("aaab")}, false},
		{{.containers = N(WORLD_ID_A1 "a")}, false},
		{{.containers = N("mai")}, true},
		{{.containers = N("ain")}, false},
		{{.namespaces = N("default"), .pods = N("web-0"), .containers = N("main")}, true},
		{{.namespaces = N("kube"), .pods = N("web-0"), .containers = N("main")}, false},
		{{.outcomes = IS(KILLED)}, true},
		{{.outcomes = IS(GRACEFUL)}, false},
		{{.outcomes = IS(UNKNOWN)}, false},
		{{.outcomes = IS(GRACEFUL) | IS(KILLED)}, true},
		{{.not_outcomes = IS(KILLED)}, false},
		{{.not_outcomes = IS(GRACEFUL)}, true},
		{{.outcomes = IS(KILLED), .not_outcomes = IS(KILLED)}, false},
		{{.sigmask = BIT(15)}, true},
		{{.sigmask = BIT(9)}, true},
		{{.sigmask = BIT(9) | BIT(64)}, true},
		{{.sigmask = BIT(2)}, false},
		{{.sender_comm = "runc"}, true},
		{{.sender_comm = "containerd-shim"}, true},
		{{.sender_comm = "run"}, false},
		{{.sender_comm = "runc", .sigmask = BIT(15)}, true},
		/* The number and the sender of one signal, not of two. */
		{{.sender_comm = "runc", .sigmask = BIT(9)}, false},
		{{.sender_comm = "containerd-shim", .sigmask = BIT(9)}, true},
		{{.outcomes = IS(KILLED), .sender_comm = "runc", .pods = N("web-0")}, true},
		{{.outcomes = IS(FAILED), .sender_comm = "runc", .pods = N("web-0")}, false},
	};
	const struct record stop = a_stop();

	for (size_t i = 0; i < LEN(want); i++)
		assert_matches(&want[i].f, &stop, want[i].matches, i);
}

static void test_patterns(void **state)
{
	static const struct {
		struct filter f;
		bool matches;
	} want[] = {
		/* A beginning. */
		{{.pods = N("web")}, true},
		{{.pods = N("we")}, true},
		{{.pods = N("web-")}, true},
		{{.pods = N("eb-0")}, false},
		{{.pods = N("web-00")}, false},
		{{.namespaces = N("default-x")}, false},
		/* Globs. */
		{{.pods = N("w*")}, true},
		{{.pods = N("*-[0-9]")}, true},
		{{.pods = N("web-?")}, true},
		{{.pods = N("?eb")}, false},
		{{.pods = N("w[")}, false},
		{{.pods = N("\\web-0")}, true},
		{{.namespaces = N("def*")}, true},
		{{.containers = N("m*n")}, true},
		/* With the namespace, as tables have it. */
		{{.pods = N("default/web-0")}, true},
		{{.pods = N("default/web")}, true},
		{{.pods = N("default/*")}, true},
		{{.pods = N("defaul/web-0")}, false},
		{{.pods = N("default2/web-0")}, false},
		{{.pods = N("kube/web-0")}, false},
		{{.pods = N("/web-0")}, false},
		/* Lists, and several of them. */
		{{.pods = N("cart,web,db")}, true},
		{{.pods = N("cart,db")}, false},
		{{.pods = {.lists = {"cart", "db,web"}, .n = 2}}, true},
		{{.pods = {.lists = {"cart", "db"}, .n = 2}}, false},
		/* What is left out. */
		{{.pods = N("!web")}, false},
		{{.pods = N("!we")}, true},
		{{.pods = N("!web-")}, true},
		{{.pods = N("!cart")}, true},
		{{.pods = N("w*,!web-1")}, true},
		{{.pods = N("w*,!web-0")}, false},
		{{.pods = {.lists = {"w*", "!*-0"}, .n = 2}}, false},
		{{.namespaces = N("!kube-*")}, true},
		{{.containers = N("!aaaa")}, false},
	};
	const struct record stop = a_stop();

	for (size_t i = 0; i < LEN(want); i++)
		assert_matches(&want[i].f, &stop, want[i].matches, i);
}

static void test_beginnings(void **state)
{
	static const struct {
		const char *wanted, *name;
		bool matches;
	} want[] = {
		{"p1_w", "p1_web_1", true},	  {"p1_web_1", "p1_web_1", true},
		{"p1_web_1", "p1_web_10", false}, {"p1_web_", "p1_web_10", true},
		{"p1", "p1_web_1", true},	  {"p", "p1_web_1", true},
		{"p1", "p10_web_1", false},	  {"web", "p1_web_1", false},
		{"!p1_w", "p1_web_1", true},	  {"!p1_web", "p1_web_1", false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct filter f = {.containers = N(want[i].wanted)};
		struct record stop = a_stop();

		stop.stop.container.name = want[i].name;
		assert_matches(&f, &stop, want[i].matches, i);
	}
}

static void test_compose(void **state)
{
	static const struct {
		struct filter f;
		bool matches;
	} want[] = {
		{{.namespaces = N("shop")}, true},
		{{.namespaces = N("sho")}, false},
		{{.namespaces = N("!shop")}, false},
		{{.containers = N("shop-web")}, true},
		{{.containers = N("web")}, true},
		{{.containers = N("w?b")}, true},
		{{.containers = N("!web")}, false},
		{{.containers = N("shop/web")}, true},
		{{.containers = N("shop/shop-web-1")}, true},
		{{.containers = N("shop/*")}, true},
		{{.containers = N("other/web")}, false},
		{{.containers = N("shop-w")}, true},
		{{.containers = N("shop/shop-w")}, true},
		/* A service's name has no beginning of another's: "web" is not "web-admin". */
		{{.containers = N("we")}, false},
		{{.pods = N("shop/web")}, false},
	};
	static const struct record_container web = {.known = true,
						    .name = "shop-web-1",
						    .id = WORLD_ID_A1,
						    .namespace_ = "shop",
						    .workload = "web"},
					     admin = {.known = true,
						      .name = "shop-web-admin-1",
						      .namespace_ = "shop",
						      .workload = "web-admin"};
	struct record stop = a_stop();

	stop.stop.pod = (struct record_pod){};
	stop.stop.container = web;
	for (size_t i = 0; i < LEN(want); i++)
		assert_matches(&want[i].f, &stop, want[i].matches, i);
	stop.stop.container = admin;
	assert_matches(&(struct filter){.containers = N("web")}, &stop, false, LEN(want));
	/* In a pod, a container's own group does not count. */
	stop.stop.container = web;
	stop.stop.pod = WEB;
	assert_matches(&(struct filter){.namespaces = N("shop")}, &stop, false, LEN(want));
}

static void test_lists_that_are_none(void **state)
{
	static char long_name[FILTER_PATTERN_MAX + 2];
	static const char *const refused[] = {"", ",", "a,", ",a", "a,,b", "!", "a,!", "!,a"};
	struct filter_names names = {};

	for (size_t i = 0; i < LEN(refused); i++)
		assert_int_equal(filter_names_add(&names, refused[i]), -EINVAL);
	memset(long_name, 'a', sizeof(long_name) - 1);
	assert_int_equal(filter_names_add(&names, long_name), -EINVAL);
	assert_int_equal(filter_names_add(&names, long_name + 1), 0);
	while (names.n < FILTER_LISTS_MAX)
		assert_int_equal(filter_names_add(&names, "a,b"), 0);
	assert_int_equal(filter_names_add(&names, "a"), -E2BIG);
	assert_int_equal(names.n, FILTER_LISTS_MAX);
}

/* Names of containers are whatever their maker wrote. */
static void test_hostile_names(void **state)
{
	static const char *const names[] = {"",		"*",	    "[",   "!web",
					    "\x1b[31m", "\xff\xfe", "a/b", ","};
	const struct filter all = {.containers = N("*")}, none = {.containers = N("web")},
			    set = {.containers = N("[!a-z]*")};

	for (size_t i = 0; i < LEN(names); i++) {
		struct record stop = a_stop();

		stop.stop.container.name = names[i];
		assert_matches(&all, &stop, true, i);
		assert_matches(&none, &stop, false, i);
		filter_matches(&set, &stop);
	}
}

static void test_what_is_not_known(void **state)
{
	static const struct filter asks[] = {
		{.namespaces = N("default")}, {.pods = N("web-0")}, {.containers = N("main")},
		{.containers = N("aaaa")},    {.sigmask = BIT(15)}, {.sender_comm = "x"},
	};
	const struct record stop = {
		.type = RECORD_STOP,
		.stop = {.container = NAMELESS, .stop_signal.number = 15},
	};
	const struct filter not_cart = {.pods = N("!cart")};
	const struct filter by_uid = {.pods = N(WORLD_UID_A)};
	struct record unnamed = {.type = RECORD_STOP, .stop.pod = UNNAMED};

	for (size_t i = 0; i < LEN(asks); i++)
		assert_matches(&asks[i], &stop, false, i);
	assert_matches(&by_uid, &unnamed, true, 0);
	assert_matches(&not_cart, &unnamed, true, 0);
}

static void test_died_of_it(void **state)
{
	const struct filter f = {.sigmask = BIT(11)};
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
		{{}, false},
		{{.signals = true}, true},
		{{.signals = true, .sigmask = BIT(37)}, true},
		{{.signals = true, .sigmask = BIT(36)}, false},
		{{.signals = true, .sender_comm = "runc"}, true},
		{{.signals = true, .sender_comm = "bash"}, false},
		{{.signals = true, .pods = N("web-0")}, true},
		{{.signals = true, .pods = N("web-1")}, false},
		{{.signals = true, .containers = N("main")}, true},
		{{.signals = true, .namespaces = N("kube")}, false},
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
		bool matches; /* oom, empty and restart records */
	} want[] = {
		{{}, true},
		{{.pods = N("web-0")}, true},
		{{.pods = N("web-1")}, false},
		{{.containers = N("main")}, true},
		{{.sigmask = BIT(15)}, false},
		{{.sender_comm = "runc"}, false},
		{{.outcomes = IS(GRACEFUL)}, false},
	};
	const struct record oom = {.type = RECORD_OOM, .oom = {.pod = WEB, .container = MAIN}};
	const struct record empty = {.type = RECORD_EMPTY,
				     .empty = {.pod = WEB, .container = MAIN}};
	const struct record reaped = {.type = RECORD_REAPED,
				      .reaped = {.pod = WEB, .container = MAIN}};
	const struct record restart = {.type = RECORD_RESTART,
				       .restart = {.pod = WEB, .container = MAIN}};
	const struct record pod = {.type = RECORD_POD, .pod_state = {.pod = WEB}};
	const struct record attached = {.type = RECORD_ATTACHED}, lost = {.type = RECORD_LOST};

	for (size_t i = 0; i < LEN(want); i++) {
		assert_matches(&want[i].f, &oom, want[i].matches, i);
		assert_matches(&want[i].f, &empty, want[i].matches, i);
		assert_matches(&want[i].f, &restart, want[i].matches, i);
		assert_matches(&want[i].f, &reaped, want[i].matches, i);
		/* A pod is no container, whatever its containers are called. */
		assert_matches(&want[i].f, &pod, want[i].matches && !want[i].f.containers.n, i);
		assert_matches(&want[i].f, &attached, true, i);
		assert_matches(&want[i].f, &lost, true, i);
	}
}

static void test_numbers_out_of_range(void **state)
{
	const struct filter f = {.signals = true, .sigmask = ~0ULL};
	static const uint32_t numbers[] = {0, 65, 128, UINT32_MAX};

	for (size_t i = 0; i < LEN(numbers); i++) {
		struct record sig = {.type = RECORD_SIGNAL, .signal.number = numbers[i]};

		assert_matches(&f, &sig, false, i);
	}
}

/* What acts on what it finds. */
static void test_words(void **state)
{
	static const struct {
		const char *name;
		bool any, words;
	} rows[] = {{"web", true, true},
		    {"web-0", true, true},
		    {"webhook", true, false},
		    {"web_1.x", true, true},
		    {"we", false, false}};

	for (size_t i = 0; i < LEN(rows); i++)
		for (int words = 0; words < 2; words++) {
			const struct record record = {
				.type = RECORD_EMPTY,
				.empty = {.container = {.known = true, .name = rows[i].name}}};
			struct filter filter = {.containers.words = words};

			assert_int_equal(filter_names_add(&filter.containers, "web"), 0);
			assert_int_equal(filter_matches(&filter, &record),
					 words ? rows[i].words : rows[i].any);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a stop matches when every condition holds", test_stops),
		CLAIM("a name is found by its beginning, a glob, or one of a list", test_patterns),
		CLAIM("a beginning ends anywhere but within a number, and leaves out whole words alone",
		      test_beginnings),
		CLAIM("outside pods a container is found by its namespace and its whole workload",
		      test_compose),
		CLAIM("an empty or long pattern, or one list too many, is refused",
		      test_lists_that_are_none),
		CLAIM("a name that looks like a pattern is only a name", test_hostile_names),
		CLAIM("what is not known matches no condition on it", test_what_is_not_known),
		CLAIM("a signal condition is met by the signal a process died of", test_died_of_it),
		CLAIM("signals are shown on request, under the same conditions", test_signals),
		CLAIM("other records match by pod and container, the tracer's own always",
		      test_others),
		CLAIM("a number that is no signal matches none", test_numbers_out_of_range),
		CLAIM("what acts on what it finds takes whole words", test_words),
	};

	return cmocka_run_group_tests_name("core/stop/filter", tests, NULL, NULL);
}
