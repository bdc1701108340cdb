// SPDX-License-Identifier: Apache-2.0
/* Reads pods from files and standard input, and says what is wrong with them. */
#include "app/query/pod_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/log/say.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "wire/kubernetes/pods.h"

void podinput_free(struct podinput_text *text)
{
	free(text->bytes);
	*text = (struct podinput_text){};
}

/* One byte more than may be, so that what is too long is seen to be. */
static int read_fd(int fd, struct podinput_text *ret)
{
	_cleanup_(cleanup_free) char *bytes = malloc(PODINPUT_MAX + 2);
	ssize_t n;

	if (!bytes)
		return -ENOMEM;
	n = fd_read_full(fd, bytes, PODINPUT_MAX + 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n > PODINPUT_MAX)
		return -EFBIG;
	bytes[n] = '\0';
	*ret = (struct podinput_text){.bytes = TAKE_PTR(bytes), .size = (size_t)n};
	return 0;
}

int podinput_load(const struct podinput *input, struct podinput_text *ret)
{
	bool is_stdin = strcmp(input->path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(input->path, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

	r = fd < 0 ? -errno : read_fd(fd, ret);
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (r == -EFBIG)
		say("cannot %s %s: it is longer than %zu MiB", input->verb, input->path,
		    PODINPUT_MAX >> 20);
	else if (r < 0)
		say("cannot read %s: %s", input->path, strerror(-r));
	return r;
}

/* A line counts from the begin of what is at where. */
static void refuse_syntax(const struct podinput *input, const char *where,
			  const struct podread_error *error)
{
	char at[64] = "";

	if (error->line > 0)
		snprintf(at, sizeof(at), "line %d, column %d: ", error->line, error->column);
	say("cannot %s %s: %s%s%s%s%s%s", input->verb, input->path, where, *where ? ", " : "", at,
	    error->member, *error->member ? " " : "", error->problem);
}

void podinput_refuse(const struct podinput *input, const char *where, int e,
		     const struct podread_error *error)
{
	const char *dot = *where && *error->member ? "." : "";
	const char *it = *where || *error->member ? "" : "it";

	if (e == -E2BIG)
		say("cannot %s %s: %s%s is longer than %zu MiB", input->verb, input->path, where,
		    *where ? "" : "it", PODREAD_TEXT_MAX >> 20);
	else if (e == -EBADMSG)
		refuse_syntax(input, where, error);
	else if (e == -EINVAL)
		say("cannot %s %s: %s%s%s%s %s", input->verb, input->path, it, where, dot,
		    error->member, error->problem);
	else
		say("cannot %s %s: %s", input->verb, input->path, strerror(-e));
}

struct walker {
	const struct podinput *input;
	const char *begin; /* of what is in the file */
	struct arena *arena;
	podinput_fn fn;
	void *userdata;
	size_t count;
	int status;
};

static int take_pod(const struct walker *w, const char *text, size_t size,
		    struct podread_error *error)
{
	_cleanup_(arena_free) struct arena arena = {};
	json_auto_t *json = NULL;
	struct podobj_pod pod;
	int r = podread_parse(text, size, &json, error);

	if (r == 0)
		r = podread_pod(json, w->arena ? w->arena : &arena, &pod, error);
	return r == 0 ? w->fn(w->userdata, &pod) : r;
}

static void take_object(void *userdata, const char *text, size_t size)
{
	struct walker *w = userdata;
	struct podread_error error = {};
	char where[32] = "";
	int r = take_pod(w, text, size, &error);

	if (text != w->begin)
		snprintf(where, sizeof(where), "items[%zu]", w->count);
	w->count++;
	if (r == 0)
		return;
	podinput_refuse(w->input, where, r, &error);
	w->status = 1;
}

/* What is wrong with a text that is no pod and no list of pods. */
static void refuse_text(const struct podinput *input, const struct podinput_text *text)
{
	struct podread_error error = {};
	json_t *json = NULL;
	int r = podread_parse(text->bytes, text->size, &json, &error);

	json_decref(json);
	if (r < 0 && r != -E2BIG)
		podinput_refuse(input, "", r, &error);
	else
		say("cannot %s %s: it is no pod and no list of pods", input->verb, input->path);
}

int podinput_each(const struct podinput *input, struct arena *arena, podinput_fn fn, void *userdata)
{
	struct walker w = {.input = input, .arena = arena, .fn = fn, .userdata = userdata};
	const struct podjson_sink sink = {.userdata = &w, .object = take_object};
	_cleanup_(podinput_free) struct podinput_text text = {};
	_cleanup_(cleanup_podjson_free) struct podjson *walk = NULL;
	int r;

	if (podinput_load(input, &text) < 0)
		return 1;
	w.begin = text.bytes + strspn(text.bytes, " \t\r\n");
	r = podjson_new(text.bytes, text.size, &walk);
	if (r == 0) {
		do
			r = podjson_next(walk, &sink);
		while (r == 1);
	}
	if (r == -EBADMSG)
		refuse_text(input, &text);
	else if (r < 0)
		say("cannot %s %s: %s", input->verb, input->path, strerror(-r));
	else if (w.count == 0)
		say("no pods in %s", input->path);
	return r < 0 ? 1 : w.status;
}
