// SPDX-License-Identifier: Apache-2.0
/* Prometheus exposition in its three formats. */
#include "wire/prometheus/exposition.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "core/metrics/label.h"

/* --- protobuf's wire format ------------------------------------------------------------------- */

/*
 * Writes fields of protobuf messages (protobuf.dev/programming-guides/encoding) to a buffer, whose
 * errors stick. Nothing is left out for being 0 or empty.
 */

#define VARINT_MAX 10

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static size_t encode_varint(uint64_t value, char ret[static VARINT_MAX])
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		ret[n++] = (char)(value | 0x80);
	ret[n++] = (char)value;
	return n;
}

static void add_varint(struct buf *out, uint64_t value)
{
	char bytes[VARINT_MAX];

	buf_add(out, bytes, encode_varint(value, bytes));
}

static void add_tag(struct buf *out, unsigned int field, enum wire_type type)
{
	add_varint(out, (uint64_t)field << 3 | type);
}

static void protobuf_add_u64(struct buf *out, unsigned int field, uint64_t value)
{
	add_tag(out, field, VARINT);
	add_varint(out, value);
}

/* For the types sint32 and sint64. */
static void protobuf_add_s64(struct buf *out, unsigned int field, int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;

	protobuf_add_u64(out, field, value < 0 ? ~twice : twice);
}

static void protobuf_add_double(struct buf *out, unsigned int field, double value)
{
	char bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(bits >> 8 * i);
	add_tag(out, field, FIXED64);
	buf_add(out, bytes, sizeof(bytes));
}

static void protobuf_add_string(struct buf *out, unsigned int field, const char *value)
{
	size_t len = strlen(value);

	add_tag(out, field, BYTES);
	add_varint(out, len);
	buf_add(out, value, len);
}

/* A message as a field: what is added between the two is in it. begin returns what end takes. */
static size_t protobuf_begin(struct buf *out, unsigned int field)
{
	add_tag(out, field, BYTES);
	return out->len;
}

/* Puts the length before what was added behind begin, which without protobuf_begin() makes a
 * delimited message. */
static void protobuf_end(struct buf *out, size_t begin)
{
	size_t len = out->len - begin, n;
	char bytes[VARINT_MAX];

	n = encode_varint(len, bytes);
	buf_add(out, bytes, n);
	if (buf_error(out))
		return;
	memmove(out->data + begin + n, out->data + begin, len);
	memcpy(out->data + begin, bytes, n);
}

/* --- exposition ------------------------------------------------------------------------------- */

#define BILLIONTHS 9

void expo_begin(struct expo *ret, struct buf *out, enum expo_format format)
{
	*ret = (struct expo){.out = out, .format = format};
}

static void end_family(struct expo *expo)
{
	if (expo->announced && expo->format == EXPO_PROTOBUF)
		protobuf_end(expo->out, expo->begin);
	expo->announced = false;
}

int expo_end(struct expo *expo)
{
	end_family(expo);
	if (expo->format == EXPO_OPENMETRICS)
		buf_adds(expo->out, "# EOF\n");
	return buf_error(expo->out);
}

void expo_family(struct expo *expo, const struct expo_family *family)
{
	end_family(expo);
	expo->family = family;
}

/* What a sample's name has behind the family's. */
static const char *suffix_of(enum expo_type type)
{
	return type == EXPO_COUNTER ? "_total" : type == EXPO_INFO ? "_info" : "";
}

static const char *type_name(enum expo_type type, enum expo_format format)
{
	static const char *const names[][2] = {
		[EXPO_COUNTER] = {"counter", "counter"},       [EXPO_GAUGE] = {"gauge", "gauge"},
		[EXPO_HISTOGRAM] = {"histogram", "histogram"}, [EXPO_INFO] = {"gauge", "info"},
		[EXPO_UNKNOWN] = {"untyped", "unknown"},
	};

	return names[type][format == EXPO_OPENMETRICS];
}

static void escape(struct buf *out, const char *text, const char *special)
{
	while (*text) {
		size_t plain = strcspn(text, special);

		buf_add(out, text, plain);
		text += plain;
		if (!*text)
			break;
		buf_addc(out, '\\');
		buf_addc(out, *text == '\n' ? 'n' : *text);
		text++;
	}
}

static void comment(struct expo *expo, const char *keyword)
{
	const struct expo_family *family = expo->family;

	buf_adds(expo->out, "# ");
	buf_adds(expo->out, keyword);
	buf_addc(expo->out, ' ');
	buf_adds(expo->out, family->name);
	/* OpenMetrics speaks of the family, the text format of its samples. */
	if (expo->format == EXPO_TEXT)
		buf_adds(expo->out, suffix_of(family->type));
	buf_addc(expo->out, ' ');
}

static void announce(struct expo *expo)
{
	const struct expo_family *family = expo->family;

	if (expo->announced)
		return;
	expo->announced = true;
	comment(expo, "HELP");
	/* Only OpenMetrics knows an escaped quote here, and it allows a bare one. */
	escape(expo->out, family->help, "\\\n");
	buf_addc(expo->out, '\n');
	comment(expo, "TYPE");
	buf_adds(expo->out, type_name(family->type, expo->format));
	buf_addc(expo->out, '\n');
	if (expo->format != EXPO_OPENMETRICS || !family->unit)
		return;
	comment(expo, "UNIT");
	buf_adds(expo->out, family->unit);
	buf_addc(expo->out, '\n');
}

static void add_value(struct buf *out, const char *text)
{
	char value[LABEL_MAX + 1];

	label_clean(value, text);
	escape(out, value, "\\\"\n");
}

/* A sample's name and labels, but for the end of the last label. Without one nothing is open. */
static bool begin_labels(struct expo *expo, const char *suffix, const struct expo_label *labels,
			 size_t n_labels)
{
	announce(expo);
	buf_adds(expo->out, expo->family->name);
	buf_adds(expo->out, suffix);
	for (size_t i = 0; i < n_labels; i++) {
		buf_adds(expo->out, i ? "\"," : "{");
		buf_adds(expo->out, labels[i].name);
		buf_adds(expo->out, "=\"");
		add_value(expo->out, labels[i].value);
	}
	return n_labels > 0;
}

static void begin_sample(struct expo *expo, const char *suffix, const struct expo_label *labels,
			 size_t n_labels)
{
	buf_adds(expo->out, begin_labels(expo, suffix, labels, n_labels) ? "\"} " : " ");
}

static void end_sample(struct expo *expo)
{
	buf_addc(expo->out, '\n');
	expo->samples++;
}

/* whole and a fraction of 10^decimals parts, without zeros at the end. */
static void add_decimal(struct buf *out, uint64_t whole, uint64_t fraction, unsigned int decimals)
{
	for (; decimals > 0 && fraction % 10 == 0; decimals--)
		fraction /= 10;
	buf_add_u64(out, whole);
	if (decimals > 0)
		buf_printf(out, ".%0*llu", (int)decimals, (unsigned long long)fraction);
}

static void add_billionths(struct buf *out, uint64_t value)
{
	add_decimal(out, value / HISTOGRAM_ONE, value % HISTOGRAM_ONE, BILLIONTHS);
}

static void add_created(struct expo *expo, const struct expo_label *labels, size_t n_labels,
			int64_t wall_ns)
{
	if (expo->format != EXPO_OPENMETRICS || wall_ns <= 0)
		return;
	begin_sample(expo, "_created", labels, n_labels);
	add_billionths(expo->out, (uint64_t)wall_ns);
	buf_addc(expo->out, '\n');
}

/* One that names neither a record nor a pod is worth nothing. */
static bool is_exemplar(const struct exemplar *exemplar)
{
	return exemplar->id[0] || exemplar->pod[0];
}

/* --- protobuf: the fields of the messages of io.prometheus.client ----------------------------- */

enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC, FAMILY_UNIT };
enum { METRIC_LABEL = 1 };
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { TIMESTAMP_SECONDS = 1, TIMESTAMP_NANOS };
enum { EXEMPLAR_LABEL = 1, EXEMPLAR_VALUE, EXEMPLAR_TIMESTAMP };
enum { BUCKET_COUNT = 1, BUCKET_BOUND, BUCKET_EXEMPLAR };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };
enum { NUMBER_VALUE = 1, COUNTER_CREATED = 3 };
enum {
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM,
	HISTOGRAM_BUCKET,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD,
	HISTOGRAM_ZERO_COUNT,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA,
	HISTOGRAM_CREATED = 15,
};

/* The number of the type, and the field of a metric that holds one of it. */
static const struct {
	unsigned int type, field;
} proto_types[] = {
	[EXPO_COUNTER] = {0, 3}, [EXPO_GAUGE] = {1, 2},	  [EXPO_HISTOGRAM] = {4, 7},
	[EXPO_INFO] = {1, 2},	 [EXPO_UNKNOWN] = {3, 5},
};

static double decimal(uint64_t units, uint64_t one)
{
	return (double)units / (double)one;
}

/* Names are those of samples, as in the text format. */
static void proto_add_name(struct expo *expo)
{
	size_t begin = protobuf_begin(expo->out, FAMILY_NAME);

	buf_adds(expo->out, expo->family->name);
	buf_adds(expo->out, suffix_of(expo->family->type));
	protobuf_end(expo->out, begin);
}

static void proto_announce(struct expo *expo)
{
	const struct expo_family *family = expo->family;

	if (expo->announced)
		return;
	expo->announced = true;
	expo->begin = expo->out->len;
	proto_add_name(expo);
	protobuf_add_string(expo->out, FAMILY_HELP, family->help);
	protobuf_add_u64(expo->out, FAMILY_TYPE, proto_types[family->type].type);
	if (family->unit)
		protobuf_add_string(expo->out, FAMILY_UNIT, family->unit);
}

static void proto_add_label(struct buf *out, unsigned int field, const char *name,
			    const char *value)
{
	char clean[LABEL_MAX + 1];
	size_t begin = protobuf_begin(out, field);

	label_clean(clean, value);
	protobuf_add_string(out, LABEL_NAME, name);
	protobuf_add_string(out, LABEL_VALUE, clean);
	protobuf_end(out, begin);
}

static void proto_add_time(struct buf *out, unsigned int field, int64_t wall_ns)
{
	size_t begin;

	if (wall_ns <= 0)
		return;
	begin = protobuf_begin(out, field);
	protobuf_add_u64(out, TIMESTAMP_SECONDS, (uint64_t)wall_ns / HISTOGRAM_ONE);
	protobuf_add_u64(out, TIMESTAMP_NANOS, (uint64_t)wall_ns % HISTOGRAM_ONE);
	protobuf_end(out, begin);
}

struct proto_metric {
	size_t metric, value; /* where the messages begin */
};

static struct proto_metric proto_begin(struct expo *expo, const struct expo_label *labels,
				       size_t n_labels)
{
	struct proto_metric begin;

	proto_announce(expo);
	begin.metric = protobuf_begin(expo->out, FAMILY_METRIC);
	for (size_t i = 0; i < n_labels; i++)
		proto_add_label(expo->out, METRIC_LABEL, labels[i].name, labels[i].value);
	begin.value = protobuf_begin(expo->out, proto_types[expo->family->type].field);
	return begin;
}

static void proto_end(struct expo *expo, const struct proto_metric *begin)
{
	protobuf_end(expo->out, begin->value);
	protobuf_end(expo->out, begin->metric);
}

static void proto_add_number(struct expo *expo, const struct expo_label *labels, size_t n_labels,
			     double value, int64_t created_wall_ns)
{
	struct proto_metric begin = proto_begin(expo, labels, n_labels);

	protobuf_add_double(expo->out, NUMBER_VALUE, value);
	if (expo->family->type == EXPO_COUNTER)
		proto_add_time(expo->out, COUNTER_CREATED, created_wall_ns);
	proto_end(expo, &begin);
	expo->samples++;
}

static void proto_add_exemplar(struct buf *out, const struct exemplar *exemplar)
{
	size_t begin;

	if (!is_exemplar(exemplar))
		return;
	begin = protobuf_begin(out, BUCKET_EXEMPLAR);
	if (exemplar->id[0])
		proto_add_label(out, EXEMPLAR_LABEL, EXEMPLAR_ID_NAME, exemplar->id);
	if (exemplar->pod[0])
		proto_add_label(out, EXEMPLAR_LABEL, EXEMPLAR_POD_NAME, exemplar->pod);
	protobuf_add_double(out, EXEMPLAR_VALUE, decimal(exemplar->billionths, HISTOGRAM_ONE));
	proto_add_time(out, EXEMPLAR_TIMESTAMP, exemplar->wall_ns);
	protobuf_end(out, begin);
}

static void proto_add_buckets(struct buf *out, const struct expo_histogram *h)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= h->bounds->n; i++) {
		size_t begin = protobuf_begin(out, HISTOGRAM_BUCKET);

		count += h->histogram->buckets[i];
		protobuf_add_u64(out, BUCKET_COUNT, count);
		protobuf_add_double(out, BUCKET_BOUND,
				    i < h->bounds->n ? decimal(h->bounds->at[i], HISTOGRAM_ONE)
						     : __builtin_inf());
		if (h->exemplars && h->histogram->buckets[i])
			proto_add_exemplar(out, &h->exemplars[i]);
		protobuf_end(out, begin);
	}
}

/* A span is buckets without a gap; its offset counts from the end of the one before, that of the
 * first from 0. */
static void proto_add_spans(struct buf *out, const struct native *native)
{
	int end = 0;

	for (size_t i = 0, n; i < native->n; i += n) {
		size_t begin = protobuf_begin(out, HISTOGRAM_SPAN);

		for (n = 1; i + n < native->n && native->index[i + n] == native->index[i] + (int)n;)
			n++;
		protobuf_add_s64(out, SPAN_OFFSET, native->index[i] - end);
		protobuf_add_u64(out, SPAN_LENGTH, n);
		protobuf_end(out, begin);
		end = native->index[i] + (int)n;
	}
}

static void proto_add_native(struct buf *out, const struct native *native)
{
	uint64_t before = 0;

	protobuf_add_s64(out, HISTOGRAM_SCHEMA, native_schema(native));
	protobuf_add_double(out, HISTOGRAM_ZERO_THRESHOLD, 1.0 / (1 << -NATIVE_ZERO_LOG2));
	protobuf_add_u64(out, HISTOGRAM_ZERO_COUNT, native->zero);
	proto_add_spans(out, native);
	for (size_t i = 0; i < native->n; i++) {
		protobuf_add_s64(out, HISTOGRAM_DELTA, (int64_t)(native->count[i] - before));
		before = native->count[i];
	}
}

static void proto_add_histogram(struct expo *expo, const struct expo_label *labels, size_t n_labels,
				const struct expo_histogram *h)
{
	const struct histogram *histogram = h->histogram;
	struct proto_metric begin = proto_begin(expo, labels, n_labels);

	protobuf_add_u64(expo->out, HISTOGRAM_COUNT, histogram->count);
	protobuf_add_double(expo->out, HISTOGRAM_SUM,
			    (double)histogram->sum_whole +
				    decimal(histogram->sum_billionths, HISTOGRAM_ONE));
	proto_add_buckets(expo->out, h);
	proto_add_native(expo->out, &histogram->native);
	proto_add_time(expo->out, HISTOGRAM_CREATED, h->created_wall_ns);
	proto_end(expo, &begin);
	expo->samples += h->bounds->n + 3;
}

/* --- all formats -------------------------------------------------------------------------------- */

void expo_u64(struct expo *expo, const struct expo_label *labels, size_t n_labels, uint64_t value)
{
	expo_decimal(expo, labels, n_labels, value, 0);
}

void expo_count(struct expo *expo, const char *label, const char *of, uint64_t value)
{
	expo_u64(expo, &(struct expo_label){label, of}, 1, value);
}

void expo_decimal(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t units, unsigned int decimals)
{
	uint64_t one = 1;

	for (unsigned int i = 0; i < decimals; i++)
		one *= 10;
	if (expo->format == EXPO_PROTOBUF) {
		proto_add_number(expo, labels, n_labels, decimal(units, one), 0);
		return;
	}
	begin_sample(expo, suffix_of(expo->family->type), labels, n_labels);
	add_decimal(expo->out, units / one, units % one, decimals);
	end_sample(expo);
}

void expo_counter(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t value, int64_t created_wall_ns)
{
	if (expo->format == EXPO_PROTOBUF) {
		proto_add_number(expo, labels, n_labels, (double)value, created_wall_ns);
		return;
	}
	expo_u64(expo, labels, n_labels, value);
	add_created(expo, labels, n_labels, created_wall_ns);
}

static void add_exemplar_label(struct buf *out, const char *name, const char *value, bool *first)
{
	if (!*value)
		return;
	buf_adds(out, *first ? "" : ",");
	buf_adds(out, name);
	buf_adds(out, "=\"");
	add_value(out, value);
	buf_addc(out, '"');
	*first = false;
}

static void add_exemplar(struct expo *expo, const struct exemplar *exemplar)
{
	struct buf *out = expo->out;
	bool first = true;

	if (expo->format != EXPO_OPENMETRICS || !exemplar || !is_exemplar(exemplar))
		return;
	buf_adds(out, " # {");
	add_exemplar_label(out, EXEMPLAR_ID_NAME, exemplar->id, &first);
	add_exemplar_label(out, EXEMPLAR_POD_NAME, exemplar->pod, &first);
	buf_adds(out, "} ");
	add_billionths(out, exemplar->billionths);
	if (exemplar->wall_ns <= 0)
		return;
	buf_addc(out, ' ');
	add_billionths(out, (uint64_t)exemplar->wall_ns);
}

/* bound NULL is +Inf. */
static void add_bucket(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		       const uint64_t *bound, uint64_t count)
{
	struct buf *out = expo->out;

	buf_adds(out, begin_labels(expo, "_bucket", labels, n_labels) ? "\",le=\"" : "{le=\"");
	if (bound)
		add_billionths(out, *bound);
	else
		buf_adds(out, "+Inf");
	/* OpenMetrics wants a float there. */
	if (bound && *bound % HISTOGRAM_ONE == 0 && expo->format == EXPO_OPENMETRICS)
		buf_adds(out, ".0");
	buf_adds(out, "\"} ");
	buf_add_u64(out, count);
}

void expo_histogram(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		    const struct expo_histogram *h)
{
	const struct histogram *histogram = h->histogram;
	const struct histogram_bounds *bounds = h->bounds;
	uint64_t count = 0;

	if (expo->format == EXPO_PROTOBUF) {
		proto_add_histogram(expo, labels, n_labels, h);
		return;
	}
	for (size_t i = 0; i <= bounds->n; i++) {
		count += histogram->buckets[i];
		add_bucket(expo, labels, n_labels, i < bounds->n ? &bounds->at[i] : NULL, count);
		add_exemplar(expo, h->exemplars && histogram->buckets[i] ? &h->exemplars[i] : NULL);
		end_sample(expo);
	}
	begin_sample(expo, "_sum", labels, n_labels);
	add_decimal(expo->out, histogram->sum_whole, histogram->sum_billionths, BILLIONTHS);
	end_sample(expo);
	begin_sample(expo, "_count", labels, n_labels);
	buf_add_u64(expo->out, histogram->count);
	end_sample(expo);
	add_created(expo, labels, n_labels, h->created_wall_ns);
}
