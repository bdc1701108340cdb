// SPDX-License-Identifier: Apache-2.0
/* What a shutdown of this node would meet: logind's limit and locks, the kubelet's groups, the
 * grace periods of pods. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "app/config/shutdown.h"
#include "app/query/describe.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "io/logind/delay.h"
#include "io/logind/logind.h"
#include "io/proc/clock.h"

#define NAMED_MAX 8

struct fitting {
	const struct shutplan *plan;
	size_t n, cut, no_grace, no_priority;
	struct buf cut_ones; /* "shop/db-0 (60 s, has 20 s), …" */
};

static void add_cut(struct fitting *f, const struct pod *pod, int64_t grace_s, int64_t group_s)
{
	const struct podtab_pod *meta = pod->meta;

	if (f->cut++ >= NAMED_MAX)
		return;
	buf_printf(&f->cut_ones, "%s%s/%s (%" PRId64 " s, has %" PRId64 " s)",
		   f->cut > 1 ? ", " : "", meta->namespace_ ? meta->namespace_ : "-",
		   meta->name ? meta->name : pod->uid, grace_s, group_s);
}

static void on_pod(void *userdata, const struct pod *known)
{
	const struct podtab_pod *pod = known->meta;
	struct fitting *f = userdata;
	int64_t grace_s = (int64_t)(pod->grace_ns / NS_PER_S), group_s;
	size_t group;

	if (pod->gone || meta_phase_is_terminal(pod->phase))
		return;
	f->n++;
	f->no_priority += !(pod->known & META_POD_PRIORITY);
	f->no_grace += !(pod->known & META_POD_GRACE);
	group = shutplan_group_of(f->plan, (int32_t)pod->priority, pod->is_static);
	group_s = f->plan->groups[group].seconds;
	if (pod->known & META_POD_GRACE && group_s < grace_s)
		add_cut(f, known, grace_s, group_s);
}

static void report_fitting(struct fitting *f, bool own, check_line_fn fn, void *userdata)
{
	const char *raise =
		own ? "raise their group's time in shutdown.gracePeriodByPodPriority, or "
		      "lower terminationGracePeriodSeconds of these pods; see graced plan"
		    : "raise their group's time in the kubelet's configuration "
		      "(shutdownGracePeriod, shutdownGracePeriodCriticalPods or "
		      "shutdownGracePeriodByPodPriority), or lower "
		      "terminationGracePeriodSeconds of these pods; see graced plan";
	_cleanup_(buf_free) struct buf text = {};

	if (f->cut)
		buf_printf(&text, "cut short in a shutdown: %s", buf_str(&f->cut_ones));
	else
		buf_printf(&text, "of %zu pods none is known to have a longer one than its group",
			   f->n);
	if (f->cut > NAMED_MAX)
		buf_printf(&text, " and %zu more", f->cut - NAMED_MAX);
	if (f->no_grace)
		buf_printf(&text, "; that of %zu is unknown", f->no_grace);
	if (f->no_priority)
		buf_printf(&text, "; the priority of %zu is unknown, and taken for 0",
			   f->no_priority);
	fn(userdata, "grace periods", f->cut ? raise : NULL, buf_str(&text));
}

void check_grace(const struct describe *describe, const struct check_rules *rules, check_line_fn fn,
		 void *userdata)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct kubeletfile_why why;
	struct shutplan plan;
	struct fitting fitting = {.plan = &plan};

	if (groups_plan(rules->options, rules->kubelet, &arena, &plan, &why) < 0 || plan.n == 0)
		return;
	describe_each_pod(describe, on_pod, &fitting);
	if (fitting.n > 0)
		report_fitting(&fitting, groups_are_own(rules->options), fn, userdata);
	buf_free(&fitting.cut_ones);
}

static void add_seconds(struct buf *out, uint64_t ns)
{
	if (ns == UINT64_MAX)
		buf_adds(out, "for ever");
	else if (ns % NS_PER_S)
		buf_printf(out, "%.3f s", (double)ns / (double)NS_PER_S);
	else
		buf_printf(out, "%llu s", (unsigned long long)(ns / NS_PER_S));
}

static uint64_t ns_of(uint64_t us)
{
	uint64_t ns;

	return __builtin_mul_overflow(us, NS_PER_US, &ns) ? UINT64_MAX : ns;
}

/* What the groups take, with graced's reserve for it, and who stops them. */
struct need {
	uint64_t ns;	  /* 0: nothing */
	const char *what; /* takes so long */
	bool manage;	  /* graced stops them; else the kubelet */
};

#define LOGIND_HINT "systemctl restart systemd-logind; see journalctl -u systemd-logind"

static void check_limit(const struct logind_state *logind, struct need need, check_line_fn fn,
			void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	if (!logind->limit_known) {
		fn(userdata, "shutdown delay", LOGIND_HINT,
		   "logind does not report how long it waits");
		return;
	}
	buf_adds(&text, "logind waits ");
	add_seconds(&text, logind->limit_ns);
	if (need.ns) {
		buf_printf(&text, ", %s ", need.what);
		add_seconds(&text, need.ns);
	}
	fn(userdata, "shutdown delay",
	   logind->limit_ns >= need.ns ? NULL
	   : need.manage
		   ? "restart graced run, which raises InhibitDelayMaxSec; see the line delay drop-ins"
		   : "restart the kubelet, which raises InhibitDelayMaxSec; see the line delay drop-ins",
	   buf_str(&text));
}

static void add_path(struct buf *out, const struct delaydrop_files *files,
		     const struct delaylimit_file *file)
{
	const char *place = delaydrop_places[files->places[file - files->list]];

	buf_printf(out, "%s/logind.conf%s%s", place, *file->name ? ".d/" : "", file->name);
}

/* Whose word is to be the last: ours, where it is there. */
static const char *raised_by(const struct delaydrop_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->list[i].name, DELAYDROP_NAME) == 0)
			return DELAYDROP_NAME;
	return DELAYDROP_KUBELET;
}

static void add_pin(struct buf *out, const struct delaydrop_files *files,
		    const struct delaylimit_file *pin, const char *own)
{
	if (pin->broken && strcmp(pin->name, own) < 0) {
		buf_adds(out, "logind stops reading in ");
		add_path(out, files, pin);
		buf_printf(out, ", %s is not read", own);
		return;
	}
	add_path(out, files, pin);
	buf_adds(out, " says ");
	add_seconds(out, ns_of(pin->us));
	buf_printf(out, " after %s", own);
}

/* No drop-in holds it down. */
static void add_last_word(struct buf *out, const struct delaydrop_files *files, bool raised,
			  const char *who)
{
	const struct delaylimit_file *last = delaylimit_last_word(files->list, files->n);

	if (last)
		add_path(out, files, last);
	else
		buf_adds(out, "no file");
	buf_printf(out, " has the last word%s", last ? ", " : "");
	if (last)
		add_seconds(out, ns_of(last->us));
	if (!raised)
		buf_printf(out, "; a %s that starts raises it", who);
}

#define RELOAD_LOGIND "systemctl kill --signal=HUP systemd-logind.service"

static void check_files(const struct logind_state *logind, struct need need, check_line_fn fn,
			void *userdata)
{
	_cleanup_(cleanup_free) struct delaydrop_files *files = calloc(1, sizeof(*files));
	_cleanup_(buf_free) struct buf text = {};
	const struct delaylimit_file *pin = NULL;
	bool raised, unread;

	if (!files || delaydrop_read("", files) < 0)
		return;
	raised = ns_of(delaylimit_of_files(files->list, files->n)) >= need.ns;
	unread = raised && logind->limit_known && logind->limit_ns < need.ns;
	if (!raised)
		pin = delaylimit_pin(files->list, files->n, raised_by(files),
				     need.ns / NS_PER_US + (need.ns % NS_PER_US > 0));
	if (pin)
		add_pin(&text, files, pin, raised_by(files));
	else
		add_last_word(&text, files, raised, need.manage ? "graced" : "kubelet");
	if (unread)
		buf_adds(&text, ", and logind has not read it");
	fn(userdata, "delay drop-ins",
	   pin	    ? "correct or remove that file, then " RELOAD_LOGIND
	   : unread ? RELOAD_LOGIND
		    : NULL,
	   buf_str(&text));
	delaydrop_done(files);
}

/* Reads logind's files. */
static void check_delay(const struct logind_state *logind, struct need need, check_line_fn fn,
			void *userdata)
{
	check_limit(logind, need, fn, userdata);
	if (need.ns)
		check_files(logind, need, fn, userdata);
}

#define PATIENCE_NS 3000000000ULL
#define TURN_US	    50000
#define NAMED_MAX   8

struct query {
	struct logind *logind;
	bool listed, failed, kubelet, graced;
	size_t n;
	struct buf holders; /* "kubelet (pid 7), …" */
};

static void on_up(void *userdata)
{
	struct query *a = userdata;

	logind_query_limit(a->logind);
	logind_list_holders(a->logind);
}

static void on_limit(void *userdata, uint64_t limit_ns)
{
}

static void on_holders(void *userdata, const struct logind_holder *list, size_t n, bool failed)
{
	struct query *a = userdata;
	size_t listed = n < LOGIND_HOLDERS_MAX ? n : LOGIND_HOLDERS_MAX;

	a->listed = true;
	a->failed = failed;
	a->n = n;
	buf_reset(&a->holders);
	for (size_t i = 0; i < listed; i++) {
		a->kubelet |= shutdown_is_kubelet(list[i].who, list[i].uid);
		a->graced |= strcmp(list[i].who, "graced") == 0 && list[i].uid == 0;
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

static void on_announced(void *userdata, const uint64_t *limit_ns, const char *action)
{
}

static void on_reloaded(void *userdata, const char *error)
{
}

static int open_logind(sd_event *event, struct query *a)
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

static int query(struct query *a, struct logind_state *ret)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;
	sd_event *event = NULL;
	int r = sd_event_new(&event);

	if (r >= 0)
		r = open_logind(event, a);
	while (r >= 0 && clock_boot_ns() < until_ns) {
		logind_get_state(a->logind, ret);
		if (is_away(ret->status) || (a->listed && ret->limit_known))
			break;
		r = sd_event_run(event, TURN_US);
	}
	if (a->logind)
		logind_get_state(a->logind, ret);
	a->logind = logind_free(a->logind);
	sd_event_unref(event);
	return r < 0 ? r : 0;
}

/* By what mode manage stops. */
static void report_groups(const struct check_rules *rules, const struct shutplan *plan,
			  check_line_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	for (size_t i = 0; i < plan->n; i++)
		buf_printf(&text, "%s%" PRId64 " s from priority %" PRId32 " on", i ? ", " : "",
			   plan->groups[i].seconds, plan->groups[i].priority);
	if (plan->n == 0)
		buf_adds(&text, "none: all containers are stopped at once, each with the grace "
				"period of its pod");
	else
		buf_adds(&text, groups_are_own(rules->options) ? " (graced's settings)"
							       : " (the kubelet's configuration)");
	fn(userdata, "shutdown groups", NULL, buf_str(&text));
}

static struct need need_of(const struct check_rules *rules, check_line_fn fn, void *userdata)
{
	const struct config_shutdown *o = rules->options;
	struct need need = {.what = "the kubelet's groups take", .manage = config_manages(o)};
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf text = {};
	struct kubeletfile_why why;
	struct shutplan plan;

	if (groups_plan(o, rules->kubelet, &arena, &plan, &why) < 0) {
		buf_printf(&text, "%s; its groups in a shutdown are not known", why.text);
		fn(userdata, "kubelet shutdown",
		   "correct that file, or name the kubelet's configuration with --kubelet.config",
		   buf_str(&text));
	} else if (need.manage) {
		report_groups(rules, &plan, fn, userdata);
	}
	need.ns = need.manage ? groups_need_ns(o, &plan) : shutplan_requested_ns(&plan);
	if (need.manage)
		need.what = "graced needs";
	return need;
}

static void check_locks(const struct query *a, struct need need, check_line_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};
	bool missing = need.manage ? !a->graced : need.ns && !a->kubelet;

	if (!a->listed || a->failed) {
		fn(userdata, "delay locks", LOGIND_HINT, "logind does not report who holds any");
		return;
	}
	buf_printf(&text, "%s%s", a->n ? "held by " : "none is held", buf_str(&a->holders));
	if (missing)
		buf_adds(&text,
			 need.manage ? "; graced is to stop the pods, and holds none"
				     : "; the kubelet has a shutdownGracePeriod, and holds none");
	fn(userdata, "delay locks",
	   !missing	 ? NULL
	   : need.manage ? "start graced run with shutdown.mode manage: systemctl restart graced"
			 : "systemctl restart kubelet; its log says why it takes no lock",
	   buf_str(&text));
}

#define LOGIND_AWAY_HINT                                                         \
	"systemctl start dbus systemd-logind; in a container, mount the host's " \
	"/run/dbus/system_bus_socket"

static void report_away(const struct logind_state *state, check_line_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_printf(&text, "shutdowns of the node are not seen: %s%s%s", state->text,
		   state->where[0] ? ", at " : "", state->where);
	fn(userdata, "logind", LOGIND_AWAY_HINT, buf_str(&text));
}

struct warned {
	check_line_fn fn;
	void *userdata;
};

static void on_manage(void *userdata, const char *name, const char *text)
{
	const struct warned *w = userdata;

	w->fn(w->userdata, name,
	      strcmp(name, MANAGE_POD_STATUS) == 0
		      ? "set api.report: [status] and api.url in the configuration of graced run"
		      : "set shutdown.mode assist, or add the kubelet's unit to shutdown.stopUnits",
	      text);
}

void check_shutdown(const struct check_rules *rules, check_line_fn fn, void *userdata)
{
	struct warned warned = {fn, userdata};
	struct logind_state state = {};
	struct query a = {};
	struct need need = need_of(rules, fn, userdata);
	int r = query(&a, &state);

	manage_warn(rules->options, rules->kubelet, on_manage, &warned);
	if (r < 0) {
		fn(userdata, "logind", LOGIND_AWAY_HINT, strerror(-r));
	} else if (is_away(state.status)) {
		report_away(&state, fn, userdata);
	} else if ((!a.listed || a.failed) && !state.limit_known) {
		fn(userdata, "logind", LOGIND_HINT, "no answer within 3 s");
	} else {
		fn(userdata, "logind", NULL, "on the system bus");
		check_locks(&a, need, fn, userdata);
		check_delay(&state, need, fn, userdata);
	}
	buf_free(&a.holders);
}
