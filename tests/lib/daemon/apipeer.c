// SPDX-License-Identifier: Apache-2.0
/* One connection after the other; one that is silent is left to a child. */
#include "lib/daemon/apipeer.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "io/proc/clock.h"
#include "lib/claim.h"

#define REQUEST_MAX 65536

static void add_pod(const struct apipeer_shared *s, struct buf *out)
{
	bool over = s->written_ns != 0;
	const char *uid =
		s->mood == APIPEER_OTHER_POD ? "99999999-0000-4000-8000-000000000000" : s->uid;

	buf_printf(out,
		   "{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\","
		   "\"uid\":\"%s\",\"resourceVersion\":\"7\"},\"spec\":{\"nodeName\":\"node-1\","
		   "\"terminationGracePeriodSeconds\":1,\"containers\":[{\"name\":\"main\","
		   "\"image\":\"i\"}]},\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":"
		   "\"Ready\",\"status\":\"%s\"}],\"containerStatuses\":[{\"name\":\"main\","
		   "\"image\":\"i\",\"imageID\":\"\",\"restartCount\":0,\"ready\":%s,"
		   "\"containerID\":\"containerd://%s\",\"lastState\":{},\"state\":{\"running\":"
		   "{\"startedAt\":\"2026-11-24T10:00:00Z\"}}}]}}",
		   uid, over ? "Failed" : "Running", over ? "False" : "True",
		   over ? "false" : "true", s->container);
}

static void add_list(const struct apipeer_shared *s, struct buf *out)
{
	struct apipeer_shared listed = *s;

	listed.mood = APIPEER_WELL;
	buf_adds(out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
		      "{\"resourceVersion\":\"9\"},\"items\":[");
	if (s->uid[0])
		add_pod(&listed, out);
	buf_adds(out, "]}");
}

static void add_node(const struct apipeer_shared *s, struct buf *out)
{
	char boot[37];

	clock_boot_id(boot);
	buf_adds(out, "{\"metadata\":{\"name\":\"node-1\",\"uid\":\"n1\",\"resourceVersion\":"
		      "\"3\",\"annotations\":{");
	if (s->note[0])
		buf_printf(out, "\"graced.io/out-of-service-boot\":\"%s\"%s", s->note,
			   s->closed[0] ? "," : "");
	if (s->closed[0])
		buf_printf(out, "\"graced.io/node-shutdown-boot\":\"%s\"", s->closed);
	buf_printf(out,
		   "}},\"spec\":{\"taints\":%s},\"status\":{\"nodeInfo\":{\"bootID\":\"%s\"},"
		   "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
		   s->taints[0] ? s->taints : "[]", s->boot[0] ? s->boot : boot,
		   s->ready ? "True" : "Unknown");
}

static void take_node(struct apipeer_shared *s, const char *body)
{
	json_t *json = json_loads(body, 0, NULL);
	json_t *spec = json_object_get(json, "spec");
	const json_t *notes = json_object_get(json_object_get(json, "metadata"), "annotations");
	const json_t *closed = json_object_get(notes, "graced.io/node-shutdown-boot");
	const char *note =
		json_string_value(json_object_get(notes, "graced.io/out-of-service-boot"));
	char *taints = json_dumps(json_object_get(spec, "taints"), JSON_COMPACT);

	if (s->mood == APIPEER_WELL && note) {
		s->sets++;
		if (s->evicts)
			s->uid[0] = '\0';
	}
	snprintf(s->node_patch, sizeof(s->node_patch), "%s", body);
	if (s->mood == APIPEER_WELL) {
		snprintf(s->taints, sizeof(s->taints), "%s", taints ? taints : "");
		if (closed)
			snprintf(s->closed, sizeof(s->closed), "%s",
				 json_string_value(closed) ?: "");
		else
			snprintf(s->note, sizeof(s->note), "%s", note ? note : "");
	}
	free(taints);
	json_decref(json);
	__atomic_fetch_add(&s->node_patches, 1, __ATOMIC_ACQ_REL);
}

static void take_pod(struct apipeer_shared *s, const char *body)
{
	snprintf(s->patch, sizeof(s->patch), "%s", body);
	if (s->mood == APIPEER_WELL)
		__atomic_store_n(&s->written_ns, clock_boot_ns(), __ATOMIC_RELEASE);
	__atomic_fetch_add(&s->patches, 1, __ATOMIC_ACQ_REL);
}

/* Each right is allowed but the one that is denied. */
static void add_review(const struct apipeer_shared *s, const char *body, struct buf *out)
{
	bool denied = s->denied[0] && strstr(body, s->denied);

	buf_printf(out, "{\"kind\":\"SelfSubjectAccessReview\",\"status\":{\"allowed\":%s}}",
		   denied ? "false" : "true");
}

/* The head and the body it has a length for. NULL: the client is gone. */
static const char *hear(int fd, char *text)
{
	const char *body = NULL, *length;
	size_t n = 0, want = 0;

	while (n + 1 < REQUEST_MAX) {
		ssize_t got = read(fd, text + n, REQUEST_MAX - 1 - n);

		if (got <= 0)
			return NULL;
		n += (size_t)got;
		text[n] = '\0';
		body = strstr(text, "\r\n\r\n");
		length = body ? strcasestr(text, "content-length:") : NULL;
		want = length && length < body ? strtoul(length + 15, NULL, 10) : 0;
		if (body && n >= (size_t)(body + 4 - text) + want)
			return body + 4;
	}
	return NULL;
}

static void say(int fd, const char *status, const struct buf *body)
{
	struct buf out = {};

	buf_printf(&out,
		   "HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   status, body->len, buf_str(body));
	(void)!write(fd, out.data, out.len);
	buf_free(&out);
}

static const char *status_of(enum apipeer_mood mood, bool patch)
{
	switch (mood) {
	case APIPEER_CONFLICT:
		return patch ? "409 Conflict" : "200 OK";
	case APIPEER_GONE:
		return "410 Gone";
	case APIPEER_BUSY:
		return "429 Too Many Requests\r\nRetry-After: 60";
	case APIPEER_REVOKED:
		return "401 Unauthorized";
	default:
		return "200 OK";
	}
}

static void serve(struct apipeer_shared *s, int fd)
{
	static char text[REQUEST_MAX];
	const char *body = hear(fd, text);
	bool list = body && strncmp(text, "GET /api/v1/pods", 16) == 0;
	bool patch = body && strncmp(text, "PATCH ", 6) == 0;
	bool node = body && strstr(text, " /api/v1/nodes/node-1 ");
	bool review = body && strstr(text, "/selfsubjectaccessreviews ");
	struct buf out = {};

	if (!body || s->mood == APIPEER_DOWN)
		return;
	while ((!list || s->lists_too) && s->mood == APIPEER_SILENT)
		sleep(1);
	if (list)
		add_list(s, &out);
	else if (review)
		add_review(s, body, &out);
	else if (node && patch)
		take_node(s, body);
	else if (patch)
		take_pod(s, body);
	if (node)
		add_node(s, &out);
	else if (!list && !review)
		add_pod(s, &out);
	say(fd, list && !s->lists_too ? "200 OK" : status_of(s->mood, patch), &out);
	buf_free(&out);
}

static void play(struct apipeer *peer)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(peer->fd, NULL, NULL);

		if (fd < 0)
			_exit(1);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(peer->shared, fd);
			_exit(0);
		}
		close(fd);
	}
}

void apipeer_open(struct apipeer *peer)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);

	*peer = (struct apipeer){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_true(peer->fd >= 0);
	assert_int_equal(bind(peer->fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(peer->fd, (struct sockaddr *)&in, &len), 0);
	assert_int_equal(listen(peer->fd, 16), 0);
	peer->port = ntohs(in.sin_port);
	peer->shared = mmap(NULL, sizeof(*peer->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(peer->shared != MAP_FAILED);
	peer->pid = fork();
	assert_true(peer->pid >= 0);
	if (peer->pid == 0)
		play(peer);
}

void apipeer_close(struct apipeer *peer)
{
	if (peer->pid <= 0)
		return;
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
	close(peer->fd);
	munmap(peer->shared, sizeof(*peer->shared));
	*peer = (struct apipeer){};
}
