// SPDX-License-Identifier: Apache-2.0
/* Claims about core/shutdown and io/logind together, on a bus with logind. */
#include <string.h>

#include "core/shutdown/shutdown.h"
#include "io/logind/logind.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/shutdown/logindmock.h"

#define S	    1000000000ull
#define PATIENCE_NS (30 * S)
#define QUEUE_MAX   64
#define POD	    "6d9f7b6e-0000-4000-8000-000000000001"

struct site {
	struct logindmock mock;
	sd_event *event;
	struct logind *logind;
	struct shutdown *core;
	enum effect_type queue[QUEUE_MAX];
	size_t n;
	bool draining;
	uint64_t wake_ns;
};

static void step(struct site *t, const struct shutdown_event *event);

static void feed_event(struct site *t, enum shutdown_event_type type)
{
	step(t, &(struct shutdown_event){.type = type});
}

static void on_effect(void *userdata, const struct effect *effect)
{
	struct site *t = userdata;

	if (effect->type == EFFECT_WAKE_AT) {
		t->wake_ns = effect->at_ns;
		return;
	}
	assert_true(t->n < QUEUE_MAX);
	t->queue[t->n++] = effect->type;
}

static void carry_out(struct site *t, enum effect_type type)
{
	switch (type) {
	case EFFECT_TAKE_LOCK:
		logind_take(t->logind);
		break;
	case EFFECT_DROP_LOCK:
		logind_drop(t->logind);
		break;
	case EFFECT_LIST_HOLDERS:
		logind_list_holders(t->logind);
		break;
	case EFFECT_FLUSH:
		feed_event(t, SHUTDOWN_EV_FLUSHED);
		break;
	default:
		assert_int_equal(type, EFFECT_REPORT);
	}
}

static void step(struct site *t, const struct shutdown_event *event)
{
	assert_int_equal(shutdown_step(t->core, event, clock_boot_ns()), 0);
	if (t->draining)
		return;
	t->draining = true;
	while (t->n > 0) {
		enum effect_type type = t->queue[0];

		memmove(t->queue, t->queue + 1, --t->n * sizeof(t->queue[0]));
		carry_out(t, type);
	}
	t->draining = false;
}

static void on_up(void *userdata)
{
	feed_event(userdata, SHUTDOWN_EV_LOGIND_UP);
}

static void on_down(void *userdata)
{
	feed_event(userdata, SHUTDOWN_EV_LOGIND_DOWN);
}

static void on_taken(void *userdata)
{
	feed_event(userdata, SHUTDOWN_EV_LOCK_TAKEN);
}

static void on_refused(void *userdata, const char *error, const char *text)
{
	feed_event(userdata, SHUTDOWN_EV_LOCK_REFUSED);
}

static void on_lost(void *userdata)
{
	feed_event(userdata, SHUTDOWN_EV_LOCK_LOST);
}

static void on_announced(void *userdata, const uint64_t *limit_ns, const char *action)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_ANNOUNCED};

	event.announced.limit_ns = limit_ns ? *limit_ns : 0;
	event.announced.action = shutdown_action_of(action);
	step(userdata, &event);
}

static void on_cancelled(void *userdata)
{
	feed_event(userdata, SHUTDOWN_EV_CANCELLED);
}

static void on_limit(void *userdata, uint64_t limit_ns)
{
}

static void on_holders(void *userdata, const struct logind_holder *list, size_t n, bool failed)
{
	struct shutdown_holder others[LOGIND_HOLDERS_MAX];
	struct shutdown_event event = {.type = SHUTDOWN_EV_HOLDERS};

	event.holders.list = others;
	event.holders.failed = failed;
	for (size_t i = 0; i < n && i < LOGIND_HOLDERS_MAX; i++)
		if (!list[i].own)
			others[event.holders.n++] =
				(struct shutdown_holder){list[i].who, list[i].uid, list[i].pid};
	step(userdata, &event);
}

static void on_reloaded(void *userdata, const char *error)
{
}

static int setup(void **state)
{
	static struct site t;

	*state = NULL;
	if (!logindmock_is_here())
		return 0;
	t = (struct site){};
	logindmock_begin(&t.mock);
	logindmock_start_bus(&t.mock);
	logindmock_start(&t.mock);
	assert_int_equal(sd_event_new(&t.event), 0);
	assert_int_equal(shutdown_new(&(struct shutdown_config){.mode = SHUTDOWN_OBSERVE,
								.effect = on_effect,
								.userdata = &t},
				      &t.core),
			 0);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct site *t = *state;

	if (!t)
		return 0;
	logind_free(t->logind);
	shutdown_free(t->core);
	sd_event_unref(t->event);
	logindmock_end(&t->mock);
	return 0;
}

static struct site *begin(void **state)
{
	struct site *t = *state;
	const struct logind_sink sink = {t,	     on_up,	 on_down,      on_taken,
					 on_refused, on_lost,	 on_announced, on_cancelled,
					 on_limit,   on_holders, on_reloaded};
	struct logind_options options = {.who = "graced", .why = "It looks on", .lock = -1};

	if (!t) {
		print_message("needs dbus-daemon and python3-dbusmock\n");
		skip();
	}
	options.bus_address = t->mock.address;
	assert_int_equal(logind_new(t->event, &options, &sink, &t->logind), 0);
	return t;
}

static struct shutdown_status status_of(const struct site *t)
{
	struct shutdown_status status;

	shutdown_get_status(t->core, &status);
	return status;
}

/* A turn of the loop, and of the clock that core asked for. */
static void turn(struct site *t)
{
	if (t->wake_ns && clock_boot_ns() >= t->wake_ns) {
		t->wake_ns = 0;
		feed_event(t, SHUTDOWN_EV_TIMER);
	}
	assert_true(sd_event_run(t->event, 10000) >= 0);
}

static void await(struct site *t, enum shutdown_state state)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (status_of(t).state != state) {
		if (clock_boot_ns() > end_ns)
			fail_msg("the state is %d, not %d", status_of(t).state, state);
		turn(t);
	}
}

static void await_locks(struct site *t, unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (logindmock_locks(&t->mock) != n && clock_boot_ns() < end_ns)
		turn(t);
	assert_int_equal(logindmock_locks(&t->mock), n);
}

static void report_container(struct site *t, bool populated)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_CONTAINER};

	event.container = (struct shutdown_container){
		.id = 7, .pod_uid = POD, .kind = SHUTDOWN_KIND_CONTAINER, .populated = populated};
	step(t, &event);
}

static void add_kubelet(struct site *t)
{
	logindmock_run(&t->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', '', 'delay', 0, 7)]");
}

static void test_through(void **state)
{
	struct site *t = begin(state);

	await(t, SHUTDOWN_HOLDING);
	assert_int_equal(logindmock_locks(&t->mock), 1);
	report_container(t, true);
	add_kubelet(t);
	logindmock_set_limit(&t->mock, 600000000);
	logindmock_announce(&t->mock, true, "kexec");
	await(t, SHUTDOWN_GOING);
	for (int i = 0; i < 1000 && status_of(t).limit_ns != 600 * S; i++)
		turn(t);
	assert_int_equal(status_of(t).action, SHUTDOWN_KEXEC);
	/* Somebody else holds, and a container lives. */
	for (int i = 0; i < 20; i++)
		turn(t);
	assert_int_equal(status_of(t).state, SHUTDOWN_GOING);
	assert_true(status_of(t).locked);
	report_container(t, false);
	await(t, SHUTDOWN_RELEASED);
	await_locks(t, 1);
	/* And all over again. */
	logindmock_announce(&t->mock, false, "kexec");
	await(t, SHUTDOWN_HOLDING);
	assert_int_equal(logindmock_locks(&t->mock), 2);
	assert_int_equal(logindmock_logged(&t->mock, " Inhibit "), 2);
}

static void test_alone(void **state)
{
	struct site *t = begin(state);

	/* Nobody else holds: nor does it. */
	await(t, SHUTDOWN_HOLDING);
	report_container(t, true);
	logindmock_announce(&t->mock, true, "reboot");
	await(t, SHUTDOWN_RELEASED);
}

static void test_refused(void **state)
{
	uint64_t began_ns = clock_boot_ns();
	struct site *t = *state;

	if (t)
		logindmock_refuse(&t->mock, "org.freedesktop.login1.OperationInProgress");
	begin(state);
	await(t, SHUTDOWN_ASKING);
	for (int i = 0; i < 200; i++)
		turn(t);
	/* At once, and after each second: not in a spin. The call is logged, and that it raised. */
	assert_true(logindmock_logged(&t->mock, " Inhibit \"") <=
		    2 + (clock_boot_ns() - began_ns) / 1000000000);
	logindmock_refuse(&t->mock, NULL);
	await(t, SHUTDOWN_HOLDING);
}

static void test_bus_restarts(void **state)
{
	struct site *t = begin(state);

	await(t, SHUTDOWN_HOLDING);
	logindmock_kill_bus(&t->mock);
	for (int i = 0; i < 30; i++)
		turn(t);
	logindmock_start_bus(&t->mock);
	logindmock_start(&t->mock);
	await_locks(t, 1);
	await(t, SHUTDOWN_HOLDING);
	assert_int_equal(logindmock_logged(&t->mock, " Inhibit "), 1);
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a shutdown is seen through, and the lock taken anew when it is called off",
		     test_through),
		TEST("where no other lock is held, it releases its own at once", test_alone),
		TEST("a lock that is refused is asked for again, not in a spin", test_refused),
		TEST("a new bus is asked for one lock", test_bus_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
