// SPDX-License-Identifier: Apache-2.0
/* Filters over records: every condition given must hold. */
#include "core/stop/filter.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define MIN_ID_PREFIX  4
#define MIN_UID_PREFIX 8

/* --- patterns ------------------------------------------------------------------------------------
 */

struct pattern {
	bool leaves_out;
	char text[FILTER_PATTERN_MAX + 1];
};

/* Returns where the next one begins; NULL: this was the last. -EINVAL is in *ret_error. */
static const char *take_pattern(const char *at, struct pattern *ret, int *ret_error)
{
	size_t n;

	ret->leaves_out = *at == '!';
	at += ret->leaves_out;
	n = strcspn(at, ",");
	*ret_error = n && n <= FILTER_PATTERN_MAX ? 0 : -EINVAL;
	if (*ret_error)
		return NULL;
	memcpy(ret->text, at, n);
	ret->text[n] = '\0';
	return at[n] ? at + n + 1 : NULL;
}

int filter_names_add(struct filter_names *names, const char *list)
{
	struct pattern pattern;
	int error;

	if (names->n == FILTER_LISTS_MAX)
		return -E2BIG;
	for (const char *at = list; at;) {
		at = take_pattern(at, &pattern, &error);
		if (error)
			return error;
	}
	names->lists[names->n++] = list;
	return 0;
}

/* What a thing can be called; NULL: not known. */
struct called {
	const char *name, *namespace_, *id;
	const char *workload; /* of a container outside pods, or if names are exact of a pod */
	size_t id_least;      /* so many characters of an id distinguish one from another */
	bool whole;	      /* the beginning of its name is not enough */
};

static bool begins(const char *value, const char *wanted, size_t n)
{
	return value && strncmp(value, wanted, n) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

/* How much of a text a pattern without a wildcard has to be. */
enum extent {
	EXTENT_ALL,
	EXTENT_WORDS,	  /* up to what is no letter and no digit */
	EXTENT_BEGINNING, /* any beginning, but a number is whole: "web-1" is not "web-10" */
};

static bool text_matches(const char *text, enum extent extent, const char *wanted)
{
	size_t n = strlen(wanted);

	if (!text)
		return false;
	if (strpbrk(wanted, "*?[\\"))
		return fnmatch(wanted, text, 0) == 0;
	if (!begins(text, wanted, n))
		return false;
	if (!text[n] || extent == EXTENT_ALL)
		return !text[n];
	if (extent == EXTENT_WORDS)
		return !is_letter_or_digit(text[n]);
	return n > 0 && !(is_digit(text[n]) && is_digit(wanted[n - 1]));
}

static bool name_matches(const struct called *c, enum extent extent, const char *wanted)
{
	return text_matches(c->name, c->whole ? EXTENT_ALL : extent, wanted) ||
	       text_matches(c->workload, EXTENT_ALL, wanted);
}

static enum extent extent_of(const struct filter_names *names, const struct pattern *pattern)
{
	if (names->exact)
		return EXTENT_ALL;
	return pattern->leaves_out || names->words ? EXTENT_WORDS : EXTENT_BEGINNING;
}

static bool is_called(const struct called *c, enum extent extent, const char *wanted)
{
	const char *slash = c->namespace_ ? strchr(wanted, '/') : NULL;
	size_t n = strlen(wanted);

	if (c->id && n >= c->id_least && begins(c->id, wanted, n) &&
	    (extent != EXTENT_ALL || !c->id[n]))
		return true;
	if (slash && begins(c->namespace_, wanted, (size_t)(slash - wanted)) &&
	    !c->namespace_[slash - wanted])
		return name_matches(c, extent, slash + 1);
	return name_matches(c, extent, wanted);
}

static bool names_match(const struct filter_names *names, const struct called *called)
{
	bool wanted = false, any = false, is;
	struct pattern pattern;
	int error;

	for (size_t i = 0; i < names->n; i++) {
		for (const char *at = names->lists[i]; at;) {
			at = take_pattern(at, &pattern, &error);
			assert(!error);
			is = is_called(called, extent_of(names, &pattern), pattern.text);
			if (pattern.leaves_out && is)
				return false;
			any |= !pattern.leaves_out;
			wanted |= is;
		}
	}
	return wanted || !any;
}

/* --- records -------------------------------------------------------------------------------------
 */

static bool same(const char *wanted, const char *value)
{
	return value && strcmp(wanted, value) == 0;
}

bool filter_has_names(const struct filter *f)
{
	return f->namespaces.n || f->pods.n || f->containers.n;
}

static bool namespace_matches(const struct filter *f, const char *namespace_)
{
	const struct called space = {.name = namespace_, .whole = true};

	return names_match(&f->namespaces, &space);
}

static bool pod_matches(const struct filter *f, const struct record_pod *pod)
{
	const struct called called = {.name = pod->name,
				      .namespace_ = pod->namespace_,
				      .id = pod->uid,
				      .id_least = MIN_UID_PREFIX,
				      .workload = f->pods.exact ? pod->workload : NULL};

	return names_match(&f->pods, &called);
}

static bool container_matches(const struct filter *f, const struct record_container *c)
{
	const struct called called = {.name = c->name,
				      .namespace_ = c->namespace_,
				      .id = c->id,
				      .id_least = MIN_ID_PREFIX,
				      .workload = c->workload};

	return names_match(&f->containers, &called);
}

static bool outcome_matches(const struct filter *f, enum outcome outcome)
{
	uint32_t bit = UINT32_C(1) << outcome;

	return !(f->not_outcomes & bit) && (!f->outcomes || f->outcomes & bit);
}

static bool subject_matches(const struct filter *f, const struct record_pod *pod,
			    const struct record_container *container)
{
	return namespace_matches(f, record_namespace(pod, container)) && pod_matches(f, pod) &&
	       container_matches(f, container);
}

static bool number_matches(const struct filter *f, uint32_t number)
{
	return number >= 1 && number <= 64 && f->sigmask >> (number - 1) & 1;
}

static bool sigref_matches(const struct filter *f, const struct record_sigref *s)
{
	if (!s->known)
		return false;
	if (f->sigmask && !number_matches(f, s->number))
		return false;
	return !f->sender_comm || same(f->sender_comm, s->sender.process.comm);
}

static bool stop_matches(const struct filter *f, const struct record_stop *s)
{
	if (!subject_matches(f, &s->pod, &s->container))
		return false;
	if (!outcome_matches(f, s->outcome))
		return false;
	if (!f->sigmask && !f->sender_comm)
		return true;
	if (f->sigmask && !f->sender_comm && s->exit.known &&
	    number_matches(f, s->exit.status & 0x7f))
		return true;
	return sigref_matches(f, &s->stop_signal) || sigref_matches(f, &s->kill_signal) ||
	       sigref_matches(f, &s->keeper_signal);
}

static bool signal_matches(const struct filter *f, const struct record_signal *s)
{
	if (!f->signals || !subject_matches(f, &s->pod, &s->container))
		return false;
	if (f->sigmask && !number_matches(f, s->number))
		return false;
	return !f->sender_comm || same(f->sender_comm, s->sender.process.comm);
}

/* A filter for signals or outcomes asks for stops; other records only fit without one. */
static bool asks_for_stops(const struct filter *f)
{
	return f->sigmask || f->sender_comm || f->outcomes || f->not_outcomes;
}

bool filter_matches(const struct filter *f, const struct record *r)
{
	switch (r->type) {
	case RECORD_STOP:
		return stop_matches(f, &r->stop);
	case RECORD_SIGNAL:
		return signal_matches(f, &r->signal);
	case RECORD_EMPTY:
		return !asks_for_stops(f) && subject_matches(f, &r->empty.pod, &r->empty.container);
	case RECORD_REAPED:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->reaped.pod, &r->reaped.container);
	case RECORD_OOM:
		return !asks_for_stops(f) && subject_matches(f, &r->oom.pod, &r->oom.container);
	case RECORD_RUNTIME_EXIT:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->runtime_exit.pod, &r->runtime_exit.container);
	case RECORD_RESTART:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->restart.pod, &r->restart.container);
	case RECORD_POD:
		return !asks_for_stops(f) && !f->containers.n &&
		       namespace_matches(f, r->pod_state.pod.namespace_) &&
		       pod_matches(f, &r->pod_state.pod);
	case RECORD_POD_READY:
		return !asks_for_stops(f) && !f->containers.n &&
		       namespace_matches(f, r->pod_ready.pod.namespace_) &&
		       pod_matches(f, &r->pod_ready.pod);
	case RECORD_DISCREPANCY:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->discrepancy.pod, &r->discrepancy.container);
	case RECORD_SHUTDOWN:
		return !r->shutdown.container.known ||
		       subject_matches(f, &r->shutdown.pod, &r->shutdown.container);
	default:
		return true;
	}
}
