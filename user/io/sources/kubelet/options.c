// SPDX-License-Identifier: Apache-2.0
/* Refuses options by which a token, or trust, would go to whoever answers. */
#include "io/sources/kubelet/options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host {
	char text[128];
};

/* Behind the URL; the name of a node needs no escapes. */
#define API_PATH  "/api/v1/pods"
#define API_QUERY "?fieldSelector=spec.nodeName%%3D%s&resourceVersion=0"

static const char *whom(const struct podsrc_kubelet_options *options)
{
	return options->api_node ? "the API server" : "the kubelet";
}

static int refuse(struct podsrc_kubelet_why *ret_why, const struct podsrc_kubelet_options *options,
		  const char *reason)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot ask %s at %.150s: %s", whom(options),
		 options->url, reason);
	return -EINVAL;
}

/* It may be anything, and hold a password: it is not repeated. */
static int refuse_url(struct podsrc_kubelet_why *ret_why,
		      const struct podsrc_kubelet_options *options)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "%s's URL should look like https://%s",
		 whom(options), options->api_node ? "10.96.0.1:443" : "127.0.0.1:10250");
	return -EINVAL;
}

/* Printable, and none of what divides a URL further than into host and path. */
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

	/* io/fetch asks no resolver for this name. */
	if (strcmp(host->text, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host->text, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host->text, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int check_secrets(const struct podsrc_kubelet_options *options, bool secure,
			 const struct host *host, struct podsrc_kubelet_why *ret_why)
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
static int add_path(const struct podsrc_kubelet_options *options, const char *path, char **ret)
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

int podsrc_kubelet_check(const struct podsrc_kubelet_options *options, char **ret_url,
			 struct podsrc_kubelet_why *ret_why)
{
	const char *url = options->url, *authority, *path;
	struct podsrc_state *state;
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
		return refuse(ret_why, options, "the node's name (nodeName) is none of Kubernetes");
	r = check_secrets(options, secure, &host, ret_why);
	return r < 0 ? r : add_path(options, path, ret_url);
}

int podsrc_kubelet_judge(const struct podsrc_kubelet_options *options,
			 struct podsrc_kubelet_why *ret_why)
{
	char *url = NULL;
	int r = podsrc_kubelet_check(options, &url, ret_why);

	free(url);
	return r;
}
