// SPDX-License-Identifier: Apache-2.0
// A noisy container costs little, and no less is recorded of its init or its neighbours.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "graced/event.h"
#include "graced.skel.h"
#include "lib/kernel/kernhalf.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/kernel/priv.h"

#define CHILDREN 100
#define SENT	 1500 /* less than the ring has room for */
#define FEW	 100  /* fewer than may be sent at once */

static int setup(void **state)
{
	return kernhalf_open(state, "noisy");
}

static void start(struct kernhalf *k, struct box *ret)
{
	const struct box_spec spec = {.argv = BOX_ARGV("graceful", "5")};

	assert_int_equal(box_start(&k->tree, &spec, ret), 0);
}

static void signal_init(struct kernhalf *k, const struct box *box, int sig)
{
	struct sent sent;

	assert_int_equal(send_signal(&k->tree, SEND_HOST, NULL, box->init_pid, sig, &sent), 0);
}

static void mark(struct kernhalf *k, const struct box *box, bool on)
{
	assert_int_equal(kern_noisy_set(k->kern, kernhalf_id(box->dir), on), 0);
}

/* How many exits and kills are counted of CHILDREN that leave and CHILDREN that are killed. */
static void expect_counted(struct kernhalf *k, const struct box *box, bool counted)
{
	struct graced_counts before = kernhalf_counts(k, box->dir), after;

	kernhalf_end_children(box->dir, CHILDREN, 0);
	kernhalf_end_children(box->dir, CHILDREN, SIGKILL);
	after = kernhalf_counts(k, box->dir);
	assert_int_equal(after.exits - before.exits, counted ? 2 * (CHILDREN + 1) : 0);
	assert_int_equal(after.kills - before.kills, counted ? CHILDREN : 0);
}

static void only_a_noisy_container_is_not_counted(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box noisy, other;

	start(k, &noisy);
	start(k, &other);
	expect_counted(k, &noisy, true);
	mark(k, &noisy, true);
	mark(k, &noisy, true);
	expect_counted(k, &noisy, false);
	expect_counted(k, &other, true);
	mark(k, &noisy, false);
	mark(k, &noisy, false);
	assert_int_equal(k->kern->bss->noisy_any, 0);
	expect_counted(k, &noisy, true);
	assert_int_equal(box_remove(&noisy), 0);
	assert_int_equal(box_remove(&other), 0);
}

/* The record of the nth signal that came for a container; NULL when there are fewer. */
static const struct graced_ev_signal *signal_of(const struct kernhalf *k, uint64_t id,
						unsigned int n)
{
	for (unsigned int i = 0; i < k->n_signals && i < KERNHALF_SEEN; i++)
		if (k->signals[i].hdr.watch_id == id && n-- == 0)
			return &k->signals[i];
	return NULL;
}

/* What the init of a container is sent, and whether that is recorded while it is noisy. */
static const struct {
	int sig;
	bool kept;
} signals[] = {{SIGUSR1, false}, {SIGUSR2, false}, {SIGTERM, true}};

static void send_to_init(struct kernhalf *k, bool noisy)
{
	struct graced_counts counts;
	unsigned int recorded = 0;
	struct proc_end end;
	struct box box;
	uint64_t id;

	start(k, &box);
	id = kernhalf_id(box.dir);
	if (noisy)
		mark(k, &box, true);
	kernhalf_drain(k);
	for (size_t i = 0; i < LEN(signals); i++)
		signal_init(k, &box, signals[i].sig);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	counts = kernhalf_counts(k, box.dir);
	kernhalf_drain(k);
	for (size_t i = 0; i < LEN(signals); i++) {
		const struct graced_ev_signal *ev = signal_of(k, id, recorded);

		if (noisy && !signals[i].kept)
			continue;
		assert_non_null(ev);
		assert_int_equal(ev->sig, signals[i].sig);
		assert_true(ev->flags & GRACED_SIG_INIT);
		assert_int_equal(ev->flags & ~((GRACED_SIG_INIT << 1) - 1), 0);
		recorded++;
	}
	assert_null(signal_of(k, id, recorded));
	assert_int_equal(counts.suppressed, LEN(signals) - recorded);
	assert_int_equal(counts.suppressed_sigs,
			 noisy ? 1u << (SIGUSR1 - 1) | 1u << (SIGUSR2 - 1) : 0);
	assert_int_equal(k->n_exits, 1);
	assert_int_equal(k->exits[0].hdr.watch_id, id);
	assert_int_equal(k->exits[0].status, end.status);
	assert_true(k->exits[0].flags & GRACED_EXIT_INIT);
	assert_int_equal(box_remove(&box), 0);
}

static void stop_and_exit_of_a_noisy_init_are_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);

	send_to_init(k, false);
	send_to_init(k, true);
}

static void the_kill_of_a_noisy_init_is_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_signal *ev;
	struct proc_end end;
	struct box box;
	uint64_t id;

	start(k, &box);
	id = kernhalf_id(box.dir);
	mark(k, &box, true);
	signal_init(k, &box, SIGKILL);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	kernhalf_drain(k);
	ev = signal_of(k, id, 0);
	assert_non_null(ev);
	assert_int_equal(ev->sig, SIGKILL);
	assert_int_equal(k->exits[0].status, SIGKILL);
	assert_int_equal(box_remove(&box), 0);
}

static void a_mark_goes_with_its_cgroup(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, &box);
	id = kernhalf_id(box.dir);
	mark(k, &box, true);
	assert_int_equal(kernhalf_entries(k, "noisy"), 1);
	assert_int_equal(k->kern->bss->noisy_any, 1);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(kernhalf_entries(k, "noisy"), 0);
	assert_int_equal(k->kern->bss->noisy_any, 0);
	assert_int_equal(kern_noisy_set(k->kern, id, true), -ENOENT);
	assert_int_equal(kernhalf_entries(k, "noisy"), 0);
	assert_int_equal(k->kern->bss->noisy_any, 0);
}

/* No cgroup has such an id. */
#define MADE_UP(i) (UINT64_MAX - 1000 + (i))

static void there_is_an_end_to_marks(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_watch watch = {.kind = GRACED_WATCH_CONTAINER};
	unsigned int n = 0;

	for (unsigned int i = 0; i < 257; i++) {
		int r;

		assert_int_equal(kern_watch_add(k->kern, MADE_UP(i), &watch), 0);
		r = kern_noisy_set(k->kern, MADE_UP(i), true);
		if (r == -E2BIG)
			break;
		assert_int_equal(r, 0);
		n++;
	}
	assert_int_equal(n, 256);
	assert_int_equal(k->kern->bss->noisy_any, 256);
	for (unsigned int i = 0; i <= n; i++)
		assert_int_equal(kern_watch_delete(k->kern, MADE_UP(i)), 0);
	assert_int_equal(k->kern->bss->noisy_any, 0);
}

static void flood(const struct box *box)
{
	for (int i = 0; i < SENT; i++)
		assert_int_equal(kill(box->init_pid, SIGTERM), 0);
}

/* The same by a process that has come into the container. */
static void flood_from_inside(const struct box *box)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int bad = cg_enter(box->dir, getpid());

		for (int i = 0; !bad && i < SENT; i++)
			bad = kill(box->init_pid, SIGUSR1);
		_exit(bad != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* How many of SENT signals from outside were recorded; the others are suppressed. */
static unsigned int recorded(struct kernhalf *k, const struct box *box)
{
	struct graced_counts before = kernhalf_counts(k, box->dir), after;

	kernhalf_drain(k);
	flood(box);
	kernhalf_drain(k);
	after = kernhalf_counts(k, box->dir);
	assert_int_equal(k->n_signals + after.suppressed - before.suppressed, SENT);
	return k->n_signals;
}

static void outsiders_are_limited_only_when_configured(void **state)
{
	const struct box_spec spec = {.argv = BOX_ARGV("sigign")};
	struct kernhalf *k = kernhalf_need(state);
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	assert_int_equal(recorded(k, &box), SENT);
	kern_limit_all(k->kern, true);
	/* The bucket refills meanwhile, by a hundred a second. */
	assert_in_range(recorded(k, &box), 1, SENT / 2);
	assert_int_equal(kill(box.init_pid, SIGKILL), 0);
	kernhalf_drain(k);
	assert_int_equal(k->n_signals, 1);
	kern_limit_all(k->kern, false);
	assert_int_equal(box_remove(&box), 0);
}

/* The init's own timers: whoever runs when they expire is current, a process of the host here. */
static void flood_by_timers(const struct box *box)
{
	siginfo_t info = {.si_code = SI_TIMER};

	for (int i = 0; i < SENT; i++)
		assert_int_equal(syscall(SYS_rt_sigqueueinfo, box->init_pid, SIGUSR1, &info), 0);
}

static void floods_of_its_own_hide_nothing_of_others(void **state)
{
	static void (*const floods[])(const struct box *box) = {flood_from_inside, flood_by_timers};
	const struct box_spec spec = {.argv = BOX_ARGV("sigign")};
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts before, after;
	struct box box;

	kern_limit_all(k->kern, true);
	for (size_t n = 0; n < LEN(floods); n++) {
		assert_int_equal(box_start(&k->tree, &spec, &box), 0);
		floods[n](&box);
		before = kernhalf_counts(k, box.dir);
		assert_true(before.suppressed > 0);
		kernhalf_drain(k);
		for (unsigned int i = 0; i < FEW; i++)
			assert_int_equal(kill(box.init_pid, SIGTERM), 0);
		after = kernhalf_counts(k, box.dir);
		kernhalf_drain(k);
		assert_int_equal(k->n_signals, FEW);
		assert_int_equal(k->signals[0].sig, SIGTERM);
		assert_int_equal(after.suppressed, before.suppressed);
		assert_int_equal(box_remove(&box), 0);
	}
	kern_limit_all(k->kern, false);
}

static uint64_t suppressed(const struct kernhalf *k, unsigned int type)
{
	struct graced_stat stats[GRACED_STAT_COUNT];

	assert_int_equal(kern_read_stats(k->kern, stats), 0);
	return stats[type].suppressed;
}

static int setup_all(void **state)
{
	return kernhalf_open_all(state, "noisy-all");
}

/* With scope all; only containers of this tree suppress anything. */
static void what_a_noisy_container_is_spared_counts_as_suppressed(void **state)
{
	static const struct {
		const char *what;
		int sig;
		bool noisy;
		unsigned int suppressed; /* signals, and as many exits */
	} table[] = {
		{"kills, recorded", SIGKILL, false, 0},
		{"exits by themselves, which are never recorded", 0, true, 0},
		{"kills", SIGKILL, true, CHILDREN},
		{"deaths of another signal", SIGUSR1, true, CHILDREN},
	};
	struct kernhalf *k = kernhalf_need(state);
	struct box box;

	start(k, &box);
	for (size_t i = 0; i < LEN(table); i++) {
		uint64_t exits = suppressed(k, GRACED_EV_EXIT);
		uint64_t sent = suppressed(k, GRACED_EV_SIGNAL);

		print_message("%s\n", table[i].what);
		mark(k, &box, table[i].noisy);
		kernhalf_end_children(box.dir, CHILDREN, table[i].sig);
		assert_int_equal(suppressed(k, GRACED_EV_EXIT) - exits, table[i].suppressed);
		assert_int_equal(suppressed(k, GRACED_EV_SIGNAL) - sent, table[i].suppressed);
		kernhalf_drain(k);
	}
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		CLAIM("in scope all, what a noisy container's processes are spared counts as "
		      "suppressed",
		      what_a_noisy_container_is_spared_counts_as_suppressed),
	};
	int failed;
	const struct CMUnitTest tests[] = {
		CLAIM("only a noisy container's processes are not counted, and only while it is",
		      only_a_noisy_container_is_not_counted),
		CLAIM("a noisy container's stop signal and its init's exit are recorded, other signals "
		      "are counted as suppressed",
		      stop_and_exit_of_a_noisy_init_are_recorded),
		CLAIM("a SIGKILL to a noisy container's init is recorded",
		      the_kill_of_a_noisy_init_is_recorded),
		CLAIM("a mark goes with its cgroup", a_mark_goes_with_its_cgroup),
		CLAIM("what outsiders send is limited when configured, SIGKILL never",
		      outsiders_are_limited_only_when_configured),
		CLAIM("neither a flood from inside nor timers hide what others send to an init",
		      floods_of_its_own_hide_nothing_of_others),
		CLAIM("256 containers can be noisy, one more is refused", there_is_an_end_to_marks),
	};

	failed = cmocka_run_group_tests_name("noisy", tests, setup, kernhalf_close);
	return failed +
	       cmocka_run_group_tests_name("noisy, scope all", all, setup_all, kernhalf_close);
}
