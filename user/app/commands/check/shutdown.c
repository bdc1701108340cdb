// SPDX-License-Identifier: Apache-2.0
/* Whether logind answers, who holds delay locks on shutdown, and whether logind waits as long as
 * the kubelet's groups take. */
#include "app/commands/check/shutdown.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/check/delay.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "io/logind/logind.h"
#include "io/proc/clock.h"

#define PATIENCE_NS 3000000000ULL
#define TURN_US	    50000
#define NAMED_MAX   8

struct asking {
	struct logind *logind;
	bool listed, failed, kubelet;
	size_t n;
	struct buf holders; /* "kubelet (pid 7), …" */
	uint64_t limit_ns;
};

static void on_up(void *userdata)
{
	struct asking *a = userdata;

	logind_ask_limit(a->logind);
	logind_list_holders(a->logind);
}

static void on_limit(void *userdata, uint64_t limit_ns)
{
	struct asking *a = userdata;

	a->limit_ns = limit_ns;
}

static void on_holders(void *userdata, const struct logind_holder *list, size_t n, bool failed)
{
	struct asking *a = userdata;
	size_t listed = n < LOGIND_HOLDERS_MAX ? n : LOGIND_HOLDERS_MAX;

	a->listed = true;
	a->failed = failed;
	a->n = n;
	buf_reset(&a->holders);
	for (size_t i = 0; i < listed; i++) {
		a->kubelet |= strcmp(list[i].who, "kubelet") == 0 && list[i].uid == 0;
		if (i >= NAMED_MAX)
			continue;
		buf_adds(&a->holders, i ? ", " : "");
		buf_adds(&a->holders, list[i].who);
		buf_printf(&a->holders, " (pid %" PRIu32 ")", list[i].pid);
	}
	if (n > NAMED_MAX)
		buf_printf(&a->holders, " and %zu more", n - NAMED_MAX);
}

static void on_nothing(void *userdata)
{
}

static void on_refused(void *userdata, const char *error, const char *text)
{
}

static void on_announced(void *userdata, uint64_t limit_ns, const char *action)
{
}

static void on_reloaded(void *userdata, const char *error)
{
}

static int open_logind(sd_event *event, struct asking *a)
{
	const struct logind_options options = {
		.bus_address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS"),
		.timeout_ns = PATIENCE_NS,
		.who = "graced",
		.why = "",
		.lock = -1,
	};
	const struct logind_sink sink = {
		.userdata = a,
		.up = on_up,
		.down = on_nothing,
		.taken = on_nothing,
		.refused = on_refused,
		.lost = on_nothing,
		.announced = on_announced,
		.cancelled = on_nothing,
		.limit = on_limit,
		.holders = on_holders,
		.reloaded = on_reloaded,
	};

	return logind_new(event, &options, &sink, &a->logind);
}

static bool is_away(enum logind_status status)
{
	return status == LOGIND_ABSENT || status == LOGIND_DOWN || status == LOGIND_OFF;
}

static int ask(struct asking *a, struct logind_state *ret)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;
	sd_event *event = NULL;
	int r = sd_event_new(&event);

	if (r >= 0)
		r = open_logind(event, a);
	while (r >= 0 && clock_boot_ns() < until_ns) {
		logind_get_state(a->logind, ret);
		if (is_away(ret->status) || (a->listed && a->limit_ns))
			break;
		r = sd_event_run(event, TURN_US);
	}
	if (a->logind)
		logind_get_state(a->logind, ret);
	a->logind = logind_free(a->logind);
	sd_event_unref(event);
	return r < 0 ? r : 0;
}

static uint64_t kubelet_needs(const struct kubeletfile *file, check_shutdown_fn fn, void *userdata)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf text = {};
	struct kubeletfile_why why;
	struct shutplan plan;

	if (kubeletfile_plan(file, &arena, &plan, &why) < 0) {
		buf_printf(&text, "%s; its groups in a shutdown are not known", why.text);
		fn(userdata, false, "kubelet shutdown", buf_str(&text));
	}
	return shutplan_requested_ns(&plan);
}

static void tell_locks(const struct asking *a, uint64_t need_ns, check_shutdown_fn fn,
		       void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};
	bool missing = need_ns && !a->kubelet;

	if (!a->listed || a->failed) {
		fn(userdata, false, "delay locks", "logind does not tell who holds any");
		return;
	}
	buf_printf(&text, "%s%s", a->n ? "held by " : "nobody holds one", buf_str(&a->holders));
	if (missing)
		buf_adds(&text, "; the kubelet has a shutdownGracePeriod, and holds none");
	fn(userdata, !missing, "delay locks", buf_str(&text));
}

static void tell_away(const struct logind_state *state, check_shutdown_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_printf(&text, "shutdowns of the node are not seen: %s%s%s", state->text,
		   state->where[0] ? ", at " : "", state->where);
	fn(userdata, false, "logind", buf_str(&text));
}

void check_shutdown(const struct kubeletfile *file, check_shutdown_fn fn, void *userdata)
{
	struct logind_state state = {};
	struct asking a = {};
	uint64_t need_ns = kubelet_needs(file, fn, userdata);
	int r = ask(&a, &state);

	if (r < 0) {
		fn(userdata, false, "logind", strerror(-r));
	} else if (is_away(state.status)) {
		tell_away(&state, fn, userdata);
	} else if ((!a.listed || a.failed) && !a.limit_ns) {
		fn(userdata, false, "logind", "no answer within 3 s");
	} else {
		fn(userdata, true, "logind", "on the system bus");
		tell_locks(&a, need_ns, fn, userdata);
		check_delay(a.limit_ns, need_ns, fn, userdata);
	}
	buf_free(&a.holders);
}
