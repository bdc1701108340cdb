// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/text/grid: which columns are shown, how wide they are, and in which order rows
 * come. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "lib/claim.h"
#include "wire/text/grid.h"

struct item {
	const char *name, *state, *size, *note;
	int64_t key;
	const char *mark;
};

static void add_name(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct item *)row)->name);
}

static void add_state(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct item *)row)->state);
}

static void shorten_state(struct buf *text)
{
	buf_truncate(text, 3);
}

static void add_size(struct grid_cell *cell, const void *row)
{
	const struct item *item = row;

	grid_text(cell, item->size);
	cell->key = item->key;
}

static void add_note(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct item *)row)->note);
}

static void add_mark(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct item *)row)->mark);
}

static const struct grid_column columns[] = {
	{.name = "name", .title = "NAME", .add = add_name, .least = 6, .keep_end = true},
	{.name = "state",
	 .title = "ST",
	 .add = add_state,
	 .shorten = shorten_state,
	 .typical = 7,
	 .typical_short = 3},
	{.name = "size", .title = "SIZE", .add = add_size, .number = true},
	{.name = "extra", .title = "EXTRA", .add = add_size, .wide = true, .number = true},
	{.name = "mark", .title = "MARK", .add = add_mark, .optional = true},
	{.name = "note", .title = "NOTE", .add = add_note, .least = 8, .continues = true},
};

static const struct grid_table table = {.columns = columns,
					.n = LEN(columns),
					.extras = "state,size"};

static const struct item items[] = {
	{"alpha", "running", "9", NULL, 9, NULL},
	{"beta-with-a-long-name", "done", NULL, NULL, GRID_NO_KEY, NULL},
	{"gamma", "running", "12", NULL, 12, NULL},
};

static void check_items(const struct item *list, size_t n, const struct grid_view *view,
			const char *want)
{
	_cleanup_(grid_done) struct grid grid = {};
	_cleanup_(buf_free) struct buf out = {};

	grid_init(&grid, &table, view);
	for (size_t i = 0; i < n; i++)
		grid_add(&grid, &list[i]);
	assert_int_equal(grid_flush(&grid, &out), 0);
	assert_string_equal(buf_str(&out), want);
}

static void check(const struct grid_view *view, const char *want)
{
	check_items(items, LEN(items), view, want);
}

static void test_pipe(void **state)
{
	check(&(struct grid_view){}, "NAME                   ST       SIZE  NOTE\n"
				     "alpha                  running  9\n"
				     "beta-with-a-long-name  done     -\n"
				     "gamma                  running  12\n");
	check(&(struct grid_view){.no_titles = true}, "alpha                  running  9\n"
						      "beta-with-a-long-name  done     -\n"
						      "gamma                  running  12\n");
}

static void test_steps(void **state)
{
	static const struct item list[] = {
		{"some-long-name", "running", "1234", "one two,three", 1, NULL}};
	static const struct {
		unsigned int width;
		const char *row;
	} want[] = {
		{48, "some-long-name  running  1234  one two,three\n"},
		{42, "some-long-name running 1234 one two,three\n"},
		{38, "some-long-name run 1234 one two,three\n"},
		{36, "some-long-name run 1234 one two,\n                        three\n"},
		{32, "some-long-name run 1234 one two,\n                        three\n"},
		{28, "some-long-name run one two,\n                   three\n"},
		{26, "some-long-name one two,\n               three\n"},
		{22, "some-l…g-name one two,\n              three\n"},
		{15, "som…me one two,\n       three\n"},
		{9, "som…me one two,\n       three\n"},
	};

	for (size_t i = 0; i < LEN(want); i++)
		check_items(list, 1, &(struct grid_view){.width = want[i].width, .no_titles = true},
			    want[i].row);
}

static void test_flat(void **state)
{
	static const struct item list[] = {{"name", "running", "1234", "one two,three", 1, NULL}};

	check_items(list, 1, &(struct grid_view){.width = 20, .no_titles = true, .flat = true},
		    "name one two,three\n");
	check_items(list, 1, &(struct grid_view){.width = 15, .no_titles = true, .flat = true},
		    "name one two,t…\n");
}

/* The note gives way to what most of them need, and only then do extras leave. */
static void test_flat_typical(void **state)
{
	static const struct grid_column list[] = {
		{.name = "name", .add = add_name},
		{.name = "state", .add = add_state},
		{.name = "note", .add = add_note, .typical = 10, .least = 4, .continues = true},
	};
	static const struct grid_table noted = {.columns = list, .n = LEN(list), .extras = "state"};
	static const struct item row = {"name", "running", NULL, "what is longer than ten",
					1,	NULL};
	static const struct {
		unsigned int width;
		const char *want;
	} widths[] = {
		{38, "name  running  what is longer than ten\n"},
		{36, "name running what is longer than ten\n"},
		{26, "name running what is long…\n"},
		{23, "name running what is l…\n"},
		{22, "name what is longer t…\n"},
	};

	for (size_t i = 0; i < LEN(widths); i++) {
		const struct grid_view view = {
			.width = widths[i].width, .no_titles = true, .flat = true};
		_cleanup_(grid_done) struct grid grid = {};
		_cleanup_(buf_free) struct buf out = {};

		grid_init(&grid, &noted, &view);
		grid_add(&grid, &row);
		assert_int_equal(grid_flush(&grid, &out), 0);
		assert_string_equal(buf_str(&out), widths[i].want);
	}
}

static void test_long(void **state)
{
	static const struct item list[] = {
		{"a-name-that-is-longer-than-forty-columns-are", "done", "1", "n", 1, NULL}};

	check_items(list, 1, &(struct grid_view){.width = 52, .no_titles = true},
		    "a-name-that-is-longe…n-forty-columns-are  done  1  n\n");
	check_items(list, 1, &(struct grid_view){.width = 56, .no_titles = true},
		    "a-name-that-is-longer-than-forty-columns-are  done  1  n\n");
}

/* The one that is left out ends the line otherwise. */
static void test_last(void **state)
{
	static const struct grid_column list[] = {
		{.name = "name", .title = "NAME", .add = add_name},
		{.name = "size", .title = "SIZE", .add = add_size},
		{.name = "state", .title = "STATE", .add = add_state, .shorten = shorten_state},
	};
	static const struct grid_table two = {
		.columns = list, .n = LEN(list), .extras = "size,state"};
	static const struct {
		unsigned int width;
		const char *want;
	} rows[] = {
		{16, "NAME SIZE STATE\nn    -    run\n"},
		{14, "NAME SIZE\nn\n"},
		{9, "NAME SIZE\nn\n"},
		{8, "NAME\nn\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct item item = {"n", "running", NULL, NULL, GRID_NO_KEY, NULL};
		_cleanup_(grid_done) struct grid grid = {};
		_cleanup_(buf_free) struct buf out = {};

		grid_init(&grid, &two, &(struct grid_view){.width = rows[i].width});
		grid_add(&grid, &item);
		assert_int_equal(grid_flush(&grid, &out), 0);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

/* The same columns, in another order of what they are worth. */
static void test_answers(void **state)
{
	static const struct grid_table ordered = {.columns = columns,
						  .n = LEN(columns),
						  .answers = "name,size,note",
						  .extras = "state"};
	static const struct item list[] = {{"some-long-name", "running", "1234", "note", 1, NULL}};
	static const struct {
		unsigned int width;
		const char *row;
	} want[] = {
		{35, "some-long-name  running  1234  note\n"},
		{32, "some-long-name running 1234 note\n"},
		{28, "some-long-name run 1234 note\n"},
		/* Before the answer: an extra, then what names are longer than they have to be. */
		{27, "some-long-name 1234 note\n"},
		{24, "some-long-name 1234 note\n"},
		{20, "some-…name 1234 note\n"},
		{16, "som…me 1234 note\n"},
		/* The last column of the answer goes first. */
		{15, "some-…name 1234\n"},
		{11, "som…me 1234\n"},
		{10, "some-…name\n"},
		{6, "som…me\n"},
		{1, "som…me\n"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(grid_done) struct grid grid = {};
		_cleanup_(buf_free) struct buf out = {};

		grid_init(&grid, &ordered,
			  &(struct grid_view){.width = want[i].width, .no_titles = true});
		grid_add(&grid, list);
		assert_int_equal(grid_flush(&grid, &out), 0);
		assert_string_equal(buf_str(&out), want[i].row);
	}
}

static void test_chosen(void **state)
{
	check(&(struct grid_view){.columns = "size,name,state"},
	      "SIZE  NAME                   ST\n"
	      "9     alpha                  running\n"
	      "-     beta-with-a-long-name  done\n"
	      "12    gamma                  running\n");
	check(&(struct grid_view){.columns = "SIZE,Name", .no_titles = true, .sort = "-SIZE"},
	      "12  gamma\n"
	      "9   alpha\n"
	      "-   beta-with-a-long-name\n");
	/* What is asked for is shown, whatever the terminal. */
	check(&(struct grid_view){.columns = "state,mark,size", .width = 5, .no_titles = true},
	      "run - 9\ndon -\nrun - 12\n");
}

static void test_wide(void **state)
{
	check(&(struct grid_view){.wide = true, .width = 20},
	      "NAME                   ST       SIZE  EXTRA  NOTE\n"
	      "alpha                  running  9     9\n"
	      "beta-with-a-long-name  done     -     -\n"
	      "gamma                  running  12    12\n");
}

static void test_sort(void **state)
{
	static const struct {
		const char *sort, *want;
	} rows[] = {
		{"size", "alpha\ngamma\nbeta-with-a-long-name\n"},
		{"-size", "gamma\nalpha\nbeta-with-a-long-name\n"},
		{"state", "beta-with-a-long-name\nalpha\ngamma\n"},
		{"state,-size", "beta-with-a-long-name\ngamma\nalpha\n"},
		{"-name", "gamma\nbeta-with-a-long-name\nalpha\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		check(&(struct grid_view){.columns = "name",
					  .sort = rows[i].sort,
					  .no_titles = true},
		      rows[i].want);
}

static void test_knows(void **state)
{
	static const struct {
		const char *list;
		bool sorted;
		const char *wrong; /* NULL: nothing is */
	} want[] = {
		{"name,size,extra", false, NULL},
		{"size,-name", true, NULL},
		{"-name", false, "-name"},
		{"nam", false, "nam"},
		{"names", false, "names"},
		{"NAME,Size", false, NULL},
		{"name,NAME", false, "NAME"},
		{"", false, ""},
		{"name,", false, ""},
		{",name", false, ""},
		{"name,size,name", false, "name"},
		{"-", true, ""},
		{"name,--size", true, "-size"},
		{"name,-name", true, "name"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const char *name = NULL;
		size_t len = 0;
		bool knows = grid_knows(&table, want[i].list, want[i].sorted, &name, &len);

		if (knows != !want[i].wrong ||
		    (!knows && (len != strlen(want[i].wrong) || memcmp(name, want[i].wrong, len))))
			fail_msg("'%s': '%.*s'", want[i].list, (int)len, name);
	}
	assert_true(grid_knows(&table, NULL, false, &(const char *){NULL}, &(size_t){0}));
}

static void flush(struct grid *grid, const struct item *item, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	if (item)
		grid_add(grid, item);
	assert_int_equal(grid_flush(grid, &out), 0);
	assert_string_equal(buf_str(&out), want);
}

/* Also one that would be left out where room is short. */
static void test_live(void **state)
{
	static const struct grid_table extra = {
		.columns = columns, .n = LEN(columns), .extras = "state,size,mark"};
	static const struct grid_table *const tables[] = {&table, &extra};
	static const struct item marked = {"x", "up", "1", "n", 1, "m"};

	for (size_t i = 0; i < LEN(tables); i++) {
		_cleanup_(grid_done) struct grid grid = {};

		grid_init(&grid, tables[i], &(struct grid_view){.live = true});
		flush(&grid, NULL, "");
		grid_add_titles(&grid);
		flush(&grid, NULL, "NAME  ST       SIZE  NOTE\n");
		flush(&grid, &items[0], "alpha  running  9\n");
		flush(&grid, &items[1], "beta-with-a-long-name  done     -\n");
		flush(&grid, &items[2], "gamma                  running  12\n");
		flush(&grid, &marked,
		      "NAME                   ST       SIZE  MARK  NOTE\n"
		      "x                      up       1     m     n\n");
		flush(&grid, &items[0], "alpha                  running  9     -\n");
	}
}

static void test_stays(void **state)
{
	static const struct item wide = {"a-name-that-is-long",
					 "restarting",
					 "123456",
					 "a note of some words",
					 1,
					 NULL},
				 marked = {"x", "up", "1", "n", 1, "m"};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, &(struct grid_view){.live = true, .flat = true, .width = 32});
	grid_add_titles(&grid);
	flush(&grid, NULL, "NAME      ST       SIZE  NOTE\n");
	flush(&grid, &items[0], "alpha     running  9\n");
	flush(&grid, &wide, "a-na…ong  res      123…  a note…\n");
	flush(&grid, &items[0], "alpha     running  9\n");
	/* This one is never left out. */
	flush(&grid, &marked, "NAME               MARK NOTE\nx                  m    n\n");
	flush(&grid, &wide, "a-name-th…-is-long -    a note …\n");
	flush(&grid, &items[1], "beta-with…ong-name -\n");
}

static void test_many(void **state)
{
	static const struct item wide = {"a-name", "running", "1234", "a note", 1, NULL};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, &(struct grid_view){.width = 30});
	flush(&grid, &items[0], "NAME   ST       SIZE  NOTE\nalpha  running  9\n");
	flush(&grid, &wide, "a-…me  running  1234  a note\n");
}

struct timed {
	int64_t wall_ns;
	const char *note;
};

static void add_timed_note(struct grid_cell *cell, const void *row)
{
	grid_text(cell, ((const struct timed *)row)->note);
}

static const struct grid_column timed_columns[] = {
	{"time", GRID_AT(grid_add_time, struct timed, wall_ns), .typical = 13, .typical_short = 9},
	{.name = "note", .add = add_timed_note},
};

static const struct grid_table timed_table = {.columns = timed_columns, .n = LEN(timed_columns)};

static int32_t in_utc(int64_t wall_s)
{
	return 0;
}

static int32_t in_paris(int64_t wall_s)
{
	return 3600;
}

/* It was an hour ahead in 1970. */
static int32_t in_london(int64_t wall_s)
{
	return wall_s ? 0 : 3600;
}

static int32_t in_nepal(int64_t wall_s)
{
	return 5 * 3600 + 45 * 60;
}

static void test_zones(void **state)
{
	static const struct {
		int32_t (*zone)(int64_t wall_s);
		const char *want;
	} zones[] = {
		{NULL, "TIME           NOTE\n15:04:05.000Z  a\n"},
		{in_utc, "TIME           NOTE\n15:04:05.000Z  a\n"},
		{in_london, "TIME           NOTE\n15:04:05.000Z  a\n"},
		{in_paris, "TIME             NOTE\n16:04:05.000+01  a\n"},
		{in_nepal, "TIME               NOTE\n20:49:05.000+0545  a\n"},
	};
	const struct timed row = {.wall_ns = (15 * 3600 + 4 * 60 + 5) * NS_PER_S, .note = "a"};

	for (size_t i = 0; i < 2 * LEN(zones); i++) {
		const struct grid_view view = {.live = true,
					       .flat = true,
					       .width = i % 2 ? 80 : 0,
					       .zone = zones[i / 2].zone};
		_cleanup_(grid_done) struct grid grid = {};
		_cleanup_(buf_free) struct buf out = {};

		grid_init(&grid, &timed_table, &view);
		grid_add(&grid, &row);
		assert_int_equal(grid_flush(&grid, &out), 0);
		assert_string_equal(buf_str(&out), zones[i / 2].want);
	}
}

static void test_resize(void **state)
{
	static const struct item item = {"name", "running", "1234", NULL, 1, NULL};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, &(struct grid_view){.live = true, .width = 30});
	flush(&grid, &item, "NAME     ST       SIZE  NOTE\nname     running  1234\n");
	grid_set_width(&grid, 18);
	flush(&grid, &item, "NAME ST  SIZE NOTE\nname run 1234\n");
	grid_set_width(&grid, 14);
	flush(&grid, &item, "NAME  NOTE\nname\n");
	grid_set_width(&grid, 30);
	flush(&grid, &item, "NAME     ST       SIZE  NOTE\nname     running  1234\n");
}

static void test_expected(void **state)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, &(struct grid_view){});
	grid_expect(&grid, "mark");
	flush(&grid, &items[0], "NAME   ST       SIZE  MARK  NOTE\nalpha  running  9     -\n");
}

static void test_wide_cell(void **state)
{
	char name[200];
	struct item list[] = {{name, "done", "1", NULL, 1, NULL},
			      {"short", "done", "2", NULL, 2, NULL}};
	_cleanup_(buf_free) struct buf want = {};

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	buf_printf(&want, "%s  done  1\nshort  done  2\n", name);
	check_items(list, LEN(list), &(struct grid_view){.no_titles = true}, buf_str(&want));
}

static void test_failure(void **state)
{
	_cleanup_(grid_done) struct grid grid = {};
	_cleanup_(buf_free) struct buf out = {.limit = 10};

	grid_init(&grid, &table, &(struct grid_view){});
	grid_add(&grid, &items[1]);
	assert_int_equal(grid_flush(&grid, &out), -ENOBUFS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("in a pipe columns are as wide as their widest cell, and no line ends in spaces",
		      test_pipe),
		CLAIM("on a terminal one step after the other makes room, and names are cut last",
		      test_steps),
		CLAIM("extras go first, then letters of names, then what answers least",
		      test_answers),
		CLAIM("a flat row stays one line", test_flat),
		CLAIM("... and its note is cut before what answers leaves", test_flat_typical),
		CLAIM("a long name gives way to other columns, where room is short", test_long),
		CLAIM("a column that ended the line may be left out, and titles stay as they are",
		      test_last),
		CLAIM("columns that are named, in any case, are shown in that order, and none is left out",
		      test_chosen),
		CLAIM("a wide table has more columns, and nothing is cut on any terminal",
		      test_wide),
		CLAIM("rows are sorted by numbers or names, what is unknown comes last", test_sort),
		CLAIM("a list with what is no column, or twice, is refused by its name",
		      test_knows),
		CLAIM("a live table grows, and repeats its titles when a column comes", test_live),
		CLAIM("on a terminal the columns of a live table stay, and what is longer is cut",
		      test_stays),
		CLAIM("rows that are added later fit into the columns of the first ones",
		      test_many),
		CLAIM("a live table follows its terminal", test_resize),
		CLAIM("a time of day takes the columns that its zone needs", test_zones),
		CLAIM("an optional column that is expected is there from the beginning",
		      test_expected),
		CLAIM("one very wide cell does not push all rows apart", test_wide_cell),
		CLAIM("a failure is reported", test_failure),
	};

	return cmocka_run_group_tests_name("wire/text/grid", tests, NULL, NULL);
}
