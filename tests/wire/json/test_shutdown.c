// SPDX-License-Identifier: Apache-2.0
/* Claims about the records of a node's shutdown: the same members in each, in JSON and the
 * journal. */
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/record.h"
#include "wire/text/journal.h"

#define S UINT64_C(1000000000)

/* As a daemon does it: the line is encoded first. */
static int write_entry(struct buf *entry, const struct record *record)
{
	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(record_json(&line, record), 0);
	return journal_write(entry, record, &line);
}

static const struct shutdown_holder HOLDERS[] = {
	{.who = "kubelet", .uid = 0, .pid = 812},
	{.who = "quo\"te\n", .uid = 1000, .pid = 7},
};

static struct record a_step(enum shutdown_report what)
{
	struct record record = {.type = RECORD_SHUTDOWN,
				.at_ns = 130 * S,
				.wall_ns = 1700000000000000000,
				.node = "n"};
	struct record_shutdown *r = &record.shutdown;

	strcpy(r->id, "boot/shutdown/1/x");
	r->step = (struct shutdown_record){
		.what = what,
		.mode = SHUTDOWN_ASSIST,
		.action = SHUTDOWN_POWER_OFF,
		.locked = true,
		.announced_ns = 100 * S,
		.limit_ns = 40 * S,
		.living = 3,
		.stopping = 2,
	};
	return record;
}

static void assert_json(const struct record *record, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(record_json(&out, record), 0);
	assert_string_equal(buf_str(&out), want);
}

#define HEAD                                                                \
	"{\"type\":\"shutdown\",\"schema\":1,\"id\":\"boot/shutdown/1/x\"," \
	"\"time\":\"2023-11-14T22:13:20.000000000Z\",\"boot_ns\":130000000000,\"node\":\"n\","
#define STATE                                                              \
	"\"mode\":\"assist\",\"action\":\"power-off\",\"lock_held\":true," \
	"\"announced_boot_ns\":100000000000,\"limit_ns\":40000000000,"     \
	"\"containers_left\":3,\"containers_stopping\":2,"

#define NOTHING_MORE "\"volumes_left\":null,\"volumes\":null,\"statuses\":null}\n"

static void test_released(void **state)
{
	struct record record = a_step(SHUTDOWN_REPORT_RELEASED);

	record.shutdown.step.reason = SHUTDOWN_LIMIT;
	record.shutdown.step.holders = HOLDERS;
	record.shutdown.step.n_holders = 9;
	record.shutdown.step.n_listed = 2;
	assert_json(&record,
		    HEAD "\"event\":\"released\"," STATE
			 "\"pod\":null,\"container\":null,\"group\":null,\"stop\":null,"
			 "\"reason\":\"limit\",\"others\":9,\"holders\":["
			 "{\"who\":\"kubelet\",\"uid\":0,\"pid\":812},"
			 "{\"who\":\"quo\\\"te\\n\",\"uid\":1000,\"pid\":7}]," NOTHING_MORE);
}

static void test_statuses(void **state)
{
	struct record record = a_step(SHUTDOWN_REPORT_RELEASED);

	record.shutdown.step.reason = SHUTDOWN_ALL_STOPPED;
	record.shutdown.step.statuses_known = true;
	record.shutdown.step.statuses =
		(struct shutdown_statuses){{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}};
	assert_json(&record, HEAD "\"event\":\"released\"," STATE
				  "\"pod\":null,\"container\":null,\"group\":null,\"stop\":null,"
				  "\"reason\":\"all-stopped\",\"others\":0,\"holders\":[],"
				  "\"volumes_left\":null,\"volumes\":null,"
				  "\"statuses\":{\"written\":1,\"already-there\":2,\"gone\":3,"
				  "\"conflict\":4,\"refused\":5,\"gave-up\":6,\"withheld\":{"
				  "\"alive\":7,\"records-lost\":8,\"unnamed\":9,\"kubelet\":10,"
				  "\"late\":11}}}\n");
}

static struct record a_release_with_volumes(void)
{
	struct record record = a_step(SHUTDOWN_REPORT_RELEASED);
	struct record_shutdown *r = &record.shutdown;

	r->step.reason = SHUTDOWN_VOLUMES_LEFT;
	r->step.volumes_known = true;
	r->step.n_volumes = 20;
	r->step.n_volumes_listed = 2;
	r->volumes[0] = (struct record_volume){.uid = "u-1",
					       .namespace_ = "shop",
					       .plugin = "kubernetes.io~csi",
					       .driver = "ebs.csi.aws.com",
					       .name = "quo\"te"};
	r->volumes[1] = (struct record_volume){
		.uid = "", .plugin = "kubernetes.io~rbd", .driver = "", .name = "v"};
	return record;
}

static void test_volumes(void **state)
{
	struct record record = a_release_with_volumes();

	assert_json(&record, HEAD "\"event\":\"released\"," STATE
				  "\"pod\":null,\"container\":null,\"group\":null,\"stop\":null,"
				  "\"reason\":\"volumes-left\",\"others\":0,\"holders\":[],"
				  "\"volumes_left\":20,\"volumes\":["
				  "{\"pod\":{\"namespace\":\"shop\",\"name\":null,\"uid\":\"u-1\"},"
				  "\"plugin\":\"kubernetes.io~csi\",\"driver\":\"ebs.csi.aws.com\","
				  "\"name\":\"quo\\\"te\"},"
				  "{\"pod\":null,\"plugin\":\"kubernetes.io~rbd\",\"driver\":null,"
				  "\"name\":\"v\"}],\"statuses\":null}\n");
	record.shutdown.step.n_volumes = record.shutdown.step.n_volumes_listed = 0;
	assert_json(&record, HEAD "\"event\":\"released\"," STATE
				  "\"pod\":null,\"container\":null,\"group\":null,\"stop\":null,"
				  "\"reason\":\"volumes-left\",\"others\":0,\"holders\":[],"
				  "\"volumes_left\":0,\"volumes\":[],\"statuses\":null}\n");
}

static void test_volumes_in_the_journal(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record = a_release_with_volumes();

	assert_int_equal(write_entry(&out, &record), 0);
	assert_non_null(strstr(buf_str(&out),
			       "volumes-left; 3 containers run, 2 are being stopped; "
			       "20 mounts of volumes are left\n"));
}

static void test_group(void **state)
{
	struct record record = a_step(SHUTDOWN_REPORT_GROUP_DONE);

	record.shutdown.step.group = 1;
	record.shutdown.step.group_ns = 10 * S;
	record.shutdown.step.timed_out = true;
	record.shutdown.group_known = true;
	record.shutdown.group_priority = 2000000000;
	assert_json(&record, HEAD "\"event\":\"group-done\"," STATE
				  "\"pod\":null,\"container\":null,\"group\":{\"index\":1,"
				  "\"priority\":2000000000,\"length_ns\":10000000000,"
				  "\"planned_boot_ns\":null,\"timed_out\":true},\"stop\":null,"
				  "\"reason\":null,\"others\":0,\"holders\":[]," NOTHING_MORE);
}

static struct record a_kill(void)
{
	struct record record = a_step(SHUTDOWN_REPORT_KILLED);
	struct record_shutdown *r = &record.shutdown;

	r->step.container = (struct shutdown_container){.id = 7,
							.signal = 15,
							.asked_ns = 101 * S,
							.timeout_known = true,
							.timeout_ns = 20 * S};
	r->pod = (struct record_pod){.known = true, .namespace_ = "shop", .name = "web-0"};
	r->container = (struct record_container){.known = true, .name = "nginx", .id = "abc"};
	return record;
}

static void test_killed(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record = a_kill();

	assert_int_equal(record_json(&out, &record), 0);
	assert_non_null(strstr(
		buf_str(&out),
		"\"group\":{\"index\":0,\"priority\":null,\"length_ns\":null,"
		"\"planned_boot_ns\":null,\"timed_out\":null},\"stop\":{\"signal\":{\"number\":15,"
		"\"name\":\"SIGTERM\"},\"asked_boot_ns\":101000000000,"
		"\"timeout_ns\":20000000000,\"kill_boot_ns\":null,\"deaf\":false},"
		"\"reason\":null,"));
}

static void test_late(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record = a_kill();

	record.shutdown.step.what = SHUTDOWN_REPORT_LATE;
	assert_int_equal(record_json(&out, &record), 0);
	assert_non_null(strstr(buf_str(&out), "\"event\":\"container-late\""));
	assert_non_null(strstr(buf_str(&out), "\"reason\":\"NodeShutdown\""));
}

static void test_journal(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record = a_kill();

	record.shutdown.step.deaf = true;
	assert_int_equal(write_entry(&out, &record), 0);
	assert_non_null(strstr(buf_str(&out), "PRIORITY=4\n"));
	assert_non_null(strstr(buf_str(&out),
			       "MESSAGE=shutdown: container-killed after 30.0s: shop/web-0/nginx "
			       "did not hear its stop signal, and was ended; 3 containers run, 2 "
			       "are being stopped\n"));
	assert_non_null(strstr(buf_str(&out), "GRACED_EVENT=container-killed\n"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("who else holds a lock is listed by name, whatever it calls itself",
		      test_released),
		CLAIM("a release has what came of the statuses of pods", test_statuses),
		CLAIM("mounts that are left are listed with pod and driver, where they were read",
		      test_volumes),
		CLAIM("... and counted in the journal", test_volumes_in_the_journal),
		CLAIM("a group is reported with its priority and its length", test_group),
		CLAIM("a container that was ended is reported with what was asked of it",
		      test_killed),
		CLAIM("one that began in the shutdown is reported with the kubelet's reason",
		      test_late),
		CLAIM("the journal has a sentence for it", test_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
