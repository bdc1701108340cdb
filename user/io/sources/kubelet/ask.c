// SPDX-License-Identifier: Apache-2.0
/* Sends the question, keeps the answer's bytes, and says what went wrong in words that help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/duration.h"
#include "io/sources/kubelet/priv.h"

/* The answer has a mapping of its own, of which only what is written takes memory: it does not
 * tear holes into the heap, nor is it moved while it grows. */
static int on_data(void *userdata, const void *data, size_t len)
{
	struct podsrc_kubelet *k = userdata;
	void *at;

	if (!k->reply) {
		at = mmap(NULL, PODSRC_KUBELET_REPLY_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return -ENOMEM;
		k->reply = at;
	}
	if (len > PODSRC_KUBELET_REPLY_MAX - k->reply_len)
		return -EMSGSIZE;
	memcpy(k->reply + k->reply_len, data, len);
	k->reply_len += len;
	return 0;
}

void podsrc_kubelet_forget(struct podsrc_kubelet *k)
{
	if (k->reply)
		munmap(k->reply, PODSRC_KUBELET_REPLY_MAX);
	k->reply = NULL;
	k->reply_len = 0;
}

static void down_by_status(struct podsrc_kubelet *k, long status)
{
	bool is_api = k->source == META_API;

	if (status == 401 && k->token_file)
		podsrc_kubelet_down(k, "it refuses the token in %s (401)", k->token_file);
	else if (status == 401 && k->client_file)
		podsrc_kubelet_down(k, "it refuses the client certificate in %s (401)",
				    k->client_file);
	else if (status == 401)
		podsrc_kubelet_down(k, "it wants a token (401): none is configured");
	else if (status == 403)
		podsrc_kubelet_down(
			k, "not allowed to see pods (403): wants %s, for whom %s names",
			is_api ? "list pods" : "get nodes/pods, nodes/proxy before Kubernetes 1.33",
			k->token_file ?: k->client_file ?: "no file");
	else if (status == 404)
		podsrc_kubelet_down(k, "there is nothing here (404)%s",
				    is_api ? "" : ": the path should be /pods");
	else if (status >= 300 && status < 400)
		podsrc_kubelet_down(k, "it sends elsewhere (%ld), which is not followed", status);
	else
		podsrc_kubelet_down(k, "it answers with an error (%ld)", status);
}

static void down_by_error(struct podsrc_kubelet *k, const struct fetch_result *result)
{
	char patience[DURATION_SIZE];

	if (result->error == -EKEYREJECTED)
		podsrc_kubelet_down(k, "the CA in %s does not vouch for it%s%s: %s", k->ca_file,
				    k->server_name ? " as " : "", k->server_name ?: "",
				    result->text);
	else if (result->error == -EACCES && k->client_file)
		podsrc_kubelet_down(k, "the client certificate in %s cannot be used: %s",
				    k->client_file, result->text);
	else if (result->error == -ETIMEDOUT)
		podsrc_kubelet_down(k, "no whole answer came within %s",
				    duration_format(k->timeout_ns, patience));
	else if (result->error == -EMSGSIZE)
		podsrc_kubelet_down(k, "its answer is longer than %zu MiB",
				    PODSRC_KUBELET_REPLY_MAX >> 20);
	else
		podsrc_kubelet_down(k, "%s", result->text);
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct podsrc_kubelet *k = userdata;

	k->call = NULL;
	if (result->error)
		down_by_error(k, result);
	else if (result->status != 200)
		down_by_status(k, result->status);
	else
		podsrc_kubelet_take(k);
}

static int start(struct podsrc_kubelet *k, const struct podsrc_kubelet_secrets *secrets)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	struct fetch_request request = {
		.url = k->url,
		.headers = headers,
		.ca_file = k->ca_file,
		.server_name = k->server_name,
		.client_pem = secrets->client,
		.token = secrets->token,
		.max_bytes = PODSRC_KUBELET_REPLY_MAX,
		.timeout_ns = k->timeout_ns,
		.data = on_data,
		.done = on_done,
		.userdata = k,
	};

	return fetch_start(k->fetch, &request, &k->call);
}

void podsrc_kubelet_ask(struct podsrc_kubelet *k)
{
	struct podsrc_kubelet_secrets secrets;
	struct podsrc_kubelet_why why;
	int r = podsrc_kubelet_secrets_read(k->token_file, k->client_file, &secrets, &why);
	int start_error = 0;

	podsrc_kubelet_secrets_expiry(&secrets, &k->state.credential);
	if (r >= 0 && k->ca_file)
		r = podsrc_kubelet_file("CA", k->ca_file, &why);
	if (r >= 0)
		start_error = start(k, &secrets);
	podsrc_kubelet_secrets_done(&secrets);
	if (r < 0)
		podsrc_kubelet_down(k, "%s", why.text);
	else if (start_error < 0)
		podsrc_kubelet_down(k, "cannot ask it: %s", strerror(-start_error));
}
