// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/account: which lines are records, and that trace events and spans follow the
 * rules of those who import them, whatever the names are. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "lib/claim.h"
#include "wire/account/account.h"

#define BOOT	 "7c9f2f0e-5d0b-4a52-9a7d-0b6a3f1c2d4e"
#define HEAD	 "\"schema\":1,\"time\":\"2026-11-25T10:01:00Z\",\"node\":\"n\",\"boot_ns\":"
#define SHUTDOWN "\"announced_boot_ns\":1000,\"limit_ns\":90000,\"mode\":\"assist\","
#define COMPLETE "\"evidence\":{\"complete\":true,\"gaps\":[]}"
#define STOPS	 160
#define ALIVE	 600

struct scene {
	struct arena arena;
	struct account_log log;
	struct account account;
};

static const struct account_query all = {};

static void read_line(struct scene *scene, const char *line)
{
	account_read(&scene->log, &all, line, strlen(line), "later");
}

static void read_step(struct scene *scene, const char *event, int at, const char *more)
{
	char line[1024];

	snprintf(line, sizeof(line),
		 "{\"type\":\"shutdown\"," HEAD "%d,\"id\":\"" BOOT
		 "/shutdown/1000/%s/%d\"," SHUTDOWN "\"lock_held\":true,\"event\":\"%s\"%s}",
		 at, event, at, event, more);
	read_line(scene, line);
}

/* Names that mean something to JSON, XML, terminals and printf, as JSON has them. */
static const char *const names[] = {
	"web",		"<script>", "]]>&amp;",	      "\\u202evil\\u0007",
	"'\\\"><text>", "%s%n",	    "\\ud83d\\udca9",
};

/* Some were not asked, of some no exit was seen, some emptied later, some were killed. */
static void read_stop(struct scene *scene, int i)
{
	int asked = 1100 + i % 17 * 100, exit = asked + 50 + i % 7 * 900;
	char line[2048], ask[128] = "null", kill[64] = "null", empty[32] = "null", end[96];

	if (i % 5)
		snprintf(
			ask, sizeof(ask),
			"{\"number\":15,\"name\":\"SIGTERM\",\"at_boot_ns\":%d,\"sender\":{\"pid\":7,"
			"\"comm\":\"%s\"}}",
			asked, names[i % LEN(names)]);
	if (i % 4 == 0)
		snprintf(kill, sizeof(kill),
			 "{\"number\":9,\"name\":\"SIGKILL\",\"at_boot_ns\":%d}", exit);
	if (i % 3)
		snprintf(empty, sizeof(empty), "%d", exit + i % 3 * 40);
	if (i % 11)
		snprintf(end, sizeof(end), "{\"code\":0,\"signal\":0,\"at_boot_ns\":%d}", exit);
	else
		snprintf(end, sizeof(end), "{\"code\":null,\"signal\":null,\"at_boot_ns\":null}");
	snprintf(
		line, sizeof(line),
		"{\"type\":\"stop\"," HEAD "%d,\"id\":\"" BOOT "/%d/1\","
		"\"pod\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"u%d\"},"
		"\"container\":{\"name\":\"%s\",\"id\":\"c%d\"},\"stop_signal\":%s,"
		"\"kill_signal\":%s,\"exit\":%s,\"latency_ns\":1,\"grace\":{\"seconds\":2e-6,"
		"\"from\":\"spec\"},\"outcome\":\"%s\",\"cause\":\"stop-signal\",\"empty_boot_ns\":%s,"
		"\"stages\":{\"deliver_ns\":%s}," COMPLETE "}",
		exit, i, names[(i + 1) % LEN(names)], names[(i + 2) % LEN(names)], i / 2,
		names[i % LEN(names)], i, ask, kill, end, i % 6 ? "graceful" : "killed", empty,
		i % 2 ? "20" : "null");
	read_line(scene, line);
}

/* The last look was before the announcement; more is named than an account holds. */
static void read_end(struct scene *scene)
{
	_cleanup_(buf_free) struct buf line = {};

	buf_adds(
		&line,
		"{\"type\":\"boot_end\"," HEAD "990,\"id\":\"" BOOT "/end\","
		"\"end\":\"unclean\",\"reason\":\"after-release\",\"journal\":\"no-end\",\"shutdown\":{"
		"\"announced_boot_ns\":1000},\"pods_alive\":700,\"pods\":[");
	for (int i = 0; i < ALIVE; i++)
		buf_printf(&line, "%s{\"namespace\":\"%s\",\"name\":\"%s\",\"containers\":1}",
			   i ? "," : "", names[i % LEN(names)], names[(i + 3) % LEN(names)]);
	buf_adds(&line, "],\"containers_alive\":0,\"containers\":[{\"name\":\"<script>\"},7]}");
	read_line(scene, buf_str(&line));
}

static void open_scene(struct scene *scene)
{
	*scene = (struct scene){.log.arena = &scene->arena};
	read_step(scene, "announced", 1000, "");
	read_step(scene, "group-started", 1100,
		  ",\"group\":{\"index\":0,\"priority\":-5,\"length_ns\":300}");
	read_step(scene, "group-done", 2000, ",\"group\":{\"index\":0,\"timed_out\":true}");
	read_step(scene, "group-started", 2100, ",\"group\":{\"index\":1,\"priority\":7}");
	read_step(scene, "released", 9000,
		  ",\"containers_left\":1,\"reason\":\"limit\",\"others\":1,"
		  "\"holders\":[{\"who\":\"<k>\",\"pid\":1}]");
	for (int i = 0; i < STOPS; i++)
		read_stop(scene, i);
	read_end(scene);
	/* Another boot, without a shutdown. */
	read_line(
		scene,
		"{\"type\":\"stop\"," HEAD "5,\"id\":\"other/c/1\",\"exit\":{\"code\":3,"
		"\"signal\":0,\"at_boot_ns\":5},\"latency_ns\":null,\"outcome\":\"failed\"," COMPLETE
		"}");
	assert_int_equal(scene->log.unreadable, 0);
	assert_int_equal(account_build(&scene->log, &all, &scene->account), 0);
	assert_int_equal(scene->account.n, 2);
}

typedef int (*write_fn)(struct buf *out, const struct account *account);

static json_t *written(struct scene *scene, write_fn fn)
{
	_cleanup_(buf_free) struct buf out = {}, again = {};
	json_t *json;

	open_scene(scene);
	assert_int_equal(fn(&out, &scene->account), 0);
	assert_int_equal(fn(&again, &scene->account), 0);
	assert_string_equal(buf_str(&out), buf_str(&again));
	json = json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

/* --- trace events ---------------------------------------------------------------------------- */

struct slice {
	long long track, from, to;
};

static long long track_of(const json_t *event)
{
	return json_integer_value(json_object_get(event, "pid")) * 100000 +
	       json_integer_value(json_object_get(event, "tid"));
}

static long long ns_of(const json_t *event, const char *key)
{
	const json_t *member = json_object_get(event, key);

	assert_true(json_is_number(member));
	return (long long)(json_number_value(member) * 1000 + 0.5);
}

/* Outer slices come before those that begin with them. */
static int compare(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to == y->to ? 0 : x->to > y->to ? -1 : 1;
}

static size_t slices_of(const json_t *events, struct slice *ret, size_t room)
{
	const json_t *event;
	size_t i, n = 0;

	json_array_foreach(events, i, event) {
		if (strcmp(text(event, "ph"), "X") != 0)
			continue;
		assert_true(n < room);
		assert_true(ns_of(event, "dur") >= 0 && ns_of(event, "ts") >= 0);
		ret[n].track = track_of(event);
		ret[n].from = ns_of(event, "ts");
		ret[n].to = ret[n].from + ns_of(event, "dur");
		n++;
	}
	qsort(ret, n, sizeof(*ret), compare);
	return n;
}

static void check_nesting(const struct slice *slices, size_t n)
{
	struct slice open[16];
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		while (depth && (open[depth - 1].track != slices[i].track ||
				 open[depth - 1].to <= slices[i].from))
			depth--;
		assert_true(!depth || slices[i].to <= open[depth - 1].to);
		assert_true(depth < LEN(open));
		open[depth++] = slices[i];
	}
}

static bool is_inside(const struct slice *slices, size_t n, const json_t *event)
{
	long long track = track_of(event), at = ns_of(event, "ts");

	for (size_t i = 0; i < n; i++)
		if (slices[i].track == track && slices[i].from <= at && at <= slices[i].to)
			return true;
	return false;
}

/* Perfetto binds a flow to the last slice or instant that began on its thread (its flow_tracker). */
static bool binds_to_slice(const json_t *events, const json_t *flow)
{
	const json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
		if (strcmp(text(event, "ph"), "i") == 0 && track_of(event) == track_of(flow) &&
		    ns_of(event, "ts") < ns_of(flow, "ts"))
			return false;
	return true;
}

static size_t check_flows(const json_t *events, const struct slice *slices, size_t n)
{
	json_int_t begun[STOPS + 1] = {}, ended[STOPS + 1] = {}, id;
	const json_t *event;
	size_t i, flows = 0;

	json_array_foreach(events, i, event) {
		bool begins = strcmp(text(event, "ph"), "s") == 0;

		if (!begins && strcmp(text(event, "ph"), "f") != 0)
			continue;
		id = json_integer_value(json_object_get(event, "id"));
		assert_in_range(id, 1, STOPS);
		assert_true(begins || begun[id]);
		assert_true(begins || strcmp(text(event, "bp"), "e") == 0);
		(begins ? begun : ended)[id]++;
		flows += begins;
		assert_true(is_inside(slices, n, event));
		assert_true(binds_to_slice(events, event));
	}
	for (size_t j = 0; j <= STOPS; j++)
		assert_true(begun[j] == ended[j] && begun[j] <= 1);
	return flows;
}

static void check_names(const json_t *events)
{
	json_auto_t *named = json_object();
	const json_t *event;
	char track[32];
	size_t i;

	json_array_foreach(events, i, event) {
		const char *phase = text(event, "ph");

		snprintf(track, sizeof(track), "%lld", track_of(event));
		if (strcmp(phase, "M") == 0) {
			json_object_set_new(named, track, json_true());
			continue;
		}
		assert_non_null(strchr("Xisf", *phase));
		assert_non_null(json_object_get(named, track));
		assert_true(*phase != 'i' || strcmp(text(event, "s"), "t") == 0);
		assert_in_range(ns_of(event, "ts"), 0, 1000000);
	}
}

static void trace_events(void **state)
{
	struct scene scene;
	json_auto_t *json = written(&scene, account_trace_event);
	const json_t *events = json_object_get(json, "traceEvents");
	struct slice slices[STOPS * 5];
	size_t n = slices_of(events, slices, LEN(slices));

	assert_true(n > STOPS);
	check_nesting(slices, n);
	assert_true(check_flows(events, slices, n) > STOPS / 4);
	check_names(events);
	arena_free(&scene.arena);
}

/* --- spans ----------------------------------------------------------------------------------- */

/* The members of opentelemetry-proto's messages that are used, in JSON's names. */
static const char *const members[] = {
	"Request: resourceSpans",
	"ResourceSpans: resource scopeSpans",
	"Resource: attributes",
	"ScopeSpans: scope spans",
	"Scope: name version",
	"Span: traceId spanId parentSpanId name kind startTimeUnixNano endTimeUnixNano attributes "
	"events links status",
	"Event: timeUnixNano name",
	"Link: traceId spanId",
	"Status: code message",
	"KeyValue: key value",
};

static void check_members(const char *message, json_t *object)
{
	const char *list = NULL, *key;
	char word[64];
	json_t *value;

	for (size_t i = 0; i < LEN(members); i++)
		if (strncmp(members[i], message, strlen(message)) == 0 &&
		    members[i][strlen(message)] == ':')
			list = members[i] + strlen(message) + 1;
	assert_non_null(list);
	json_object_foreach(object, key, value) {
		const char *found;

		snprintf(word, sizeof(word), " %s", key);
		found = strstr(list, word);
		if (!found || (found[strlen(word)] && found[strlen(word)] != ' '))
			fail_msg("%s has no member %s", message, key);
	}
}

static void check_hex(const char *id, size_t digits)
{
	assert_int_equal(strlen(id), digits);
	assert_int_equal(strspn(id, "0123456789abcdef"), digits);
	assert_true(strspn(id, "0") < digits);
}

/* A 64-bit number: decimal digits in a string. */
static unsigned long long number(const json_t *object, const char *key)
{
	const char *value = text(object, key);

	assert_true(*value && strspn(value, "0123456789") == strlen(value));
	return strtoull(value, NULL, 10);
}

static void check_attributes(const json_t *list)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		json_t *value = json_object_get(one, "value");
		const char *integer = text(value, "intValue");

		check_members("KeyValue", one);
		assert_true(*text(one, "key"));
		assert_int_equal(json_object_size(value), 1);
		assert_true(json_is_string(json_object_get(value, "stringValue")) ||
			    json_is_boolean(json_object_get(value, "boolValue")) ||
			    (*integer && strspn(integer, "-0123456789") == strlen(integer)));
	}
}

static void check_span(json_t *span, json_t *seen, json_t *roots)
{
	const char *trace = text(span, "traceId"), *id = text(span, "spanId");
	json_int_t kind = json_integer_value(json_object_get(span, "kind"));
	json_t *event, *status = json_object_get(span, "status");
	char key[64];
	size_t i;

	check_members("Span", span);
	check_hex(trace, 32);
	check_hex(id, 16);
	assert_true(*text(span, "name"));
	assert_in_range(kind, 0, 5);
	assert_true(number(span, "startTimeUnixNano") <= number(span, "endTimeUnixNano"));
	check_attributes(json_object_get(span, "attributes"));
	json_array_foreach(json_object_get(span, "events"), i, event) {
		check_members("Event", event);
		assert_true(number(event, "timeUnixNano") > 0);
	}
	check_members("Status", status);
	assert_in_range(json_integer_value(json_object_get(status, "code")), 0, 2);
	snprintf(key, sizeof(key), "%s/%s", trace, id);
	assert_null(json_object_get(seen, key));
	json_object_set_new(seen, key, json_true());
	if (*text(span, "parentSpanId"))
		return;
	assert_null(json_object_get(roots, trace));
	json_object_set_new(roots, trace, json_true());
}

static void check_reference(const json_t *seen, const char *trace, const char *id)
{
	char key[64];

	snprintf(key, sizeof(key), "%s/%s", trace, id);
	assert_non_null(json_object_get(seen, key));
}

static size_t check_references(const json_t *spans, const json_t *seen)
{
	json_t *span, *link;
	size_t i, j, links = 0;

	json_array_foreach(spans, i, span) {
		if (*text(span, "parentSpanId"))
			check_reference(seen, text(span, "traceId"), text(span, "parentSpanId"));
		json_array_foreach(json_object_get(span, "links"), j, link) {
			check_members("Link", link);
			check_reference(seen, text(link, "traceId"), text(link, "spanId"));
			links++;
		}
	}
	return links;
}

static void spans(void **state)
{
	struct scene scene;
	json_auto_t *json = written(&scene, account_otlp), *seen = json_object(),
		    *roots = json_object();
	json_t *list = json_object_get(json, "resourceSpans"), *of, *scope, *span;
	size_t i, j, links = 0;

	check_members("Request", json);
	assert_int_equal(json_array_size(list), 2);
	json_array_foreach(list, i, of) {
		json_t *spans_of;

		check_members("ResourceSpans", of);
		check_members("Resource", json_object_get(of, "resource"));
		check_attributes(json_object_get(json_object_get(of, "resource"), "attributes"));
		scope = json_array_get(json_object_get(of, "scopeSpans"), 0);
		check_members("ScopeSpans", scope);
		check_members("Scope", json_object_get(scope, "scope"));
		spans_of = json_object_get(scope, "spans");
		json_array_foreach(spans_of, j, span)
			check_span(span, seen, roots);
		links += check_references(spans_of, seen);
	}
	/* A trace for each pod, and one for the shutdown. */
	assert_true(json_object_size(roots) > STOPS / 3);
	assert_true(links > STOPS / 3);
	arena_free(&scene.arena);
}

struct requests {
	size_t n;
	json_t *seen; /* each span, as text */
};

static size_t collect(struct requests *requests, const char *body, size_t len)
{
	json_auto_t *json = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *of, *scope, *span;
	size_t i, j, n = 0;

	assert_non_null(json);
	json_array_foreach(json_object_get(json, "resourceSpans"), i, of) {
		scope = json_array_get(json_object_get(of, "scopeSpans"), 0);
		json_array_foreach(json_object_get(scope, "spans"), j, span) {
			char *key = json_dumps(span, JSON_COMPACT | JSON_SORT_KEYS);

			assert_null(json_object_get(requests->seen, key));
			json_object_set_new(requests->seen, key, json_true());
			free(key);
			n++;
		}
	}
	return n;
}

static int take_request(void *userdata, const char *body, size_t len, size_t spans)
{
	struct requests *requests = userdata;

	assert_in_range(spans, 1, ACCOUNT_OTLP_SPANS);
	assert_int_equal(collect(requests, body, len), spans);
	requests->n++;
	return 0;
}

static int refuse_second(void *userdata, const char *body, size_t len, size_t spans)
{
	int *calls = userdata;

	return ++*calls == 2 ? -EIO : 0;
}

static void requests(void **state)
{
	_cleanup_(buf_free) struct buf whole = {};
	struct requests parts = {.seen = json_object()}, one = {.seen = json_object()};
	struct scene scene;
	int calls = 0;

	open_scene(&scene);
	assert_int_equal(account_otlp_requests(&scene.account, take_request, &parts), 0);
	assert_true(parts.n > 1);
	assert_int_equal(account_otlp_requests(&scene.account, refuse_second, &calls), -EIO);
	assert_int_equal(calls, 2);
	scene.account.n = 0;
	calls = 0;
	assert_int_equal(account_otlp_requests(&scene.account, refuse_second, &calls), 0);
	assert_int_equal(calls, 0);
	scene.account.n = 2;
	assert_int_equal(account_otlp(&whole, &scene.account), 0);
	collect(&one, buf_str(&whole), whole.len);
	assert_true(json_equal(one.seen, parts.seen));
	json_decref(one.seen);
	json_decref(parts.seen);
	arena_free(&scene.arena);
}

/* --- tables, JSON and lines ------------------------------------------------------------------ */

/* Nothing that changes how a terminal takes what is around it. */
static void check_harmless(const char *text)
{
	for (size_t left = strlen(text), n; left; left -= n, text += n) {
		uint32_t code;

		n = utf8_decode(text, left, &code);
		assert_true(n && (code == '\n' || !utf8_is_treacherous(code)));
	}
}

static void rows(void **state)
{
	_cleanup_(buf_free) struct buf table = {}, svg = {};
	const struct grid_view view = {.width = 120};
	struct scene scene;

	open_scene(&scene);
	assert_int_equal(account_table(&table, &scene.account, &view), 0);
	for (const char *at = buf_str(&table); *at;) {
		size_t len = strcspn(at, "\n"), wide = 0;

		for (size_t i = 0; i < len; i++)
			wide += ((unsigned char)at[i] & 0xc0) != 0x80;
		assert_true(wide <= 120);
		at += len + 1;
	}
	assert_int_equal(account_svg(&svg, &scene.account), 0);
	check_harmless(buf_str(&table));
	check_harmless(buf_str(&svg));
	/* 128 pods are named of those that an account holds, the others counted. */
	assert_non_null(strstr(buf_str(&svg), "384 more, 188"));
	assert_null(strstr(buf_str(&svg), "<script"));
	arena_free(&scene.arena);
}

static void lines(void **state)
{
	static const struct {
		const char *line;
		enum { DAMAGED, FINE, NEWER } is;
		size_t taken;
	} cases[] = {
		{"{\"type\":\"lost\"," HEAD "7,\"lost\":{\"exit\":2}}", FINE, 1},
		{"{\"type\":\"attached\"," HEAD "7,\"more\":[{}]}", FINE, 1},
		{"{\"type\":\"signal\"," HEAD "7}", FINE, 0},
		{"{\"type\":\"brand_new\"," HEAD "7}", FINE, 0},
		{"", FINE, 0},
		{"{", DAMAGED, 0},
		{"[]", DAMAGED, 0},
		{"null", DAMAGED, 0},
		{"{\"type\":\"lost\"," HEAD "-7}", DAMAGED, 0},
		{"{\"type\":\"lost\"," HEAD "9223372036854775807}", DAMAGED, 0},
		{"{\"type\":\"lost\"," HEAD "7.5}", DAMAGED, 0},
		{"{\"type\":\"lost\"," HEAD "7,\"boot_ns\":8}", DAMAGED, 0},
		{"{\"type\":\"lost\",\"schema\":2,\"time\":\"2026-11-25T10:01:00Z\",\"boot_ns\":7}",
		 NEWER, 0},
		{"{\"type\":\"lost\",\"schema\":1,\"time\":\"yesterday\",\"boot_ns\":7}", DAMAGED,
		 0},
		{"{\"type\":\"stop\"," HEAD "7}", DAMAGED, 0}, /* no id */
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\",\"pod\":[],\"exit\":5," COMPLETE
		 "}",
		 FINE, 1},
		/* Evidence that is absent, or not complete without a reason. */
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\"}", DAMAGED, 0},
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\",\"evidence\":{\"gaps\":[7,{}]}}",
		 DAMAGED, 0},
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\",\"outcome\":\"vaporized\"}", NEWER,
		 0},
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\",\"cause\":\"moonshine\"}", NEWER,
		 0},
		{"{\"type\":\"stop\"," HEAD "7,\"id\":\"b/c/1\",\"latency_ns\":-1,"
		 "\"evidence\":{\"complete\":false,\"gaps\":[\"fog\"]}}",
		 NEWER, 0},
		{"{\"type\":\"dropped\"," HEAD "7,\"records\":3}", FINE, 1},
		{"{\"type\":\"shutdown\"," HEAD "7,\"event\":\"exploded\"}", NEWER, 0},
		{"{\"type\":\"shutdown\"," HEAD "7,\"event\":\"announced\","
		 "\"announced_boot_ns\":8}",
		 DAMAGED, 0},
		{"{\"type\":\"boot_end\"," HEAD "7,\"id\":\"b/end\",\"end\":\"unclean\","
		 "\"reason\":\"brand-new\",\"journal\":\"brand-new\",\"pods\":{},\"shutdown\":[]}",
		 NEWER, 0},
		/* Which boot it is of shows in its id alone: an entry of the journal is a later
		   one's. */
		{"{\"type\":\"boot_end\"," HEAD "7,\"end\":\"unclean\"}", DAMAGED, 0},
		{"{\"type\":\"boot_end\"," HEAD "7,\"id\":\"b\",\"end\":\"unclean\"}", DAMAGED, 0},
		{"{\"type\":\"boot_end\"," HEAD "7,\"id\":\"/end\",\"end\":\"unclean\"}", DAMAGED,
		 0},
		{"{\"type\":\"boot_end\"," HEAD "7,\"id\":\"b/end\",\"end\":\"soft\"}", NEWER, 0},
		{"{\"type\":\"boot_end\"," HEAD "7,\"id\":\"b/end\"}", DAMAGED, 0},
		{"{\"type\":\"pod\"," HEAD "7,\"state\":\"sync\",\"at_boot_ns\":7," COMPLETE "}",
		 FINE, 0},
		{"{\"type\":\"pod\"," HEAD "7,\"state\":\"terminated\",\"at_boot_ns\":7," COMPLETE
		 "}",
		 FINE, 1},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct scene scene = {.log.arena = &arena};

		read_line(&scene, cases[i].line);
		if (scene.log.n != cases[i].taken ||
		    scene.log.unreadable != (cases[i].is == DAMAGED) ||
		    scene.log.newer != (cases[i].is == NEWER))
			fail_msg("%s: taken %zu", cases[i].line, scene.log.n);
	}
}

/* What contradicts itself is unknown; a signal that asked for nothing is no request. */
static void figures(void **state)
{
#define EXIT "\"exit\":{\"code\":0,\"signal\":0,\"at_boot_ns\":50}"
	static const struct {
		const char *members;
		uint64_t asked_ns, exit_ns, empty_ns;
		uint32_t gaps;
	} cases[] = {
		{"\"stop_signal\":{\"at_boot_ns\":40},\"latency_ns\":10,\"empty_boot_ns\":60," EXIT
		 "," COMPLETE,
		 40, 50, 60, 0},
		{"\"stop_signal\":{\"at_boot_ns\":40},\"latency_ns\":null," EXIT "," COMPLETE, 0,
		 50, 0, 0},
		{"\"stop_signal\":{\"at_boot_ns\":51},\"latency_ns\":10,\"empty_boot_ns\":49," EXIT
		 "," COMPLETE,
		 0, 50, 0, 0},
		{"\"stop_signal\":{\"at_boot_ns\":40},\"latency_ns\":null,\"exit\":{\"at_boot_ns\":"
		 "null},\"evidence\":{\"complete\":false,\"gaps\":[\"exit-unseen\",\"shed\"]}",
		 40, 0, 0, 1u << GAP_EXIT_UNSEEN | 1u << GAP_SHED},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct scene scene = {.log.arena = &arena};
		const struct account_stop *stop;
		char line[1024];

		snprintf(line, sizeof(line), "{\"type\":\"stop\"," HEAD "50,\"id\":\"b/c/1\",%s}",
			 cases[i].members);
		read_line(&scene, line);
		assert_int_equal(scene.log.n, 1);
		stop = &scene.log.records[0]->stop;
		assert_int_equal(stop->of->stop_signal.at_ns, cases[i].asked_ns);
		assert_int_equal(stop->of->exit.at_ns, cases[i].exit_ns);
		assert_int_equal(stop->of->empty_ns, cases[i].empty_ns);
		assert_int_equal(stop->of->gaps, cases[i].gaps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("lines that are no records are counted, and those of a newer graced; unknown "
		      "members and types are ignored",
		      lines),
		CLAIM("times that contradict each other are unknown", figures),
		CLAIM("rows fit, and no name breaks out of its place", rows),
		CLAIM("slices of a thread nest, flows come in pairs, threads have names",
		      trace_events),
		CLAIM("spans have the protocol's members and types, their parents and links exist",
		      spans),
		CLAIM("requests of bounded size have the same spans, and end with the first failure",
		      requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
