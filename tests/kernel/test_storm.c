// SPDX-License-Identifier: Apache-2.0
// 997 stops of known kinds from every CPU at once: 997 records, every member right, none lost.
#include "lib/claim.h"
#include "lib/kernel/fixture.h"
#include "lib/kernel/scene.h"
#include "lib/jrec.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define STOPS	    997
#define DRIVERS_MAX 16

/* What the drivers did, in memory shared with them at the same address. */
struct storm {
	struct fixture *fixture;
	struct box other;
	size_t drivers;
	int errors[DRIVERS_MAX];
	struct played played[STOPS];
};

/* Ends the group's tracer itself: what it says last belongs to the claims. */
static struct storm *storm;

static bool is_quick(const struct scene *scene)
{
	return !scene->slow && !scene->whole_node &&
	       !scene_unavailable(&storm->fixture->tree, scene);
}

static const struct scene *quick_scene(size_t n)
{
	size_t quick = 0;

	for (size_t i = 0; i < scene_count; i++)
		quick += is_quick(&scene_table[i]);
	n %= quick;
	for (size_t i = 0; i < scene_count; i++) {
		if (is_quick(&scene_table[i]) && n-- == 0)
			return &scene_table[i];
	}
	return NULL;
}

static void drive(size_t driver) __attribute__((noreturn));
static void drive(size_t driver)
{
	struct box_tree tree = storm->fixture->tree;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(driver, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	tree.seed ^= (uint64_t)(driver + 1) << 56;
	for (size_t i = driver; i < STOPS && !storm->errors[driver]; i += storm->drivers)
		storm->errors[driver] =
			scene_play(&tree, quick_scene(i), &storm->other, &storm->played[i]);
	_exit(0);
}

static int rage(void)
{
	pid_t pids[DRIVERS_MAX];
	int status, r = 0;

	for (size_t i = 0; i < storm->drivers; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			drive(i);
	}
	for (size_t i = 0; i < storm->drivers; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			r = -1;
	return r;
}

static int setup(void **state)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	void *opened = NULL;
	int r = fixture_open(&opened, "storm", BOX_ARGV("--assume-grace", "2s"));

	*state = NULL;
	if (r || !opened)
		return r;
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (storm == MAP_FAILED)
		return -1;
	storm->fixture = opened;
	storm->drivers = cpus < 2 ? 2 : cpus > DRIVERS_MAX ? DRIVERS_MAX : (size_t)cpus;
	r = box_start(&storm->fixture->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")},
		      &storm->other);
	if (!r)
		r = rage();
	if (!r)
		r = box_remove(&storm->other);
	*state = storm;
	return r;
}

static int teardown(void **state)
{
	void *opened = storm ? storm->fixture : NULL;

	return fixture_close(&opened);
}

static void need_storm(void)
{
	if (!storm)
		skip();
	for (size_t i = 0; i < storm->drivers; i++)
		if (storm->errors[i])
			fail_msg("driver %zu: %s", i, strerror(-storm->errors[i]));
}

static void explain(size_t i, const json_t *rec, const char *why)
{
	fprintf(stderr, "stop %zu (%s): %s\n", i, storm->played[i].scene->claim, why);
	if (rec)
		json_dumpf(rec, stderr, JSON_COMPACT);
	fputc('\n', stderr);
}

static void every_stop_has_its_record_with_every_member_right(void **state)
{
	unsigned int wrong = 0;
	char why[1024];

	need_storm();
	for (size_t i = 0; i < STOPS; i++) {
		const struct played *played = &storm->played[i];
		const json_t *rec = tracer_await_stop(storm->fixture->tracer, &played->box);

		if (!scene_check(&storm->fixture->tree, played, rec, why, sizeof(why)))
			continue;
		if (wrong++ < 10)
			explain(i, rec, why);
		if (!rec && wrong > 3)
			break;
	}
	if (wrong)
		fail_msg("%u of %d stops are wrong", wrong, STOPS);
}

static void every_stop_has_one_record_only(void **state)
{
	need_storm();
	for (size_t i = 0; i < STOPS; i++) {
		struct tracer_want want = {.type = "stop", .id = storm->played[i].box.id};

		assert_int_equal(tracer_count(storm->fixture->tracer, &want), 1);
	}
}

/* The sum of a record's counts by event type. */
static int64_t sum(const json_t *rec, const char *counts)
{
	const char *type;
	json_t *count;
	int64_t n = 0;

	json_object_foreach((json_t *)(uintptr_t)jrec_get(rec, counts), type, count)
		n += (int64_t)json_integer_value(count);
	return n;
}

/* The records' own evidence says that nothing of these containers was lost; here is the total. */
static void nothing_was_lost(void **state)
{
	struct tracer *tracer;

	need_storm();
	tracer = storm->fixture->tracer;
	assert_int_equal(tracer_stop(tracer), 0);
	assert_int_equal(tracer_bad_lines(tracer), 0);
	for (size_t i = 0; i < tracer_records(tracer); i++) {
		const json_t *rec = tracer_record(tracer, i);

		if (!strcmp(jrec_text(rec, "type"), "lost"))
			assert_int_equal(sum(rec, "lost"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every stop has its record with every member right",
		      every_stop_has_its_record_with_every_member_right),
		CLAIM("every stop has one record only", every_stop_has_one_record_only),
		CLAIM("nothing was lost", nothing_was_lost),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
