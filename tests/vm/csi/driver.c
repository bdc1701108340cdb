// SPDX-License-Identifier: Apache-2.0
/*
 * A CSI driver of inline volumes, as a kubelet calls it: gRPC on a socket in the kubelet's
 * directory of plugins. A volume is a loop mount of IMAGE. Before an unmount the driver runs the
 * program DELAY. SIGTERM ends the driver at once, and with it the unmounts that are under way. It
 * reports each step on standard output, a JSON object a line; `at` is seconds since the boot.
 *
 *   csi SOCKET IMAGE DELAY
 */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME	      "csi.graced.test"
#define UNIMPLEMENTED 12
#define INTERNAL      13

struct message {
	uint8_t data[4096];
	size_t len;
};

/* One at a time on a connection: a kubelet makes a connection for each. */
struct call {
	int32_t id;
	char path[128];
	struct message question, answer;
	size_t sent;
	int status;
};

static const char *endpoint, *image, *delay;

/* Unmounts: those that the kubelet has called for, and those where umount(2) was called. */
struct counts {
	unsigned int begun, ended;
};
static struct counts *unmounts; /* shared by all processes of the driver */

static void report(const char *event)
{
	struct timespec now;
	char line[160];
	int n;

	clock_gettime(CLOCK_BOOTTIME, &now);
	n = snprintf(
		line, sizeof(line),
		"{\"type\":\"driver\",\"event\":\"%s\",\"at\":%lld.%03ld,\"begun\":%u,\"ended\":%u}\n",
		event, (long long)now.tv_sec, now.tv_nsec / 1000000, unmounts->begun,
		unmounts->ended);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		exit(1);
}

/* --- protobuf ------------------------------------------------------------------------------- */

static void put(struct message *m, const void *data, size_t len)
{
	if (len > sizeof(m->data) - m->len)
		exit(1);
	memcpy(m->data + m->len, data, len);
	m->len += len;
}

/* A text of fewer than 128 bytes. */
static void put_text(struct message *m, uint8_t field, const char *text)
{
	const uint8_t head[] = {(uint8_t)(field << 3 | 2), (uint8_t)strlen(text)};

	put(m, head, sizeof(head));
	put(m, text, strlen(text));
}

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The text of a field behind the frame's five bytes. */
static bool read_text(const struct message *m, uint64_t field, char *ret, size_t size)
{
	const uint8_t *at = m->data + 5, *end = m->data + m->len;
	uint64_t tag, n;

	while (at < end && read_varint(&at, end, &tag) && read_varint(&at, end, &n)) {
		if ((tag & 7) == 0)
			continue;
		if ((tag & 7) != 2 || n > (uint64_t)(end - at))
			return false;
		if (tag >> 3 == field && n < size) {
			memcpy(ret, at, n);
			ret[n] = '\0';
			return true;
		}
		at += n;
	}
	return false;
}

/* --- what a kubelet calls ----------------------------------------------------------------------- */

static int run(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : INTERNAL;
}

static int publish(const struct call *call)
{
	char target[1024];
	const char *const argv[] = {"/bin/mount", "-o", "loop", image, target, NULL};

	if (!read_text(&call->question, 4, target, sizeof(target)) ||
	    (mkdir(target, 0750) < 0 && errno != EEXIST) || run(argv) != 0)
		return INTERNAL;
	report("mounted");
	return 0;
}

static int unpublish(const struct call *call)
{
	const char *const argv[] = {delay, NULL};
	char target[1024];

	if (!read_text(&call->question, 2, target, sizeof(target)))
		return INTERNAL;
	__atomic_add_fetch(&unmounts->begun, 1, __ATOMIC_SEQ_CST);
	report("called");
	if (run(argv) != 0)
		return INTERNAL;
	/* The mount is gone before umount(2) returns. */
	__atomic_add_fetch(&unmounts->ended, 1, __ATOMIC_SEQ_CST);
	report("unmounts");
	return umount(target) == 0 ? 0 : INTERNAL;
}

static int registration(struct message *m)
{
	put_text(m, 1, "CSIPlugin");
	put_text(m, 2, NAME);
	put_text(m, 3, endpoint);
	put_text(m, 4, "1.0.0");
	return 0;
}

static int answer(struct call *call, struct message *m)
{
	const char *path = call->path;

	if (strcmp(path, "/pluginregistration.Registration/GetInfo") == 0)
		return registration(m);
	if (strcmp(path, "/csi.v1.Identity/GetPluginInfo") == 0 ||
	    strcmp(path, "/csi.v1.Node/NodeGetInfo") == 0) {
		put_text(m, 1, strstr(path, "Node/") ? "vm-node" : NAME);
		return 0;
	}
	if (strcmp(path, "/csi.v1.Node/NodePublishVolume") == 0)
		return publish(call);
	if (strcmp(path, "/csi.v1.Node/NodeUnpublishVolume") == 0)
		return unpublish(call);
	if (strcmp(path, "/pluginregistration.Registration/NotifyRegistrationStatus") == 0 ||
	    strcmp(path, "/csi.v1.Identity/Probe") == 0 ||
	    strcmp(path, "/csi.v1.Node/NodeGetCapabilities") == 0)
		return 0;
	return UNIMPLEMENTED;
}

/* --- gRPC ------------------------------------------------------------------------------------- */

#define HEADER(name, value)                                                             \
	{                                                                               \
		(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, strlen(value), \
			NGHTTP2_NV_FLAG_NONE                                            \
	}

static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *at, size_t len,
			   uint32_t *flags, nghttp2_data_source *source, void *userdata)
{
	struct call *call = source->ptr;
	size_t left = call->answer.len - call->sent, n = left < len ? left : len;
	char status[8];

	memcpy(at, call->answer.data + call->sent, n);
	call->sent += n;
	if (n < left)
		return (ssize_t)n;
	snprintf(status, sizeof(status), "%d", call->status);
	const nghttp2_nv trailer = HEADER("grpc-status", status);

	*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	nghttp2_submit_trailer(session, id, &trailer, 1);
	return (ssize_t)n;
}

static void respond(nghttp2_session *session, struct call *call)
{
	const nghttp2_nv headers[] = {HEADER(":status", "200"),
				      HEADER("content-type", "application/grpc")};
	const nghttp2_data_provider body = {.source.ptr = call, .read_callback = read_answer};
	struct message m = {};

	call->status = answer(call, &m);
	call->answer.len = call->sent = 0;
	put(&call->answer, (const uint8_t[]){0, 0, 0, (uint8_t)(m.len >> 8), (uint8_t)m.len}, 5);
	put(&call->answer, m.data, m.len);
	nghttp2_submit_response(session, call->id, headers, 2, &body);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *userdata)
{
	struct call *call = userdata;

	*call = (struct call){.id = frame->hd.stream_id};
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t len, uint8_t flags,
		     void *userdata)
{
	struct call *call = userdata;

	if (name_len == 5 && memcmp(name, ":path", 5) == 0)
		snprintf(call->path, sizeof(call->path), "%.*s", (int)len, (const char *)value);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
		   size_t len, void *userdata)
{
	struct call *call = userdata;

	put(&call->question, data, len);
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *userdata)
{
	struct call *call = userdata;

	if (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		respond(session, call);
	return 0;
}

static ssize_t on_send(nghttp2_session *session, const uint8_t *data, size_t len, int flags,
		       void *userdata)
{
	ssize_t n = send(STDIN_FILENO, data, len, MSG_NOSIGNAL);

	return n < 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : n;
}

/* The connection is standard input. */
static void serve(void)
{
	static struct call call;
	nghttp2_session_callbacks *callbacks;
	nghttp2_session *session;
	nghttp2_option *option;
	uint8_t piece[16384];
	ssize_t n;

	/* A kubelet's :authority is the path of the socket, which HTTP does not allow. */
	nghttp2_option_new(&option);
	nghttp2_option_set_no_http_messaging(option, 1);
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_send_callback(callbacks, on_send);
	nghttp2_session_server_new2(&session, callbacks, &call, option);
	nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, NULL, 0);
	while (nghttp2_session_send(session) == 0 &&
	       (n = recv(STDIN_FILENO, piece, sizeof(piece), 0)) > 0 &&
	       nghttp2_session_mem_recv(session, piece, (size_t)n) >= 0)
		;
}

/* --- the driver --------------------------------------------------------------------------------- */

static volatile sig_atomic_t ends;

static void on_term(int number)
{
	ends = 1;
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void start_process(int connection)
{
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	dup2(connection, STDIN_FILENO);
	serve();
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct sigaction term = {.sa_handler = on_term};
	int listening;

	if (argc != 4) {
		fprintf(stderr, "usage: csi SOCKET IMAGE DELAY\n");
		return 2;
	}
	endpoint = argv[1];
	image = argv[2];
	delay = argv[3];
	unmounts = mmap(NULL, sizeof(*unmounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (unmounts == MAP_FAILED)
		return 1;
	signal(SIGCHLD, SIG_IGN);
	sigaction(SIGTERM, &term, NULL);
	listening = listen_on(endpoint);
	report("listens");
	while (!ends) {
		int connection = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

		if (connection >= 0)
			start_process(connection);
		if (connection >= 0)
			close(connection);
	}
	report("terminated");
	return 0;
}
