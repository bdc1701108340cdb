// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/shutdown/death, and about when core/shutdown has the out-of-service taint set.
 *
 *   test_death [SHUTDOWNS [SEED]]
 */
#include "core/shutdown/death.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/shutdown/shutdown.h"
#include "lib/claim.h"

#define S	       1000000000ULL
#define SHUTDOWNS      20000
#define STEPS	       60
#define MAX_CONTAINERS 6
#define MAX_MOUNTS     3

static const char this_boot[] = "0b0e9b8e-1d2c-4f3a-8b4c-5d6e7f809102";
static const char that_boot[] = "1b0e9b8e-1d2c-4f3a-8b4c-5d6e7f809102";

static uint64_t shutdowns = SHUTDOWNS, first_seed = 1;

static void test_rule(void **state)
{
	const struct death_facts proven = {
		.boot = this_boot, .now_boot = this_boot, .complete = true, .mounts_known = true};
	const struct death_facts before = {.boot = that_boot, .now_boot = this_boot};
	const struct {
		const char *why;
		struct death_facts facts;
		bool dead;
	} rows[] = {
		{"all is gone", proven, true},
		{"another boot", before, true},
		{"another boot, whatever runs in this one",
		 {.boot = that_boot, .now_boot = this_boot, .populated = 9, .lost = true},
		 true},
		{"populated", {this_boot, this_boot, true, false, 1, true, 0, false}, false},
		{"lost", {this_boot, this_boot, true, true, 0, true, 0, false}, false},
		{"a mount is left", {this_boot, this_boot, true, false, 0, true, 1, false}, false},
		{"mounts unknown", {this_boot, this_boot, true, false, 0, false, 0, false}, false},
		{"may start", {this_boot, this_boot, true, false, 0, true, 0, true}, false},
		{"incomplete", {this_boot, this_boot, false, false, 0, true, 0, false}, false},
		{"no boot", {NULL, this_boot, true, false, 0, true, 0, false}, false},
		{"no boot id", {"", this_boot, true, false, 0, true, 0, false}, false},
		{"a boot id that is cut", {"0b0e9b8e-1d2c", this_boot, 0, 0, 0, 0, 0, 0}, false},
		{"a boot id in capitals",
		 {"1B0E9B8E-1D2C-4F3A-8B4C-5D6E7F809102", this_boot, 0, 0, 0, 0, 0, 0},
		 false},
		{"a boot id with more behind",
		 {"1b0e9b8e-1d2c-4f3a-8b4c-5d6e7f8091020", this_boot, 0, 0, 0, 0, 0, 0},
		 false},
		{"this boot unknown", {that_boot, "unknown", true, false, 0, true, 0, false}, false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if (death_is_proven(&rows[i].facts) != rows[i].dead)
			fail_msg("%s", rows[i].why);
}

static void test_node(void **state)
{
	static const struct {
		const char *why;
		struct death_node node;
		const char *boot;
		bool refused;
	} rows[] = {
		{"this boot, in its shutdown", {this_boot, true}, this_boot, false},
		{"an earlier boot, and the node was missed", {that_boot, false}, that_boot, false},
		{"an earlier boot that was not missed", {that_boot, true}, that_boot, true},
		{"a kubelet has started since", {this_boot, false}, that_boot, true},
		{"the pods are of a boot before this one", {that_boot, true}, this_boot, true},
		{"no boot id", {NULL, false}, that_boot, true},
		{"no boot", {"", false}, "", true},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if ((death_refuses(&rows[i].node, rows[i].boot, this_boot) != NULL) !=
		    rows[i].refused)
			fail_msg("%s", rows[i].why);
}

/* --- random histories ------------------------------------------------------------------------- */

/* What the world is like, kept apart from what core/shutdown makes of it. */
struct world {
	struct shutdown *sd;
	uint64_t seed, now_ns, wake_ns;
	enum shutdown_mode mode;
	bool populated[MAX_CONTAINERS + 1], mounted[MAX_MOUNTS + 1];
	bool mounts_known, mounts_failed, watched, lost, complete, has_boot;
	bool going, set, released;
	bool units_owed, units_stopped, kubelet_lives, kubelet_known;
	const char *broken;
	uint64_t *n_set, *n_cleared;
};

static uint64_t pick(struct world *w, uint64_t n)
{
	uint64_t x;

	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (w->seed ^ w->seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % n;
}

static void break_(struct world *w, const char *why)
{
	if (!w->broken)
		w->broken = why;
}

static bool any(const bool *list, size_t n)
{
	for (size_t i = 0; i <= n; i++)
		if (list[i])
			return true;
	return false;
}

static void check_set(struct world *w)
{
	if (any(w->populated, MAX_CONTAINERS))
		break_(w, "a cgroup is populated");
	if (w->lost)
		break_(w, "a record was lost");
	if (!w->mounts_known || w->mounts_failed || any(w->mounted, MAX_MOUNTS))
		break_(w, "a mount may be left");
	if (!w->complete || !w->has_boot)
		break_(w, "the evidence is not of this boot, or not complete");
	if (!w->going || w->set || w->released)
		break_(w, "it is set once in a shutdown, while the lock is held");
	if (w->mode == SHUTDOWN_MANAGE ? !w->units_stopped : !w->kubelet_known || !w->kubelet_lives)
		break_(w, "something may start containers");
}

static void take(void *userdata, const struct effect *effect)
{
	struct world *w = userdata;

	switch (effect->type) {
	case EFFECT_SET_TAINT:
		check_set(w);
		w->set = true;
		(*w->n_set)++;
		break;
	case EFFECT_CLEAR_TAINT:
	case EFFECT_CORDON:
	case EFFECT_UNCORDON:
		if (!w->set)
			break_(w, "what is not set is not cleared");
		w->set = false;
		(*w->n_cleared)++;
		break;
	case EFFECT_WAKE_AT:
		w->wake_ns = effect->at_ns;
		break;
	case EFFECT_STOP_UNITS:
		w->units_owed = true;
		w->units_stopped = false;
		break;
	case EFFECT_WATCH_VOLUMES:
		w->watched = true;
		w->mounts_known = w->mounts_failed = w->kubelet_known = false;
		memset(w->mounted, 0, sizeof(w->mounted));
		break;
	case EFFECT_LEAVE_VOLUMES:
		w->watched = w->mounts_known = false;
		break;
	case EFFECT_DROP_LOCK:
		w->released = true;
		break;
	default:
		break;
	}
}

static void send(struct world *w, const struct shutdown_event *event)
{
	if (shutdown_step(w->sd, event, w->now_ns) < 0)
		break_(w, "an event is refused");
	/* What was proven and does not hold is taken back at once. */
	if (w->set && any(w->populated, MAX_CONTAINERS))
		break_(w, "the taint stands while a cgroup is populated");
	if (w->set && w->lost)
		break_(w, "the taint stands after a record was lost");
}

static void send_plain(struct world *w, enum shutdown_event_type type)
{
	send(w, &(struct shutdown_event){.type = type});
}

static void change_container(struct world *w, bool populated)
{
	static const enum shutdown_kind kinds[] = {SHUTDOWN_KIND_CONTAINER, SHUTDOWN_KIND_CONTAINER,
						   SHUTDOWN_KIND_UNKNOWN, SHUTDOWN_KIND_SANDBOX,
						   SHUTDOWN_KIND_OWN};
	uint64_t id = 1 + pick(w, MAX_CONTAINERS);
	struct shutdown_event event = {.type = SHUTDOWN_EV_CONTAINER_GONE, .id = id};

	w->populated[id] = populated;
	if (populated || pick(w, 2))
		event = (struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER,
						.container = {.id = id,
							      .pod_uid = id % 2 ? "web" : "dns",
							      .kind = kinds[id % LEN(kinds)],
							      .populated = populated,
							      .asked_ns =
								      pick(w, 2) ? w->now_ns : 0,
							      .grace = {.set = true, .s = 3}}};
	send(w, &event);
}

static void change_mount(struct world *w, bool there)
{
	uint64_t id = 1 + pick(w, MAX_MOUNTS);
	struct shutdown_event event = {.type = SHUTDOWN_EV_VOLUME_GONE, .id = id};

	if (!w->watched)
		return;
	w->mounted[id] = there;
	if (there)
		event = (struct shutdown_event){.type = SHUTDOWN_EV_VOLUME,
						.volume = {.id = id,
							   .pod_uid = id % 2 ? "web" : "elsewhere",
							   .plugin = "kubernetes.io~csi",
							   .driver = "",
							   .name = "v"}};
	send(w, &event);
}

static void read_mounts(struct world *w)
{
	if (!w->watched)
		return;
	w->mounts_failed = pick(w, 8) == 0;
	w->mounts_known |= !w->mounts_failed;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUMES, .failed = w->mounts_failed});
}

static void find_kubelet(struct world *w)
{
	if (!w->watched)
		return;
	w->kubelet_known = true;
	w->kubelet_lives = pick(w, 4) > 0;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER, .lives = w->kubelet_lives});
}

static void judge_evidence(struct world *w)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_EVIDENCE};

	w->lost |= pick(w, 20) == 0;
	w->complete = pick(w, 10) > 0;
	w->has_boot = pick(w, 10) > 0;
	snprintf(event.evidence.boot, sizeof(event.evidence.boot), "%s",
		 w->has_boot ? this_boot : "");
	event.evidence.complete = w->complete;
	event.evidence.lost = w->lost;
	send(w, &event);
}

static void answer_units(struct world *w)
{
	bool failed = pick(w, 6) == 0;

	if (!w->units_owed)
		return;
	w->units_owed = false;
	w->units_stopped = !failed;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_UNITS_STOPPED, .failed = failed});
}

static void list_holders(struct world *w)
{
	const struct shutdown_holder kubelet = {.who = "kubelet", .pid = 7};
	struct shutdown_event event = {.type = SHUTDOWN_EV_HOLDERS, .holders.list = &kubelet};

	event.holders.n = pick(w, 2);
	send(w, &event);
}

static void announce(struct world *w)
{
	if (w->going)
		return;
	w->going = true;
	w->released = w->set = w->units_stopped = w->units_owed = false;
	send(w,
	     &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED, .announced.limit_ns = 90 * S});
}

static void cancel(struct world *w)
{
	if (!w->going || w->units_owed)
		return;
	w->going = false;
	send_plain(w, SHUTDOWN_EV_CANCELLED);
	if (w->set)
		break_(w, "a shutdown that is cancelled leaves no taint");
	send_plain(w, SHUTDOWN_EV_LOCK_TAKEN);
}

static void pass_time(struct world *w)
{
	w->now_ns += pick(w, 4) * S;
	if (w->wake_ns && w->wake_ns <= w->now_ns)
		send_plain(w, SHUTDOWN_EV_TIMER);
}

static void step(struct world *w)
{
	switch (pick(w, 16)) {
	case 0:
		announce(w);
		break;
	case 1:
		if (pick(w, 6) == 0)
			cancel(w);
		break;
	case 2:
		change_container(w, true);
		break;
	case 3 ... 7:
		change_container(w, false);
		break;
	case 8:
		change_mount(w, pick(w, 4) == 0);
		break;
	case 9:
		read_mounts(w);
		break;
	case 10:
		find_kubelet(w);
		break;
	case 11:
		if (pick(w, 4) == 0)
			judge_evidence(w);
		break;
	case 12:
		answer_units(w);
		break;
	case 13:
		list_holders(w);
		break;
	case 14:
		if (w->set)
			send_plain(w, SHUTDOWN_EV_TAINT);
		break;
	default:
		pass_time(w);
	}
}

static const char *walk(uint64_t seed, uint64_t *n_set, uint64_t *n_cleared)
{
	struct world w = {
		.seed = seed,
		.now_ns = 1000 * S,
		.mode = seed % 2 ? SHUTDOWN_MANAGE : SHUTDOWN_ASSIST,
		.n_set = n_set,
		.n_cleared = n_cleared,
	};
	const struct shutdown_config config = {
		.mode = w.mode,
		.volumes = true,
		.taint = true,
		.stops_kubelet = true,
		.effect = take,
		.userdata = &w,
	};

	assert_int_equal(shutdown_new(&config, &w.sd), 0);
	judge_evidence(&w);
	send_plain(&w, SHUTDOWN_EV_LOGIND_UP);
	send_plain(&w, SHUTDOWN_EV_LOCK_TAKEN);
	for (int i = 0; i < STEPS && !w.broken; i++)
		step(&w);
	shutdown_free(w.sd);
	return w.broken;
}

static void test_no_history_sets_it_early(void **state)
{
	uint64_t n_set = 0, n_cleared = 0;

	print_message("# %llu shutdowns from seed %llu\n", (unsigned long long)shutdowns,
		      (unsigned long long)first_seed);
	for (uint64_t i = 0; i < shutdowns; i++) {
		const char *broken = walk(first_seed + i, &n_set, &n_cleared);

		if (broken)
			fail_msg("seed %llu: %s", (unsigned long long)(first_seed + i), broken);
	}
	print_message("# set %llu times, cleared %llu times\n", (unsigned long long)n_set,
		      (unsigned long long)n_cleared);
	if (shutdowns >= SHUTDOWNS)
		assert_true(n_set > shutdowns / 50 && n_cleared > shutdowns / 500);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a node is dead where all is gone, or where another boot runs", test_rule),
		CLAIM("the node in the API has to be of the boot whose pods are dead", test_node),
		CLAIM("no history sets the taint while a cgroup is populated, a record was lost, "
		      "a mount is left, or evidence is older than the boot",
		      test_no_history_sets_it_early),
	};

	if (argc > 1)
		shutdowns = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
