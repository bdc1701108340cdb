// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/top/screen: what stands where, at any size and with any name. */
#include "wire/top/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/utf8.h"
#include "lib/claim.h"

#define SEC(n)	((n)*NS_PER_S)
#define SIDE	256
#define HOSTILE "\033[2J\xe2\x80\xae\xff\n\xc3\xa9"

/* A terminal whose cells hold a character each; texts of ours that are no ASCII show as *. */
struct paper {
	const struct screen *screen;
	char cells[SIDE][SIDE + 1];
};

static struct paper paper, *const p = &paper;

static void put(void *userdata, unsigned int line, unsigned int column, enum grid_style style,
		const char *text)
{
	size_t len = strlen(text);

	assert_in_range(style, 0, GRID_STYLES - 1);
	assert_in_range(line, 0, p->screen->lines - 1);
	while (len) {
		uint32_t code;
		size_t n = utf8_decode(text, len, &code);

		assert_true(n > 0 && !utf8_is_treacherous(code));
		assert_true(p->screen->utf8 || code < 0x80);
		assert_in_range(column, 0, p->screen->columns - 1);
		p->cells[line][column++] = code < 0x80 ? (char)code : '*';
		text += n;
		len -= n;
	}
}

static struct top *top;

/* Before each test; what one leaves is freed by the next. */
static int make(void **state)
{
	const struct filter all = {};
	int r;

	free(top);
	r = top_new(&all, &top);
	top_set_moment(top, SEC(3600), 0, 0);
	return r;
}

static void draw(const struct screen *screen)
{
	memset(p->cells, ' ', sizeof(p->cells));
	p->screen = screen;
	assert_int_equal(screen_draw(screen, top, put, NULL), 0);
	for (size_t i = 0; i < SIDE; i++) {
		size_t n = SIDE;

		while (n && p->cells[i][n - 1] == ' ')
			n--;
		p->cells[i][n] = '\0';
	}
}

static void fill_row(const char *pod, const char *comm, bool deaf)
{
	struct record r = {
		.type = RECORD_STOP,
		.at_ns = SEC(3595),
		.stop = {.pod = {.known = true, .namespace_ = "shop", .name = pod},
			 .container = {.known = true, .name = "main"},
			 .deaf = deaf,
			 .reason = deaf ? UNHEARD_NO_HANDLER : UNHEARD_NONE,
			 .stop_signal = {.known = true,
					 .number = 15,
					 .at_ns = SEC(3590),
					 .sender = {.kind = SENDER_RUNTIME,
						    .process = {.pid = 812, .comm = comm}}},
			 .grace = {.from = GRACE_SPEC, .ns = SEC(20)}},
	};

	top_add_stopping(top, &r.stop);
	r.stop.latency_known = true;
	r.stop.latency_ns = 512000;
	r.stop.outcome = OUTCOME_KILLED;
	r.stop.cause = CAUSE_GRACE_EXPIRED;
	r.stop.kill_signal = r.stop.stop_signal;
	top_record(top, &r);
}

static void fill(const char *pod, const char *comm, bool deaf)
{
	fill_row(pod, comm, deaf);
	top_end_stopping(top);
}

static struct screen of_size(unsigned int columns, unsigned int lines)
{
	return (struct screen){.columns = columns,
			       .lines = lines,
			       .utf8 = true,
			       .zone_s = 3600,
			       .zone = "CET",
			       .node = "node-1"};
}

static void test_eighty(void **state)
{
	static const char *const want[] = {
		"graced top  02:00:00 CET  stopping 1  stopped 1  killed 1 (0 early)  node-1",
		"1 STOPPING 1 by deadline    ASKED    DEADLINE LEFT    MARGIN       NOTE",
		"shop/cart-7/main            01:59:50 02:00:10 10.0s   ******###### deaf",
		"2 STOPPED 1 by time       AT       OUTCOME    TOOK    MARGIN  BY",
		"shop/cart-7/main          01:59:55 killed     512*s   19.9s   runc[812]",
		"3 DEAF 1 by time                   WHEN WHY                       STOPS LAST",
		"shop/cart-7/main                   was  PID 1 without a handler   1     01:59:55",
		"4 WHO KILLS 1 by kills       KILLS EARLY LAST     LAST VICTIM",
		"runc (runtime)               1     -     01:59:55 shop/cart-7/main",
		"",
	};
	struct screen screen = of_size(80, 24);

	fill("cart-7", "runc", true);
	draw(&screen);
	for (size_t i = 0; i < LEN(want); i++) {
		char line[SIDE];

		/* Both halves of the bar are no ASCII. */
		strcpy(line, want[i]);
		for (char *c = line; *c; c++)
			*c = *c == '#' ? '*' : *c;
		assert_string_equal(p->cells[i], line);
	}
	assert_string_equal(p->cells[23], "q quit  space pause  / filter  tab section  s sort  "
					  "r reverse  1-4 alone  h help");
	/* Where the terminal has ASCII alone, so have we. */
	screen.utf8 = false;
	draw(&screen);
	assert_non_null(strstr(p->cells[2], "######......"));
	assert_non_null(strstr(p->cells[4], "512us"));
}

/* 43 columns of node, as clouds have them. */
static void test_head(void **state)
{
	struct screen screen = of_size(80, 24);

	fill("cart-7", "runc", true);
	screen.node = "ip-10-0-12-34.eu-central-1.compute.internal";
	draw(&screen);
	assert_string_equal(p->cells[0], "02:00:00 CET  stopping 1  stopped 1  killed 1 (0 early)  "
					 "ip-10-0-12-*te.internal");
	top->live.lost = 3;
	top->live.missed = 7;
	draw(&screen);
	assert_non_null(strstr(p->cells[0], "  lost events 3  "));
	screen = of_size(60, 15);
	draw(&screen);
	assert_string_equal(p->cells[6],
			    "shop/cart-7/main        was  PID 1 without a handler   1");
}

static void test_wide(void **state)
{
	struct screen screen = of_size(160, 24);

	fill("prometheus-kube-prometheus-stack-prometheus-0", "runc", false);
	draw(&screen);
	assert_non_null(strstr(p->cells[2], "SIGTERM     runc[812]"));
	assert_non_null(strstr(p->cells[4], "grace-expired"));
	top->live.stopped[0].badness = 1;
	draw(&screen);
	assert_non_null(strstr(p->cells[4], " cut"));
	/* Who kills has a short name, and whom it killed a long one. */
	assert_non_null(
		strstr(p->cells[8], "shop/prometheus-kube-prometheus-stack-prometheus-0/main"));
}

static void test_sizes(void **state)
{
	for (int i = 0; i < 30; i++)
		fill_row(HOSTILE HOSTILE HOSTILE, HOSTILE, i % 2);
	top_end_stopping(top);
	for (unsigned int columns = 1; columns <= 200; columns++)
		for (unsigned int lines = 1; lines <= 30; lines++) {
			struct screen screen = of_size(columns, lines);

			screen.utf8 = columns % 2;
			top->help = lines % 7 == 0;
			top->focus = columns % TOP_SECTIONS;
			draw(&screen);
		}
}

static void test_hostile(void **state)
{
	struct screen screen = of_size(200, 24);

	fill(HOSTILE, HOSTILE, false);
	screen.message = HOSTILE;
	draw(&screen);
	assert_non_null(strstr(p->cells[2], "shop/\\x1b[2J\\u202e\\xff\\x0a\\u00e9/main"));
	assert_non_null(strstr(p->cells[23], "\\x1b[2J\\u202e\\xff"));
	strcpy(top->filter, HOSTILE);
	top->typing = true;
	draw(&screen);
	assert_non_null(strstr(p->cells[23], "filter: \\x1b[2J"));
	/* A name that is too long keeps both ends. */
	top->filter[0] = '\0';
	screen = of_size(80, 24);
	draw(&screen);
	assert_memory_equal(p->cells[2], "shop/\\x1b[2J\\", 12);
	assert_non_null(strstr(p->cells[2], "00e9/main "));
}

static void test_overdue(void **state)
{
	struct screen screen = of_size(80, 24), wide = of_size(140, 24);

	fill("a", "runc", false);
	top->live.now_ns = SEC(3610) + SEC(3) / 2;
	draw(&screen);
	assert_non_null(strstr(p->cells[2], " -1.5s "));
	top->live.stopping[0].grace_ns = top->live.stopping[0].deadline_ns = 0;
	draw(&screen);
	assert_non_null(strstr(p->cells[2], "01:59:50 -        -       -"));
	top->live.lost = 3;
	top->live.missed = 7;
	draw(&wide);
	assert_non_null(strstr(p->cells[0], "  lost events 3  missed records 7  "));
	top->live.stopped[0].margin_ns = -(int64_t)SEC(1) / 100;
	draw(&screen);
	assert_non_null(strstr(p->cells[4], " 0.0s "));
	/* Local time before 1970, and a day that ends. */
	top->live.wall_offset_ns = -(int64_t)SEC(90000);
	draw(&screen);
	assert_non_null(strstr(p->cells[0], ":"));
}

static void test_states(void **state)
{
	struct screen screen = of_size(80, 24);

	draw(&screen);
	assert_string_equal(p->cells[2], "no container is being stopped");
	fill("a", "runc", false);
	top_press(top, 'p');
	strcpy(top->filter, "nothing like it");
	top->order[0].reverse = true;
	draw(&screen);
	assert_non_null(strstr(p->cells[0], "PAUSED"));
	assert_non_null(strstr(p->cells[1], "1 STOPPING 0 by -deadline"));
	assert_string_equal(p->cells[2], "no row matches the filter");
	assert_non_null(strstr(p->cells[23], "filter: nothing like it (esc ends it)"));
	top->help = true;
	draw(&screen);
	assert_non_null(strstr(p->cells[1], "quit"));
}

#define FRESH(sentence, function)                    \
	{                                            \
		sentence, function, make, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH("80 columns hold names, times, margins and who killed", test_eighty),
		FRESH("neither the totals nor names are hidden: by a long name of the node, or at 60 columns",
		      test_head),
		FRESH("wider screens have signals, senders and causes, too", test_wide),
		FRESH("nothing leaves the screen at any size", test_sizes),
		FRESH("hostile names are shown and harmless, also in filter and message",
		      test_hostile),
		FRESH("a deadline that has passed counts on, and one that is unknown is a dash",
		      test_overdue),
		FRESH("an empty section, a pause, a filter and the help say so", test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
