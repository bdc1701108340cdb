// SPDX-License-Identifier: Apache-2.0
// A terminal that is looked at and typed into.
#include "lib/tmux.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/patience.h"
#include "lib/run.h"

#define TMUX	"/usr/bin/tmux"
#define LOOK_MS 20
#define ARGS	16

/* Runs a command of the server; what it prints goes to ret, NULL: nowhere. */
static int command(const struct tmux *tmux, const char *const *args, char *ret, size_t size)
{
	const char *argv[ARGS + 8] = {"-u", "-f", "/dev/null", "-S", tmux->socket};
	struct run_result result;
	int r;

	for (size_t i = 0; args[i] && i < ARGS; i++)
		argv[5 + i] = args[i];
	r = run(&(struct run_spec){.exe = TMUX, .args = argv}, &result);
	if (r < 0)
		return r;
	if (result.status)
		fprintf(stderr, "tmux %s: %s", args[0], result.err);
	if (ret)
		snprintf(ret, size, "%s", result.out);
	r = result.status ? -EIO : 0;
	run_done(&result);
	return r;
}

#define COMMAND(tmux, ...) command(tmux, (const char *const[]){__VA_ARGS__, NULL}, NULL, 0)

const char *tmux_unavailable(void)
{
	return access(TMUX, X_OK) < 0 ? "there is no tmux" : NULL;
}

int tmux_open(struct tmux *ret, unsigned int columns, unsigned int lines)
{
	char width[16], height[16];

	*ret = (struct tmux){.dir = "/tmp/graced-tmux-XXXXXX"};
	if (!mkdtemp(ret->dir)) {
		ret->dir[0] = '\0';
		return -errno;
	}
	snprintf(ret->socket, sizeof(ret->socket), "%s/socket", ret->dir);
	snprintf(width, sizeof(width), "%u", columns);
	snprintf(height, sizeof(height), "%u", lines);
	/* Not bash: it sets a terminal's modes after a command that was killed. */
	return COMMAND(ret, "new-session", "-d", "-x", width, "-y", height, "/bin/sh");
}

void tmux_close(struct tmux *tmux)
{
	if (!*tmux->dir)
		return;
	COMMAND(tmux, "kill-server");
	unlink(tmux->socket);
	rmdir(tmux->dir);
	tmux->dir[0] = '\0';
}

void tmux_type(struct tmux *tmux, const char *text)
{
	COMMAND(tmux, "send-keys", "-l", text);
}

void tmux_press(struct tmux *tmux, const char *key)
{
	COMMAND(tmux, "send-keys", key);
}

void tmux_resize(struct tmux *tmux, unsigned int columns, unsigned int lines)
{
	char width[16], height[16];

	snprintf(width, sizeof(width), "%u", columns);
	snprintf(height, sizeof(height), "%u", lines);
	COMMAND(tmux, "resize-window", "-x", width, "-y", height);
}

const char *tmux_see(struct tmux *tmux)
{
	static const char *const args[] = {"capture-pane", "-p", NULL};

	if (command(tmux, args, tmux->screen, sizeof(tmux->screen)) < 0)
		tmux->screen[0] = '\0';
	return tmux->screen;
}

static bool look_again(unsigned int *passed)
{
	nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
	*passed += LOOK_MS;
	return *passed < PATIENCE_MS;
}

static bool await(struct tmux *tmux, const char *text, bool there)
{
	unsigned int passed = 0;

	while ((strstr(tmux_see(tmux), text) != NULL) != there)
		if (!look_again(&passed)) {
			fprintf(stderr, "'%s' is%s on the screen:\n%s", text, there ? " not" : "",
				tmux->screen);
			return false;
		}
	return true;
}

bool tmux_await(struct tmux *tmux, const char *text)
{
	return await(tmux, text, true);
}

bool tmux_await_gone(struct tmux *tmux, const char *text)
{
	return await(tmux, text, false);
}

bool tmux_await_state(struct tmux *tmux, const char *format, const char *value)
{
	const char *const args[] = {"display-message", "-p", format, NULL};
	char state[256] = "";
	unsigned int passed = 0;

	do {
		if (command(tmux, args, state, sizeof(state)) == 0) {
			state[strcspn(state, "\n")] = '\0';
			if (strcmp(state, value) == 0)
				return true;
		}
	} while (look_again(&passed));
	fprintf(stderr, "%s is %s, not %s\n", format, state, value);
	return false;
}
