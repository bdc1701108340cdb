// SPDX-License-Identifier: Apache-2.0
/* Runs openssl and curl. */
#include "lib/net/tlsc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "lib/claim.h"

#define WORDS_MAX 64

static char dir[] = "/tmp/graced-tls-XXXXXX";
static bool able;

/* Certificates that prove no purpose are made for all. */
static const char script[] =
	"set -e; exec >/dev/null 2>&1; umask 077; "
	"new() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key; }; "
	"self() { new $1; openssl req -x509 -new -key $1.key -days 2 -subj /CN=$2 "
	"-addext subjectAltName=DNS:localhost -out $1.crt; }; "
	"signed() { new $1; openssl req -new -key $1.key -subj /CN=$1 -out $1.csr; "
	"printf 'extendedKeyUsage=%s\\n' $3 >$1.ext; "
	"openssl x509 -req -in $1.csr -CA $2.crt -CAkey $2.key -CAcreateserial -days 2 "
	"-extfile $1.ext -out $1.crt; }; "
	"self server localhost; self ca ca; self other other; "
	"signed client ca clientAuth; signed purpose ca serverAuth; "
	"signed stranger other clientAuth; command -v curl";

int tlsc_set_up(void **state)
{
	_cleanup_(buf_free) struct buf command = {};

	if (!mkdtemp(dir))
		return -1;
	buf_printf(&command, "cd %s && { %s; }", dir, script);
	able = system(buf_str(&command)) == 0;
	return 0;
}

int tlsc_tear_down(void **state)
{
	_cleanup_(buf_free) struct buf command = {};

	buf_printf(&command, "rm -rf %s", dir);
	return system(buf_str(&command));
}

bool tlsc_can(void)
{
	if (!able)
		print_message("not shown: openssl or curl is missing here\n");
	return able;
}

char *tlsc_read(const char *name)
{
	char path[128], *text;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (fd_read_all(AT_FDCWD, path, 1 << 20, &text) < 0)
		fail_msg("cannot read %s", path);
	return text;
}

static void become(const char *command, int out)
{
	char *words[WORDS_MAX + 1] = {}, *own = strdup(command), *rest;
	size_t n = 0;

	for (char *word = strtok_r(own, " ", &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(out, 2);
	if (chdir(dir) == 0)
		execvp(words[0], words);
	_exit(127);
}

void tlsc_start(const struct site *site, const char *command, struct tlsc *ret)
{
	_cleanup_(buf_free) struct buf full = {};
	int pipe_fds[2];

	for (const char *at = command; *at; at++) {
		if (strncmp(at, "{}", 2) != 0) {
			buf_addc(&full, *at);
			continue;
		}
		buf_printf(&full, "https://localhost:%u", site->port);
		at++;
	}
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	*ret = (struct tlsc){.fd = pipe_fds[0]};
	fcntl(ret->fd, F_SETFL, O_NONBLOCK);
	ret->pid = fork();
	assert_true(ret->pid >= 0);
	if (ret->pid == 0)
		become(buf_str(&full), pipe_fds[1]);
	close(pipe_fds[1]);
}

bool tlsc_poll(struct tlsc *c)
{
	char piece[4096];
	ssize_t n;
	int status;

	while ((n = read(c->fd, piece, sizeof(piece))) > 0)
		buf_add(&c->out, piece, (size_t)n);
	if (c->ended || n < 0)
		return c->ended;
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	c->ended = true;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

int tlsc_await(struct site *site, struct tlsc *c)
{
	while (!tlsc_poll(c))
		site_turn(site);
	return c->status;
}

void tlsc_done(struct tlsc *c)
{
	if (!c->ended) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	close(c->fd);
	buf_free(&c->out);
}

int tlsc_curl(struct site *site, const char *arguments, struct buf *ret_out)
{
	_cleanup_(buf_free) struct buf command = {};
	struct tlsc c;
	int status;

	buf_printf(
		&command,
		"curl -q -s -m 50 --noproxy * --cacert server.crt -w %%{http_code},%%{num_connects}; "
		"-o /dev/null %s",
		arguments);
	tlsc_start(site, buf_str(&command), &c);
	status = tlsc_await(site, &c);
	buf_reset(ret_out);
	buf_add(ret_out, buf_str(&c.out), c.out.len);
	tlsc_done(&c);
	return status;
}
