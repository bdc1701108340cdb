// SPDX-License-Identifier: Apache-2.0
// Hold every member of a stop record against ground truth.
#include "lib/kernel/truth.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define TICK_NS		10000000u
#define EMPTY_WAIT_NS	250000000u
#define CLOCKS_APART_NS 500000000ll

struct check {
	const struct truth *truth;
	const json_t *rec;
	char *why;
	size_t size;
	uint64_t exit_ns;
};

static int wrong(const struct check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int wrong(const struct check *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->why, c->size, format, ap);
	va_end(ap);
	return 1;
}

static int same_int(const struct check *c, const char *path, int64_t want)
{
	int64_t got = jrec_int(c->rec, path, INT64_MIN);

	if (got == want)
		return 0;
	return wrong(c, "%s: expected %lld, got %lld", path, (long long)want, (long long)got);
}

static int same_text(const struct check *c, const char *path, const char *want)
{
	const char *got = jrec_text(c->rec, path);

	return strcmp(got, want) ? wrong(c, "%s: expected %s, got %s", path, want, got) : 0;
}

static int same_bool(const struct check *c, const char *path, bool want)
{
	const json_t *got = jrec_get(c->rec, path);

	if (json_is_boolean(got) && json_is_true(got) == want)
		return 0;
	return wrong(c, "%s: expected %s", path, want ? "true" : "false");
}

static int is_null(const struct check *c, const char *path)
{
	return jrec_is_null(c->rec, path) ? 0 : wrong(c, "%s: expected null", path);
}

/* The time at path lies between two clock reads. */
static int between(const struct check *c, const char *path, uint64_t from, uint64_t to)
{
	int64_t got = jrec_int(c->rec, path, -1);

	if (got >= 0 && (uint64_t)got >= from && (uint64_t)got <= to)
		return 0;
	return wrong(c, "%s: %lld is not between %llu and %llu", path, (long long)got,
		     (unsigned long long)from, (unsigned long long)to);
}

static int check_members(const struct check *c)
{
	static const char *const members[] = {
		"type",
		"schema",
		"id",
		"time",
		"boot_ns",
		"node",
		"pod",
		"container",
		"process",
		"stop_signal",
		"kill_signal",
		"keeper_signal",
		"requests",
		"requests_total",
		"deaf",
		"reason",
		"exit",
		"abort_ns",
		"latency_ns",
		"grace",
		"outcome",
		"cause",
		"via",
		"cut",
		"oom_kills",
		"evidence",
		"collateral_kills",
		"pod_terminating",
		"empty_boot_ns",
		"forwarded",
		"held_by",
		"processes",
		"processes_other",
		"processes_gaps",
		"looks",
		"waited_for",
		"stages",
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!json_object_get(c->rec, members[i]))
			return wrong(c, "%s is missing", members[i]);
	return 0;
}

static int64_t clock_offset(void)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - (int64_t)page_clock_ns();
}

static int check_head(const struct check *c)
{
	uint64_t wall = jrec_parse_time(jrec_text(c->rec, "time"));
	const char *env = getenv("NODE_NAME");
	int64_t boot, apart;
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	if (same_text(c, "type", "stop") || same_int(c, "schema", 1) ||
	    same_text(c, "node", env && *env ? env : host) ||
	    between(c, "boot_ns", c->exit_ns, page_clock_ns()))
		return 1;
	boot = jrec_int(c->rec, "boot_ns", 0);
	apart = (int64_t)wall - boot - clock_offset();
	if (!wall || apart > CLOCKS_APART_NS || apart < -CLOCKS_APART_NS)
		return wrong(c, "time: %s is not the wall time of boot_ns",
			     jrec_text(c->rec, "time"));
	return 0;
}

static int check_id(const struct check *c)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot_id[64] = "", want[256];

	if (in && !fgets(boot_id, sizeof(boot_id), in))
		boot_id[0] = '\0';
	if (in)
		fclose(in);
	boot_id[strcspn(boot_id, "\n")] = '\0';
	snprintf(want, sizeof(want), "%s/%s/%lld", boot_id, c->truth->box->id,
		 (long long)jrec_int(c->rec, "process.start_boot_ns", -1));
	return c->truth->box->id[0] ? same_text(c, "id", want) : 0;
}

/* "pod" and "container" as every record has them about a box. */
static void names_of(const struct box *box, char *text, size_t size)
{
	snprintf(text, size,
		 "'pod':{'namespace':null,'name':null,'uid':'%s','qos':'burstable','static':false},"
		 "'container':{'name':null,'id':'%s','runtime':null,'kind':null,'cgroup':'%s'}",
		 box->uid, box->id, box->path);
}

static int check_names(const struct check *c)
{
	const struct box *box = c->truth->box;
	char names[2 * HIER_PATH_MAX], want[2 * HIER_PATH_MAX + 2];

	if (!box->id[0])
		return same_text(c, "container.cgroup", box->path);
	names_of(box, names, sizeof(names));
	snprintf(want, sizeof(want), "{%s}", names);
	return jrec_match(c->rec, want, c->why, c->size);
}

static int check_process(const struct check *c)
{
	const struct truth *t = c->truth;
	int64_t start = jrec_int(c->rec, "process.start_boot_ns", -1);

	if (same_int(c, "process.pid", t->box->init_pid) ||
	    same_int(c, "process.ns_pid", t->box->init_ns_pid) ||
	    same_text(c, "process.comm", t->comm ? t->comm : t->box->comm) ||
	    between(c, "process.start_boot_ns", t->box->proc.before_clone_ns,
		    t->box->proc.after_clone_ns))
		return 1;
	if (t->box->start_ticks && (uint64_t)start / TICK_NS != t->box->start_ticks)
		return wrong(c, "process.start_boot_ns: %lld is not tick %llu", (long long)start,
			     (unsigned long long)t->box->start_ticks);
	return 0;
}

static const char *kind_of(const struct sent *sent)
{
	switch (sent->from) {
	case SEND_RUNTIME:
		return "runtime";
	case SEND_CONTAINER:
		return "pod";
	case SEND_HERE:
	case SEND_HOST:
		break;
	}
	return "host";
}

static int check_sender(const struct check *c, const char *of, const struct sent *sent)
{
	char from[2 * HIER_PATH_MAX] = "'pod':null,'container':null", want[4 * HIER_PATH_MAX];
	char cgroup[HIER_PATH_MAX], path[64], ns_pid[16] = "null";

	/* Senders are started beside a box's init, in the pid namespace of the test. */
	if (sent->via && sent->via->init_ns_pid == sent->via->init_pid)
		snprintf(ns_pid, sizeof(ns_pid), "%d", (int)sent->sender);
	if (sent->via) {
		memcpy(cgroup, sent->via->path, sizeof(cgroup));
		names_of(sent->via, from, sizeof(from));
	} else if (hier_own_path(&c->truth->tree->hier, cgroup, sizeof(cgroup))) {
		return wrong(c, "the test does not know its own cgroup");
	}
	snprintf(want, sizeof(want),
		 "{'pid':%d,'ns_pid':%s,'comm':'%s','ancestors':%s,%s,'cgroup':'%s','kind':'%s'}",
		 (int)sent->sender, ns_pid, sent->comm, sent->ancestors, from, cgroup,
		 kind_of(sent));
	snprintf(path, sizeof(path), "%s.sender", of);
	return jrec_match(jrec_get(c->rec, path), want, c->why, c->size);
}

static void signal_name(int number, char *text, size_t size)
{
	if (number >= SIGRTMIN)
		snprintf(text, size, number > SIGRTMIN ? "SIGRTMIN+%d" : "SIGRTMIN",
			 number - SIGRTMIN);
	else
		snprintf(text, size, "SIG%s", sigabbrev_np(number));
}

static int check_signal(const struct check *c, const char *of, const struct sent *sent,
			const char *result)
{
	char path[64], name[32];

	if (!sent)
		return is_null(c, of);
	signal_name(sent->number, name, sizeof(name));
	snprintf(path, sizeof(path), "%s.number", of);
	if (same_int(c, path, sent->number))
		return 1;
	snprintf(path, sizeof(path), "%s.name", of);
	if (same_text(c, path, name))
		return 1;
	snprintf(path, sizeof(path), "%s.result", of);
	if (same_text(c, path, result))
		return 1;
	snprintf(path, sizeof(path), "%s.at_boot_ns", of);
	return between(c, path, sent->before_ns, sent->after_ns) || check_sender(c, of, sent);
}

static int check_signals(const struct check *c)
{
	const struct truth *t = c->truth;

	if (check_signal(c, "stop_signal", t->stop,
			 t->stop_result ? t->stop_result : "delivered") ||
	    is_null(c, "keeper_signal"))
		return 1;
	if (!t->kernel_kill)
		return check_signal(c, "kill_signal", t->kill, "delivered");
	return same_int(c, "kill_signal.number", SIGKILL) ||
	       same_text(c, "kill_signal.sender.kind", "kernel") ||
	       between(c, "kill_signal.at_boot_ns", t->box->proc.before_clone_ns, c->exit_ns);
}

static int check_exit(const struct check *c)
{
	const struct truth *t = c->truth;
	int status = t->end->status;
	uint64_t after = t->exit_after_ns;

	if (t->stop && t->stop->before_ns > after)
		after = t->stop->before_ns;
	if (t->kill && t->kill->before_ns > after)
		after = t->kill->before_ns;
	if (WIFEXITED(status) ? same_int(c, "exit.code", WEXITSTATUS(status))
			      : is_null(c, "exit.code"))
		return 1;
	if (same_int(c, "exit.signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0) ||
	    same_bool(c, "exit.core_dumped", WIFSIGNALED(status) && WCOREDUMP(status)))
		return 1;
	if (t->stop && jrec_int(c->rec, "stop_signal.at_boot_ns", 0) > (int64_t)c->exit_ns)
		return wrong(c, "exit.at_boot_ns is before the stop signal's");
	if (t->kill && jrec_int(c->rec, "kill_signal.at_boot_ns", 0) > (int64_t)c->exit_ns)
		return wrong(c, "exit.at_boot_ns is before the kill signal's");
	return between(c, "exit.at_boot_ns", after, t->end->waited_ns);
}

/* When it was asked: by the first request that it took, else by the one that counts. */
static int64_t asked_ns(const struct check *c)
{
	const json_t *request;
	size_t i;

	json_array_foreach(jrec_get(c->rec, "requests"), i, request) {
		if (!jrec_is_null(request, "taken_boot_ns"))
			return jrec_int(request, "at_boot_ns", 0);
	}
	return jrec_int(c->rec, "stop_signal.at_boot_ns", 0);
}

/* The stop signal, if there is one, is one of the requests, as itself; others are before or behind
 * it. */
static int check_requests(const struct check *c)
{
	const json_t *requests = jrec_get(c->rec, "requests"), *request;
	int64_t at_ns = jrec_int(c->rec, "stop_signal.at_boot_ns", 0), last_ns = 0;
	unsigned int found = 0;
	size_t i;

	if (!json_is_array(requests) ||
	    same_int(c, "requests_total", (int64_t)json_array_size(requests)))
		return wrong(c, "requests are not as many as requests_total");
	json_array_foreach(requests, i, request) {
		int64_t from_ns = jrec_int(request, "at_boot_ns", -1);

		if (from_ns < last_ns)
			return wrong(c, "requests are not in order");
		last_ns = from_ns;
		found += from_ns == at_ns && jrec_int(request, "number", 0) ==
						     jrec_int(c->rec, "stop_signal.number", -1);
	}
	if (json_array_size(requests) && found != !jrec_is_null(c->rec, "stop_signal"))
		return wrong(c, "the stop signal is not one of the requests");
	if (c->truth->stop && !json_is_false(jrec_get(c->rec, "stop_signal.inferred")))
		return wrong(c, "stop_signal.inferred is not false");
	return 0;
}

static int check_grace(const struct check *c)
{
	const struct truth *t = c->truth;
	int64_t latency, grace_ns = (int64_t)(t->grace_s * 1e9);

	if (is_null(c, "abort_ns"))
		return 1;
	/* A stop signal from inside asks for nothing. */
	if (!t->stop || t->stop->via == t->box)
		return is_null(c, "latency_ns");
	latency = (int64_t)c->exit_ns - asked_ns(c);
	if (same_int(c, "latency_ns", latency))
		return 1;
	if (grace_ns == 0)
		return is_null(c, "grace");
	if (fabs(json_number_value(jrec_get(c->rec, "grace.seconds")) - t->grace_s) > 1e-9)
		return wrong(c, "grace.seconds is not %g", t->grace_s);
	if (same_text(c, "grace.from", "assumed"))
		return 1;
	if (fabs(json_number_value(jrec_get(c->rec, "grace.used_ratio")) -
		 (double)latency / (double)grace_ns) > 0.001)
		return wrong(c, "grace.used_ratio is not latency / grace");
	return same_int(c, "grace.margin_ns", grace_ns - latency);
}

/*
 * A record does not wait longer than 250 ms for its cgroup to become empty. On a busy machine that
 * happens: then the record has to say so, and only then.
 */
static bool was_not_empty(const struct check *c)
{
	const struct truth *t = c->truth;

	return !t->gaps && t->box->removed_ns > c->exit_ns + EMPTY_WAIT_NS &&
	       !jrec_match(jrec_get(c->rec, "evidence"), "{'gaps':['not-empty']}", c->why, c->size);
}

/* What else the reason may be is a matter of tests/kernel/test_unheard.c. */
static int check_reason(const struct check *c)
{
	const struct truth *t = c->truth;

	if (t->deaf)
		return same_text(c, "reason", "no-handler");
	if (t->stop && t->stop_result && !strcmp(t->stop_result, "ignored"))
		return same_text(c, "reason", "ignored");
	return 0;
}

static int check_verdict(const struct check *c)
{
	const struct truth *t = c->truth;
	const char *gaps = was_not_empty(c) ? "['not-empty']" : t->gaps;
	char evidence[256];

	snprintf(evidence, sizeof(evidence), "{'complete':%s,'gaps':%s}", gaps ? "false" : "true",
		 gaps ? gaps : "[]");
	return same_text(c, "outcome", t->outcome) || same_text(c, "cause", t->cause) ||
	       same_bool(c, "deaf", t->deaf) || check_reason(c) ||
	       same_int(c, "collateral_kills", t->collateral_kills) ||
	       same_int(c, "oom_kills", t->oom_kills) || is_null(c, "pod_terminating") ||
	       jrec_match(json_object_get(c->rec, "evidence"), evidence, c->why, c->size);
}

static int check_empty(const struct check *c)
{
	uint64_t until = c->truth->box->removed_ns;

	if (jrec_is_null(c->rec, "empty_boot_ns") && (c->truth->loose_empty || was_not_empty(c)))
		return 0;
	return between(c, "empty_boot_ns", c->exit_ns, until ? until : page_clock_ns());
}

/* Log directories name pods and containers, and no more of them; compose knows none of these. */
static int check_described(const struct check *c)
{
	static const char *const subjects[] = {"", "stop_signal.sender.", "kill_signal.sender."};
	static const struct {
		const char *object, *member;
	} unknown[] = {
		{"pod", "workload"},
		{"container", "image"},
		{"container", "attempt"},
		{"container", "namespace"},
		{"container", "workload"},
		{"pod", "workload_kind"},
		{"container", "workload_kind"},
	};
	const size_t n = sizeof(unknown) / sizeof(*unknown);

	for (size_t i = 0; i < n * sizeof(subjects) / sizeof(*subjects); i++) {
		const char *subject = subjects[i / n], *object = unknown[i % n].object;
		char path[64];

		snprintf(path, sizeof(path), "%s%s", subject, object);
		if (!json_is_object(jrec_get(c->rec, path)))
			continue;
		snprintf(path, sizeof(path), "%s%s.%s", subject, object, unknown[i % n].member);
		if (is_null(c, path))
			return 1;
	}
	return 0;
}

/* The time between two moments is known when both are. */
static int check_span(const struct check *c, const char *path, uint64_t from, uint64_t to)
{
	if (!from || !to || to < from)
		return is_null(c, path);
	return same_int(c, path, (int64_t)(to - from));
}

/* deliver_ns and reap_ns are the kernel's word alone: bounded by what is known from elsewhere. */
static int check_stages(const struct check *c)
{
	uint64_t asked = (uint64_t)jrec_int(c->rec, "stop_signal.at_boot_ns", 0);
	uint64_t empty = (uint64_t)jrec_int(c->rec, "empty_boot_ns", 0), delivered = 0;

	if (!jrec_is_null(c->rec, "stages.deliver_ns")) {
		if (!asked || between(c, "stages.deliver_ns", 0, c->exit_ns - asked))
			return 1;
		delivered = asked + (uint64_t)jrec_int(c->rec, "stages.deliver_ns", 0);
	}
	if (!jrec_is_null(c->rec, "stages.reap_ns") &&
	    between(c, "stages.reap_ns", 1000, page_clock_ns() - c->exit_ns))
		return 1;
	return check_span(c, "stages.exit_ns", delivered, c->exit_ns) ||
	       check_span(c, "stages.empty_ns", c->exit_ns, empty);
}

/* To another process than init, between its stop signal and its exit. */
/* Who holds it is the test's to compare. */
static int check_held(const struct check *c)
{
	bool held = c->truth->gaps && strstr(c->truth->gaps, "not-reaped");

	if (jrec_is_null(c->rec, "held_by") == held)
		return wrong(c, held ? "held, and nobody holds it"
				     : "not held, and somebody holds it");
	return 0;
}

static int check_forwarded(const struct check *c)
{
	if (jrec_is_null(c->rec, "forwarded"))
		return 0;
	if (!c->truth->stop || !json_is_object(jrec_get(c->rec, "forwarded")))
		return wrong(c, "forwarded, and nobody asked");
	return between(c, "forwarded.number", 1, 64) || between(c, "forwarded.count", 1, 4) ||
	       between(c, "forwarded.after_ns", 0, (uint64_t)jrec_int(c->rec, "latency_ns", 0));
}

/* Which they are is kernel/test_processes' to compare. */
static int check_processes(const struct check *c)
{
	const json_t *list = jrec_get(c->rec, "processes");
	size_t n = json_array_size(list);
	uint64_t others = (uint64_t)c->truth->collateral_kills;

	if (!json_is_array(list) || n == 1)
		return wrong(c, "processes");
	if (n && jrec_int(json_array_get(list, 0), "pid", -1) != jrec_int(c->rec, "process.pid", 0))
		return wrong(c, "the first process is not init");
	return is_null(c, "via") || between(c, "processes_other", 0, others) ||
	       between(c, "cut", 0, others + (n ? n - 1 : 0));
}

/* A look is missed by what lived on alone; too many are there only where some were cut or not
 * listed. */
static int check_list_gaps(const struct check *c)
{
	const json_t *gaps = jrec_get(c->rec, "processes_gaps");
	bool many = jrec_int(c->rec, "cut", 0) || jrec_int(c->rec, "processes_other", 0);

	if (!json_is_array(gaps))
		return wrong(c, "processes_gaps");
	for (size_t i = 0; i < json_array_size(gaps); i++) {
		const char *gap = json_string_value(json_array_get(gaps, i));
		bool unlooked = gap && strcmp(gap, "not-looked") == 0;

		if (!gap || (unlooked ? !jrec_is_null(c->rec, "empty_boot_ns") : !many))
			return wrong(c, "processes_gaps");
	}
	return 0;
}

/* What they find is kernel/test_waits' to compare. None is within a second of the request. */
static int check_looks(const struct check *c)
{
	uint64_t seconds = (uint64_t)jrec_int(c->rec, "latency_ns", 0) / 1000000000;
	const json_t *found = jrec_get(c->rec, "waited_for");

	if (!json_is_array(found) || (json_array_size(found) && !seconds))
		return wrong(c, "waited_for");
	return between(c, "looks", 0, seconds);
}

int truth_compare(const struct truth *truth, const json_t *rec, char *why, size_t size)
{
	struct check c = {.truth = truth, .rec = rec, .why = why, .size = size};

	if (!rec)
		return wrong(&c, "no record");
	c.exit_ns = (uint64_t)jrec_int(rec, "exit.at_boot_ns", 0);
	return check_members(&c) || check_verdict(&c) || check_exit(&c) || check_signals(&c) ||
	       check_head(&c) || check_id(&c) || check_names(&c) || check_process(&c) ||
	       check_requests(&c) || check_grace(&c) || check_empty(&c) || check_described(&c) ||
	       check_stages(&c) || check_held(&c) || check_forwarded(&c) || check_processes(&c) ||
	       check_list_gaps(&c) || check_looks(&c);
}
