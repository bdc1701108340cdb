// SPDX-License-Identifier: Apache-2.0
/* Refuses options by which a token, or trust, would go to an unknown peer, and reads the token and
 * the client certificate with its key as they are now. */
#include "io/sources/kubelet/kubelet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/duration.h"
#include "io/files/fd.h"
#include "io/tls/gnutls.h"
#include "wire/kubernetes/token.h"

struct host {
	char text[128];
};

/* Behind the URL; the name of a node needs no escapes. */
#define API_PATH  "/api/v1/pods"
#define API_QUERY "?fieldSelector=spec.nodeName%%3D%s&resourceVersion=0"

static const char *peer_of(const struct source_kubelet_options *options)
{
	return options->api_node ? "the API server" : "the kubelet";
}

static int refuse(struct source_kubelet_why *ret_why, const struct source_kubelet_options *options,
		  const char *reason)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot ask %s at %.150s: %s",
		 peer_of(options), options->url, reason);
	return -EINVAL;
}

/* It may be anything, and hold a password: it is not repeated. */
static int refuse_url(struct source_kubelet_why *ret_why,
		      const struct source_kubelet_options *options)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "%s's URL should look like https://%s",
		 peer_of(options), options->api_node ? "10.96.0.1:443" : "127.0.0.1:10250");
	return -EINVAL;
}

/* Printable, without the characters that divide a URL further than into host and path. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f || strchr("@?#\\\"<>%", *text))
			return false;
	return true;
}

/* ":1" to ":65535". */
static bool is_port(const char *at, const char *end)
{
	unsigned long number = strtoul(at + 1, NULL, 10);

	return *at == ':' && at + 1 + strspn(at + 1, "0123456789") == end && number > 0 &&
	       number <= 65535;
}

/* HOST, HOST:PORT or [HOST]:PORT. */
static bool take_host(const char *at, size_t len, struct host *ret)
{
	bool six = *at == '[';
	const char *host = at + six, *end = at + len, *port;
	size_t n = strcspn(host, six ? "]/" : ":/");

	port = host + n + six;
	if (n == 0 || n >= sizeof(ret->text) || (six && host[n] != ']'))
		return false;
	if (port != end && !is_port(port, end))
		return false;
	memcpy(ret->text, host, n);
	ret->text[n] = '\0';
	return true;
}

static bool is_loopback(const struct host *host)
{
	struct in6_addr six;
	struct in_addr four;

	/* io/fetch queries no resolver for this name. */
	if (strcmp(host->text, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host->text, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host->text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int check_secrets(const struct source_kubelet_options *options, bool secure,
			 const struct host *host, struct source_kubelet_why *ret_why)
{
	if (secure && !options->ca_file)
		return refuse(ret_why, options,
			      "without a CA file its certificate cannot be verified");
	if (!secure && options->token_file)
		return refuse(ret_why, options, "the token would travel in the clear");
	if (!secure && options->client_file)
		return refuse(ret_why, options, "a client certificate needs https");
	if (!secure && !is_loopback(host))
		return refuse(ret_why, options, "http is for loopback alone");
	return 0;
}

/* A DNS-1123 subdomain, as far as a URL is concerned. */
static bool is_node(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < META_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len;
}

/* path: of the URL, "" or from its slash on. */
static int add_path(const struct source_kubelet_options *options, const char *path, char **ret)
{
	const char *url = options->url;
	size_t len = strlen(url);
	int r;

	if (options->api_node)
		r = asprintf(ret, "%.*s" API_PATH API_QUERY, (int)(len - (url[len - 1] == '/')),
			     url, options->api_node);
	else
		r = asprintf(ret, "%s%s", url, path[0] == '\0' ? "/pods" : path[1] ? "" : "pods");
	return r < 0 ? -ENOMEM : 0;
}

int source_kubelet_check(const struct source_kubelet_options *options, char **ret_url,
			 struct source_kubelet_why *ret_why)
{
	const char *url = options->url, *authority, *path;
	struct source_state *state;
	bool secure = strncmp(url, "https://", 8) == 0;
	struct host host;
	size_t len;
	int r;

	if (!is_plain(url) || (!secure && strncmp(url, "http://", 7) != 0))
		return refuse_url(ret_why, options);
	authority = url + (secure ? 8 : 7);
	len = strcspn(authority, "/");
	path = authority + len;
	if (!take_host(authority, len, &host) ||
	    strlen(url) + sizeof(API_PATH) > sizeof(state->where))
		return refuse_url(ret_why, options);
	if (options->api_node && !is_node(options->api_node))
		return refuse(ret_why, options,
			      "the node's name (nodeName) is not one of Kubernetes");
	r = check_secrets(options, secure, &host, ret_why);
	return r < 0 ? r : add_path(options, path, ret_url);
}

int source_kubelet_judge(const struct source_kubelet_options *options,
			 struct source_kubelet_why *ret_why)
{
	char *url = NULL;
	int r = source_kubelet_check(options, &url, ret_why);

	free(url);
	return r;
}

#define SECRET_MAX ((size_t)64 << 10)

static int cannot_read(struct source_kubelet_why *ret_why, const char *what, const char *path,
		       int error)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot read the %s in %.100s: %s", what,
		 path, strerror(-error));
	return error;
}

/* Links are followed: a mounted token is one to the newest. */
static int open_regular(const char *what, const char *path, struct source_kubelet_why *ret_why)
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

/* Whether libcurl, which opens the file by itself, would not wait for a writer of it. */
static int check_file(const char *what, const char *path, struct source_kubelet_why *ret_why)
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
		       struct source_kubelet_why *ret_why)
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

static int read_token(const char *path, char **ret, struct source_kubelet_why *ret_why)
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

static int read_client(const char *path, char **ret, struct source_kubelet_why *ret_why)
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

struct secrets {
	char *token;  /* NULL: none */
	char *client; /* PEM with certificate and key; NULL: none */
};

/* *ret has those that can be read, for secrets_done() either way, and *ret_credential the one of
 * them that expires first. */
static int secrets_read(const struct source_kubelet_options *options, struct secrets *ret,
			struct credential *ret_credential, struct source_kubelet_why *ret_why)
{
	struct credential token = {}, client = {};
	int r, client_r;

	*ret = (struct secrets){};
	r = options->token_file ? read_token(options->token_file, &ret->token, ret_why) : 0;
	client_r =
		options->client_file ? read_client(options->client_file, &ret->client, ret_why) : 0;
	if (ret->token)
		jwt_read(ret->token, &token);
	if (ret->client)
		certificate_read(ret->client, strlen(ret->client), &client);
	*ret_credential = *credential_first(&token, &client);
	return client_r < 0 ? client_r : r;
}

/* Overwrites and frees them. */
static void secrets_done(struct secrets *secrets)
{
	if (secrets->token)
		secrets->token = forget(secrets->token, strlen(secrets->token));
	if (secrets->client)
		secrets->client = forget(secrets->client, strlen(secrets->client));
}

int source_kubelet_credential(const struct source_kubelet_options *options, struct credential *ret,
			      struct source_kubelet_why *ret_why)
{
	struct secrets secrets;
	int r = secrets_read(options, &secrets, ret, ret_why);

	secrets_done(&secrets);
	return r;
}

int source_kubelet_send(const struct source_kubelet_options *options, struct fetch *fetch,
			struct fetch_request *request, const char *cannot, struct fetch_call **ret,
			struct credential *ret_credential, struct source_kubelet_why *ret_why)
{
	struct secrets secrets;
	int r = secrets_read(options, &secrets, ret_credential, ret_why);

	if (r >= 0 && options->ca_file)
		r = check_file("CA", options->ca_file, ret_why);
	if (r >= 0) {
		request->ca_file = options->ca_file;
		request->server_name = options->server_name;
		request->client_pem = secrets.client;
		request->token = secrets.token;
		r = fetch_start(fetch, request, ret);
		if (r < 0)
			snprintf(ret_why->text, sizeof(ret_why->text), "%s: %s", cannot,
				 strerror(-r));
	}
	secrets_done(&secrets);
	return r;
}

static int copy(const char *text, const char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

int source_kubelet_copy(const struct source_kubelet_options *o, struct source_kubelet_options *ret)
{
	bool lacks = copy(o->ca_file, &ret->ca_file) < 0;

	lacks |= copy(o->server_name, &ret->server_name) < 0;
	lacks |= copy(o->token_file, &ret->token_file) < 0;
	lacks |= copy(o->client_file, &ret->client_file) < 0;
	return lacks ? -ENOMEM : 0;
}

void source_kubelet_drop(struct source_kubelet_options *copy)
{
	free((char *)copy->ca_file);
	free((char *)copy->server_name);
	free((char *)copy->token_file);
	free((char *)copy->client_file);
}

/* --- why it was in vain ----------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void explain(struct source_kubelet_why *ret,
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret->text, sizeof(ret->text), format, args);
	va_end(args);
}

static void explain_status(const struct source_kubelet_options *o, long status,
			   struct source_kubelet_why *ret)
{
	bool is_api = o->api_node;

	if (status == 401 && o->token_file)
		explain(ret, "it refuses the token in %s (401)", o->token_file);
	else if (status == 401 && o->client_file)
		explain(ret, "it refuses the client certificate in %s (401)", o->client_file);
	else if (status == 401)
		explain(ret, "it wants a token (401): none is configured");
	else if (status == 403)
		explain(ret, "not allowed to see pods (403): needs %s for the user that %s names",
		    is_api ? "list pods" : "get nodes/pods, nodes/proxy before Kubernetes 1.33",
		    o->token_file ?: o->client_file ?: "no file");
	else if (status == 404)
		explain(ret, "there is nothing here (404)%s",
			is_api ? "" : ": the path should be /pods");
	else if (status >= 300 && status < 400)
		explain(ret, "it sends elsewhere (%ld), which is not followed", status);
	else
		explain(ret, "it answers with an error (%ld)", status);
}

void source_kubelet_explain(const struct source_kubelet_options *o,
			    const struct fetch_result *result, struct source_kubelet_why *ret)
{
	char patience[DURATION_SIZE];

	if (!result->error)
		explain_status(o, result->status, ret);
	else if (result->error == -EKEYREJECTED)
		explain(ret, "the CA in %s does not vouch for it%s%s: %s", o->ca_file,
			o->server_name ? " as " : "", o->server_name ?: "", result->text);
	else if (result->error == -EACCES && o->client_file)
		explain(ret, "the client certificate in %s cannot be used: %s", o->client_file,
			result->text);
	else if (result->error == -ETIMEDOUT)
		explain(ret, "no whole answer came within %s",
			duration_format(o->timeout_ns, patience));
	else if (result->error == -EMSGSIZE)
		explain(ret, "its answer is longer than %zu MiB", SOURCE_KUBELET_REPLY_MAX >> 20);
	else
		explain(ret, "%s", result->text);
}
