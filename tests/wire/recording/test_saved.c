// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine and wire/recording: what an engine keeps goes through a file and comes
 * back. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/relay_plays.h"
#include "wire/recording/recording.h"

struct lines {
	char **list;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, and without the times at which they were written. */
static struct lines lines_of(const struct obs_list *kept)
{
	struct lines lines = {.list = calloc(kept->n + 1, sizeof(char *))};

	assert_non_null(lines.list);
	for (size_t i = 0; i < kept->n; i++) {
		_cleanup_(buf_free) struct buf line = {};
		struct obs obs = kept->list[i];

		obs.at_ns = 0;
		/* Polls that tell nothing new are not written. */
		if (obs.type == OBS_POD)
			obs.pod.asked_ns = 0;
		assert_int_equal(rec_write_obs(&line, &obs), 0);
		lines.list[lines.n] = strdup(buf_str(&line));
		assert_non_null(lines.list[lines.n++]);
	}
	qsort(lines.list, lines.n, sizeof(*lines.list), by_text);
	return lines;
}

static void lines_free(struct lines *lines)
{
	while (lines->n)
		free(lines->list[--lines->n]);
	free(lines->list);
}

static void assert_same(const struct obs_list *a, const struct obs_list *b, const char *where,
			size_t at)
{
	struct lines one = lines_of(a), other = lines_of(b);

	for (size_t i = 0; i < one.n && i < other.n; i++)
		if (strcmp(one.list[i], other.list[i]) != 0)
			fail_msg("%s, %zu:\n%s%s", where, at, one.list[i], other.list[i]);
	if (one.n != other.n)
		fail_msg("%s, %zu: %zu lines, not %zu", where, at, other.n, one.n);
	lines_free(&one);
	lines_free(&other);
}

/* What the first engine has kept, as the second read and kept it again. */
static void check(const struct relay *relay, size_t at, const char *where)
{
	const struct relay_leg whole = {.at = at}, bits = {.at = at, .incremental = true};
	struct relay_run a, b;

	relay_run(relay, &whole, &a);
	relay_run(relay, &bits, &b);
	assert_same(&a.again, &b.again, where, at);
	assert_same(&a.kept, &a.again, where, at);
	relay_run_close(&a);
	relay_run_close(&b);
}

static void test_alike(void **state)
{
	for (size_t i = 0; i < relay_n_plays; i++) {
		const struct relay_play *play = &relay_plays[i];
		struct relay relay;

		relay_open(&relay, play->config, play->play);
		for (size_t at = 0; at < relay.fed.n; at++)
			check(&relay, at, play->name);
		relay_close(&relay);
	}
}

static void test_lines(void **state)
{
	for (size_t i = 0; i < relay_n_plays; i++) {
		const struct relay_play *play = &relay_plays[i];
		struct relay_leg leg = {};
		struct relay relay;
		struct relay_run run;

		relay_open(&relay, play->config, play->play);
		leg.at = relay.fed.n / 2 + 8;
		relay_run(&relay, &leg, &run);
		for (size_t n = 0; n < run.kept.n; n++) {
			_cleanup_(buf_free) struct buf line = {}, again = {};
			struct obs obs;

			assert_int_equal(rec_write_obs(&line, &run.kept.list[n]), 0);
			assert_int_equal(rec_read_line(line.data, line.len, &obs), 0);
			assert_int_equal(rec_write_obs(&again, &obs), 0);
			assert_string_equal(buf_str(&line), buf_str(&again));
		}
		relay_run_close(&run);
		relay_close(&relay);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what is kept bit by bit comes to what is kept at once, and comes back as it was",
		      test_alike),
		CLAIM("every line of it is read as it was written", test_lines),
	};

	return cmocka_run_group_tests_name("wire/recording: what an engine keeps", tests, NULL,
					   NULL);
}
