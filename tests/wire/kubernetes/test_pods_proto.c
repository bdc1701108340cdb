// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pods: a pod in protobuf is read as the same pod in JSON is, and
 * hostile bytes are passed over. */
#include "wire/kubernetes/pods.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "kubelet_pods.pb-c.h"
#include "lib/claim.h"
#include "lib/pods/podseen.h"
#include "wire/kubernetes/pod.h"

#define PODS "tests/pods"

/* In a block of exactly its size. */
static int read_pod(struct podseen *seen, const void *bytes, size_t len)
{
	const struct podjson_sink sink = podseen_sink(seen);
	struct podproto *reader;
	void *copy = malloc(len ? len : 1);
	int r;

	assert_non_null(copy);
	if (len)
		memcpy(copy, bytes, len);
	assert_int_equal(podproto_new(&reader), 0);
	r = podproto_read_pod(reader, copy, len, &sink);
	podproto_free(reader);
	free(copy);
	return r;
}

static void read_file(const char *path, struct buf *ret)
{
	FILE *file = fopen(path, "re");
	char piece[4096];
	size_t n;

	assert_non_null(file);
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(ret, piece, n);
	fclose(file);
}

/* Reads the pod in the file. */
static void read_json(const char *path, struct podseen *ret)
{
	json_t *file = json_load_file(path, 0, NULL);
	char *text = json_dumps(json_object_get(file, "pod"), JSON_COMPACT);
	struct podjson_list counts;

	assert_non_null(text);
	assert_int_equal(podseen_read(ret, text, strlen(text), &counts), 0);
	free(text);
	json_decref(file);
}

static void expect_pod(const struct podseen_pod *a, const struct podseen_pod *b)
{
	const struct meta_pod *m = &a->meta, *n = &b->meta;

	assert_string_equal(m->uid, n->uid);
	assert_string_equal(m->namespace_, n->namespace_);
	assert_string_equal(m->name, n->name);
	assert_string_equal(m->workload, n->workload);
	assert_string_equal(m->workload_kind, n->workload_kind);
	assert_int_equal(m->known, n->known);
	assert_int_equal(m->grace_ns, n->grace_ns);
	assert_int_equal(m->deletion_grace_ns, n->deletion_grace_ns);
	assert_int_equal(m->deleted_wall_ns, n->deleted_wall_ns);
	assert_int_equal(m->priority, n->priority);
	assert_int_equal(m->deleting, n->deleting);
	assert_int_equal(m->sidecars, n->sidecars);
	assert_int_equal(m->is_static, n->is_static);
	assert_int_equal(m->ready, n->ready);
	assert_int_equal(m->qos, n->qos);
	assert_int_equal(m->phase, n->phase);
	assert_int_equal(m->end, n->end);
	assert_int_equal(m->restart_policy, n->restart_policy);
	assert_int_equal(a->mirror, b->mirror);
	assert_int_equal(a->seen_wall_ns, b->seen_wall_ns);
}

static void expect_container(const struct meta_container *a, const struct meta_container *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->pod_uid, b->pod_uid);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->image, b->image);
	assert_string_equal(a->exit_reason, b->exit_reason);
	assert_int_equal(a->known, b->known);
	assert_int_equal(a->attempt, b->attempt);
	assert_int_equal(a->stop_signal, b->stop_signal);
	assert_int_equal(a->sidecar, b->sidecar);
	assert_int_equal(a->prestop, b->prestop);
	assert_int_equal(a->probe_grace, b->probe_grace);
	assert_int_equal(a->probe, b->probe);
	assert_int_equal(a->exit_code, b->exit_code);
	assert_int_equal(a->finished_wall_ns, b->finished_wall_ns);
}

static void test_same(void **state)
{
	static const struct {
		const char *json, *proto;
	} table[] = {
#define PAIR(name) {PODS "/" name ".json", PODS "/proto/" name ".pb"}
		PAIR("real-replica"),
		PAIR("real-static"),
		PAIR("real-static-deleted"),
		PAIR("real-deleted-running"),
		PAIR("real-deleted-stopped"),
		PAIR("real-crash-loop"),
		PAIR("real-init-and-main"),
		PAIR("real-oom-killed-failed"),
		PAIR("real-creating"),
		PAIR("real-not-scheduled"),
		PAIR("hand-evicted"),
		PAIR("hand-sidecar-starting"),
		{PODS "/proto/every-field.json", PODS "/proto/every-field.pb"},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen want = {}, got = {};
		_cleanup_(buf_free) struct buf bytes = {};

		print_message("# %s\n", table[i].proto);
		read_json(table[i].json, &want);
		read_file(table[i].proto, &bytes);
		assert_int_equal(read_pod(&got, bytes.data, bytes.len), 0);
		assert_int_equal(got.n_pods, 1);
		expect_pod(&got.pods[0], &want.pods[0]);
		assert_int_equal(got.n_containers, want.n_containers);
		for (size_t c = 0; c < want.n_containers; c++)
			expect_container(&got.containers[c], &want.containers[c]);
	}
}

/* What the comparison would not see if both were wrong. */
static void test_every_field(void **state)
{
	_cleanup_(podseen_done) struct podseen got = {};
	_cleanup_(buf_free) struct buf bytes = {};
	const struct meta_pod *m;

	read_file(PODS "/proto/every-field.pb", &bytes);
	assert_int_equal(read_pod(&got, bytes.data, bytes.len), 0);
	m = &got.pods[0].meta;
	assert_string_equal(m->workload, "web");
	assert_string_equal(m->workload_kind, "Deployment");
	assert_int_equal(m->priority, -7);
	assert_int_equal(m->end, META_END_EVICTED);
	assert_true(m->deleting && m->sidecars && !m->is_static && !m->ready);
	assert_int_equal(m->deletion_grace_ns, 45000000000);
	/* prepare, proxy, main (its own end), side, the one before side, debug. */
	assert_int_equal(got.n_containers, 6);
	assert_int_equal(got.containers[1].sidecar, 1);
	assert_true(got.containers[1].probe_grace && !got.containers[4].probe_grace);
	assert_true(got.containers[1].probe && !got.containers[5].probe);
	assert_int_equal(got.containers[2].stop_signal, 10);
	assert_int_equal(got.containers[2].exit_code, 137);
	assert_true(got.containers[2].prestop && got.containers[2].probe_grace);
	assert_string_equal(got.containers[5].name, "debug");
}

static void test_any_bytes(void **state)
{
	_cleanup_(buf_free) struct buf bytes = {};
	size_t reported = 0;

	read_file(PODS "/proto/every-field.pb", &bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		int r = read_pod(&seen, bytes.data, len);

		assert_true(r == 0 || r == 1);
		assert_int_equal(seen.n_pods, r == 0);
	}
	for (size_t at = 0; at < bytes.len; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			_cleanup_(podseen_done) struct podseen seen = {};
			int r;

			bytes.data[at] ^= (char)(1 << bit);
			r = read_pod(&seen, bytes.data, bytes.len);
			bytes.data[at] ^= (char)(1 << bit);
			assert_true(r == 0 || r == 1);
			reported += r == 0;
		}
	print_message("# %zu of %zu are still pods\n", reported, 8 * bytes.len);
	assert_in_range(reported, 1, 8 * bytes.len - 1);
}

#define UID_A "aaaaaaaa-1111-4222-8333-444444444444"

static ProtobufCBinaryData text(const char *at, size_t len)
{
	return (ProtobufCBinaryData){.len = len, .data = (uint8_t *)at};
}

static int read_named(struct podseen *seen, const char *name, size_t len, int64_t deleted_s,
		      size_t containers, size_t image)
{
	_cleanup_(buf_free) struct buf packed = {};
	_cleanup_(cleanup_free) char *long_text = calloc(1, image + 1);
	Kube__Pod pod = KUBE__POD__INIT;
	Kube__ObjectMeta metadata = KUBE__OBJECT_META__INIT;
	Kube__PodSpec spec = KUBE__POD_SPEC__INIT;
	Kube__Container container = KUBE__CONTAINER__INIT;
	Kube__Container **list = calloc(containers + 1, sizeof(*list));
	Kube__Time deleted = KUBE__TIME__INIT;
	char *at;
	int r;

	metadata.has_uid = metadata.has_name = deleted.has_seconds = true;
	metadata.uid = text(UID_A, strlen(UID_A));
	metadata.name = text(name, len);
	deleted.seconds = deleted_s;
	metadata.deletion_timestamp = &deleted;
	container.has_name = container.has_image = true;
	container.name = text("c", 1);
	memset(long_text, 'i', image);
	container.image = text(long_text, image);
	for (size_t i = 0; i < containers; i++)
		list[i] = &container;
	spec.n_containers = containers;
	spec.containers = list;
	pod.metadata = &metadata;
	pod.spec = &spec;
	at = buf_reserve(&packed, kube__pod__get_packed_size(&pod));
	assert_non_null(at);
	buf_commit(&packed, kube__pod__pack(&pod, (uint8_t *)at));
	r = read_pod(seen, packed.data, packed.len);
	free(list);
	return r;
}

static void test_hostile(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		int64_t deleted_s;
		size_t containers, image;
		int r;
		bool deletion_known;
	} table[] = {
		{"a", 1, 1790000000, 1, 10, 0, true},
		{"a", 1, INT64_MAX, 1, 10, 0, false},
		{"a", 1, INT64_MIN, 1, 10, 0, false},
		{"a\0b", 3, 1, 1, 10, 1, false},
		{"a\xff", 2, 1, 1, 10, 1, false},
		{"\xed\xa0\x80", 3, 1, 1, 10, 1, false},
		{"a", 1, 1, 2000, 10, 0, true},
		{"a", 1, 1, 5000, 10, 1, false},   /* too many values */
		{"a", 1, 1, 400000, 0, 1, false},  /* too much memory */
		{"a", 1, 1, 1, 5000, 0, true},	   /* an invalid image */
		{"a", 1, 1, 1, 3 << 20, 1, false}, /* too long */
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};

		print_message("# row %zu\n", i);
		assert_int_equal(read_named(&seen, table[i].name, table[i].len, table[i].deleted_s,
					    table[i].containers, table[i].image),
				 table[i].r);
		assert_int_equal(seen.n_pods, table[i].r == 0);
		if (seen.n_pods)
			assert_int_equal(!!(seen.pods[0].meta.known & META_POD_DELETING),
					 table[i].deletion_known);
	}
}

/* They are counted before there is memory for them. */
static void test_many(void **state)
{
	static Kube__EphemeralContainer *list[PODJSON_VALUES_MAX + 1];
	_cleanup_(arena_free) struct arena arena = {.limit = 65536};
	struct podread reader = {.arena = &arena};
	Kube__EphemeralContainer container = KUBE__EPHEMERAL_CONTAINER__INIT;
	Kube__PodSpec spec = KUBE__POD_SPEC__INIT;
	Kube__Pod message = KUBE__POD__INIT;
	struct podobj_pod pod = {};

	for (size_t i = 0; i < LEN(list); i++)
		list[i] = &container;
	spec.n_ephemeral_containers = LEN(list);
	spec.ephemeral_containers = list;
	message.spec = &spec;
	apirows_init(podrows, &pod);
	assert_int_equal(apirows_read_proto(&reader, &message.base, podrows, &pod), -E2BIG);
}

static void test_events(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int r;
		unsigned int type;
		size_t pod_len;
	} table[] = {
#define ROW(bytes) bytes, sizeof(bytes) - 1
		{ROW("\x08\x01\x12\x03"
		     "abc"),
		 0, PODPROTO_ADDED, 3},
		{ROW("\x08\x04"), 0, PODPROTO_SYNCED, 0},
		{ROW("\x08\x03\x12\x00"), 0, PODPROTO_DELETED, 0},
		{ROW(""), 0, 0, 0},
		{ROW("\x08\xff\xff\xff\xff\x0f"), 0, 0xffffffff, 0},
		{ROW("\x08\x01\x1a\x02xx\x20\x07"), 0, PODPROTO_ADDED, 0}, /* unknown fields */
		{ROW("\x08"), -EBADMSG, 0, 0},
		{ROW("\x12\x05"
		     "abc"),
		 -EBADMSG, 0, 0},
		{ROW("\x12\xff\xff\xff\xff\x0f"
		     "abc"),
		 -EBADMSG, 0, 0},
		{ROW("\x0a\x01x"), -EBADMSG, 0, 0}, /* a type that is a text */
		{ROW("\x0b\x0c"), -EBADMSG, 0, 0},  /* a group */
	};
	struct podproto *reader;
	struct podproto_event event;
	char *large = calloc(1, PODPROTO_EVENT_MAX + 1);

	assert_non_null(large);
	assert_int_equal(podproto_new(&reader), 0);
	for (size_t i = 0; i < LEN(table); i++) {
		print_message("# row %zu\n", i);
		assert_int_equal(podproto_read_event(reader, table[i].bytes, table[i].len, &event),
				 table[i].r);
		if (table[i].r == 0) {
			assert_int_equal(event.type, table[i].type);
			assert_int_equal(event.pod_len, table[i].pod_len);
		}
	}
	assert_int_equal(podproto_read_event(reader, large, PODPROTO_EVENT_MAX + 1, &event),
			 -EMSGSIZE);
	podproto_free(reader);
	free(large);
}

/* "containerID" is the field container_id. */
static bool same_name(const char *key, const char *field)
{
	while (*field) {
		if (*field == '_')
			field++;
		if (tolower((unsigned char)*key++) != (unsigned char)*field++)
			return false;
	}
	return !*key;
}

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *message,
						const char *key)
{
	for (unsigned int i = 0; i < message->n_fields; i++)
		if (same_name(key, message->fields[i].name))
			return &message->fields[i];
	return NULL;
}

static void expect_fields(const ProtobufCMessageDescriptor *message, const struct apirow *rows)
{
	unsigned int n = 0;

	if (message == &kube__ephemeral_container__descriptor)
		message = &kube__container__descriptor;
	for (const struct apirow *row = rows; row->key; row++) {
		const ProtobufCFieldDescriptor *field;

		if (!(row->flags & API_MANY) || (rows == podrows && row->type == API_PICKED))
			continue;
		field = field_of(message, row->key);
		if (!field)
			fail_msg("%s has no field %s", message->name, row->key);
		n++;
		assert_int_equal(row->type == API_TIME,
				 field->descriptor == &kube__time__descriptor);
		assert_int_equal(row->type == API_TEXT || row->type == API_WORD || !row->rows,
				 field->type != PROTOBUF_C_TYPE_MESSAGE || row->type == API_TIME);
		if (row->rows && field->descriptor != &kube__pair__descriptor)
			expect_fields(field->descriptor, row->rows);
	}
	assert_int_equal(n, message->n_fields);
}

/* A pod's kind is in JSON alone. */
static void test_fields(void **state)
{
	expect_fields(&kube__pod__descriptor, podrows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod in Kubernetes' protobuf is read as its JSON is", test_same),
		CLAIM("every field is read by its published number", test_every_field),
		CLAIM("each member that is read of many pods has a field, and each field a row",
		      test_fields),
		CLAIM("cut or changed bytes are a pod or are passed over", test_any_bytes),
		CLAIM("invalid and excessive texts are ignored", test_hostile),
		CLAIM("too many containers are refused for their number, and not for want of memory",
		      test_many),
		CLAIM("events are read past what is unknown in them", test_events),
	};

	return cmocka_run_group_tests_name("wire/kubernetes/pods", tests, NULL, NULL);
}
