// SPDX-License-Identifier: Apache-2.0
/* Claims about the verdict of a story, and what stands where in its table. */
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "lib/claim.h"
#include "wire/account/account.h"
#include "wire/account/text.h"

#define BEGIN_NS  (100 * NS_PER_S)
#define STOPS_MAX 16

/* A story of containers that are called by letters. */
struct scene {
	struct record_stop records[STOPS_MAX];
	struct account_stop stops[STOPS_MAX], *list[STOPS_MAX];
	struct account_pod pods[STOPS_MAX];
	struct account_boot_end end;
	struct account_story story;
};

static const char *const names[STOPS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h",
					     "i", "j", "k", "l", "m", "n", "o", "p"};

/* How each ended: "g": well; "k": killed, "o": for want of memory; "f": it failed; "u": unknown;
 * "c": a process was cut; "d": deaf; "r": no record; "l": it was left. */
static void add_stop(struct scene *s, size_t i, char how)
{
	struct record_stop *r = &s->records[i];

	*r = (struct record_stop){.outcome = OUTCOME_GRACEFUL, .cause = CAUSE_STOP_SIGNAL};
	r->container = (struct record_container){.known = true, .name = names[i]};
	s->stops[i] = (struct account_stop){.of = r};
	switch (how) {
	case 'k':
		r->outcome = OUTCOME_KILLED;
		r->cause = CAUSE_GRACE_EXPIRED;
		break;
	case 'o':
		r->outcome = OUTCOME_OOM_KILLED;
		r->cause = CAUSE_OOM_CONTAINER;
		break;
	case 'f':
		r->outcome = OUTCOME_FAILED;
		r->cause = CAUSE_SELF;
		break;
	case 'r':
	case 'u':
		r->outcome = OUTCOME_UNKNOWN;
		break;
	default:
		break;
	}
	r->cut = how == 'c' ? 2 : 0;
	r->deaf = how == 'd';
	s->stops[i].unrecorded = how == 'r';
	s->stops[i].left = how == 'l';
	s->list[i] = &s->stops[i];
	s->pods[i] = (struct account_pod){.first = i, .n = 1};
}

static void make(struct scene *ret, const char *how)
{
	size_t n = strlen(how);

	*ret = (struct scene){};
	for (size_t i = 0; i < n; i++)
		add_stop(ret, i, how[i]);
	ret->story = (struct account_story){.begin_ns = BEGIN_NS,
					    .node = "n",
					    .stops = ret->list,
					    .n_stops = n,
					    .pods = ret->pods,
					    .n_pods = n};
}

static void assert_verdict(const struct account_story *story, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	account_text_verdict(&out, story);
	assert_string_equal(buf_str(&out), want);
}

static void test_stops(void **state)
{
	static const struct {
		const char *how, *want;
	} want[] = {
		{"", "No container's stop was recorded."},
		{"g", "1 container stopped, and it stopped well."},
		{"ggg", "3 containers stopped, all of them well."},
		{"k", "1 container stopped, and not well: a (killed, grace-expired)."},
		{"gkg", "1 of 3 containers did not stop well: b (killed, grace-expired); 2 stopped "
			"well."},
		{"ko", "None of 2 containers stopped well: b (oom-killed, oom-container), a "
		       "(killed, grace-expired)."},
		/* What nobody asked to stop did not stop badly. */
		{"gukfko",
		 "4 of 6 containers did not stop well: f (oom-killed, oom-container), c (killed, "
		 "grace-expired), e (killed, grace-expired) and 1 more; 1 failed without having "
		 "been asked to stop: d (failed, self); 1 stopped well."},
		{"fg", "1 of 2 containers failed without having been asked to stop: a (failed, "
		       "self); 1 stopped well."},
		{"cdg", "2 of 3 containers did not stop well: a (graceful, stop-signal, 2 of its "
			"processes cut), b (graceful, stop-signal, deaf); 1 stopped well."},
		{"r", "1 container stopped, and not well: a (no record of its stop)."},
		{"lg", "1 of 2 containers did not stop well: a (graceful, stop-signal, left at the "
		       "release); 1 stopped well."},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct scene s;

		make(&s, want[i].how);
		assert_verdict(&s.story, want[i].want);
	}
}

static void test_lock(void **state)
{
	static const struct {
		struct account_story story;
		const char *want;
	} want[] = {
		{{.released_ns = BEGIN_NS + NS_PER_S}, "graced held no delay lock."},
		{{.lock_held = true},
		 "Whether the delay lock was held until all had stopped is unknown."},
		{{.lock_held = true, .cancelled_ns = BEGIN_NS + 4 * NS_PER_S},
		 "The shutdown was cancelled after 4s."},
		{{.lock_held = true,
		  .limit_ns = 30 * NS_PER_S,
		  .released_ns = BEGIN_NS + 3 * NS_PER_S,
		  .reason = "pods-ended"},
		 "The delay lock was held until all had stopped: 3s of its 30s (pods-ended)."},
		{{.lock_held = true,
		  .left = 2,
		  .limit_ns = 30 * NS_PER_S,
		  .released_ns = BEGIN_NS + 28 * NS_PER_S,
		  .reason = "limit"},
		 "The delay lock was not held until all had stopped: 28s of its 30s, with 2 "
		 "containers left (limit)."},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct account_story story = want[i].story;

		story.shutdown = true;
		story.begin_ns = BEGIN_NS;
		buf_printf(&out, "No container's stop was recorded. %s", want[i].want);
		assert_verdict(&story, buf_str(&out));
	}
}

/* Beside one that stopped well. */
static void test_missing(void **state)
{
	struct scene s;

	make(&s, "g");
	s.story.n_pods = 2;
	assert_verdict(&s.story, "1 container stopped, and it stopped well; 1 pod has no record of "
				 "a stop.");
	s.story.n_pods = 3;
	s.story.partial.lost.events = 1;
	assert_verdict(&s.story, "1 container stopped, and it stopped well; 2 pods have no record "
				 "of a stop; some records are missing.");
}

/* The release counted the containers of pods alone. */
static void test_left_outside(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct scene s;

	make(&s, "gl");
	s.story.shutdown = s.story.lock_held = true;
	s.story.released_ns = BEGIN_NS + 3 * NS_PER_S;
	s.story.reason = "pods-ended";
	account_text_verdict(&out, &s.story);
	assert_non_null(strstr(buf_str(&out), "The delay lock was not held until all had stopped: "
					      "3s, with 1 container left (pods-ended)."));
}

static void test_unclean(void **state)
{
	struct scene s;

	make(&s, "g");
	s.end.end = BOOT_END_UNCLEAN;
	s.story.end = &s.end;
	assert_verdict(&s.story, "The boot ended unclean, and what was alive then has no record of "
				 "its end. 1 container stopped, and it stopped well.");
	s.end.end = BOOT_END_CLEAN;
	assert_verdict(&s.story, "1 container stopped, and it stopped well.");
}

/* What account_table() makes of one story. */
static void add_table(struct buf *out, const char *how, const struct grid_view *view)
{
	struct account_story *stories[1];
	struct scene s;

	make(&s, how);
	stories[0] = &s.story;
	assert_int_equal(account_table(out, &(struct account){stories, 1}, view), 0);
}

static void test_late(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct scene s;

	make(&s, "gkg");
	s.records[0].gaps = s.records[1].gaps = 1u << GAP_ATTACHED_LATE;
	s.records[1].gaps |= 1u << GAP_NOT_EMPTY;
	s.story.partial.gaps = 2;
	account_text_partial(&out, &s.story);
	assert_string_equal(buf_str(&out),
			    "stops with gaps in their evidence: 2 (attached-late: 2)");
	buf_reset(&out);
	account_text_note(&out, &s.story, s.pods, s.stops, ~(1u << GAP_ATTACHED_LATE));
	assert_string_equal(buf_str(&out), "");
}

static void test_answers(void **state)
{
	_cleanup_(buf_free) struct buf out = {};

	add_table(&out, "g", &(struct grid_view){.width = 38});
	assert_non_null(strstr(buf_str(&out), "\nCONTAINER OUTCOME  TOOK GRACE NOTE\n"));
	assert_non_null(strstr(buf_str(&out), "\na         graceful -    -     -\n"));
}

static void test_order(void **state)
{
	static const struct {
		const char *sort, *want;
	} want[] = {
		{NULL, "b\nd\na\nc\n"},
		/* An order that is asked for is that of all rows. */
		{"-container", "d\nc\nb\na\n"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};

		add_table(&out, "gkgo",
			  &(struct grid_view){
				  .columns = "container", .sort = want[i].sort, .no_titles = true});
		assert_string_equal(buf_str(&out), want[i].want);
	}
}

static void test_counted(void **state)
{
	static const struct {
		struct grid_view view;
		bool counted;
	} want[] = {
		{{.width = 80}, true},
		{{.width = 80, .lines = 50}, true},
		{{}, false},
		{{.width = 80, .wide = true}, false},
		{{.width = 80, .sort = "container"}, false},
		{{.width = 80, .columns = "container"}, false},
		{{.width = 80, .no_titles = true}, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		const char *text;

		add_table(&out, "ggggggggkggggg", &want[i].view);
		text = buf_str(&out);
		assert_int_equal(
			strstr(text, "\nand 3 more that stopped well (-o wide has them)\n") != NULL,
			want[i].counted);
		assert_int_equal(strstr(text, "\nn") != NULL, !want[i].counted);
	}
}

static size_t count_headlines(const char *text)
{
	size_t n = 0;

	for (; (text = strstr(text, "stops on n\n  1 of 2 containers")); text++)
		n++;
	return n;
}

static void test_scrolls(void **state)
{
	/* Headline, verdict, when, titles and two rows, and the prompt. */
	static const struct {
		struct grid_view view;
		size_t headlines;
	} want[] = {
		{{.width = 120, .lines = 7}, 1},
		{{.width = 120, .lines = 6}, 2},
		{{.width = 120}, 1},
		{{.width = 120, .lines = 2, .no_titles = true}, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		const char *end = "; 1 stopped well.\n";
		size_t len = strlen(end);

		add_table(&out, "gk", &want[i].view);
		assert_int_equal(count_headlines(buf_str(&out)), want[i].headlines);
		assert_int_equal(out.len > len && !strcmp(out.data + out.len - len, end),
				 want[i].headlines == 2);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a verdict counts what stopped well, and names what did not, the worst first",
		      test_stops),
		CLAIM("a verdict says whether the lock was held until all had stopped", test_lock),
		CLAIM("... also those in no pod", test_left_outside),
		CLAIM("a verdict says what it does not know", test_missing),
		CLAIM("that a boot ended unclean comes first", test_unclean),
		CLAIM("attached-late is said once, with how many stops it is of", test_late),
		CLAIM("a narrow terminal has what ended how, after how much of its time, and why",
		      test_answers),
		CLAIM("the trouble stands first, unless the rows are sorted", test_order),
		CLAIM("on a terminal more than a few good stops are counted", test_counted),
		CLAIM("the headline is the last thing on a screen that scrolls", test_scrolls),
	};

	return cmocka_run_group_tests_name("wire/account/table", tests, NULL, NULL);
}
