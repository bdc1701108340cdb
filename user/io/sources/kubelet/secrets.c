// SPDX-License-Identifier: Apache-2.0
/* Reads what shows who asks, as it is now: the token, the client certificate with its key. */
#include "io/sources/kubelet/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/files/fd.h"
#include "io/tls/certificate.h"
#include "wire/kubernetes/token.h"

#define SECRET_MAX ((size_t)64 << 10)

static int cannot_read(struct podsrc_kubelet_why *ret_why, const char *what, const char *path,
		       int error)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot read the %s in %.100s: %s", what,
		 path, strerror(-error));
	return error;
}

/* Links are followed: a mounted token is one to the newest. */
static int open_regular(const char *what, const char *path, struct podsrc_kubelet_why *ret_why)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return cannot_read(ret_why, what, path, -errno);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	snprintf(ret_why->text, sizeof(ret_why->text), "the %s's %.100s is no regular file", what,
		 path);
	return -EINVAL;
}

int podsrc_kubelet_file(const char *what, const char *path, struct podsrc_kubelet_why *ret_why)
{
	int fd = open_regular(what, path, ret_why);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Takes the white space off both ends; false when nothing is left, or what is left is no token. */
static bool trim(char *text, size_t size)
{
	size_t len;
	char *from = text + strspn(text, " \t\r\n");

	/* A NUL inside would hide the rest. */
	if (strlen(text) != size)
		return false;
	len = strlen(from);
	while (len > 0 && strchr(" \t\r\n", from[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++)
		if (from[i] <= ' ' || from[i] >= 0x7f)
			return false;
	memmove(text, from, len);
	/* What was behind it may be the end of the token. */
	explicit_bzero(text + len, size - len);
	return len > 0;
}

static char *forget(char *text, size_t len)
{
	explicit_bzero(text, len);
	free(text);
	return NULL;
}

/* At most SECRET_MAX bytes, NUL-terminated, for the caller to forget(). */
static int read_secret(const char *what, const char *path, char **ret, size_t *ret_len,
		       struct podsrc_kubelet_why *ret_why)
{
	_cleanup_(cleanup_close) int fd = open_regular(what, path, ret_why);
	char *text;
	ssize_t n;

	if (fd < 0)
		return fd;
	text = calloc(1, SECRET_MAX + 2);
	if (!text)
		return cannot_read(ret_why, what, path, -ENOMEM);
	n = fd_read_full(fd, text, SECRET_MAX + 1);
	if (n > (ssize_t)SECRET_MAX)
		n = -EFBIG;
	if (n < 0) {
		forget(text, SECRET_MAX + 1);
		return cannot_read(ret_why, what, path, (int)n);
	}
	*ret = text;
	*ret_len = (size_t)n;
	return 0;
}

static int read_token(const char *path, char **ret, struct podsrc_kubelet_why *ret_why)
{
	char *text;
	size_t len;
	int r = read_secret("token", path, &text, &len, ret_why);

	if (r < 0)
		return r;
	if (trim(text, len)) {
		*ret = text;
		return 0;
	}
	forget(text, len);
	snprintf(ret_why->text, sizeof(ret_why->text), "there is no token in %.100s", path);
	return -EINVAL;
}

static int read_client(const char *path, char **ret, struct podsrc_kubelet_why *ret_why)
{
	char *text;
	size_t len;
	int r = read_secret("client certificate", path, &text, &len, ret_why);

	if (r < 0)
		return r;
	/* An empty one would be none to libcurl, which goes on without. */
	if (len > 0 && strlen(text) == len) {
		*ret = text;
		return 0;
	}
	forget(text, len);
	snprintf(ret_why->text, sizeof(ret_why->text), "there is no client certificate in %.100s",
		 path);
	return -EINVAL;
}

int podsrc_kubelet_secrets_read(const char *token_file, const char *client_file,
				struct podsrc_kubelet_secrets *ret,
				struct podsrc_kubelet_why *ret_why)
{
	struct podsrc_kubelet_secrets secrets = {};
	int r = token_file ? read_token(token_file, &secrets.token, ret_why) : 0;
	int client = client_file ? read_client(client_file, &secrets.client, ret_why) : 0;

	*ret = secrets;
	return client < 0 ? client : r;
}

void podsrc_kubelet_secrets_done(struct podsrc_kubelet_secrets *secrets)
{
	if (secrets->token)
		secrets->token = forget(secrets->token, strlen(secrets->token));
	if (secrets->client)
		secrets->client = forget(secrets->client, strlen(secrets->client));
}

void podsrc_kubelet_secrets_expiry(const struct podsrc_kubelet_secrets *secrets,
				   struct credential *ret)
{
	struct credential token = {}, client = {};

	if (secrets->token)
		jwt_read(secrets->token, &token);
	if (secrets->client)
		certificate_read(secrets->client, strlen(secrets->client), &client);
	*ret = *credential_first(&token, &client);
}

int podsrc_kubelet_credential(const struct podsrc_kubelet_options *options, struct credential *ret,
			      struct podsrc_kubelet_why *ret_why)
{
	struct podsrc_kubelet_secrets secrets;
	int r = podsrc_kubelet_secrets_read(options->token_file, options->client_file, &secrets,
					    ret_why);

	podsrc_kubelet_secrets_expiry(&secrets, ret);
	podsrc_kubelet_secrets_done(&secrets);
	return r;
}
