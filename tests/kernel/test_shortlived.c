// SPDX-License-Identifier: Apache-2.0
// 500 containers that live for 5 ms or less, from the first mkdir to the rmdir: each has its
// record, with its own container id and pod uid.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SHORT_LIVED 500
#define LIFE_MAX_NS 5000000u
#define MADE_MAX    10000
#define DRIVERS	    2

struct life {
	char id[65];
	char uid[40];
	char path[HIER_PATH_MAX];
	pid_t pid;
	uint64_t ns; /* from before its cgroup was made until it was removed */
};

/* Memory shared with the drivers. */
struct lives {
	int errors[DRIVERS];
	uint32_t made;	/* slots taken in life */
	uint32_t brief; /* of these, lives of 5 ms or less */
	struct life life[MADE_MAX];
};

static struct {
	struct fixture *fixture;
	struct lives *lives;
} stage;

static int live_one(struct box_tree *tree, struct life *ret)
{
	struct box_spec spec = {.argv = BOX_ARGV("exit", "0"), .no_wait = true};
	struct proc_end end;
	struct box box;
	int r = box_start(tree, &spec, &box);

	if (!r)
		r = proc_wait(&box.proc, &end);
	if (!r)
		r = box_remove(&box);
	if (r)
		return r;
	memcpy(ret->id, box.id, sizeof(ret->id));
	memcpy(ret->uid, box.uid, sizeof(ret->uid));
	memcpy(ret->path, box.path, sizeof(ret->path));
	ret->pid = box.init_pid;
	ret->ns = box.removed_ns - box.made_ns;
	return 0;
}

/* A busy machine stretches some lives; go on until enough have been short. */
static void drive(size_t driver) __attribute__((noreturn));
static void drive(size_t driver)
{
	struct box_tree tree = stage.fixture->tree;
	struct lives *lives = stage.lives;

	tree.seed ^= (uint64_t)(driver + 1) << 56;
	while (!lives->errors[driver] &&
	       __atomic_load_n(&lives->brief, __ATOMIC_ACQUIRE) < SHORT_LIVED) {
		uint32_t slot = __atomic_fetch_add(&lives->made, 1, __ATOMIC_ACQ_REL);

		if (slot >= MADE_MAX)
			break;
		lives->errors[driver] = live_one(&tree, &lives->life[slot]);
		if (lives->life[slot].ns <= LIFE_MAX_NS)
			__atomic_fetch_add(&lives->brief, 1, __ATOMIC_ACQ_REL);
	}
	_exit(0);
}

static int setup(void **state)
{
	pid_t pids[DRIVERS];
	void *opened = NULL;
	int status, r = fixture_open(&opened, "shortlived", NULL);

	*state = NULL;
	if (r || !opened)
		return r;
	stage.fixture = opened;
	stage.lives = mmap(NULL, sizeof(*stage.lives), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stage.lives == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < DRIVERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			drive(i);
	}
	for (size_t i = 0; i < DRIVERS; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			r = -1;
	return r;
}

static int teardown(void **state)
{
	void *opened = stage.fixture;

	return fixture_close(&opened);
}

static void every_short_life_is_attributed(void **state)
{
	unsigned int wrong = 0;
	char want[512], why[512];

	if (!stage.fixture)
		skip();
	for (size_t i = 0; i < DRIVERS; i++)
		if (stage.lives->errors[i])
			fail_msg("driver %zu: %s", i, strerror(-stage.lives->errors[i]));
	if (stage.lives->brief < SHORT_LIVED)
		fail_msg("only %u of %d lives took 5 ms or less", stage.lives->brief, MADE_MAX);
	for (size_t i = 0; i < stage.lives->made && wrong < 5; i++) {
		const struct life *life = &stage.lives->life[i];
		const json_t *rec =
			tracer_await(stage.fixture->tracer,
				     &(struct tracer_want){.type = "stop", .id = life->id});

		/* One that a busy machine has stretched may not be seen to be empty in time. */
		snprintf(want, sizeof(want),
			 "{'pod':{'uid':'%s'},'container':{'id':'%s'},'process':{'pid':%d},"
			 "'outcome':'completed'%s}",
			 life->uid, life->id, (int)life->pid,
			 life->ns <= LIFE_MAX_NS ? ",'evidence':{'complete':true,'gaps':[]}" : "");
		if (!jrec_match(rec, want, why, sizeof(why)) &&
		    !strcmp(jrec_text(rec, "container.cgroup"), life->path))
			continue;
		wrong++;
		print_message("container %zu, %llu us: %s\n", i,
			      (unsigned long long)life->ns / 1000, rec ? why : "no record");
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every container that lives for 5 ms or less is attributed",
		      every_short_life_is_attributed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
