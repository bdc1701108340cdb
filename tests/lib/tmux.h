/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal: a tmux server of its own, with one window that runs a plain shell. */
#ifndef TESTS_LIB_TMUX_H
#define TESTS_LIB_TMUX_H

#include <stdbool.h>
#include <sys/types.h>

#define TMUX_SCREEN_SIZE (64 * 1024)

struct tmux {
	char dir[32];		       /* private */
	char socket[48];	       /* in it */
	char screen[TMUX_SCREEN_SIZE]; /* as it was seen last: lines without trailing blanks */
};

/* Why there is none here, or NULL. */
const char *tmux_unavailable(void);

/* 0 or -errno. tmux_close() in any case. */
int tmux_open(struct tmux *ret, unsigned int columns, unsigned int lines);
void tmux_close(struct tmux *tmux);

/* Types a text. */
void tmux_type(struct tmux *tmux, const char *text);
/* Presses a key by the name that tmux has for it: "Enter", "C-c", "Up", "PPage". */
void tmux_press(struct tmux *tmux, const char *key);
void tmux_resize(struct tmux *tmux, unsigned int columns, unsigned int lines);

/* Reads the screen anew. */
const char *tmux_see(struct tmux *tmux);
/* Waits until the screen contains the text, or no longer does; false after PATIENCE_S. */
bool tmux_await(struct tmux *tmux, const char *text);
bool tmux_await_gone(struct tmux *tmux, const char *text);
/* The same for what tmux says of the window by one of its formats: "#{alternate_on}". */
bool tmux_await_state(struct tmux *tmux, const char *format, const char *value);

#endif
