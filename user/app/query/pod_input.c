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
#include "wire/kubernetes/yaml.h"

void podinput_free(struct podinput *input)
{
	free(input->bytes);
	input->bytes = NULL;
}

/* One byte more than may be, so that what is too long is seen to be. */
static int read_fd(int fd, struct podinput *ret)
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
	ret->bytes = TAKE_PTR(bytes);
	ret->size = (size_t)n;
	return 0;
}

/* JSON is YAML, too, but is read faster as what it is. */
static bool is_yaml(const struct podinput *input)
{
	char first = input->bytes[strspn(input->bytes, " \t\r\n")];

	return first && first != '{' && first != '[';
}

static int convert(struct podinput *input)
{
	_cleanup_(buf_free) struct buf json = {.limit = 2 * PODINPUT_MAX};
	struct podread_error error = {};
	int r = podyaml_to_json(input->bytes, input->size, &json, &error);

	if (r < 0) {
		podinput_refuse(input, "", r, &error);
		return r;
	}
	free(input->bytes);
	input->yaml = true;
	input->size = json.len;
	input->bytes = json.data ? TAKE_PTR(json.data) : strdup("");
	return input->bytes ? 0 : -ENOMEM;
}

int podinput_load(struct podinput *input)
{
	bool is_stdin = strcmp(input->path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(input->path, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

	r = fd < 0 ? -errno : read_fd(fd, input);
	if (fd >= 0 && !is_stdin)
		close(fd);
	if (r == -EFBIG)
		say("cannot %s %s: it is longer than %zu MiB", input->verb, input->path,
		    PODINPUT_MAX >> 20);
	else if (r < 0)
		say("cannot read %s: %s", input->path, strerror(-r));
	else if (is_yaml(input))
		r = convert(input);
	if (r < 0)
		podinput_free(input);
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
	const char *begin; /* of the document */
	bool several;	   /* there are other documents */
	size_t document;   /* from 0 */
	size_t picked;	   /* pods that the filter wants */
	struct arena *arena;
	podinput_fn fn;
	void *userdata;
	size_t count; /* of this document */
	size_t seen;  /* of all of them */
	int status;
};

/* The filter knows records; an emptiness is one of a pod and nothing more. */
static bool is_picked(const struct walker *w, const json_t *json)
{
	const json_t *meta = apijson_get(json, "metadata");
	const struct record subject = {
		.type = RECORD_EMPTY,
		.empty = {.pod = {.known = true,
				  .namespace_ = json_string_value(apijson_get(meta, "namespace")),
				  .name = json_string_value(apijson_get(meta, "name")),
				  .uid = json_string_value(apijson_get(meta, "uid"))}}};

	return !w->input->filter || filter_matches(w->input->filter, &subject);
}

static int take_pod(struct walker *w, const char *text, size_t size, struct podread_error *error)
{
	_cleanup_(arena_free) struct arena arena = {};
	json_auto_t *json = NULL;
	struct podobj_pod pod;
	int r = podread_parse(text, size, &json, error);

	if (r == 0 && !is_picked(w, json))
		return 0;
	w->picked++;
	if (r == 0)
		r = podread_pod(json, w->arena ? w->arena : &arena, &pod, error);
	return r == 0 ? w->fn(w->userdata, &pod) : r;
}

static void take_object(void *userdata, const char *text, size_t size)
{
	struct walker *w = userdata;
	struct podread_error error = {};
	char where[64] = "";
	size_t n = 0;
	int r = take_pod(w, text, size, &error);

	if (w->several)
		n = (size_t)snprintf(where, sizeof(where), "documents[%zu]", w->document);
	if (text != w->begin)
		snprintf(where + n, sizeof(where) - n, "%sitems[%zu]", n ? "." : "", w->count);
	w->count++;
	if (r == 0)
		return;
	if (w->input->yaml)
		error.line = 0;
	podinput_refuse(w->input, where, r, &error);
	w->status = 1;
}

/* What is wrong with a text that is no pod and no list of pods. */
static void refuse_text(const struct podinput *input, size_t size)
{
	struct podread_error error = {};
	json_t *json = NULL;
	int r = input->yaml ? 0 : podread_parse(input->bytes, size, &json, &error);

	json_decref(json);
	if (r < 0 && r != -E2BIG)
		podinput_refuse(input, "", r, &error);
	else
		say("cannot %s %s: it is no pod and no list of pods", input->verb, input->path);
}

/* One document. 0, or a negative errno, which was said. */
static int walk(struct walker *w, const char *text, size_t size)
{
	const struct podjson_sink sink = {.userdata = w, .object = take_object};
	_cleanup_(cleanup_podjson_free) struct podjson *pods = NULL;
	int r = podjson_new(text, size, &pods);

	w->begin = text + strspn(text, " \t\r\n");
	w->count = 0;
	if (r == 0) {
		do
			r = podjson_next(pods, &sink);
		while (r == 1);
	}
	if (r == -EBADMSG)
		refuse_text(w->input, size);
	else if (r < 0)
		say("cannot %s %s: %s", w->input->verb, w->input->path, strerror(-r));
	w->seen += w->count;
	return r;
}

static int walk_documents(struct walker *w)
{
	const struct podinput *input = w->input;
	size_t at = 0, len;
	int r = 0;

	if (!input->yaml)
		return walk(w, input->bytes, input->size);
	if (!input->size) {
		refuse_text(input, 0);
		return -EBADMSG;
	}
	w->several = strcspn(input->bytes, "\n") + 1 < input->size;
	for (; at < input->size && r == 0; at += len + 1) {
		len = strcspn(input->bytes + at, "\n");
		r = walk(w, input->bytes + at, len);
		w->document++;
	}
	return r;
}

int podinput_each(struct podinput *input, struct arena *arena, podinput_fn fn, void *userdata)
{
	struct walker w = {.input = input, .arena = arena, .fn = fn, .userdata = userdata};
	int r = podinput_load(input);

	if (r == 0)
		r = walk_documents(&w);
	podinput_free(input);
	if (r < 0)
		return 1;
	if (w.seen == 0) {
		say("no pods in %s", input->path);
	} else if (w.picked == 0) {
		say("there is no such pod in %s", input->path);
		return 1;
	}
	return w.status;
}
