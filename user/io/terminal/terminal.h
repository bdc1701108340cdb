/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal that shows a screen and sends keys: standard input and output. A reader that is slow
 * never blocks the caller. When it is closed, or its process dies, the terminal is as it was.
 *
 * What others write to standard error meanwhile would stand in the middle of the screen: where that
 * is a terminal, too, it is held back, and printed when the screen is gone.
 */
#ifndef IO_TERMINAL_TERMINAL_H
#define IO_TERMINAL_TERMINAL_H

#ifdef GRACED_NCURSES

#include <stdbool.h>
#include <stddef.h>

#include "wire/top/screen.h"

#define TERMINAL_WHY_SIZE 256

struct terminal;

/* Takes the terminal over. 0, or -errno with what is wrong in ret_why. */
int terminal_open(bool colour, char ret_why[static TERMINAL_WHY_SIZE], struct terminal **ret);
/* Gives it back; NULL is a no-op. */
struct terminal *terminal_close(struct terminal *t);

/* Fills in how large it is, whether it shows UTF-8, and the last line held back. */
void terminal_describe(struct terminal *t, struct screen *ret);

/* A blank screen, texts for it (userdata is the terminal), and what changed is sent. The last one
 * is as terminal_flush(). */
void terminal_begin(struct terminal *t);
void terminal_put(void *userdata, unsigned int line, unsigned int column, enum grid_style style,
		  const char *text);
int terminal_end(struct terminal *t);

/* Sends what was not taken before. 0: all is out. 1: some is left, and nothing new is to be drawn.
 * -errno: the terminal is gone. */
int terminal_flush(struct terminal *t);
/* The descriptor to poll for that. */
int terminal_out_fd(const struct terminal *t);

/* The size may have changed; everything is sent anew. */
void terminal_renew(struct terminal *t);
/* Gives the terminal back until SIGCONT: what Ctrl-Z wants. */
void terminal_suspend(struct terminal *t);

/* Reads keys that came; descriptor 0 is what to poll for them. How many bytes, 0: the terminal is
 * gone; -errno. */
int terminal_read(struct terminal *t);
/* The next of these keys: a byte or one of enum top_key. False: there is none. last: the rest of a
 * sequence will not come any more. */
bool terminal_next_key(struct terminal *t, bool last, int *ret_key);
/* The beginning of a sequence has come, and not its end. */
bool terminal_awaits_key(const struct terminal *t);

#endif
#endif
