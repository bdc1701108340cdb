// SPDX-License-Identifier: Apache-2.0
/* A small strict parser of Prometheus exposition. */
#include "lib/net/exporead.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/claim.h"

#define FAMILIES_MAX 112

struct reader {
	const char *at;
	bool openmetrics;
	char families[FAMILIES_MAX][128];
	size_t n_families;
	char type[16];
	char **keys; /* name and labels of each sample, to find what is there twice */
	size_t n_keys, room;
	uint64_t bucket; /* the last one's count */
	size_t n_created;
	bool ended;
};

static size_t span_number(const char *text)
{
	size_t n = 0;

	while (isdigit((unsigned char)text[n]) || text[n] == '.')
		n++;
	return n;
}

static size_t span_name(const char *text)
{
	size_t n = 0;

	while (isalpha((unsigned char)text[n]) || text[n] == '_' || text[n] == ':' ||
	       (n && isdigit((unsigned char)text[n])))
		n++;
	return n;
}

/* Copies n bytes of text that are a word. */
static void take(char *ret, size_t size, const char *text, size_t n)
{
	assert_true(n > 0 && n < size);
	memcpy(ret, text, n);
	ret[n] = '\0';
}

/* Not strncmp(): with sanitizers that looks for the end of the page at each call. */
static bool begins(const char *at, const char *with)
{
	for (; *with; at++, with++)
		if (*at != *with)
			return false;
	return true;
}

static void expect(struct reader *r, const char *text)
{
	if (!begins(r->at, text))
		fail_msg("expected '%s' at '%.60s'", text, r->at);
	r->at += strlen(text);
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && strcmp(text + a - b, end) == 0;
}

static const char *family(const struct reader *r)
{
	return r->n_families ? r->families[r->n_families - 1] : "";
}

static void read_help(struct reader *r)
{
	char name[128];
	size_t n = span_name(r->at);

	take(name, sizeof(name), r->at, n);
	for (size_t i = 0; i < r->n_families; i++)
		assert_string_not_equal(r->families[i], name);
	assert_true(r->n_families < FAMILIES_MAX);
	strcpy(r->families[r->n_families++], name);
	r->at += n;
	expect(r, " ");
	assert_true(*r->at > ' ');
	r->at += strcspn(r->at, "\n");
	expect(r, "\n# TYPE ");
	expect(r, name);
	expect(r, " ");
	n = strcspn(r->at, "\n");
	take(r->type, sizeof(r->type), r->at, n);
	r->at += n;
	expect(r, "\n");
	if (!begins(r->at, "# UNIT "))
		return;
	assert_true(r->openmetrics);
	r->at += 7;
	expect(r, name);
	expect(r, " ");
	n = span_name(r->at);
	take(name, sizeof(name), r->at, n);
	assert_true(ends_with(family(r), name));
	r->at += n;
	expect(r, "\n");
}

static void read_value(struct reader *r, char *ret, size_t size)
{
	size_t n = 0;

	while (*r->at != '"') {
		uint32_t code;
		size_t len;

		assert_true(*r->at && *r->at != '\n');
		if (*r->at == '\\') {
			r->at++;
			assert_non_null(memchr("\\\"n", *r->at, 3));
			assert_true(n + 1 < size);
			ret[n++] = *r->at == 'n' ? '\n' : *r->at;
			r->at++;
			continue;
		}
		len = utf8_decode(r->at, strnlen(r->at, 4), &code);
		assert_true(len > 0 && !utf8_is_treacherous(code) && n + len < size);
		memcpy(ret + n, r->at, len);
		n += len;
		r->at += len;
	}
	ret[n] = '\0';
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void read_exemplar_label(struct reader *r, const char *name, char *ret, size_t size)
{
	if (!begins(r->at, name))
		return;
	r->at += strlen(name);
	read_value(r, ret, size);
	expect(r, "\"");
	assert_true(*ret != '\0');
}

static void read_exemplar(struct reader *r, struct exporead_sample *ret)
{
	const char *le = ret->labels[ret->n_labels - 1].value;
	char *end;

	expect(r, " # {");
	assert_true(r->openmetrics && ends_with(ret->name, "_bucket"));
	ret->exemplar = true;
	read_exemplar_label(r, "id=\"", ret->id, sizeof(ret->id));
	if (ret->id[0] && *r->at == ',')
		r->at++;
	read_exemplar_label(r, "pod=\"", ret->pod, sizeof(ret->pod));
	expect(r, "} ");
	assert_true(ret->id[0] || ret->pod[0]);
	assert_true(count_characters(ret->id) + count_characters(ret->pod) + (ret->id[0] ? 2 : 0) +
			    (ret->pod[0] ? 3 : 0) <=
		    128);
	ret->exemplar_value = strtod(r->at, &end);
	assert_true(end > r->at && (*le == '+' || ret->exemplar_value <= strtod(le, NULL)));
	r->at = end;
	if (*r->at == ' ')
		r->at += 1 + span_number(r->at + 1);
}

static void read_labels(struct reader *r, struct exporead_sample *sample)
{
	expect(r, "{");
	for (;;) {
		size_t n = span_name(r->at), i = sample->n_labels++;

		assert_true(i < EXPOREAD_LABELS);
		take(sample->labels[i].name, sizeof(sample->labels[i].name), r->at, n);
		r->at += n;
		expect(r, "=\"");
		read_value(r, sample->labels[i].value, sizeof(sample->labels[i].value));
		expect(r, "\"");
		if (*r->at != ',')
			break;
		r->at++;
	}
	expect(r, "}");
}

static const char *suffix_of(const struct reader *r, const struct exporead_sample *sample)
{
	size_t n = strlen(family(r));

	if (strncmp(sample->name, family(r), n) != 0)
		fail_msg("%s is not of the family %s", sample->name, family(r));
	return sample->name + n;
}

static void check_bucket(struct reader *r, const struct exporead_sample *sample)
{
	const char *le = sample->labels[sample->n_labels - 1].value;
	uint64_t count = strtoull(sample->value, NULL, 10);

	assert_string_equal(sample->labels[sample->n_labels - 1].name, "le");
	assert_true(count >= r->bucket);
	assert_true(!r->openmetrics || strchr(le, '.') || strcmp(le, "+Inf") == 0);
	r->bucket = count;
}

/* When a series began is a property of it, and no series. */
static bool is_created(const struct reader *r, const char *suffix)
{
	return r->openmetrics && strcmp(suffix, "_created") == 0 &&
	       (strcmp(r->type, "counter") == 0 || strcmp(r->type, "histogram") == 0);
}

static void check_suffix(struct reader *r, const struct exporead_sample *sample)
{
	const char *suffix = suffix_of(r, sample);

	if (is_created(r, suffix)) {
		r->n_created++;
		return;
	}
	if (strcmp(r->type, "histogram") == 0) {
		if (strcmp(suffix, "_bucket") == 0) {
			check_bucket(r, sample);
		} else if (strcmp(suffix, "_count") == 0) {
			assert_true(strtoull(sample->value, NULL, 10) == r->bucket);
			r->bucket = 0;
		} else {
			assert_string_equal(suffix, "_sum");
		}
		return;
	}
	if (r->openmetrics && strcmp(r->type, "counter") == 0)
		assert_string_equal(suffix, "_total");
	else if (r->openmetrics && strcmp(r->type, "info") == 0)
		assert_string_equal(suffix, "_info");
	else
		assert_string_equal(suffix, "");
	assert_true(ends_with(sample->name, "_total") == (strcmp(r->type, "counter") == 0));
}

static void keep_key(struct reader *r, const char *begin, const char *end)
{
	if (r->n_keys == r->room) {
		r->room = r->room ? 2 * r->room : 256;
		r->keys = realloc(r->keys, r->room * sizeof(*r->keys));
		assert_non_null(r->keys);
	}
	r->keys[r->n_keys] = strndup(begin, (size_t)(end - begin));
	assert_non_null(r->keys[r->n_keys++]);
}

static void read_sample(struct reader *r, struct exporead_sample *ret)
{
	const char *begin = r->at;
	size_t n = span_name(r->at);

	*ret = (struct exporead_sample){};
	take(ret->name, sizeof(ret->name), r->at, n);
	r->at += n;
	if (*r->at == '{')
		read_labels(r, ret);
	keep_key(r, begin, r->at);
	expect(r, " ");
	n = span_number(r->at);
	take(ret->value, sizeof(ret->value), r->at, n);
	r->at += n;
	if (*r->at == ' ')
		read_exemplar(r, ret);
	expect(r, "\n");
	check_suffix(r, ret);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_keys(struct reader *r)
{
	qsort(r->keys, r->n_keys, sizeof(*r->keys), compare);
	for (size_t i = 1; i < r->n_keys; i++) {
		if (strcmp(r->keys[i - 1], r->keys[i]) == 0)
			fail_msg("%s is there twice", r->keys[i]);
	}
	for (size_t i = 0; i < r->n_keys; i++)
		free(r->keys[i]);
	free(r->keys);
}

size_t exporead_page(const char *page, bool openmetrics, exporead_fn fn, void *userdata)
{
	static struct reader r;
	struct exporead_sample sample;

	r = (struct reader){.at = page, .openmetrics = openmetrics};
	while (*r.at) {
		assert_false(r.ended);
		if (begins(r.at, "# EOF\n")) {
			r.ended = true;
			r.at += 6;
		} else if (begins(r.at, "# HELP ")) {
			r.at += 7;
			read_help(&r);
		} else {
			read_sample(&r, &sample);
			if (fn)
				fn(userdata, &sample);
		}
	}
	assert_int_equal(r.ended, openmetrics);
	check_keys(&r);
	return r.n_keys - r.n_created;
}

struct sum {
	const char *name, *label, *value;
	uint64_t sum;
};

static void add(void *userdata, const struct exporead_sample *sample)
{
	struct sum *sum = userdata;
	bool fits = !sum->label;

	for (size_t i = 0; i < sample->n_labels && sum->label; i++)
		fits |= strcmp(sample->labels[i].name, sum->label) == 0 &&
			strcmp(sample->labels[i].value, sum->value) == 0;
	if (fits && strcmp(sample->name, sum->name) == 0)
		sum->sum += strtoull(sample->value, NULL, 10);
}

uint64_t exporead_sum(const char *page, const char *name, const char *label, const char *value)
{
	struct sum sum = {.name = name, .label = label, .value = value};
	size_t n = strlen(page);

	exporead_page(page, n >= 6 && strcmp(page + n - 6, "# EOF\n") == 0, add, &sum);
	return sum.sum;
}
