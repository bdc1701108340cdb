// SPDX-License-Identifier: Apache-2.0
/* Runs openssl s_server between two pipes. */
#include "lib/net/tlspeer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/net/tlsc.h"

static void write_file(const char *dir, const char *file, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void become(const char *dir, int in, int out)
{
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (chdir(dir) == 0)
		execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
		       "peer.crt", "-key", "peer.key", NULL);
	_exit(127);
}

static void listen_on(struct tlspeer *peer)
{
	char piece[4096];
	ssize_t n;

	while ((n = read(peer->out, piece, sizeof(piece))) > 0)
		buf_add(&peer->said, piece, (size_t)n);
	assert_true(n != 0);
}

static void start(struct tlspeer *peer, const char *dir)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	peer->pid = fork();
	assert_true(peer->pid >= 0);
	if (peer->pid == 0)
		become(dir, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	peer->in = in[1];
	peer->out = out[0];
	fcntl(peer->out, F_SETFL, O_NONBLOCK);
}

void tlspeer_open(struct tlspeer *peer, struct asker *asker, const char *name)
{
	char dir[] = "/tmp/graced-tlspeer-XXXXXX", file[64], command[96];
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL;
	const char *at = NULL;

	snprintf(file, sizeof(file), "%s.crt", name);
	cert = tlsc_read(file);
	snprintf(file, sizeof(file), "%s.key", name);
	key = tlsc_read(file);
	assert_non_null(mkdtemp(dir));
	write_file(dir, "peer.crt", cert);
	write_file(dir, "peer.key", key);
	*peer = (struct tlspeer){};
	start(peer, dir);
	while (!at || !strchr(at, '\n')) {
		asker_turn(asker);
		listen_on(peer);
		at = strstr(buf_str(&peer->said), "ACCEPT 127.0.0.1:");
	}
	peer->port = (uint16_t)atoi(at + strlen("ACCEPT 127.0.0.1:"));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

void tlspeer_ask(struct tlspeer *peer, struct asker *asker, struct fetch_request *request,
		 const char *answer, struct asker_reply *ret)
{
	struct fetch_call *call;

	*ret = (struct asker_reply){};
	request->userdata = ret;
	request->done = asker_done;
	buf_reset(&peer->said);
	assert_int_equal(fetch_start(asker->fetch, request, &call), 0);
	while (!ret->done) {
		asker_turn(asker);
		listen_on(peer);
		if (!answer || !strstr(buf_str(&peer->said), "\r\n\r\n"))
			continue;
		assert_int_equal(write(peer->in, answer, strlen(answer)), strlen(answer));
		answer = NULL;
	}
}

void tlspeer_close(struct tlspeer *peer)
{
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
	close(peer->in);
	close(peer->out);
	buf_free(&peer->said);
}
