// SPDX-License-Identifier: Apache-2.0
/* Writes spans. 64-bit numbers are strings in this JSON, ids are hexadecimal digits. */
#include "wire/account/otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "base/version.h"
#include "wire/account/account.h"
#include "wire/account/text.h"
#include "wire/json/rows.h"
#include "wire/json/writer.h"

#define KIND_INTERNAL 1
#define STATUS_ERROR  2

#define NUMBER_SIZE 24

struct trace_id {
	uint64_t high, low;
};

/* What has been written, and of which story. */
struct spans {
	struct buf *out;
	const struct account_story *story;
	struct trace_id trace;
	uint64_t root, n; /* of the trace: its root span, how many spans it has */
	struct trace_id shutdown_trace;
	uint64_t shutdown_root; /* 0: none; the spans of groups follow it */

	account_otlp_fn fn; /* NULL: everything is one request */
	void *userdata;
	size_t batch; /* spans of the request */
	int error;    /* what fn returned first */
};

/* --- members --------------------------------------------------------------------------------- */

static void add_number(struct buf *out, const char *key, uint64_t value)
{
	char text[NUMBER_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	jsonw_str(out, key, text);
}

static void add_wall(const struct spans *s, const char *key, uint64_t at_ns)
{
	add_number(s->out, key, at_ns + (uint64_t)s->story->wall_offset_ns);
}

static void add_id(struct buf *out, const char *key, uint64_t id)
{
	char text[NUMBER_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64, id);
	jsonw_str(out, key, text);
}

static void add_trace_id(struct buf *out, struct trace_id id)
{
	char text[2 * NUMBER_SIZE];

	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, id.high, id.low);
	jsonw_str(out, "traceId", text);
}

static void begin_attribute(struct buf *out, const char *key)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "key", key);
	jsonw_object(out, "value");
}

static void end_attribute(struct buf *out)
{
	jsonw_object_end(out);
	jsonw_object_end(out);
}

static void add_text(struct buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	begin_attribute(out, key);
	jsonw_str(out, "stringValue", value);
	end_attribute(out);
}

static void add_int(struct buf *out, const char *key, bool known, int64_t value)
{
	char text[NUMBER_SIZE];

	if (!known)
		return;
	snprintf(text, sizeof(text), "%" PRId64, value);
	begin_attribute(out, key);
	jsonw_str(out, "intValue", text);
	end_attribute(out);
}

static void add_bool(struct buf *out, const char *key, bool value)
{
	begin_attribute(out, key);
	jsonw_bool(out, "boolValue", value);
	end_attribute(out);
}

static void add_member(void *userdata, const struct member *m, const void *object)
{
	_cleanup_(buf_free) struct buf room = {};
	bool is_text = m->kind == MEMBER_TEXT || m->kind == MEMBER_WORD;
	const char *text = m->attribute ? members_text(m, object, &room) : NULL;
	struct buf *out = userdata;

	if (!text)
		return;
	begin_attribute(out, m->attribute);
	if (m->kind == MEMBER_BOOL || m->kind == MEMBER_TRI)
		jsonw_bool(out, "boolValue", *text == '1');
	else
		jsonw_str(out, is_text ? "stringValue" : "intValue", text);
	end_attribute(out);
}

/* --- ids ------------------------------------------------------------------------------------- */

static struct trace_id make_trace(const struct account_story *story, const char *what,
				  uint64_t at_ns)
{
	_cleanup_(buf_free) struct buf text = {};
	struct trace_id id;

	buf_printf(&text, "%s/%s/%" PRIu64 "/", story->boot ? story->boot : "", what ? what : "",
		   at_ns);
	id.low = map_key(buf_str(&text));
	buf_adds(&text, story->node ? story->node : "");
	buf_addc(&text, '/');
	id.high = map_key(buf_str(&text));
	return id;
}

/* The nth span of a trace: an id that is never 0. */
static uint64_t span_id(struct trace_id trace, uint64_t n)
{
	return map_key_join(trace.high ^ trace.low, n);
}

/* --- requests -------------------------------------------------------------------------------- */

static void begin_request(struct buf *out)
{
	jsonw_object(out, NULL);
	jsonw_array(out, "resourceSpans");
}

static void end_request(struct buf *out)
{
	jsonw_array_end(out);
	jsonw_object_end(out);
	buf_addc(out, '\n');
}

static void begin_story(struct buf *out, const struct account_story *story)
{
	jsonw_object(out, NULL);
	jsonw_object(out, "resource");
	jsonw_array(out, "attributes");
	add_text(out, "service.name", "graced");
	add_text(out, "k8s.node.name", story->node);
	add_text(out, "graced.boot_id", story->boot);
	jsonw_array_end(out);
	jsonw_object_end(out);
	jsonw_array(out, "scopeSpans");
	jsonw_object(out, NULL);
	jsonw_object(out, "scope");
	jsonw_str(out, "name", "graced");
	jsonw_str(out, "version", version_string());
	jsonw_object_end(out);
	jsonw_array(out, "spans");
}

static void end_story(struct buf *out)
{
	jsonw_array_end(out);
	jsonw_object_end(out);
	jsonw_array_end(out);
	jsonw_object_end(out);
}

/* Outside of stories. Nothing more is handed on after a failure. */
static void hand_on(struct spans *s)
{
	end_request(s->out);
	if (s->error == 0)
		s->error = buf_error(s->out);
	if (s->error == 0 && s->batch > 0)
		s->error = s->fn(s->userdata, buf_str(s->out), s->out->len, s->batch);
	s->batch = 0;
	buf_reset(s->out);
}

/* The span is whole; so may be its request. */
static void end_span(struct spans *s)
{
	jsonw_object_end(s->out);
	s->batch++;
	if (!s->fn || (s->batch < ACCOUNT_OTLP_SPANS && s->out->len < ACCOUNT_OTLP_BYTES))
		return;
	end_story(s->out);
	hand_on(s);
	begin_request(s->out);
	begin_story(s->out, s->story);
}

/* --- spans ----------------------------------------------------------------------------------- */

/* Leaves the span open, with its attributes begun. parent 0: the root. Returns its id. */
static uint64_t begin_span(struct spans *s, uint64_t parent, const char *name, uint64_t from_ns,
			   uint64_t to_ns)
{
	uint64_t id = span_id(s->trace, ++s->n);

	jsonw_object(s->out, NULL);
	add_trace_id(s->out, s->trace);
	add_id(s->out, "spanId", id);
	if (parent)
		add_id(s->out, "parentSpanId", parent);
	jsonw_str(s->out, "name", name);
	jsonw_u64(s->out, "kind", KIND_INTERNAL);
	add_wall(s, "startTimeUnixNano", from_ns);
	add_wall(s, "endTimeUnixNano", to_ns);
	jsonw_array(s->out, "attributes");
	return id;
}

static void add_span(struct spans *s, uint64_t parent, const char *name, uint64_t from_ns,
		     uint64_t to_ns)
{
	if (!from_ns || to_ns < from_ns)
		return;
	begin_span(s, parent, name, from_ns, to_ns);
	jsonw_array_end(s->out);
	end_span(s);
}

static void add_event(struct spans *s, const char *name, uint64_t at_ns)
{
	if (!at_ns)
		return;
	jsonw_object(s->out, NULL);
	jsonw_str(s->out, "name", name);
	add_wall(s, "timeUnixNano", at_ns);
	jsonw_object_end(s->out);
}

/* --- shutdowns ------------------------------------------------------------------------------- */

static uint64_t shutdown_end(const struct account_story *story)
{
	if (story->cancelled_ns)
		return story->cancelled_ns;
	return story->released_ns ? story->released_ns : story->end_ns;
}

static void add_group(struct spans *s, const struct account_group *g)
{
	uint64_t from = g->begin_ns ? g->begin_ns : s->story->begin_ns;
	uint64_t to = g->done_ns ? g->done_ns : from;
	char name[32];

	snprintf(name, sizeof(name), "group %" PRIu32, g->index);
	begin_span(s, s->shutdown_root, name, from, to > from ? to : from);
	add_int(s->out, "graced.group.priority", g->priority_known, g->priority);
	add_int(s->out, "graced.group.length_ns", g->length_ns, (int64_t)g->length_ns);
	add_bool(s->out, "graced.begin_observed", g->begin_ns);
	add_bool(s->out, "graced.end_observed", g->done_ns);
	jsonw_array_end(s->out);
	end_span(s);
}

/* The groups' spans come first after the root, so that their ids follow from their place. */
static void add_shutdown(struct spans *s)
{
	const struct account_story *story = s->story;
	uint64_t end = account_lock_end(story);

	s->trace = s->shutdown_trace = make_trace(story, "shutdown", story->announced_ns);
	s->n = 0;
	s->shutdown_root = begin_span(s, 0, "node shutdown", story->begin_ns, shutdown_end(story));
	add_text(s->out, "graced.shutdown.action", story->action);
	add_text(s->out, "graced.shutdown.mode", story->mode);
	add_text(s->out, "graced.shutdown.reason", story->reason);
	add_int(s->out, "graced.shutdown.limit_ns", story->limit_ns, (int64_t)story->limit_ns);
	add_int(s->out, "graced.shutdown.containers_left", story->released_ns,
		(int64_t)story->left);
	add_bool(s->out, "graced.end_observed", story->released_ns || story->cancelled_ns);
	add_bool(s->out, "graced.complete", !account_is_partial(story));
	jsonw_array_end(s->out);
	end_span(s);
	for (size_t i = 0; i < story->n_groups; i++)
		add_group(s, &story->groups[i]);
	if (end)
		add_span(s, s->shutdown_root, "delay lock", story->announced_ns, end);
}

/* The span of its group, or that of the shutdown. */
static void add_link(struct spans *s, const struct account_stop *stop)
{
	uint64_t id = s->shutdown_root;

	jsonw_array(s->out, "links");
	for (size_t i = 0; stop && stop->group_known && i < s->story->n_groups; i++)
		if (s->story->groups[i].index == stop->group)
			id = span_id(s->shutdown_trace, i + 2);
	if (id) {
		jsonw_object(s->out, NULL);
		add_trace_id(s->out, s->shutdown_trace);
		add_id(s->out, "spanId", id);
		jsonw_object_end(s->out);
	}
	jsonw_array_end(s->out);
}

/* --- pods ------------------------------------------------------------------------------------ */

static void add_names(struct buf *out, const struct record_pod *pod,
		      const struct record_container *container)
{
	add_text(out, "k8s.namespace.name", pod->namespace_);
	add_text(out, "k8s.pod.name", pod->name);
	add_text(out, "k8s.pod.uid", pod->uid);
	add_text(out, "k8s.container.name", container->name);
	add_text(out, "container.id", container->id);
}

static void add_sender(struct buf *out, const char *name, const char *kind,
		       const struct record_sender *sender)
{
	add_text(out, name, sender->process.comm);
	add_text(out, kind, sender_kind_name(sender->kind));
}

static void add_signal(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *signal = &stop->stop_signal;
	const struct record_process *process = &signal->sender.process;
	char name[SIGNAME_SIZE];

	if (signal->number) {
		add_text(out, "graced.stop_signal", signame_format(signal->number, name));
		add_text(out, "graced.stop_signal.result",
			 signal->result < 0 ? NULL : record_result_name(signal->result));
		add_sender(out, "graced.sender.name", "graced.sender.kind", &signal->sender);
		add_int(out, "graced.sender.pid", process->comm, process->pid);
	}
	if (stop->kill_signal.at_ns)
		add_sender(out, "graced.killer.name", "graced.killer.kind",
			   &stop->kill_signal.sender);
}

static bool went_wrong(const struct account_stop *stop)
{
	return stop->of->outcome == OUTCOME_KILLED || stop->of->outcome == OUTCOME_OOM_KILLED ||
	       stop->of->outcome == OUTCOME_CRASHED;
}

static void add_status(struct spans *s, const struct account_stop *stop)
{
	jsonw_object(s->out, "status");
	if (went_wrong(stop)) {
		jsonw_u64(s->out, "code", STATUS_ERROR);
		jsonw_str(s->out, "message", cause_name(stop->of->cause));
	}
	jsonw_object_end(s->out);
}

static void add_attributes(struct spans *s, const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf gaps = {};
	const struct record_stop *of = stop->of;
	uint32_t signal = of->exit.known ? of->exit.status & 0x7f : 0;
	struct buf *out = s->out;

	add_names(out, &of->pod, &of->container);
	add_signal(out, of);
	add_text(out, "graced.outcome", outcome_name(of->outcome));
	add_text(out, "graced.cause", stop->unrecorded ? NULL : cause_name(of->cause));
	members_each(record_rows[RECORD_STOP].members, of, add_member, out);
	account_text_gaps(&gaps, of->gaps);
	add_text(out, "graced.gaps", gaps.len ? buf_str(&gaps) : NULL);
	add_int(out, "process.exit.code", account_code(&of->exit) >= 0, account_code(&of->exit));
	add_int(out, "graced.exit.signal", signal, signal);
	add_int(out, "graced.grace_ns", grace_known(&of->grace), (int64_t)of->grace.ns);
	add_int(out, "graced.margin_ns", stop->margin_known, stop->margin_ns);
	add_bool(out, "graced.end_observed", of->exit.at_ns);
}

/* The first and the last moment that was observed of it; false: none was. */
static bool span_of(const struct account_stop *stop, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from =
		stop->of->stop_signal.at_ns ? stop->of->stop_signal.at_ns : stop->of->exit.at_ns;
	*ret_to = stop->of->empty_ns	 ? stop->of->empty_ns
		  : stop->of->exit.at_ns ? stop->of->exit.at_ns
					 : *ret_from;
	return *ret_from;
}

static void add_stop(struct spans *s, const struct account_pod *pod,
		     const struct account_stop *stop)
{
	uint64_t from, to, id, asked = stop->of->stop_signal.at_ns;

	if (!span_of(stop, &from, &to))
		return;
	if (asked > pod->terminating_ns)
		add_span(s, s->root, "deletion to stop signal", pod->terminating_ns, asked);
	id = begin_span(s, s->root, "container stop", from, to);
	add_attributes(s, stop);
	jsonw_array_end(s->out);
	jsonw_array(s->out, "events");
	add_event(s, "deadline", stop->deadline_ns);
	add_event(s, "SIGKILL", stop->of->kill_signal.at_ns);
	jsonw_array_end(s->out);
	add_status(s, stop);
	end_span(s);
	add_span(s, id, "signal to delivery", asked, stop->of->deliver_ns);
	add_span(s, id, stop->of->deliver_ns ? "delivery to exit" : "signal to exit",
		 stop->of->deliver_ns ? stop->of->deliver_ns : asked, stop->of->exit.at_ns);
	add_span(s, id, "exit to empty", stop->of->exit.at_ns, stop->of->empty_ns);
}

static void widen(uint64_t at_ns, uint64_t *from, uint64_t *to)
{
	if (!at_ns)
		return;
	if (!*from || at_ns < *from)
		*from = at_ns;
	if (at_ns > *to)
		*to = at_ns;
}

static void add_pod(struct spans *s, const struct account_pod *pod)
{
	const struct account_story *story = s->story;
	const struct account_stop *first = pod->n ? story->stops[pod->first] : NULL;
	const char *what = pod->names.uid ? pod->names.uid : pod->names.name;
	uint64_t from = 0, to = 0;

	widen(pod->terminating_ns, &from, &to);
	widen(pod->empty_ns, &from, &to);
	for (size_t i = 0; i < pod->n; i++) {
		uint64_t begin, end;

		if (span_of(story->stops[pod->first + i], &begin, &end)) {
			widen(begin, &from, &to);
			widen(end, &from, &to);
		}
	}
	if (!from)
		return;
	if (!what && first)
		what = first->of->container.id ? first->of->container.id
					       : first->of->container.cgroup;
	s->trace = make_trace(story, what, from);
	s->n = 0;
	s->root =
		begin_span(s, 0, pod->names.uid || pod->names.name ? "pod stop" : "stop", from, to);
	add_names(s->out, &pod->names, &(struct record_container){});
	add_text(s->out, "graced.pod.trigger", pod_trigger_name(pod->trigger));
	add_text(s->out, "graced.pod.workload", pod->names.workload);
	add_bool(s->out, "graced.end_observed", pod->empty_ns);
	jsonw_array_end(s->out);
	add_link(s, first);
	end_span(s);
	for (size_t i = 0; i < pod->n; i++)
		add_stop(s, pod, story->stops[pod->first + i]);
}

/* A span of no length, at the last look: how long after it the boot ended is unknown. */
static void add_boot_end(struct spans *s)
{
	const struct account_boot_end *end = s->story->end;

	if (!end || !end->seen_ns)
		return;
	s->trace = make_trace(s->story, "boot end", end->seen_ns);
	s->n = 0;
	begin_span(s, 0, "last look before the boot ended", end->seen_ns, end->seen_ns);
	add_text(s->out, "graced.boot.end", boot_end_name(end->end));
	add_text(s->out, "graced.boot.reason", boot_reason_name(end->reason));
	add_int(s->out, "graced.pods_alive", true, (int64_t)end->pods.total);
	add_int(s->out, "graced.containers_alive", true, (int64_t)end->containers.total);
	add_bool(s->out, "graced.end_observed", false);
	jsonw_array_end(s->out);
	add_link(s, NULL);
	end_span(s);
}

static void add_story(struct spans *s, const struct account_story *story)
{
	s->story = story;
	s->shutdown_root = 0;
	begin_story(s->out, story);
	if (story->shutdown)
		add_shutdown(s);
	for (size_t i = 0; i < story->n_pods; i++)
		add_pod(s, &story->pods[i]);
	add_boot_end(s);
	end_story(s->out);
}

int account_otlp(struct buf *out, const struct account *account)
{
	struct spans s = {.out = out};

	begin_request(out);
	for (size_t i = 0; i < account->n; i++)
		add_story(&s, account->stories[i]);
	end_request(out);
	return buf_error(out);
}

int account_otlp_requests(const struct account *account, account_otlp_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf out = {};
	struct spans s = {.out = &out, .fn = fn, .userdata = userdata};

	begin_request(&out);
	for (size_t i = 0; i < account->n && s.error == 0; i++)
		add_story(&s, account->stories[i]);
	hand_on(&s);
	return s.error;
}

/* --- by HTTP ---------------------------------------------------------------------------------- */

#define TRACES "v1/traces"

void otlphttp_add_url(struct buf *out, const char *endpoint)
{
	const char *host = strstr(endpoint, "://"), *rest;

	buf_adds(out, endpoint);
	rest = host ? host + 3 + strcspn(host + 3, "/?#") : "?";
	if (!*rest)
		buf_adds(out, "/" TRACES);
	else if (strcmp(rest, "/") == 0)
		buf_adds(out, TRACES);
}

/* --- headers --------------------------------------------------------------------------------- */

/* RFC 9110, section 5.6.2. */
static bool is_token(const char *text, size_t len)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'A' && text[i] <= 'Z') ||
		      (text[i] >= 'a' && text[i] <= 'z') || (text[i] && strchr(others, text[i]))))
			return false;
	return len > 0;
}

static bool is_name(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && strncasecmp(text, name, len) == 0;
}

/* What the request says of itself. */
static bool is_ours(const char *text, size_t len)
{
	static const char *const names[] = {
		"content-type", "content-length", "content-encoding", "transfer-encoding", "host",
		"connection",	"expect"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_name(text, len, names[i]))
			return true;
	return false;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place of ret, which has room for len bytes. Returns how many; -EINVAL. */
static int decode(const char *text, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int high = 0, low = 0;
		char c = text[i];

		if (c == '%') {
			high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
			low = i + 2 < len ? hex_digit(text[i + 2]) : -1;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (high < 0 || low < 0 || (unsigned char)c < 0x20 || c == 0x7f)
			return -EINVAL;
		ret[n++] = c;
	}
	return (int)n;
}

static void trim(const char **at, size_t *len)
{
	while (*len && (**at == ' ' || **at == '\t')) {
		++*at;
		--*len;
	}
	while (*len && ((*at)[*len - 1] == ' ' || (*at)[*len - 1] == '\t'))
		--*len;
}

/* One "name=value"; *used counts the bytes of ret->text. */
static int read_header(const char *at, size_t len, struct otlphttp_headers *ret, size_t *used)
{
	const char *equals = memchr(at, '=', len), *value;
	size_t name_len, value_len;
	char *to = ret->text + *used;
	int n;

	if (!equals)
		return -EINVAL;
	name_len = (size_t)(equals - at);
	value = equals + 1;
	value_len = len - name_len - 1;
	trim(&at, &name_len);
	trim(&value, &value_len);
	if (!is_token(at, name_len))
		return -EINVAL;
	if (is_ours(at, name_len))
		return 0;
	if (ret->n == OTLPHTTP_HEADERS_MAX || name_len + value_len + 4 > sizeof(ret->text) - *used)
		return -E2BIG;
	memcpy(to, at, name_len);
	memcpy(to + name_len, ": ", 2);
	n = decode(value, value_len, to + name_len + 2);
	if (n < 0)
		return n;
	to[name_len + 2 + (size_t)n] = '\0';
	*used += name_len + 3 + (size_t)n;
	ret->secret |= is_name(at, name_len, "authorization");
	ret->list[ret->n++] = to;
	return 0;
}

int otlphttp_read_headers(const char *text, struct otlphttp_headers *ret)
{
	size_t used = 0;
	int r = 0;

	ret->n = 0;
	ret->secret = false;
	while (*text && r == 0) {
		size_t len = strcspn(text, ",");

		if (strspn(text, " \t") < len)
			r = read_header(text, len, ret, &used);
		text += len + (text[len] == ',');
	}
	ret->list[ret->n] = NULL;
	return r;
}

/* --- answers --------------------------------------------------------------------------------- */

static bool is_temporary(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Adds the text of the member, cut; nothing where it has none. */
static void add_message(struct buf *out, const char *before, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t len = text ? strlen(text) : 0;

	if (!len)
		return;
	buf_adds(out, before);
	utf8_add_visible(out, text, utf8_fit(text, len, OTLPHTTP_TEXT_MAX));
}

/* int64 is a string in this JSON, and read as a number, too. */
static uint64_t count_of(const json_t *object, const char *key)
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);
	char *end;
	long long value = text ? strtoll(text, &end, 10) : json_integer_value(member);

	if (text && (*end || end == text))
		return 0;
	return value > 0 ? (uint64_t)value : 0;
}

static void set_text(struct otlphttp_answer *answer, const struct buf *text)
{
	snprintf(answer->text, sizeof(answer->text), "%s", buf_str(text));
}

/* A web page that is served with status 200 takes no spans. */
static void judge_success(const json_t *body, size_t len, uint64_t sent, struct buf *text,
			  struct otlphttp_answer *ret)
{
	const json_t *partial = json_object_get(body, "partialSuccess");

	if (len && !json_is_object(body)) {
		ret->verdict = OTLPHTTP_REFUSED;
		buf_adds(text, "its answer is not that of a receiver of OTLP");
		return;
	}
	ret->verdict = OTLPHTTP_DELIVERED;
	ret->rejected = count_of(partial, "rejectedSpans");
	if (ret->rejected > sent)
		ret->rejected = sent;
	add_message(text, "", partial, "errorMessage");
}

void otlphttp_judge(long status, const char *body, size_t len, uint64_t sent,
		    struct otlphttp_answer *ret)
{
	json_auto_t *json = len ? json_loadb(body, len, 0, NULL) : NULL;
	_cleanup_(buf_free) struct buf text = {};

	*ret = (struct otlphttp_answer){};
	if (status >= 200 && status < 300) {
		judge_success(json, len, sent, &text, ret);
	} else {
		ret->verdict = is_temporary(status) ? OTLPHTTP_AGAIN : OTLPHTTP_REFUSED;
		buf_printf(&text, "HTTP status %ld", status);
		add_message(&text, ": ", json, "message");
	}
	set_text(ret, &text);
}
