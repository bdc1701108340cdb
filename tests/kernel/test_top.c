// SPDX-License-Identifier: Apache-2.0
// graced top in a terminal: a real stop comes and goes on the screen, keys and sizes do what they
// are to do, and whatever ends it, the terminal is as it was before.
#include "lib/claim.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"
#include "lib/tmux.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Clears the screen and sets the window's title, where it is obeyed. */
#define HOSTILE	      "\033[2J\033]0;o\007\xff\xc3\xa9"
#define HOSTILE_SHOWN "\\x1b[2J\\x1b]0;o\\x07\\xff\\u00e9"

struct stage {
	struct box_tree tree;
	struct tmux tmux;
	char start[1024];				 /* the command line */
	char before[64], after[64], pid[64], status[64]; /* files in the terminal's directory */
};

static int close_stage(void **state)
{
	struct stage *s = *state;
	int r;

	if (!s)
		return 0;
	unlink(s->before);
	unlink(s->after);
	unlink(s->pid);
	unlink(s->status);
	tmux_close(&s->tmux);
	r = box_tree_close(&s->tree);
	free(s);
	*state = NULL;
	return r;
}

static const char *unavailable(void)
{
	const char *why = box_unavailable();

	if (!why)
		why = tracer_unavailable();
	return why ? why : tmux_unavailable();
}

static void set_options(struct stage *s, const char *options)
{
	/* The shell that writes its pid becomes the program. */
	snprintf(s->start, sizeof(s->start),
		 "ulimit -c 0; stty -g >%s; sh -c 'echo $$ >%s; exec env LC_ALL=C.UTF-8 %s top %s "
		 "--container-roots %s'; echo $? >%s",
		 s->before, s->pid, getenv("GRACED"), options,
		 box_tree_relative(&s->tree, s->tree.root), s->status);
}

/* Before each test: a terminal with a shell, and nothing that runs in it. */
static int open_stage(void **state)
{
	const char *why = unavailable();
	struct stage *s;

	*state = NULL;
	if (why) {
		fprintf(stderr, "SKIP graced top: %s\n", why);
		return 0;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -1;
	*state = s;
	if (box_tree_open(&s->tree, "top") || tmux_open(&s->tmux, 80, 24))
		return -1;
	snprintf(s->before, sizeof(s->before), "%s/before", s->tmux.dir);
	snprintf(s->after, sizeof(s->after), "%s/after", s->tmux.dir);
	snprintf(s->pid, sizeof(s->pid), "%s/pid", s->tmux.dir);
	snprintf(s->status, sizeof(s->status), "%s/status", s->tmux.dir);
	set_options(s, "--attach --assume-grace 90s");
	return 0;
}

static void begin(struct stage *s)
{
	tmux_type(&s->tmux, s->start);
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "WHO KILLS 0"));
}

static void read_file(const char *path, char *ret, size_t size)
{
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	ret[fread(ret, 1, size - 1, file)] = '\0';
	fclose(file);
}

static pid_t pid_of(const struct stage *s)
{
	char text[32];

	read_file(s->pid, text, sizeof(text));
	return (pid_t)atoi(text);
}

static bool has_ended(const struct stage *s, int status)
{
	char text[32] = "";

	for (int i = 0; i < PATIENCE_S * 50; i++) {
		if (access(s->status, R_OK) == 0) {
			read_file(s->status, text, sizeof(text));
			/* The shell makes the file before it writes. */
			if (strchr(text, '\n'))
				return atoi(text) == status;
		}
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	return false;
}

/* It has ended with that status. The screen is the shell's, the cursor shows, the modes are those
 * from before, and it echoes. */
static void assert_whole(struct stage *s, int status)
{
	char before[512], after[512];

	assert_true(has_ended(s, status));
	assert_true(
		tmux_await_state(&s->tmux, "#{alternate_on}#{cursor_flag}#{keypad_flag}", "010"));
	read_file(s->before, before, sizeof(before));
	tmux_type(&s->tmux, "stty -g >");
	tmux_type(&s->tmux, s->after);
	tmux_type(&s->tmux, "; echo $((6 * 7))");
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "\n42\n"));
	assert_true(tmux_await(&s->tmux, "echo $((6 * 7))"));
	read_file(s->after, after, sizeof(after));
	assert_string_equal(after, before);
	assert_null(strstr(s->tmux.screen, "WHO KILLS"));
}

static void start_box(struct stage *s, struct box *ret)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};

	assert_int_equal(box_start(&s->tree, &spec, ret), 0);
}

static void send(struct stage *s, const struct box *box, int signal)
{
	struct sent sent;

	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, signal, &sent),
			 0);
}

static struct stage *stage_of(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static void shows_a_stop(void **state)
{
	struct stage *s = stage_of(state);
	struct box box;

	start_box(s, &box);
	begin(s);
	send(s, &box, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_true(tmux_await(&s->tmux, "████"));
	assert_true(tmux_await(&s->tmux, " deaf\n"));
	assert_true(tmux_await(&s->tmux, "DEAF 1 by"));
	assert_true(tmux_await(&s->tmux, "now  PID 1 without a handler"));
	send(s, &box, SIGKILL);
	assert_true(tmux_await(&s->tmux, "STOPPING 0 by"));
	assert_true(tmux_await(&s->tmux, "STOPPED 1 by"));
	assert_true(tmux_await(&s->tmux, " killed "));
	assert_true(tmux_await(&s->tmux, "stopped 1  killed 1 (1 early)"));
	assert_true(tmux_await(&s->tmux, "runc (runtime)"));
	assert_true(tmux_await(&s->tmux, "was  PID 1 without a handler"));
	tmux_press(&s->tmux, "q");
	assert_whole(s, 0);
	assert_int_equal(box_remove(&box), 0);
}

/* A daemon, and a command line that follows it and attaches in no case. */
static struct service *start_daemon(struct stage *s)
{
	const struct service_spec spec = {.tree = &s->tree,
					  .args = BOX_ARGV("--sinks.journal=false",
							   "--assume-grace", "90s")};
	struct service *service;
	char options[256];

	assert_int_equal(service_start(&spec, &service), 0);
	snprintf(options, sizeof(options), "--control.socket %s --assume-grace 90s",
		 service_socket(service));
	set_options(s, options);
	return service;
}

static void follows_a_daemon(void **state)
{
	struct stage *s = stage_of(state);
	struct service *service = start_daemon(s);
	struct box before, later;

	start_box(s, &before);
	start_box(s, &later);
	send(s, &before, SIGTERM);
	begin(s);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_true(tmux_await(&s->tmux, "████"));
	assert_true(tmux_await(&s->tmux, "stopping 1  stopped 0"));
	send(s, &later, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by"));
	assert_true(tmux_await(&s->tmux, "DEAF 2 by"));
	send(s, &before, SIGKILL);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_true(tmux_await(&s->tmux, "stopped 1  killed 1 (1 early)"));
	assert_true(tmux_await(&s->tmux, "runc (runtime)"));
	tmux_press(&s->tmux, "q");
	assert_whole(s, 0);
	service_free(service);
	assert_int_equal(box_remove(&before), 0);
	assert_int_equal(box_remove(&later), 0);
}

static void ends_with_the_daemon(void **state)
{
	struct stage *s = stage_of(state);
	struct service *service = start_daemon(s);
	struct box box;

	start_box(s, &box);
	begin(s);
	send(s, &box, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_int_equal(kill(service_pid(service), SIGSTOP), 0);
	assert_true(tmux_await(&s->tmux, "the daemon does not answer"));
	assert_int_equal(kill(service_pid(service), SIGKILL), 0);
	assert_true(tmux_await(&s->tmux, "graced: the daemon that was followed has ended"));
	assert_whole(s, 1);
	/* Nobody listens there any more. */
	tmux_type(&s->tmux, s->start);
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "graced: cannot follow the daemon at"));
	service_free(service);
	assert_int_equal(box_remove(&box), 0);
}

static void audits_what_runs(void **state)
{
	struct stage *s = stage_of(state);
	const struct box_spec waits = {.argv = BOX_ARGV("graceful")};
	struct box first, second, hears;
	char id[16];

	start_box(s, &first);
	assert_int_equal(box_start(&s->tree, &waits, &hears), 0);
	begin(s);
	tmux_press(&s->tmux, "3");
	assert_true(tmux_await(&s->tmux, "DEAF 1 by"));
	assert_true(tmux_await(&s->tmux, "PID 1 without a handler   -     -"));
	start_box(s, &second);
	assert_true(tmux_await(&s->tmux, "DEAF 2 by"));
	assert_int_equal(box_remove(&first), 0);
	assert_true(tmux_await(&s->tmux, "DEAF 1 by"));
	snprintf(id, sizeof(id), "%.8s", first.id);
	assert_true(tmux_await_gone(&s->tmux, id));
	snprintf(id, sizeof(id), "%.8s", second.id);
	assert_true(tmux_await(&s->tmux, id));
	tmux_press(&s->tmux, "q");
	assert_whole(s, 0);
	assert_int_equal(box_remove(&second), 0);
	assert_int_equal(box_remove(&hears), 0);
}

static void is_steered_by_keys(void **state)
{
	struct stage *s = stage_of(state);
	struct box first, second;
	char filter[16], shown[32];

	start_box(s, &first);
	start_box(s, &second);
	begin(s);
	send(s, &first, SIGTERM);
	send(s, &second, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by deadline"));
	tmux_press(&s->tmux, "s");
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by asked"));
	tmux_press(&s->tmux, "r");
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by -asked"));
	snprintf(filter, sizeof(filter), "%.8s", second.id);
	snprintf(shown, sizeof(shown), "filter: %s_", filter);
	tmux_type(&s->tmux, "/");
	tmux_type(&s->tmux, filter);
	assert_true(tmux_await(&s->tmux, shown));
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_true(tmux_await_gone(&s->tmux, first.uid));
	tmux_press(&s->tmux, "Escape");
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by"));
	tmux_press(&s->tmux, "Space");
	assert_true(tmux_await(&s->tmux, "PAUSED"));
	send(s, &first, SIGKILL);
	tmux_press(&s->tmux, "3");
	assert_true(tmux_await_gone(&s->tmux, "STOPPING"));
	assert_true(tmux_await(&s->tmux, "DEAF 2 by"));
	tmux_press(&s->tmux, "0");
	assert_true(tmux_await(&s->tmux, "STOPPING 2 by"));
	tmux_press(&s->tmux, "p");
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	tmux_press(&s->tmux, "h");
	assert_true(tmux_await(&s->tmux, "Any key goes back."));
	tmux_press(&s->tmux, "Down");
	assert_true(tmux_await_gone(&s->tmux, "Any key goes back."));
	tmux_press(&s->tmux, "C-l");
	assert_true(tmux_await(&s->tmux, "STOPPED 1 by"));
	tmux_press(&s->tmux, "C-c");
	assert_whole(s, 0);
	assert_int_equal(box_remove(&first), 0);
	assert_int_equal(box_remove(&second), 0);
}

static void fits_any_size(void **state)
{
	static const struct {
		unsigned int columns, lines;
		const char *shows;
	} sizes[] = {
		{200, 60, "LAST VICTIM"},
		{132, 24, "SIGTERM"},
		{60, 12, "WHO KILLS 0"},
		{40, 9, "STOPPING 1"},
		{24, 4, "STOPPING"},
		{10, 3, "q qui"},
		{2, 2, ""},
		{80, 24, "WHO KILLS 0 by kills"},
	};
	struct stage *s = stage_of(state);
	struct box box;

	start_box(s, &box);
	begin(s);
	send(s, &box, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	for (size_t i = 0; i < LEN(sizes); i++) {
		tmux_resize(&s->tmux, sizes[i].columns, sizes[i].lines);
		assert_true(tmux_await(&s->tmux, sizes[i].shows));
	}
	tmux_press(&s->tmux, "q");
	assert_whole(s, 0);
	assert_int_equal(box_remove(&box), 0);
}

/* From a process of that name. */
static void send_hostile(const struct box *box, int signal)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NAME, HOSTILE);
		_exit(kill(box->init_pid, signal) < 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void shows_hostile_names(void **state)
{
	struct stage *s = stage_of(state);
	struct box box;

	start_box(s, &box);
	tmux_resize(&s->tmux, 160, 24);
	begin(s);
	send_hostile(&box, SIGTERM);
	assert_true(tmux_await(&s->tmux, "STOPPING 1 by"));
	assert_true(tmux_await(&s->tmux, " \\x1b[2J\\"));
	send_hostile(&box, SIGKILL);
	assert_true(tmux_await(&s->tmux, "STOPPED 1 by"));
	assert_true(tmux_await(&s->tmux, HOSTILE_SHOWN));
	tmux_press(&s->tmux, "q");
	assert_whole(s, 0);
	assert_true(tmux_await_state(&s->tmux, "#{==:#{pane_title},o}", "0"));
	assert_int_equal(box_remove(&box), 0);
}

static void leaves_the_terminal_whole(void **state)
{
	static const struct {
		int signal, status;
	} ends[] = {{SIGTERM, 0}, {SIGINT, 0}, {SIGHUP, 0}, {SIGKILL, 137}, {SIGABRT, 134}};
	struct stage *s = stage_of(state);

	for (size_t i = 0; i < LEN(ends); i++) {
		begin(s);
		assert_int_equal(kill(pid_of(s), ends[i].signal), 0);
		assert_whole(s, ends[i].status);
		unlink(s->status);
		tmux_type(&s->tmux, "clear");
		tmux_press(&s->tmux, "Enter");
		assert_true(tmux_await_gone(&s->tmux, "stty"));
	}
}

static void can_be_suspended(void **state)
{
	struct stage *s = stage_of(state);

	begin(s);
	tmux_press(&s->tmux, "C-z");
	assert_true(tmux_await_state(&s->tmux, "#{alternate_on}#{cursor_flag}", "01"));
	assert_true(tmux_await(&s->tmux, "Stopped"));
	tmux_type(&s->tmux, "echo $((6 * 7))");
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "\n42\n"));
	tmux_type(&s->tmux, "fg");
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "WHO KILLS 0"));
	assert_true(tmux_await_state(&s->tmux, "#{alternate_on}#{cursor_flag}", "10"));
	tmux_press(&s->tmux, "Space");
	assert_true(tmux_await(&s->tmux, "PAUSED"));
	tmux_press(&s->tmux, "q");
	assert_true(tmux_await_state(&s->tmux, "#{alternate_on}#{cursor_flag}", "01"));
}

static bool is_gone(pid_t pid)
{
	for (int i = 0; i < PATIENCE_S * 50; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	return false;
}

static void ends_with_its_terminal(void **state)
{
	struct stage *s = stage_of(state);
	pid_t pid;

	begin(s);
	pid = pid_of(s);
	tmux_close(&s->tmux);
	assert_true(is_gone(pid));
}

/* Ctrl-S: the terminal takes nothing until Ctrl-Q. */
static void ends_while_the_terminal_stands_still(void **state)
{
	struct stage *s = stage_of(state);
	pid_t pid;

	begin(s);
	pid = pid_of(s);
	tmux_press(&s->tmux, "C-s");
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_true(is_gone(pid));
	tmux_press(&s->tmux, "C-q");
	assert_whole(s, 0);
}

static void refuses_what_is_no_screen(void **state)
{
	struct stage *s = stage_of(state);
	char line[1024];

	snprintf(line, sizeof(line), "%s top | cat; TERM=no-such-type %s top; TERM=dumb %s top",
		 getenv("GRACED"), getenv("GRACED"), getenv("GRACED"));
	tmux_resize(&s->tmux, 200, 24);
	tmux_type(&s->tmux, line);
	tmux_press(&s->tmux, "Enter");
	assert_true(tmux_await(&s->tmux, "graced top: it needs a terminal"));
	assert_true(tmux_await(&s->tmux, "graced top: a terminal of type 'no-such-type' (TERM)"));
	assert_true(tmux_await(&s->tmux, "graced top: a terminal of type 'dumb' (TERM)"));
}

#define ON_STAGE(sentence, function)                              \
	{                                                         \
		sentence, function, open_stage, close_stage, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE("a stop is on the screen from its request to its verdict, with who killed",
			 shows_a_stop),
		ON_STAGE(
			"a daemon is followed: stops that were under way, later ones, and who killed",
			follows_a_daemon),
		ON_STAGE(
			"a daemon that is silent is named so, and when it ends so does top, by status 1",
			ends_with_the_daemon),
		ON_STAGE("deaf containers are listed before any stop, as they come and go",
			 audits_what_runs),
		ON_STAGE("keys sort, reverse, filter, pause, show a section alone and explain",
			 is_steered_by_keys),
		ON_STAGE("it fits terminals of any size, and follows when they change",
			 fits_any_size),
		ON_STAGE("names full of escape sequences are shown and not obeyed",
			 shows_hostile_names),
		ON_STAGE("the terminal is whole after each signal that ends it, SIGKILL included",
			 leaves_the_terminal_whole),
		ON_STAGE("Ctrl-Z gives the terminal back, and fg takes it again", can_be_suspended),
		ON_STAGE("it ends with its terminal", ends_with_its_terminal),
		ON_STAGE("it ends while its terminal takes nothing, which is whole thereafter",
			 ends_while_the_terminal_stands_still),
		ON_STAGE("what is no terminal, or cannot show a screen, is refused in one line",
			 refuses_what_is_no_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
