// SPDX-License-Identifier: Apache-2.0
/*
 * ncurses writes what a screen needs into a file in memory, from where it goes to the terminal as
 * fast as that takes it: its own writes would wait. Modes and keys are not its business, so that
 * nothing here depends on what it takes its output for.
 */
#include "io/terminal/terminal.h"

#ifdef GRACED_NCURSES

/* Its structures are the library's own; without macros in place of functions. */
#define NCURSES_NOMACROS 1
#include <curses.h>

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/library.h"
#include "io/proc/child.h"
#include "io/sinks/out.h"
#include "wire/top/screen.h"

/* --- ncurses, loaded when it is first wanted -------------------------------------------------- */

/* The functions of <curses.h> that io/terminal/terminal calls. */
#define CURSES_FUNCTIONS(X)   \
	X(COLOR_PAIR)         \
	X(curs_set)           \
	X(delscreen)          \
	X(doupdate)           \
	X(endwin)             \
	X(has_colors)         \
	X(init_pair)          \
	X(newterm)            \
	X(newwin)             \
	X(redrawwin)          \
	X(resizeterm)         \
	X(start_color)        \
	X(tigetstr)           \
	X(use_default_colors) \
	X(waddstr)            \
	X(wattrset)           \
	X(werase)             \
	X(wmove)              \
	X(wnoutrefresh)

#define CURSES_MEMBER(name) __typeof__(name) *name;
struct curses {
	CURSES_FUNCTIONS(CURSES_MEMBER)
};
#undef CURSES_MEMBER

static const struct dynlib_function functions[] = {
#define CURSES_ENTRY(name) {#name, offsetof(struct curses, name)},
	CURSES_FUNCTIONS(CURSES_ENTRY)
#undef CURSES_ENTRY
};

/* Loads the library and fills the table. It is never unloaded. -ELIBACC: *ret_error says what the
 * loader misses, and is its until it is called again. */
static int curses_load(struct curses *ret, const char **ret_error)
{
	return dynlib_load(DYNLIB_CURSES, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

/* --- a process that brings the terminal back -------------------------------------------------- */

/*
 * A process that brings a terminal back when the one that changed it dies without doing so, by
 * SIGKILL or a crash. It has no descriptor but the terminal and a pipe, whose end it waits for.
 *
 * The shell that takes the terminal over sets its modes, too: they are changed back only where they
 * are still those of the one that died.
 */

struct guard {
	pid_t pid; /* 0: there is none */
	int fd;	   /* of the pipe */
};

enum { GUARD_TERMINAL, GUARD_PIPE, GUARD_FDS };

static bool is_same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

static void restore(const struct termios *was, const struct termios *set, const char *reset)
{
	struct termios now;
	ssize_t n;

	if (tcgetattr(GUARD_TERMINAL, &now) == 0 && is_same(&now, set))
		tcsetattr(GUARD_TERMINAL, TCSANOW, was);
	n = write(GUARD_TERMINAL, reset, strlen(reset));
	(void)n; /* a terminal that is gone needs nothing */
}

static _Noreturn void wait_for_end(int terminal_fd, int pipe_fd, const struct termios *was,
				   const struct termios *set, const char *reset)
{
	sigset_t all;
	ssize_t n;
	char byte;

	/* Ctrl-C is not for it; and only a background process with SIGTTOU blocked may write. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "graced-guard");
	/* A process that dies closes its descriptors before its parent is notified (kernel/exit.c,
	 * do_exit()): scheduled at once, the guard is mostly done when the shell prompts. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	if (dup2(pipe_fd, GUARD_FDS) < 0 || dup2(terminal_fd, GUARD_FDS + 1) < 0 ||
	    dup2(GUARD_FDS, GUARD_PIPE) < 0 || dup2(GUARD_FDS + 1, GUARD_TERMINAL) < 0)
		child_end(1);
	child_close_from(GUARD_FDS);
	do
		n = read(GUARD_PIPE, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		restore(was, set, reset);
	child_end(0);
}

/* was: the modes to bring back, set: those that are to be changed back, reset: what is written to
 * the terminal then. 0 or -errno. */
static int guard_start(int terminal_fd, const struct termios *was, const struct termios *set,
		       const char *reset, struct guard *ret)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		wait_for_end(terminal_fd, fds[0], was, set, reset);
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return -errno;
	}
	*ret = (struct guard){.pid = pid, .fd = fds[1]};
	return 0;
}

/* The terminal takes nothing, as after Ctrl-S: the process stays until it does, and brings it back
 * then. No-op without one. */
static void guard_leave(struct guard *guard)
{
	if (guard->pid)
		close(guard->fd);
	*guard = (struct guard){};
}

/* The terminal is as it was: the process ends. No-op without one. */
static void guard_end(struct guard *guard)
{
	ssize_t n;

	if (!guard->pid)
		return;
	do
		n = write(guard->fd, "", 1);
	while (n < 0 && errno == EINTR);
	close(guard->fd);
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*guard = (struct guard){};
}

/* --- the terminal ----------------------------------------------------------------------------- */

#define FINISH_MS   2000 /* for a terminal that takes nothing, when it is given back */
#define KEYS_SIZE   256
#define HELD_MAX    (1 << 20)
#define MESSAGE_MAX 256
#define RESET_SIZE  256

/* Pairs of colours, 0 is the terminal's own. */
enum { PAIR_GREEN = 1, PAIR_YELLOW, PAIR_RED };

struct terminal {
	struct curses curses;
	SCREEN *screen;
	WINDOW *window;
	FILE *drawn, *input; /* what ncurses is given */
	struct out *out;
	bool colour, utf8;

	struct termios was, set;
	bool modes_set;
	struct guard guard;

	int held_fd, stderr_fd; /* what takes the place of standard error, and that; -1: none */
	off_t read_to;		/* a key was pressed after the message before this was shown */
	char message[MESSAGE_MAX];

	char keys[KEYS_SIZE];
	size_t n_keys;
};

/* --- standard error ---------------------------------------------------------------------------- */

/* Without memory for it, messages stand on the screen. */
static void hold_stderr(struct terminal *t)
{
	if (!isatty(STDERR_FILENO))
		return;
	fflush(stderr);
	t->held_fd = memfd_create("stderr", MFD_CLOEXEC);
	t->stderr_fd = t->held_fd < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (t->stderr_fd < 0 || fcntl(t->held_fd, F_SETFL, O_APPEND) < 0 ||
	    dup2(t->held_fd, STDERR_FILENO) < 0) {
		if (t->stderr_fd >= 0)
			close(t->stderr_fd);
		t->stderr_fd = -1;
	}
}

static void print_held(struct terminal *t)
{
	_cleanup_(cleanup_free) char *text = NULL;
	off_t size;

	if (t->stderr_fd < 0)
		return;
	fflush(stderr);
	dup2(t->stderr_fd, STDERR_FILENO);
	close(t->stderr_fd);
	t->stderr_fd = -1;
	size = lseek(t->held_fd, 0, SEEK_END);
	text = size > 0 ? malloc((size_t)size) : NULL;
	if (text && pread(t->held_fd, text, (size_t)size, 0) == size)
		fwrite(text, 1, (size_t)size, stderr);
}

/* Where there is too much of it, what was held so far is dropped. */
static void limit_held(struct terminal *t)
{
	if (ftruncate(t->held_fd, 0) == 0)
		t->read_to = 0;
}

static void mark_read(struct terminal *t)
{
	if (t->stderr_fd >= 0)
		t->read_to = lseek(t->held_fd, 0, SEEK_END);
}

/* The last line that was held back; NULL: none since a key was pressed. */
static const char *read_message(struct terminal *t)
{
	char tail[MESSAGE_MAX], *line;
	off_t size, from;
	ssize_t n;

	if (t->stderr_fd < 0)
		return NULL;
	size = lseek(t->held_fd, 0, SEEK_END);
	if (size <= t->read_to)
		return NULL;
	from = size - t->read_to > MESSAGE_MAX - 1 ? size - (MESSAGE_MAX - 1) : t->read_to;
	n = pread(t->held_fd, tail, MESSAGE_MAX - 1, from);
	if (n <= 0)
		return NULL;
	do
		tail[n] = '\0';
	while (n-- > 0 && tail[n] == '\n');
	line = strrchr(tail, '\n');
	snprintf(t->message, sizeof(t->message), "%s", line ? line + 1 : tail);
	if (size > HELD_MAX)
		limit_held(t);
	return t->message;
}

/* --- modes ------------------------------------------------------------------------------------- */

static int set_modes(struct terminal *t)
{
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t->set) < 0)
		return -errno;
	t->modes_set = true;
	return 0;
}

/* Keys come at once and are not shown; those that send signals go on doing so. */
static int take_modes(struct terminal *t)
{
	if (tcgetattr(STDIN_FILENO, &t->was) < 0)
		return -errno;
	t->set = t->was;
	t->set.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
	t->set.c_cc[VMIN] = 1;
	t->set.c_cc[VTIME] = 0;
	return set_modes(t);
}

static void restore_modes(struct terminal *t)
{
	if (t->modes_set)
		tcsetattr(STDIN_FILENO, TCSANOW, &t->was);
	t->modes_set = false;
}

/* A capability without its delays ($<5>), which only terminals of old need. */
static void add_capability(struct terminal *t, const char *name, char reset[static RESET_SIZE])
{
	const char *text = t->curses.tigetstr((char *)(uintptr_t)name);
	size_t n = strlen(reset);

	if (!text || text == (char *)-1)
		return;
	while (*text && n + 1 < RESET_SIZE) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
			text = strchr(text, '>') + 1;
		else
			reset[n++] = *text++;
	}
	reset[n] = '\0';
}

/* Without it only a crash leaves the terminal as it is. */
static void start_guard(struct terminal *t)
{
	static const char *const names[] = {"sgr0", "op", "cnorm", "rmcup"};
	char reset[RESET_SIZE] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_capability(t, names[i], reset);
	guard_start(STDOUT_FILENO, &t->was, &t->set, reset, &t->guard);
}

/* --- opening and closing ----------------------------------------------------------------------- */

static int why(char ret_why[static TERMINAL_WHY_SIZE], const char *what, int r)
{
	snprintf(ret_why, TERMINAL_WHY_SIZE, "%s: %s", what, strerror(-r));
	return r;
}

static int open_files(struct terminal *t, char ret_why[static TERMINAL_WHY_SIZE])
{
	_cleanup_(cleanup_close) int drawn = memfd_create("screen", MFD_CLOEXEC);
	_cleanup_(cleanup_close) int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int r;

	if (drawn < 0 || input < 0)
		return why(ret_why, "cannot prepare the screen", -errno);
	t->drawn = fdopen(drawn, "w");
	if (t->drawn)
		drawn = -1;
	t->input = fdopen(input, "r");
	if (t->input)
		input = -1;
	if (!t->drawn || !t->input)
		return why(ret_why, "cannot prepare the screen", -ENOMEM);
	r = out_new(STDOUT_FILENO, false, true, &t->out);
	return r < 0 ? why(ret_why, "cannot use standard output", r) : 0;
}

static void use_colours(struct terminal *t)
{
	const struct curses *c = &t->curses;

	t->colour = t->colour && c->has_colors() && c->start_color() == OK;
	if (!t->colour)
		return;
	c->use_default_colors();
	c->init_pair(PAIR_GREEN, COLOR_GREEN, -1);
	c->init_pair(PAIR_YELLOW, COLOR_YELLOW, -1);
	c->init_pair(PAIR_RED, COLOR_RED, -1);
}

static int open_screen(struct terminal *t, char ret_why[static TERMINAL_WHY_SIZE])
{
	const char *type = getenv("TERM"), *place;

	t->screen = type && *type ? t->curses.newterm(NULL, t->drawn, t->input) : NULL;
	place = t->screen ? t->curses.tigetstr((char *)(uintptr_t) "cup") : NULL;
	if (!place || place == (char *)-1) {
		snprintf(ret_why, TERMINAL_WHY_SIZE,
			 "a terminal of type '%s' (TERM) is not known, or cannot show a screen",
			 type ? type : "");
		return -EINVAL;
	}
	t->window = t->curses.newwin(0, 0, 0, 0);
	if (!t->window)
		return why(ret_why, "cannot prepare the screen", -ENOMEM);
	use_colours(t);
	return 0;
}

static int open_all(struct terminal *t, char ret_why[static TERMINAL_WHY_SIZE])
{
	const char *error;
	int r;

	if (curses_load(&t->curses, &error) < 0) {
		snprintf(ret_why, TERMINAL_WHY_SIZE, "cannot load ncurses: %s", error);
		return -ELIBACC;
	}
	setlocale(LC_CTYPE, "");
	t->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	r = open_files(t, ret_why);
	if (r >= 0)
		r = open_screen(t, ret_why);
	if (r < 0)
		return r;
	r = take_modes(t);
	if (r < 0)
		return why(ret_why, "cannot set the modes of the terminal", r);
	start_guard(t);
	hold_stderr(t);
	terminal_renew(t);
	return 0;
}

int terminal_open(bool colour, char ret_why[static TERMINAL_WHY_SIZE], struct terminal **ret)
{
	struct terminal *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return why(ret_why, "cannot prepare the screen", -ENOMEM);
	t->colour = colour;
	t->held_fd = t->stderr_fd = -1;
	r = open_all(t, ret_why);
	if (r < 0)
		terminal_close(t);
	else
		*ret = t;
	return r;
}

/* What ncurses has drawn since goes to the terminal. */
static void collect(struct terminal *t)
{
	_cleanup_(cleanup_free) char *text = NULL;
	int fd = fileno(t->drawn);
	off_t size;

	fflush(t->drawn);
	size = lseek(fd, 0, SEEK_END);
	text = size > 0 ? malloc((size_t)size) : NULL;
	if (text && pread(fd, text, (size_t)size, 0) == size)
		out_add(t->out, text, (size_t)size);
	if (ftruncate(fd, 0) == 0)
		lseek(fd, 0, SEEK_SET);
}

/* Until terminal_renew(). False: the terminal took it in part, or not at all. */
static bool leave_screen(struct terminal *t)
{
	int r;

	t->curses.curs_set(1);
	t->curses.endwin();
	collect(t);
	r = out_finish(t->out, FINISH_MS);
	restore_modes(t);
	return r == 0;
}

struct terminal *terminal_close(struct terminal *t)
{
	if (!t)
		return NULL;
	/* One that failed to open has written nothing. */
	if (!t->modes_set || leave_screen(t))
		guard_end(&t->guard);
	else
		guard_leave(&t->guard);
	print_held(t);
	if (t->held_fd >= 0)
		close(t->held_fd);
	if (t->screen)
		t->curses.delscreen(t->screen);
	if (t->drawn)
		fclose(t->drawn);
	if (t->input)
		fclose(t->input);
	out_free(t->out);
	free(t);
	return NULL;
}

/* --- drawing ----------------------------------------------------------------------------------- */

static void get_size(unsigned int *ret_columns, unsigned int *ret_lines)
{
	struct winsize size = {};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_columns = size.ws_col ? size.ws_col : 80;
	*ret_lines = size.ws_row ? size.ws_row : 24;
}

void terminal_renew(struct terminal *t)
{
	unsigned int columns, lines;

	get_size(&columns, &lines);
	t->curses.resizeterm((int)lines, (int)columns);
	t->curses.redrawwin(t->window);
	t->curses.curs_set(0);
}

void terminal_describe(struct terminal *t, struct screen *ret)
{
	get_size(&ret->columns, &ret->lines);
	ret->utf8 = t->utf8;
	ret->message = read_message(t);
}

static unsigned long attributes_of(const struct terminal *t, enum grid_style style)
{
	static const unsigned long attributes[GRID_STYLES] = {
		[GRID_DIM] = A_DIM,	    [GRID_BAR] = A_REVERSE,
		[GRID_TITLE] = A_UNDERLINE, [GRID_FOCUS] = A_BOLD | A_UNDERLINE,
		[GRID_BAD] = A_BOLD,	    [GRID_ALARM] = A_BOLD,
	};
	static const int pairs[GRID_STYLES] = {
		[GRID_GOOD] = PAIR_GREEN,
		[GRID_WARN] = PAIR_YELLOW,
		[GRID_BAD] = PAIR_RED,
		[GRID_ALARM] = PAIR_RED,
	};

	return attributes[style] |
	       (t->colour ? (unsigned long)t->curses.COLOR_PAIR(pairs[style]) : 0);
}

void terminal_begin(struct terminal *t)
{
	t->curses.wattrset(t->window, 0);
	t->curses.werase(t->window);
}

void terminal_put(void *userdata, unsigned int line, unsigned int column, enum grid_style style,
		  const char *text)
{
	struct terminal *t = userdata;

	if (t->curses.wmove(t->window, (int)line, (int)column) != OK)
		return;
	t->curses.wattrset(t->window, (int)attributes_of(t, style));
	t->curses.waddstr(t->window, text);
}

int terminal_end(struct terminal *t)
{
	t->curses.wnoutrefresh(t->window);
	t->curses.doupdate();
	collect(t);
	return out_flush(t->out);
}

int terminal_flush(struct terminal *t)
{
	return out_flush(t->out);
}

int terminal_out_fd(const struct terminal *t)
{
	return out_fd(t->out);
}

/* A process group that no shell watches over goes on at once (kernel/signal.c, get_signal()). */
void terminal_suspend(struct terminal *t)
{
	sigset_t set, before;

	leave_screen(t);
	signal(SIGTSTP, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	set_modes(t);
	terminal_renew(t);
}

/* --- keys -------------------------------------------------------------------------------------- */

int terminal_read(struct terminal *t)
{
	ssize_t n;

	/* A sequence without an end takes no more room. */
	if (t->n_keys == sizeof(t->keys))
		t->n_keys = 0;
	n = read(STDIN_FILENO, t->keys + t->n_keys, sizeof(t->keys) - t->n_keys);
	if (n < 0)
		return -errno;
	t->n_keys += (size_t)n;
	mark_read(t);
	return (int)n;
}

bool terminal_next_key(struct terminal *t, bool last, int *ret_key)
{
	while (t->n_keys) {
		size_t n = keys_read(t->keys, t->n_keys, last, ret_key);

		if (!n)
			return false;
		t->n_keys -= n;
		memmove(t->keys, t->keys + n, t->n_keys);
		if (*ret_key >= 0)
			return true;
	}
	return false;
}

bool terminal_awaits_key(const struct terminal *t)
{
	return t->n_keys > 0;
}

#endif
