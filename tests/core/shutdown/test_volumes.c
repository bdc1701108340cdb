// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown in assist and manage: how long the lock is held for volumes that are
 * mounted. */
#include <errno.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

#define S SHUTSTAGE_S

static const struct shutdown_volume MOUNT = {
	.id = 40,
	.device = 0x800000001,
	.pod_uid = "web",
	.plugin = "kubernetes.io~csi",
	.driver = "",
	.name = "pvc-1",
};
static const struct shutdown_volume NODES = {
	.id = 41,
	.device = 0x800000001,
	.pod_uid = "",
	.plugin = "kubernetes.io~csi",
	.driver = "ebs.csi.aws.com",
	.name = "8f14e45f",
};

static void mounted(struct shutstage *s, const struct shutdown_volume *volume)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME, .volume = *volume});
}

static void unmounted(struct shutstage *s, const struct shutdown_volume *volume)
{
	shutstage_send(s,
		       &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME_GONE, .id = volume->id});
}

static void all_known(struct shutstage *s, bool failed)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUMES, .failed = failed});
}

static void unmounter(struct shutstage *s, bool lives)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER, .lives = lives});
}

static void populate(struct shutstage *s, bool populated)
{
	struct shutdown_container c = shutstage_asked();

	c.populated = populated;
	shutstage_container(s, &c);
}

/* Announced at 1 s with a limit of 60; the pod web is asked at 2 s. */
static void announce(struct shutstage *s)
{
	struct shutdown_container c = shutstage_asked();

	shutstage_begin_with(s, &(struct shutdown_config){.mode = SHUTDOWN_ASSIST,
							  .overdue_slack_ns = 2 * S,
							  .volumes = true});
	c.asked_ns = 0;
	shutstage_container(s, &c);
	shutstage_hold(s);
	shutstage_run(s, 1);
	shutstage_announce(s, 60);
	assert_string_equal(shutstage_log(s), "announced\nwatch volumes\n");
}

static void begin(struct shutstage *s, const char *who)
{
	announce(s);
	shutstage_holders(s, who);
}

/* The pod is empty at 5 s and its status is there, with these mounts; the kubelet has released. */
static void empty_with(struct shutstage *s, const struct shutdown_volume *const *volumes, size_t n)
{
	begin(s, "kubelet");
	shutstage_pod(s, "daemon", 0, false, false);
	for (size_t i = 0; i < n; i++)
		mounted(s, volumes[i]);
	all_known(s, false);
	unmounter(s, true);
	shutstage_run(s, 3);
	populate(s, true);
	shutstage_run(s, 5);
	shutstage_pod(s, "web", 0, true, true);
	shutstage_holders(s, "");
	populate(s, false);
}

static void test_held(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_run(&s, 7);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &MOUNT);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_plain(&s, SHUTDOWN_EV_FLUSHED);
	assert_string_equal(shutstage_log(&s), "drop\nleave volumes\n");
	shutstage_end(&s);
}

static void test_limit(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_run(&s, 58.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 59);
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

/* Where logind waits for ever. */
static void test_given_up(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_announce(&s, 10000);
	shutstage_run(&s, 364.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 365);
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

/* The kubelet's lock and its process: one of them is enough. */
static void test_unmounter(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_run(&s, 6);
	shutstage_holders(&s, "kubelet");
	unmounter(&s, false);
	shutstage_run(&s, 8);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_holders(&s, "other");
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

/* The pod stops at once, before logind has said who holds which lock. */
static void end_early(struct shutstage *s)
{
	announce(s);
	shutstage_pod(s, "daemon", 0, false, false);
	mounted(s, &MOUNT);
	all_known(s, false);
	shutstage_run(s, 1.1);
	populate(s, true);
	shutstage_pod(s, "web", 0, true, true);
	populate(s, false);
	assert_string_equal(shutstage_log(s), "");
}

static void test_early(void **state)
{
	struct shutstage s;

	end_early(&s);
	shutstage_run(&s, 1.5);
	unmounter(&s, true);
	shutstage_holders(&s, "kubelet");
	shutstage_holders(&s, "");
	shutstage_run(&s, 30);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &MOUNT);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
	end_early(&s);
	shutstage_holders(&s, "other");
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

static void test_early_and_silent(void **state)
{
	struct shutstage s;

	end_early(&s);
	shutstage_run(&s, 1.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 2);
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

/* With the kubelet stopped first, as in manage. */
static void test_nothing_unmounts(void **state)
{
	struct shutstage s;

	begin(&s, "kubelet");
	mounted(&s, &MOUNT);
	all_known(&s, false);
	shutstage_run(&s, 2);
	populate(&s, true);
	shutstage_run(&s, 5);
	shutstage_pod(&s, "web", 0, true, true);
	shutstage_holders(&s, "");
	populate(&s, false);
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

/* A pod that runs on, one that is not known, and another volume of the node. */
static void test_others(void **state)
{
	struct shutdown_volume unknown = MOUNT, running = MOUNT, nodes = NODES;
	const struct shutdown_volume *const list[] = {&unknown, &running, &nodes};
	struct shutstage s;

	unknown.pod_uid = "orphan";
	running.id = 50;
	running.pod_uid = "daemon";
	nodes.device = 7;
	empty_with(&s, list, 3);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

/* The mount for the node goes after the pod's. */
static void test_of_node(void **state)
{
	const struct shutdown_volume *const list[] = {&NODES, &MOUNT};
	struct shutstage s;

	empty_with(&s, list, 2);
	shutstage_run(&s, 6);
	unmounted(&s, &MOUNT);
	shutstage_run(&s, 8);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &NODES);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

/* By its name, where the file system is shared by all: the bind mount of a device file. */
static void test_of_node_by_name(void **state)
{
	struct shutdown_volume nodes = NODES;
	const struct shutdown_volume *const list[] = {&nodes, &MOUNT};
	struct shutstage s;

	nodes.device = 7;
	nodes.name = "pvc-1";
	empty_with(&s, list, 2);
	unmounted(&s, &MOUNT);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &nodes);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

/* Another pod of the node still uses the volume. */
static void test_shared(void **state)
{
	struct shutdown_volume other = MOUNT;
	const struct shutdown_volume *const list[] = {&NODES, &MOUNT, &other};
	struct shutstage s;

	other.id = 50;
	other.pod_uid = "other";
	empty_with(&s, list, 3);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &MOUNT);
	assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
	shutstage_end(&s);
}

/* Its object is deleted before its volume is unmounted. */
static void test_forgotten(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE, .uid = "web"});
	shutstage_send(&s, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE, .id = 7});
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &MOUNT);
	assert_non_null(strstr(shutstage_log(&s), "released"));
	shutstage_end(&s);
}

/* A daemon that comes late: all pods are empty before the mounts are read. */
static void test_first_reading(void **state)
{
	static const struct {
		bool answers, failed;
		double at_s;
	} rows[] = {{true, false, 1.2}, {true, true, 1.2}, {false, false, 2}};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutstage s;

		begin(&s, "");
		populate(&s, true);
		shutstage_pod(&s, "web", 0, true, true);
		populate(&s, false);
		shutstage_run(&s, rows[i].at_s - 0.001);
		assert_string_equal(shutstage_log(&s), "");
		shutstage_run(&s, rows[i].at_s);
		if (rows[i].answers)
			all_known(&s, rows[i].failed);
		assert_string_equal(shutstage_log(&s), "released pods-ended\nflush\n");
		shutstage_end(&s);
	}
}

/* A later reading that fails changes nothing of what is known. */
static void test_later_failure(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	all_known(&s, true);
	shutstage_run(&s, 10);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_end(&s);
}

/* The status of a pod that did not come is the reason, whatever is mounted. */
static void test_reason(void **state)
{
	struct shutstage s;

	begin(&s, "kubelet");
	shutstage_send(&s,
		       &(struct shutdown_event){.type = SHUTDOWN_EV_API, .lister.reachable = true});
	mounted(&s, &MOUNT);
	all_known(&s, false);
	unmounter(&s, true);
	shutstage_run(&s, 2);
	populate(&s, true);
	shutstage_run(&s, 5);
	shutstage_holders(&s, "");
	populate(&s, false);
	shutstage_run(&s, 58.999);
	assert_string_equal(shutstage_log(&s), "");
	shutstage_run(&s, 59);
	assert_string_equal(shutstage_log(&s), "released status-late\nflush\n");
	shutstage_end(&s);
}

static void test_cancelled(void **state)
{
	const struct shutdown_volume *const list[] = {&MOUNT};
	struct shutstage s;

	empty_with(&s, list, 1);
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_string_equal(shutstage_log(&s), "cancelled\nleave volumes\n");
	/* What comes late is of the shutdown before. */
	mounted(&s, &MOUNT);
	shutstage_announce(&s, 60);
	assert_string_equal(shutstage_log(&s), "announced\nwatch volumes\n");
	all_known(&s, false);
	shutstage_end(&s);
}

/* A container without a plan, which is stopped at once and has ended after 2 s. */
static void end_managed(struct shutstage *s)
{
	struct shutdown_container c = shutstage_asked();

	shutstage_begin_with(s,
			     &(struct shutdown_config){.mode = SHUTDOWN_MANAGE, .volumes = true});
	shutstage_pod(s, "web", 0, false, false);
	c.asked_ns = 0;
	shutstage_container(s, &c);
	shutstage_hold(s);
	shutstage_run(s, 1);
	shutstage_announce(s, 60);
	shutstage_plain(s, SHUTDOWN_EV_UNITS_STOPPED);
	mounted(s, &MOUNT);
	all_known(s, false);
	unmounter(s, true);
	c.asked_ns = s->now_ns;
	shutstage_container(s, &c);
	shutstage_run(s, 3);
	c.populated = false;
	shutstage_container(s, &c);
	shutstage_send(s,
		       &(struct shutdown_event){.type = SHUTDOWN_EV_SANDBOX_STOPPED, .uid = "web"});
	assert_null(strstr(shutstage_log(s), "released"));
}

static void test_managed(void **state)
{
	struct shutstage s;

	end_managed(&s);
	shutstage_run(&s, 9);
	assert_string_equal(shutstage_log(&s), "");
	unmounted(&s, &MOUNT);
	assert_string_equal(shutstage_log(&s), "released all-stopped\nflush\n");
	shutstage_end(&s);
	/* The kubelet is gone. */
	end_managed(&s);
	unmounter(&s, false);
	assert_string_equal(shutstage_log(&s), "released volumes-left\nflush\n");
	shutstage_end(&s);
}

static void test_off(void **state)
{
	struct shutdown_container c = shutstage_asked();
	struct shutstage s;

	for (int mode = SHUTDOWN_OBSERVE; mode <= SHUTDOWN_ASSIST; mode++) {
		shutstage_begin_with(&s, &(struct shutdown_config){.mode = (enum shutdown_mode)mode,
								   .volumes = mode ==
									      SHUTDOWN_OBSERVE});
		shutstage_container(&s, &c);
		shutstage_hold(&s);
		shutstage_announce(&s, 60);
		assert_string_equal(shutstage_log(&s), "announced\n");
		shutstage_end(&s);
	}
}

struct taken {
	struct shutdown *sd;
	size_t n, n_listed;
	bool known;
	char drivers[256];
};

static void take(void *userdata, const struct effect *effect)
{
	struct taken *t = userdata;

	if (effect->type != EFFECT_REPORT || effect->step->what != SHUTDOWN_REPORT_RELEASED)
		return;
	t->n = effect->step->n_volumes;
	t->n_listed = effect->step->n_volumes_listed;
	t->known = effect->step->volumes_known;
	for (size_t i = 0; i < t->n_listed && i < 4; i++) {
		strcat(t->drivers, effect->step->volumes[i].driver);
		strcat(t->drivers, " ");
	}
}

static void step(struct taken *t, const struct shutdown_event *event)
{
	assert_int_equal(shutdown_step(t->sd, event, shutstage_at(1)), 0);
}

/* So many mounts of the pod and, with a driver, one for the node; nothing unmounts them. */
static struct taken released_with(size_t n, bool of_node)
{
	struct shutdown_container c = shutstage_asked();
	struct shutdown_volume volume = MOUNT;
	struct taken t = {};

	assert_int_equal(shutdown_new(&(struct shutdown_config){.mode = SHUTDOWN_ASSIST,
								.volumes = true,
								.effect = take,
								.userdata = &t},
				      &t.sd),
			 0);
	step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = c});
	step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_LOCK_TAKEN});
	step(&t,
	     &(struct shutdown_event){.type = SHUTDOWN_EV_ANNOUNCED, .announced.limit_ns = 60 * S});
	step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_HOLDERS});
	for (volume.id = 1; volume.id <= n; volume.id++)
		step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME, .volume = volume});
	if (of_node)
		step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME, .volume = NODES});
	step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUMES});
	step(&t, &(struct shutdown_event){
			 .type = SHUTDOWN_EV_POD, .pod.uid = "web", .pod.ended = true});
	c.populated = false;
	step(&t, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = c});
	t.sd = shutdown_free(t.sd);
	return t;
}

static void test_record(void **state)
{
	struct taken t = released_with(1, true);

	assert_true(t.known);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.n_listed, 2);
	assert_string_equal(t.drivers, "ebs.csi.aws.com ebs.csi.aws.com ");
	t = released_with(SHUTDOWN_LIST_VOLUMES + 3, false);
	assert_int_equal(t.n, SHUTDOWN_LIST_VOLUMES + 3);
	assert_int_equal(t.n_listed, SHUTDOWN_LIST_VOLUMES);
	assert_string_equal(t.drivers, "    ");
}

static void test_bad_facts(void **state)
{
	static char long_name[SHUTDOWN_VOLUME_MAX + 1];
	struct shutdown_volume bad[] = {MOUNT, MOUNT, MOUNT};
	struct shutdown_stats stats;
	struct shutstage s;

	memset(long_name, 'v', SHUTDOWN_VOLUME_MAX);
	begin(&s, "kubelet");
	bad[0].id = 0;
	bad[1].name = long_name;
	bad[2].plugin = NULL;
	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(shutdown_step(s.sd,
					       &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME,
									.volume = bad[i]},
					       s.now_ns),
				 -EINVAL);
	for (size_t i = 1; i <= SHUTDOWN_MAX_VOLUMES + 5; i++) {
		struct shutdown_volume volume = MOUNT;

		volume.id = i;
		(void)shutdown_note(s.sd, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUME,
								   .volume = volume});
	}
	shutdown_get_stats(s.sd, &stats);
	assert_int_equal(stats.refused, 5);
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a volume of a pod that was stopped holds the lock until it is unmounted",
		      test_held),
		CLAIM("... until two seconds before the limit", test_limit),
		CLAIM("... and six minutes at most", test_given_up),
		CLAIM("... while the kubelet holds its lock, or the process that held it lives",
		      test_unmounter),
		CLAIM("... and not at all where nothing unmounts it", test_nothing_unmounts),
		CLAIM("until logind says who holds a lock, the kubelet may", test_early),
		CLAIM("... for as long as logind may take to say so", test_early_and_silent),
		CLAIM("a volume of a pod that runs on, or of one that is not known, does not hold",
		      test_others),
		CLAIM("a mount for the node holds after the pod's own is gone", test_of_node),
		CLAIM("... and is found by the volume's name, too", test_of_node_by_name),
		CLAIM("... but not while a pod that was not stopped uses the volume", test_shared),
		CLAIM("a mount holds the lock though its pod's object is gone", test_forgotten),
		CLAIM("the first reading of the mounts is waited for, a second at most",
		      test_first_reading),
		CLAIM("a later reading that fails forgets nothing", test_later_failure),
		CLAIM("the reason is that of the status, if that did not come", test_reason),
		CLAIM("a shutdown that is cancelled follows no mounts", test_cancelled),
		CLAIM("manage waits for the volumes of what it has stopped, too", test_managed),
		CLAIM("mounts are followed in assist and manage, and only where that is enabled",
		      test_off),
		CLAIM("the record has the mounts that are left, with the driver of the node's mount",
		      test_record),
		CLAIM("a mount without an id or with a name too long is refused, as is one too many",
		      test_bad_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
