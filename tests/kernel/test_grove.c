// SPDX-License-Identifier: Apache-2.0
// Random trees of processes that signal, stop and end one another while their container is stopped,
// or is not: what a record says of each is what the tree itself has noted of it.
//   GRACED_TEST_TREES=500    as many trees as that
//   GRACED_TEST_SEED=N       other ones: that of a tree is in each message
#include "lib/box/grove.h"
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREES	   60
#define AT_ONCE	   6
#define MS	   1000000ULL
#define HOST	   (-1)
#define RUNTIME	   (-2)
#define SHOTS	   3
#define TERMINATES (1u << SIGTERM | 1u << SIGINT | 1u << SIGQUIT)

/* What the test does to a tree, in this order. */
struct shot {
	uint64_t after_ms;
	int by, sig, node;
	bool done;
};

struct tree {
	uint64_t seed, random, go_ns;
	char file[HIER_PATH_MAX];
	struct grove *grove;
	struct box box;
	struct proc_end end;
	struct shot shots[SHOTS];
	struct grove_note sent[SHOTS];
	unsigned int n_sent;
	const json_t *rec;
	uint64_t asked_ns, exit_ns; /* of the init, as the record has them; 0: never */
	bool followed;		    /* from the request on all that others did is recorded */
};

/* Over all trees. */
static struct {
	unsigned int trees, listed, unlisted, cut, vias, inferred, unseen, missing, wrong,
		explained;
} sum;

static int setup(void **state)
{
	return fixture_open(state, "grove", BOX_ARGV("--assume-grace", "2s"));
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void wrong(const struct tree *t, int node, const char *what, const char *got)
{
	sum.wrong++;
	fprintf(stderr, "seed %llu, node %d: %s: %s\n", (unsigned long long)t->seed, node, what,
		got ? got : "");
}

/* --- a tree's life --- */

static uint32_t below(struct tree *t, uint32_t n)
{
	t->random = t->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(t->random >> 33) % n;
}

/* Some are asked to stop and killed when their grace period is over, others just end or are killed.
 */
static void draw_shots(struct tree *t)
{
	bool asked = below(t, 4), shot = below(t, 2);
	uint64_t at_ms = below(t, 300);

	t->shots[0] = (struct shot){.after_ms = below(t, 400),
				    .by = below(t, 2) ? HOST : RUNTIME,
				    .sig = below(t, 2) ? SIGKILL : SIGTERM,
				    .node = 1 + (int)below(t, t->grove->n - 1),
				    .done = !shot};
	t->shots[1] =
		(struct shot){.after_ms = at_ms, .by = RUNTIME, .sig = SIGTERM, .done = !asked};
	t->shots[2] = (struct shot){.after_ms = asked ? at_ms + 50 + below(t, 350) : 600,
				    .by = asked ? RUNTIME : HOST,
				    .sig = SIGKILL};
}

static void start(struct fixture *f, struct tree *t, uint64_t seed)
{
	char number[24];
	int fd;

	*t = (struct tree){.seed = seed, .random = seed ^ 0x5bd1e995};
	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	snprintf(t->file, sizeof(t->file), "%s/grove-%s", f->tree.tmp, number);
	fd = open(t->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(*t->grove)), 0);
	t->grove = mmap(NULL, sizeof(*t->grove), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(t->grove != MAP_FAILED);
	close(fd);
	judge_start(f, &(struct box_spec){.prog = "grove", .argv = BOX_ARGV(t->file, number)},
		    &t->box);
	assert_true(t->box.proc.ready);
	draw_shots(t);
	t->go_ns = page_clock_ns();
	page_go(t->box.proc.page, 1);
}

static bool has_ended(const struct tree *t)
{
	struct pollfd fd = {.fd = t->box.proc.pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* The host's pid of a node; 0: it is gone. */
static pid_t pid_of(const struct tree *t, int node)
{
	pid_t pids[GROVE_NODES + 1];
	int n = node ? cg_pids(t->box.dir, pids, LEN(pids)) : 0;

	for (int i = 0; i < n && i < (int)LEN(pids); i++)
		if (peek_ns_pid(pids[i]) == t->grove->pids[node])
			return pids[i];
	return node ? 0 : t->box.init_pid;
}

static void fire(struct fixture *f, struct tree *t, struct shot *s)
{
	pid_t pid = has_ended(t) ? 0 : pid_of(t, s->node);
	struct sent sent;

	s->done = true;
	if (!pid || send_signal(&f->tree, s->by == HOST ? SEND_HOST : SEND_RUNTIME, NULL, pid,
				s->sig, &sent))
		return;
	t->sent[t->n_sent++] = (struct grove_note){.kind = GROVE_SENT,
						   .node = s->by,
						   .other = s->node,
						   .number = s->sig,
						   .value = sent.result,
						   .before_ns = sent.before_ns,
						   .after_ns = sent.after_ns};
}

/* True: nothing is left to do. */
static bool play(struct fixture *f, struct tree *t)
{
	uint64_t now = page_clock_ns();
	bool done = true;

	for (size_t i = 0; i < SHOTS; i++) {
		struct shot *s = &t->shots[i];

		if (!s->done && now >= t->go_ns + s->after_ms * MS)
			fire(f, t, s);
		done &= s->done;
	}
	return done;
}

static void end(struct fixture *f, struct tree *t)
{
	assert_int_equal(proc_wait(&t->box.proc, &t->end), 0);
	t->rec = tracer_await_stop(f->tracer, &t->box);
	assert_int_equal(box_remove(&t->box), 0);
	unlink(t->file);
	/* One from inside is no request. */
	if (!strcmp(jrec_text(t->rec, "stop_signal.sender.kind"), "runtime"))
		t->asked_ns = (uint64_t)jrec_int(t->rec, "stop_signal.at_boot_ns", 0);
	t->followed = t->asked_ns && strcmp(jrec_text(t->rec, "stop_signal.result"), "ignored");
	t->exit_ns = (uint64_t)jrec_int(t->rec, "exit.at_boot_ns", 0);
}

/* --- the truth --- */

/* The nth note of the tree's and of what the test sent; NULL behind the last one. */
static const struct grove_note *note_at(const struct tree *t, unsigned int n)
{
	if (n < t->n_sent)
		return &t->sent[n];
	n -= t->n_sent;
	return n < t->grove->used ? &t->grove->notes[n] : NULL;
}

static uint64_t after(const struct grove_note *n)
{
	return n->after_ns ? n->after_ns : UINT64_MAX;
}

/* PID 1 is spared what its own namespace sends it, if it has no handler for that. */
static bool is_sent(const struct grove_note *n, int node)
{
	if (node == 0 && n->node >= 0 && n->number != SIGTERM)
		return false;
	return n->kind == GROVE_SENT && n->other == node && n->value == 0;
}

static const struct grove_note *find(const struct tree *t, uint32_t kind, int node, int other)
{
	const struct grove_note *n;

	for (unsigned int i = 0; (n = note_at(t, i)); i++)
		if (n->kind == kind && (node < 0 || n->node == node) &&
		    (other < 0 || n->other == other))
			return n;
	return NULL;
}

static const struct grove_note *reaped(const struct tree *t, int node)
{
	return find(t, GROVE_REAPED, -1, node);
}

/* It ended by itself, or was about to; NULL: it did not. */
static const struct grove_note *left(const struct tree *t, int node)
{
	return find(t, GROVE_LEFT, node, -1) ?: find(t, GROVE_PASSED, node, -1);
}

/* When the signal that a node died of may have been sent first: until then it lived. */
static uint64_t first_sent(const struct tree *t, int node, int sig, uint64_t *ret_after)
{
	uint64_t before = UINT64_MAX;
	const struct grove_note *n;

	*ret_after = UINT64_MAX;
	for (unsigned int i = 0; (n = note_at(t, i)); i++) {
		if (!is_sent(n, node) || n->number != sig)
			continue;
		before = n->before_ns < before ? n->before_ns : before;
		*ret_after = after(n) < *ret_after ? after(n) : *ret_after;
	}
	return before;
}

/* Whether a node that died of a signal may have been sent it by whom ended_by says. */
static bool may_have_sent(const struct tree *t, int node, int sig, const char *by)
{
	const struct grove_note *n;
	uint64_t first;

	first_sent(t, node, sig, &first);
	/* The first ones run its handler. */
	if (sig == SIGTERM && t->grove->plans[node].manner == GROVE_RERAISES)
		first = UINT64_MAX;
	for (unsigned int i = 0; (n = note_at(t, i)); i++) {
		const char *who = n->node == HOST      ? "host"
				  : n->node == RUNTIME ? "runtime"
				  : n->node == node    ? "itself"
						       : "container";

		if (is_sent(n, node) && n->number == sig && n->before_ns <= first &&
		    !strcmp(who, by))
			return true;
	}
	return false;
}

static bool may_have_ended(const struct tree *t, int node, int sig, const char *by)
{
	const struct grove_note *r = node ? reaped(t, node) : NULL;
	uint64_t first;

	first_sent(t, node, sig, &first);
	if (sig == SIGSEGV && t->grove->plans[node].act == GROVE_FAULTS && !strcmp(by, "itself"))
		return true;
	if (node && sig == SIGKILL && !strcmp(by, "pid-namespace"))
		return first >= t->exit_ns && (!r || after(r) >= t->exit_ns);
	return may_have_sent(t, node, sig, by);
}

/* --- a listed process --- */

static void check_status(const struct tree *t, int node, int status, const json_t *member)
{
	int code = (int)jrec_int(member, "exit.code", -1);
	int sig = (int)jrec_int(member, "exit.signal", -1);
	bool same = WIFSIGNALED(status) ? sig == WTERMSIG(status) : code == WEXITSTATUS(status);

	if (!same)
		wrong(t, node, "exit", WIFSIGNALED(status) ? "another signal" : "another code");
}

/* Nobody waited for it: what it did, or what somebody did to it. */
static bool may_be(const struct tree *t, int node, int code, int sig)
{
	uint64_t first;

	if (sig == SIGKILL || (sig == SIGSEGV && t->grove->plans[node].act == GROVE_FAULTS))
		return true;
	if (sig > 0)
		return first_sent(t, node, sig, &first) != UINT64_MAX;
	for (unsigned int i = 0; note_at(t, i); i++) {
		const struct grove_note *n = note_at(t, i);

		if ((n->kind == GROVE_LEFT || n->kind == GROVE_PASSED) && n->node == node &&
		    n->number == code)
			return true;
	}
	return false;
}

/* On a busy machine a record is made before all had ended: it says so. */
static bool made_before_all_ended(const struct tree *t)
{
	const json_t *gaps = jrec_get(t->rec, "evidence.gaps");

	for (size_t i = 0; i < json_array_size(gaps); i++)
		if (!strcmp(json_string_value(json_array_get(gaps, i)), "not-empty"))
			return true;
	return false;
}

/* Before a stop most exits by a code are not. The end of a node without one that waited for it may
 * be such an exit. */
static bool end_is_recorded(const struct tree *t, int node)
{
	const struct grove_note *r = reaped(t, node), *l = left(t, node);

	if (t->followed || (r && WIFSIGNALED(r->number)))
		return true;
	return !r && (!l || l->number > 128);
}

static void check_end(const struct tree *t, int node, const json_t *member)
{
	const struct grove_note *r = reaped(t, node);
	const char *by = jrec_text(member, "ended_by");
	int code = (int)jrec_int(member, "exit.code", -1);
	int sig = (int)jrec_int(member, "exit.signal", -1);
	uint64_t at = (uint64_t)jrec_int(member, "exit.at_boot_ns", 0), first;

	if (jrec_is_null(member, "exit.at_boot_ns")) {
		if (!made_before_all_ended(t) && end_is_recorded(t, node))
			wrong(t, node, "its end was not seen", NULL);
		sum.unseen++;
		return;
	}
	if (!node)
		check_status(t, node, t->end.status, member);
	else if (r)
		check_status(t, node, r->number, member);
	else if (!may_be(t, node, code, sig))
		wrong(t, node, "it never ended so", NULL);
	if (r && at > after(r))
		wrong(t, node, "it ended before", NULL);
	/* The end of its namespace kills without a note of the tree. */
	if (sig > 0 && strcmp(by, "pid-namespace") != 0 && at < first_sent(t, node, sig, &first) &&
	    first_sent(t, node, sig, &first) != UINT64_MAX)
		wrong(t, node, "it ended later", NULL);
	/* What was pending as it restored the default; what left no room among eight. */
	if (!*by && ((sig == SIGTERM && t->grove->plans[node].manner == GROVE_RERAISES) ||
		     (!t->asked_ns && t->grove->n > 8)))
		sum.unseen++;
	else if (!*by)
		wrong(t, node, "ended_by is not known", NULL);
	else if (sig > 0 ? !may_have_ended(t, node, sig, by) : strcmp(by, "itself") != 0)
		wrong(t, node, "ended_by", by);
	if (jrec_get(member, "fatal.sender.pid") && sig > 0 &&
	    jrec_int(member, "fatal.number", 0) != sig)
		wrong(t, node, "fatal", NULL);
}

static bool asks_it(const struct grove_note *n, int node)
{
	return is_sent(n, node) && TERMINATES >> n->number & 1;
}

static bool has_disposition(const struct tree *t, int node, int sig, const char *got)
{
	static const char *const words[GROVE_MANNERS] = {
		[GROVE_DEFAULT] = "default", [GROVE_IGNORES] = "ignored",
		[GROVE_BLOCKS] = "blocked",  [GROVE_HEARS] = "handler",
		[GROVE_LEAVES] = "handler",  [GROVE_RERAISES] = "handler",
	};
	enum grove_manner manner = t->grove->plans[node].manner;

	if (sig != SIGTERM)
		return !strcmp(got, "default");
	/* A handler is not interrupted by its own signal. */
	if (manner >= GROVE_HEARS && !strcmp(got, "blocked"))
		return true;
	return !strcmp(got, words[manner]) || (manner == GROVE_RERAISES && !strcmp(got, "default"));
}

/* Until when a listed node certainly lived. */
static uint64_t lived_until(const struct tree *t, int node, const json_t *member)
{
	int64_t ended = jrec_int(member, "exit.at_boot_ns", 0);
	const struct grove_note *l = left(t, node);

	return l ? l->before_ns : (uint64_t)jrec_int(member, "fatal.at_boot_ns", ended);
}

/* It has the first of the stop signals since the request, if not more came than are recorded. */
static void check_asked(const struct tree *t, int node, const json_t *member)
{
	uint64_t at = (uint64_t)jrec_int(member, "asked.at_boot_ns", 0);
	uint64_t until = at ?: lived_until(t, node, member);
	bool all = t->followed && t->grove->used < 200;
	int sig = (int)jrec_int(member, "asked.number", 0);
	const struct grove_note *n;
	bool found = false;

	for (unsigned int i = 0; (n = note_at(t, i)); i++) {
		if (!asks_it(n, node))
			continue;
		if (at && n->number == sig && n->before_ns <= at && at <= after(n))
			found = true;
		if (all && n->before_ns > t->asked_ns && after(n) < until)
			wrong(t, node, "it was asked before", at ? "later" : "never");
	}
	if (at && !found)
		wrong(t, node, "nobody asked it then", NULL);
	if (at && !has_disposition(t, node, sig, jrec_text(member, "disposition")))
		wrong(t, node, "disposition", jrec_text(member, "disposition"));
}

static int node_of(const struct tree *t, int64_t ns_pid)
{
	for (int i = 0; i < (int)t->grove->n; i++)
		if (t->grove->pids[i] == ns_pid)
			return i;
	return -1;
}

static void check_member(const struct tree *t, const json_t *member)
{
	int node = node_of(t, jrec_int(member, "ns_pid", 0));
	bool cut = json_is_true(jrec_get(member, "cut"));
	bool killed = jrec_int(member, "exit.signal", 0) == SIGKILL &&
		      strcmp(jrec_text(member, "ended_by"), "itself") != 0;

	sum.listed++;
	if (node < 0) {
		wrong(t, node, "there is no such process", NULL);
		return;
	}
	check_end(t, node, member);
	check_asked(t, node, member);
	if (node && cut != (killed && t->asked_ns &&
			    jrec_int(member, "exit.at_boot_ns", 0) >= (int64_t)t->asked_ns))
		wrong(t, node, "cut", cut ? "true" : "false");
}

/* --- the record --- */

/* How many were cut, at least, and at most: a node may have ended just before the request. */
static void count_cut(const struct tree *t, unsigned int *ret_least, unsigned int *ret_most)
{
	uint64_t first;

	*ret_least = *ret_most = 0;
	for (int i = 1; t->asked_ns && i < (int)t->grove->n; i++) {
		const struct grove_note *r = reaped(t, i);
		bool killed = r ? (r->number & 0x7f) == SIGKILL : true;
		uint64_t before = first_sent(t, i, SIGKILL, &first);

		if (!killed || (r && after(r) < t->asked_ns))
			continue;
		++*ret_most;
		*ret_least += before >= t->asked_ns && (r || !left(t, i)) &&
			      !may_have_sent(t, i, SIGKILL, "itself");
	}
}

/* A node that nobody waited for may have died of another signal just before. */
static bool may_have_died_else(const struct tree *t)
{
	const struct grove_note *n;

	for (unsigned int i = 0; (n = note_at(t, i)); i++)
		if (n->kind == GROVE_SENT && n->number != SIGKILL && !reaped(t, n->other))
			return true;
	for (int i = 1; i < (int)t->grove->n; i++)
		if (!reaped(t, i) && t->grove->plans[i].act == GROVE_FAULTS)
			return true;
	return false;
}

static void check_cut(const struct tree *t)
{
	int64_t cut = jrec_int(t->rec, "cut", -1);
	unsigned int least, most;
	char text[64];

	count_cut(t, &least, &most);
	if (may_have_died_else(t))
		least = 0;
	sum.cut += (unsigned int)cut;
	if (cut >= least && cut <= most)
		return;
	snprintf(text, sizeof(text), "%lld, and not %u to %u", (long long)cut, least, most);
	wrong(t, 0, "cut", text);
}

/* The node behind it whose status a node passed on; -1: it did not. */
static int passed_by(const struct tree *t, int node)
{
	const struct grove_note *p = find(t, GROVE_PASSED, node, -1);
	const struct grove_note *r = node && p ? reaped(t, node) : NULL;
	int status = r ? r->number : t->end.status;

	return p && WIFEXITED(status) && WEXITSTATUS(status) == p->number ? p->other : -1;
}

/* A handler for SIGTERM that exits with 143 may have decided that itself. */
static bool may_decide(const struct tree *t, int node)
{
	const struct grove_note *r = node ? reaped(t, node) : NULL;
	int status = r ? r->number : t->end.status;

	return t->grove->plans[node].manner >= GROVE_HEARS && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 128 + SIGTERM;
}

static bool has_gap(const struct tree *t, const char *name)
{
	const json_t *gaps = jrec_get(t->rec, "evidence.gaps");

	for (size_t i = 0; i < json_array_size(gaps); i++)
		if (!strcmp(json_string_value(json_array_get(gaps, i)), name))
			return true;
	return false;
}

static void check_via(const struct tree *t)
{
	int named =
		jrec_is_null(t->rec, "via") ? -1 : node_of(t, jrec_int(t->rec, "via.ns_pid", 0));
	bool sure = !strcmp(jrec_text(t->rec, "via.how"), "status-passed-on"), found = false;
	int last = -1, next = passed_by(t, 0);
	/* One that exited with 0 passed nothing on. */
	bool passed = next >= 0 && t->end.status, open = may_decide(t, 0);

	for (; passed && next >= 0 && !open; next = passed_by(t, next)) {
		last = next;
		found |= last == named;
		open = may_decide(t, last);
	}
	if (last < 0 && open)
		return;
	sum.vias += sure;
	sum.inferred += named >= 0 && !sure;
	if (!passed && sure)
		wrong(t, named, "via", "init passed nothing on");
	/* What left no room among eight is a gap, if it may have changed the verdict. */
	if (passed && named < 0 &&
	    (t->asked_ns || (WEXITSTATUS(t->end.status) > 128 && !has_gap(t, "child-uncertain"))))
		wrong(t, last, "via", "nothing");
	if (!passed || !sure)
		return;
	/* There is no record of a grandchild's own code before a stop. */
	if (!open && (!found || (last != named && reaped(t, last)->number & 0x7f)))
		wrong(t, last, "via", "another");
	if ((reaped(t, last)->number & 0x7f) == SIGKILL &&
	    strcmp(jrec_text(t->rec, "outcome"), "killed") != 0)
		wrong(t, last, "outcome", jrec_text(t->rec, "outcome"));
}

/* A node may have ended before the stop that nobody noted to have waited for: who did may have been
 * killed before the note. */
static bool may_have_ended_before(const struct tree *t, int node)
{
	const struct grove_plan *plan = &t->grove->plans[node];
	bool dies = plan->manner == GROVE_DEFAULT || plan->manner == GROVE_RERAISES;
	const struct grove_note *n = left(t, node);

	if (plan->act == GROVE_FAULTS || (n && n->before_ns < t->asked_ns))
		return true;
	for (unsigned int i = 0; (n = note_at(t, i)); i++)
		if (is_sent(n, node) && n->before_ns < t->asked_ns &&
		    (n->number != SIGTERM || dies))
			return true;
	return false;
}

/* All that lived when the stop began are known of. */
static void check_known(const struct tree *t, size_t listed)
{
	int64_t others = jrec_int(t->rec, "processes_other", -1);
	char text[64];
	size_t least = 0, known = (listed ? listed - 1 : 0) + (size_t)others;

	for (int i = 1; t->followed && i < (int)t->grove->n; i++) {
		const struct grove_note *r = reaped(t, i);

		least += r ? r->before_ns > t->asked_ns + 30 * MS : !may_have_ended_before(t, i);
	}
	sum.unlisted += (unsigned int)others;
	snprintf(text, sizeof(text), "%zu of %u, and not %zu", known, t->grove->n, least);
	if ((known < least && !made_before_all_ended(t)) || known >= t->grove->n)
		wrong(t, 0, "processes_other", text);
}

/* What is known of the first trees that are wrong. */
static void explain(const struct tree *t)
{
	const struct grove_note *n;

	if (sum.explained++ > 3)
		return;
	json_dumpf(t->rec, stderr, JSON_COMPACT);
	for (unsigned int i = 0; (n = note_at(t, i)); i++)
		fprintf(stderr, "\n%u: %d(%d) to %d(%d): %d, result %d, %llu to %llu", n->kind,
			n->node, n->node < 0 ? 0 : t->grove->pids[n->node], n->other,
			n->other < 0 ? 0 : t->grove->pids[n->other], n->number, n->value,
			(unsigned long long)n->before_ns, (unsigned long long)n->after_ns);
	fputc('\n', stderr);
}

static void check(const struct tree *t)
{
	const json_t *all = jrec_get(t->rec, "processes");
	unsigned int before = sum.wrong;

	sum.trees++;
	assert_true(t->grove->used <= GROVE_NOTES);
	if (!t->rec) {
		sum.missing++;
		return;
	}
	for (size_t i = 0; i < json_array_size(all); i++)
		check_member(t, json_array_get(all, i));
	check_known(t, json_array_size(all));
	check_cut(t);
	check_via(t);
	if (sum.wrong > before)
		explain(t);
}

static void play_some(struct fixture *f, uint64_t seed, unsigned int n)
{
	static struct tree trees[AT_ONCE];
	bool done = false;

	for (unsigned int i = 0; i < n; i++)
		start(f, &trees[i], seed + i);
	while (!done) {
		done = true;
		for (unsigned int i = 0; i < n; i++)
			done &= play(f, &trees[i]);
		usleep(2000);
	}
	for (unsigned int i = 0; i < n; i++) {
		end(f, &trees[i]);
		check(&trees[i]);
		munmap(trees[i].grove, sizeof(*trees[i].grove));
	}
}

static void each_process_of_a_random_tree_ended_as_the_record_says(void **state)
{
	struct fixture *f = judge_need(state);
	uint64_t seed = env_number("GRACED_TEST_SEED", 1);
	unsigned int n = (unsigned int)env_number("GRACED_TEST_TREES", TREES);

	for (unsigned int i = 0; i < n; i += AT_ONCE)
		play_some(f, seed + i, n - i < AT_ONCE ? n - i : AT_ONCE);
	print_message(
		"%u trees: %u listed, %u not, %u cut, %u passed on, %u inferred, %u unseen, %u wrong\n",
		sum.trees, sum.listed, sum.unlisted, sum.cut, sum.vias, sum.inferred, sum.unseen,
		sum.wrong);
	assert_int_equal(sum.missing, 0);
	assert_int_equal(sum.wrong, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each process of a random tree ended as the record says",
		      each_process_of_a_random_tree_ended_as_the_record_says),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
