// SPDX-License-Identifier: Apache-2.0
/* A small strict reader of protobuf exposition. */
#include "lib/net/protoread.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

struct bytes {
	const unsigned char *at, *end;
};

struct field {
	uint64_t number, type, value; /* of a varint or a double's bits */
	struct bytes bytes;
};

static uint64_t read_varint(struct bytes *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		unsigned char byte;

		assert_true(in->at < in->end);
		byte = *in->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	fail_msg("a number has too many bytes");
	return 0;
}

static struct bytes read_bytes(struct bytes *in)
{
	uint64_t len = read_varint(in);
	struct bytes bytes = {in->at, in->at + len};

	assert_true(len <= (uint64_t)(in->end - in->at));
	in->at += len;
	return bytes;
}

static bool next(struct bytes *in, struct field *ret)
{
	uint64_t tag;

	if (in->at == in->end)
		return false;
	tag = read_varint(in);
	*ret = (struct field){.number = tag >> 3, .type = tag & 7};
	if (ret->type == 0) {
		ret->value = read_varint(in);
	} else if (ret->type == 1) {
		assert_true(in->end - in->at >= 8);
		for (int i = 0; i < 8; i++)
			ret->value |= (uint64_t)*in->at++ << 8 * i;
	} else {
		assert_int_equal(ret->type, 2);
		ret->bytes = read_bytes(in);
	}
	return true;
}

static void is(const struct field *field, uint64_t type)
{
	if (field->type != type)
		fail_msg("field %llu has type %llu", (unsigned long long)field->number,
			 (unsigned long long)field->type);
}

static double number(const struct field *field)
{
	double value;

	is(field, 1);
	memcpy(&value, &field->value, sizeof(value));
	return value;
}

static int64_t zigzag(const struct field *field)
{
	is(field, 0);
	return (int64_t)(field->value >> 1) ^ -(int64_t)(field->value & 1);
}

static void add_bytes(struct buf *out, struct bytes bytes)
{
	buf_add(out, bytes.at, (size_t)(bytes.end - bytes.at));
}

/* name="value", or nothing that follows it. */
static void add_label(struct buf *out, struct bytes in)
{
	struct field field;

	while (next(&in, &field)) {
		is(&field, 2);
		assert_true(field.number == 1 || field.number == 2);
		if (field.number == 2)
			buf_adds(out, "=\"");
		for (const unsigned char *at = field.bytes.at; at < field.bytes.end; at++) {
			if (field.number == 2 && strchr("\\\"\n", *at) && *at)
				buf_addc(out, '\\');
			buf_addc(out, *at == '\n' ? 'n' : (char)*at);
		}
	}
	buf_addc(out, '"');
}

static void add_time(struct buf *out, struct bytes in)
{
	uint64_t parts[3] = {};
	struct field field;

	while (next(&in, &field)) {
		is(&field, 0);
		assert_true(field.number == 1 || field.number == 2);
		parts[field.number] = field.value;
	}
	buf_printf(out, "%llu.%09llu", (unsigned long long)parts[1], (unsigned long long)parts[2]);
}

static void add_exemplar(struct buf *out, struct bytes in)
{
	struct field field;
	size_t labels = 0;

	buf_adds(out, " # {");
	while (next(&in, &field)) {
		if (field.number == 1) {
			is(&field, 2);
			buf_adds(out, labels++ ? "," : "");
			add_label(out, field.bytes);
		} else if (field.number == 2) {
			buf_printf(out, "} %.17g", number(&field));
		} else {
			is(&field, 2);
			assert_int_equal(field.number, 3);
			buf_addc(out, ' ');
			add_time(out, field.bytes);
		}
	}
}

struct reader {
	struct buf *out;
	const char *name, *labels; /* without braces */
	struct protoread_native native;
};

static void begin_line(const struct reader *r, const char *suffix, const char *le)
{
	bool any = *r->labels || le;

	buf_printf(r->out, "%s%s%s%s", r->name, suffix, any ? "{" : "", r->labels);
	if (le)
		buf_printf(r->out, "%sle=\"%s\"", *r->labels ? "," : "", le);
	buf_adds(r->out, any ? "} " : " ");
}

/* The line has the family's name, as OpenMetrics has it. */
static void add_created(const struct reader *r, struct bytes in)
{
	struct reader family = *r;
	char name[128];
	size_t n = strlen(r->name);

	if (n > 6 && strcmp(r->name + n - 6, "_total") == 0)
		n -= 6;
	snprintf(name, sizeof(name), "%.*s", (int)n, r->name);
	family.name = name;
	begin_line(&family, "_created", NULL);
	add_time(r->out, in);
	buf_addc(r->out, '\n');
}

static void add_bucket(const struct reader *r, struct bytes in)
{
	struct bytes exemplar = {};
	uint64_t count = 0;
	struct field field;
	char le[32] = "";

	while (next(&in, &field)) {
		if (field.number == 1) {
			is(&field, 0);
			count = field.value;
		} else if (field.number == 2) {
			if (isinf(number(&field)))
				strcpy(le, "+Inf");
			else
				snprintf(le, sizeof(le), "%.15g", number(&field));
		} else {
			is(&field, 2);
			assert_int_equal(field.number, 3);
			exemplar = field.bytes;
		}
	}
	begin_line(r, "_bucket", le);
	buf_printf(r->out, "%llu", (unsigned long long)count);
	if (exemplar.at)
		add_exemplar(r->out, exemplar);
	buf_addc(r->out, '\n');
}

/* Buckets that deltas fill; a span begins where the one before ends. */
static void add_span(struct reader *r, struct bytes in, int *end)
{
	struct field field;

	while (next(&in, &field)) {
		if (field.number == 1) {
			*end += (int)zigzag(&field);
			continue;
		}
		is(&field, 0);
		assert_int_equal(field.number, 2);
		for (uint64_t i = 0; i < field.value; i++) {
			assert_true(r->native.n < PROTOREAD_BUCKETS);
			r->native.index[r->native.n++] = (*end)++;
		}
	}
}

static void read_native(struct reader *r, const struct field *field, int *end, size_t *filled)
{
	struct protoread_native *native = &r->native;

	if (field->number == 5) {
		native->schema = zigzag(field);
	} else if (field->number == 6) {
		native->zero_threshold = number(field);
	} else if (field->number == 7) {
		is(field, 0);
		native->zero = field->value;
	} else if (field->number == 12) {
		is(field, 2);
		add_span(r, field->bytes, end);
	} else {
		assert_int_equal(field->number, 13);
		assert_true(*filled < native->n);
		native->counts[*filled] =
			(*filled ? native->counts[*filled - 1] : 0) + (uint64_t)zigzag(field);
		++*filled;
	}
}

static void read_histogram(struct reader *r, struct bytes in)
{
	struct bytes created = {};
	size_t filled = 0;
	struct field field;
	double sum = 0;
	int end = 0;

	r->native = (struct protoread_native){};
	while (next(&in, &field)) {
		if (field.number == 1) {
			is(&field, 0);
			r->native.count = field.value;
		} else if (field.number == 2) {
			sum = number(&field);
		} else if (field.number == 3) {
			is(&field, 2);
			add_bucket(r, field.bytes);
		} else if (field.number == 15) {
			is(&field, 2);
			created = field.bytes;
		} else {
			read_native(r, &field, &end, &filled);
		}
	}
	assert_int_equal(filled, r->native.n);
	begin_line(r, "_sum", NULL);
	buf_printf(r->out, "%.17g\n", sum);
	begin_line(r, "_count", NULL);
	buf_printf(r->out, "%llu\n", (unsigned long long)r->native.count);
	if (created.at)
		add_created(r, created);
}

static void read_number(const struct reader *r, struct bytes in)
{
	struct field field;

	while (next(&in, &field)) {
		if (field.number == 1) {
			begin_line(r, "", NULL);
			buf_printf(r->out, "%.17g\n", number(&field));
		} else {
			is(&field, 2);
			assert_int_equal(field.number, 3);
			add_created(r, field.bytes);
		}
	}
}

static void read_metric(struct reader *r, struct bytes in, uint64_t type)
{
	static const unsigned int fields[] = {3, 2, 0, 5, 7};
	struct buf labels = {};
	struct field field;

	while (next(&in, &field)) {
		is(&field, 2);
		if (field.number == 1) {
			buf_adds(&labels, labels.len ? "," : "");
			add_label(&labels, field.bytes);
			continue;
		}
		assert_true(type < LEN(fields) && field.number == fields[type]);
		r->labels = buf_str(&labels);
		if (type == 4)
			read_histogram(r, field.bytes);
		else
			read_number(r, field.bytes);
	}
	buf_free(&labels);
}

static void read_family(struct reader *r, struct bytes in)
{
	struct buf name = {};
	uint64_t type = 0;
	struct field field;

	while (next(&in, &field)) {
		if (field.number == 3) {
			is(&field, 0);
			type = field.value;
			continue;
		}
		is(&field, 2);
		assert_true(field.number >= 1 && field.number <= 5);
		if (field.number == 1)
			add_bytes(&name, field.bytes);
		r->name = buf_str(&name);
		if (field.number == 4)
			read_metric(r, field.bytes, type);
	}
	buf_free(&name);
}

struct protoread_native protoread_page(const struct buf *page, struct buf *out)
{
	struct bytes in = {(const unsigned char *)page->data,
			   (const unsigned char *)page->data + page->len};
	struct reader r = {.out = out};

	while (in.at < in.end)
		read_family(&r, read_bytes(&in));
	return r.native;
}
