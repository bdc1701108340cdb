// SPDX-License-Identifier: Apache-2.0
/* Prometheus exposition, both formats. */
#include "wire/prometheus/exposition.h"

#include <string.h>

#include "core/metrics/label.h"

#define BILLIONTHS 9

void expo_begin(struct expo *ret, struct buf *out, enum expo_format format)
{
	*ret = (struct expo){.out = out, .format = format};
}

int expo_end(struct expo *expo)
{
	if (expo->format == EXPO_OPENMETRICS)
		buf_adds(expo->out, "# EOF\n");
	return buf_error(expo->out);
}

void expo_family(struct expo *expo, const struct expo_family *family)
{
	expo->family = family;
	expo->announced = false;
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

void expo_u64(struct expo *expo, const struct expo_label *labels, size_t n_labels, uint64_t value)
{
	expo_decimal(expo, labels, n_labels, value, 0);
}

void expo_decimal(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t units, unsigned int decimals)
{
	uint64_t one = 1;

	for (unsigned int i = 0; i < decimals; i++)
		one *= 10;
	begin_sample(expo, suffix_of(expo->family->type), labels, n_labels);
	add_decimal(expo->out, units / one, units % one, decimals);
	end_sample(expo);
}

void expo_counter(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t value, int64_t created_wall_ns)
{
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

/* One that names neither a record nor a pod is worth nothing. */
static bool is_exemplar(const struct exemplar *exemplar)
{
	return exemplar && (exemplar->id[0] || exemplar->pod[0]);
}

static void add_exemplar(struct expo *expo, const struct exemplar *exemplar)
{
	struct buf *out = expo->out;
	bool first = true;

	if (expo->format != EXPO_OPENMETRICS || !is_exemplar(exemplar))
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
