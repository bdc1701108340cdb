// SPDX-License-Identifier: Apache-2.0
/* The requests under way, from their start to the one callback that ends each. */
#include "io/fetch/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "io/fetch/curl.h"
#include "io/fetch/resolve.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"

#define FETCH_HOSTS 16

/* How long a request waits for an address. The query goes on without it, and serves the next one:
 * who wants to know whether a peer can be reached must not wait as long as glibc does. */
#define WAIT_NS UINT64_C(2000000000)

/* What libcurl reads at once, the least that it takes. It reads up to 100 times before it returns,
 * and an answer may have a chunk for each byte, which makes a callback of every sixth. */
#define READ_BYTES 1024L

#define set(call, option, value) \
	((call)->fetch->curl.easy_setopt((call)->easy, CURLOPT_##option, value))

enum fetch_phase {
	FETCH_NEW,     /* libcurl does not know it yet */
	FETCH_RUNNING, /* it is libcurl's */
	FETCH_ENDED,   /* done is to be called */
	FETCH_DROPPED, /* cancelled from within libcurl, to be freed outside of it */
};

struct fetch_host {
	char key[256];
	bool is_open; /* there was a connection that speaks HTTP/2 */
	const struct fetch_call *user;
	unsigned int users; /* those that wait with it */
	uint64_t used;	    /* counts up */
};

struct fetch_call {
	struct fetch *fetch;
	TAILQ_ENTRY(fetch_call) link;
	enum fetch_phase phase;
	CURL *easy;
	struct curl_slist *headers, *connect_to, *resolved;
	char *name;		/* to be resolved; NULL: none is */
	char port[8];		/* ... for it */
	uint64_t asked_ns;	/* CLOCK_MONOTONIC */
	sd_event_source *names; /* ends the wait for its addresses */
	uint64_t timeout_ns;
	bool http2;
	struct fetch_host *host; /* NULL: there are too many */
	bool unconnected;	 /* it had none, and must not make one */
	fetch_data_fn data;
	fetch_done_fn done;
	void *userdata;
	struct fetch_answer answer;
	uint64_t idle_timeout_ns, last_ns; /* CLOCK_MONOTONIC */
	sd_event_source *idle;
};

struct fetch {
	struct curl curl; /* the first member, for tests that replace functions of it */
	sd_event *event;
	struct defer work; /* what must not be done from within libcurl */
	TAILQ_HEAD(, fetch_call) calls;
	struct resolve *resolve;
	struct fetch_host hosts[FETCH_HOSTS];
	uint64_t hosts_used;
};

static void wake(struct fetch *f)
{
	defer_enable(&f->work);
}

/* Ends one that libcurl does not know yet; done is called from the event loop. */
static void fail_call(struct fetch_call *call, int error)
{
	if (call->phase != FETCH_NEW)
		return;
	call->answer.error = error;
	call->phase = FETCH_ENDED;
	wake(call->fetch);
}

/* --- connections that speak HTTP/2 -------------------------------------------------------------- */

/*
 * Each for one request at a time: libcurl 7.88 loses trailers where several share one. It also
 * takes prior knowledge for an order to begin HTTP/2, on a connection that speaks it already, too,
 * and fails (fixed in 8.0): there a request merely allows HTTP/2, and must not connect anew, since
 * it would begin with HTTP/1.1.
 */

/* To be released; NULL when all are in use. */
static struct fetch_host *get_host(struct fetch *f, const char *key)
{
	struct fetch_host *host = NULL;

	for (size_t i = 0; i < FETCH_HOSTS; i++) {
		struct fetch_host *at = f->hosts + i;

		if (strcmp(at->key, key) == 0) {
			at->users++;
			return at;
		}
		if (!at->users && (!host || at->used < host->used))
			host = at;
	}
	if (!host)
		return NULL;
	*host = (struct fetch_host){.users = 1, .used = ++f->hosts_used};
	snprintf(host->key, sizeof(host->key), "%s", key);
	return host;
}

static curl_socket_t open_none(void *userdata, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct fetch_call *call = userdata;

	call->unconnected = true;
	return CURL_SOCKET_BAD;
}

/* Sets the options for the state its host is in; false when it has to wait. */
static bool admit_to_host(struct fetch_call *call)
{
	struct fetch_host *host = call->host;
	bool open = host && host->is_open;

	if (host && host->user)
		return false;
	if (host)
		host->user = call;
	call->unconnected = false;
	set(call, HTTP_VERSION,
	    (long)(open ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
	set(call, FRESH_CONNECT, open ? 0L : 1L);
	set(call, OPENSOCKETFUNCTION, open ? open_none : NULL);
	set(call, OPENSOCKETDATA, call);
	return true;
}

/* True when it is to be admitted again, since there was no connection any more. */
static bool leave_host(struct fetch_call *call)
{
	struct fetch_host *host = call->host;

	if (!host || host->user != call)
		return false;
	host->user = NULL;
	if (call->unconnected)
		host->is_open = false;
	wake(call->fetch);
	return call->unconnected;
}

static void release_host(struct fetch_call *call)
{
	leave_host(call);
	if (call->host)
		call->host->users--;
	call->host = NULL;
}

/* --- the addresses of hosts --------------------------------------------------------------------- */

/*
 * libcurl is given the addresses of the host that a request goes to, and kept from looking for them
 * itself: its resolver is a thread that it joins when the request ends, so that silent name servers
 * would hold the loop for as long as they are silent. CURLOPT_QUICK_EXIT, of 7.87, leaves a thread
 * behind for every request instead.
 */

/* As libcurl takes times: a part of a millisecond counts as a whole one, since 0 is for ever. */
static long to_ms(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);

	return ms < INT32_MAX ? (long)ms : INT32_MAX;
}

static void on_resolved(void *userdata)
{
	wake(userdata);
}

static bool is_address(const char *host)
{
	unsigned char address[16];

	return host[0] == '[' || inet_pton(AF_INET, host, address) == 1;
}

/* What libcurl does where it finds no address that it was given. */
static int refuse_resolver(void *resolver, void *reserved, void *userdata)
{
	struct fetch_call *call = userdata;

	return call->name != NULL;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct fetch_call *call = userdata;

	snprintf(call->answer.trouble, sizeof(call->answer.trouble),
		 "the address of %.80s is unknown: the name servers do not answer", call->name);
	fail_call(call, -EHOSTUNREACH);
	return 0;
}

/* host: of the URL, IPv6 in brackets. -ENOMEM, -EINVAL. */
static int want_address(struct fetch_call *call, const char *host, const char *port)
{
	struct fetch *f = call->fetch;
	uint64_t wait_ns = WAIT_NS;
	int r;

	set(call, RESOLVER_START_FUNCTION, refuse_resolver);
	set(call, RESOLVER_START_DATA, call);
	if (is_address(host))
		return 0;
	if (strlen(host) >= RESOLVE_NAME_MAX)
		return -EINVAL;
	snprintf(call->port, sizeof(call->port), "%s", port);
	call->name = strdup(host);
	if (!call->name)
		return -ENOMEM;
	resolve_query(f->resolve, host);
	if (call->timeout_ns && call->timeout_ns < wait_ns)
		wait_ns = call->timeout_ns;
	r = sd_event_add_time_relative(f->event, &call->names, CLOCK_MONOTONIC, wait_ns / 1000,
				       1000, on_limit, call);
	return r < 0 ? r : 0;
}

/* The time that it waited counts. */
static void give_addresses(struct fetch_call *call, const char *addresses)
{
	_cleanup_(buf_free) struct buf entry = {};
	uint64_t waited_ns = clock_monotonic_ns() - call->asked_ns;

	call->names = sd_event_source_disable_unref(call->names);
	call->fetch->curl.slist_free_all(call->resolved);
	buf_printf(&entry, "%s:%s:%s", call->name, call->port, addresses);
	call->resolved = call->fetch->curl.slist_append(NULL, buf_str(&entry));
	set(call, RESOLVE, call->resolved);
	if (call->timeout_ns)
		set(call, TIMEOUT_MS,
		    to_ms(waited_ns < call->timeout_ns ? call->timeout_ns - waited_ns : 1));
}

/* True when libcurl can connect; else the call waits, or has ended. */
static bool admit_by_address(struct fetch_call *call)
{
	struct resolve_result result;

	if (!call->name)
		return true;
	result = resolve_get(call->fetch->resolve, call->name);
	if (result.state == RESOLVE_FOUND) {
		give_addresses(call, result.addresses);
		return true;
	}
	if (result.state == RESOLVE_PENDING)
		return false;
	snprintf(call->answer.trouble, sizeof(call->answer.trouble),
		 "the address of %.80s is unknown: %s", call->name, result.error);
	fail_call(call, -EHOSTUNREACH);
	return false;
}

/* --- what came ---------------------------------------------------------------------------------- */

static size_t refuse(struct fetch_call *call, int error)
{
	call->answer.error = error;
	return 0;
}

static void note_progress(struct fetch_call *call)
{
	call->fetch->curl.progress++;
	call->last_ns = clock_monotonic_ns();
}

static size_t on_header(char *line, size_t one, size_t len, void *userdata)
{
	struct fetch_call *call = userdata;
	int r;

	if (call->host)
		call->host->is_open = true;
	note_progress(call);
	r = fetch_answer_add_header(&call->answer, line, len);
	return r < 0 ? refuse(call, r) : len;
}

static bool is_good(const struct fetch_call *call)
{
	long status = 0;

	call->fetch->curl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

static size_t on_body(char *bytes, size_t one, size_t len, void *userdata)
{
	struct fetch_call *call = userdata;
	struct fetch_answer *answer = &call->answer;
	int r;

	note_progress(call);
	r = fetch_answer_count(answer, len);
	if (r < 0)
		return refuse(call, r);
	if (call->phase != FETCH_RUNNING || len == 0)
		return len;
	if (call->data) {
		r = is_good(call) ? call->data(call->userdata, bytes, len) : 0;
		return r < 0 ? refuse(call, r) : len;
	}
	buf_add(&answer->body, bytes, len);
	return buf_error(&answer->body) ? refuse(call, -ENOMEM) : len;
}

/* --- a request as libcurl's options ------------------------------------------------------------- */

bool fetch_has_address(const struct fetch *f, const char *text)
{
	struct fetch_target target;

	return fetch_target_read(&f->curl, text, NULL, &target) == 0 &&
	       (is_address(target.peer) ||
		resolve_get(f->resolve, target.peer).state == RESOLVE_FOUND);
}

/* A line break in a header would begin another one. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static int add_header(struct fetch_call *call, const char *header)
{
	struct curl_slist *list;

	if (!is_printable(header))
		return -EINVAL;
	list = call->fetch->curl.slist_append(call->headers, header);
	if (!list)
		return -ENOMEM;
	call->headers = list;
	return 0;
}

static int add_token(struct fetch_call *call, const char *token)
{
	_cleanup_(buf_free) struct buf header = {};
	int r;

	if (!*token || strchr(token, ' '))
		return -EINVAL;
	buf_printf(&header, "Authorization: Bearer %s", token);
	r = buf_error(&header);
	if (r == 0)
		r = add_header(call, buf_str(&header));
	if (header.data)
		explicit_bzero(header.data, header.len);
	return r;
}

static int add_headers(struct fetch_call *call, const struct fetch_request *request)
{
	int r = 0;

	for (const char *const *header = request->headers; header && *header && r == 0; header++)
		r = add_header(call, *header);
	if (r == 0 && request->token)
		r = add_token(call, request->token);
	if (r == 0 && call->headers)
		set(call, HTTPHEADER, call->headers);
	return r;
}

/* Not by the file's name: libcurl goes on with a connection that another certificate was shown on,
 * where the name is the same. */
static int apply_client(struct fetch_call *call, const char *pem)
{
	struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY};

	/* Without them the request would be an anonymous one. */
	if (set(call, SSLCERT_BLOB, &blob) != CURLE_OK || set(call, SSLKEY_BLOB, &blob) != CURLE_OK)
		return -ENOMEM;
	/* Else OpenSSL asks a terminal for it, and waits. */
	set(call, KEYPASSWD, "");
	return 0;
}

static void apply_peer(struct fetch_call *call, const struct fetch_request *request)
{
	set(call, PROXY, "");
	set(call, NOSIGNAL, 1L);
	set(call, PATH_AS_IS, 1L);
	set(call, SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (request->ca_file) {
		/* Its authorities alone: the system's are looked for in a directory. */
		set(call, CAINFO, request->ca_file);
		set(call, CAPATH, NULL);
	}
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Else a new CA would not be read for a day. */
	set(call, CA_CACHE_TIMEOUT, 0L);
#endif
	set(call, BUFFERSIZE, READ_BYTES);
	if (request->unix_path)
		set(call, UNIX_SOCKET_PATH, request->unix_path);
	set(call, CONNECTTIMEOUT_MS, to_ms(request->connect_timeout_ns));
	set(call, TIMEOUT_MS, to_ms(request->timeout_ns));
}

static int apply_target(struct fetch_call *call, const struct fetch_target *target)
{
	if (set(call, URL, target->url) != CURLE_OK)
		return -ENOMEM;
	if (!target->connect_to[0])
		return 0;
	call->connect_to = call->fetch->curl.slist_append(NULL, target->connect_to);
	if (!call->connect_to)
		return -ENOMEM;
	set(call, CONNECT_TO, call->connect_to);
	return 0;
}

static bool is_method(const char *method)
{
	size_t len = strlen(method);

	return len > 0 && len <= 7 && strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == len;
}

static int apply_body(struct fetch_call *call, const struct fetch_request *request)
{
	char agent[128];

	snprintf(agent, sizeof(agent), "graced/%s", version_string());
	set(call, USERAGENT, agent);
	if (request->method && !is_method(request->method))
		return -EINVAL;
	if (request->method && set(call, CUSTOMREQUEST, request->method) != CURLE_OK)
		return -ENOMEM;
	if (!request->body)
		return 0;
	set(call, POST, 1L);
	set(call, POSTFIELDSIZE, (long)request->body_len);
	return set(call, COPYPOSTFIELDS, request->body) == CURLE_OK ? 0 : -ENOMEM;
}

static void apply_protocol(struct fetch_call *call, const struct fetch_request *request,
			   const struct fetch_target *target)
{
	char key[256];

	call->http2 = request->http2;
	if (!call->http2) {
		set(call, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
		return;
	}
	snprintf(key, sizeof(key), "%.120s %s",
		 request->unix_path ? request->unix_path : target->connect_to, target->host);
	call->host = get_host(call->fetch, key);
}

static void apply_callbacks(struct fetch_call *call)
{
	set(call, PRIVATE, call);
	set(call, ERRORBUFFER, call->answer.trouble);
	set(call, HEADERFUNCTION, on_header);
	set(call, HEADERDATA, call);
	set(call, WRITEFUNCTION, on_body);
	set(call, WRITEDATA, call);
}

/* As fetch_start(); what was made is freed with the call. */
static int apply_request(struct fetch_call *call, const struct fetch_request *request)
{
	struct fetch_target target;
	int r = fetch_target_read(&call->fetch->curl, request->url, request->server_name, &target);

	if (r < 0)
		return r;
	if ((request->token || request->client_pem) && !target.secure)
		return -EPERM;
	call->easy = call->fetch->curl.easy_init();
	if (!call->easy)
		return -ENOMEM;
	r = add_headers(call, request);
	if (r == 0)
		r = apply_target(call, &target);
	if (r == 0)
		r = apply_body(call, request);
	if (r == 0 && !request->unix_path)
		r = want_address(call, target.peer, target.port);
	if (r == 0 && request->client_pem)
		r = apply_client(call, request->client_pem);
	if (r < 0)
		return r;
	apply_protocol(call, request, &target);
	apply_peer(call, request);
	apply_callbacks(call);
	return 0;
}

/* --- the calls ---------------------------------------------------------------------------------- */

static struct fetch_call *first_in(const struct fetch *f, enum fetch_phase phase)
{
	struct fetch_call *call;

	TAILQ_FOREACH(call, &f->calls, link)
		if (call->phase == phase)
			return call;
	return NULL;
}

static void free_call(struct fetch_call *call)
{
	const struct curl *curl = &call->fetch->curl;

	sd_event_source_disable_unref(call->idle);
	sd_event_source_disable_unref(call->names);
	free(call->name);
	release_host(call);
	if (call->easy)
		curl->easy_cleanup(call->easy);
	/* One of them may be a token. */
	for (struct curl_slist *header = call->headers; header; header = header->next)
		explicit_bzero(header->data, strlen(header->data));
	curl->slist_free_all(call->headers);
	curl->slist_free_all(call->connect_to);
	curl->slist_free_all(call->resolved);
	buf_free(&call->answer.body);
	free(call);
}

/* Takes the call from libcurl; done is called from the event loop. */
static void end_call(struct fetch_call *call)
{
	struct fetch *f = call->fetch;

	f->curl.multi_remove_handle(f->curl.multi, call->easy);
	sd_event_source_set_enabled(call->idle, SD_EVENT_OFF);
	/* One that was cancelled meanwhile is only freed. */
	if (call->phase == FETCH_RUNNING)
		call->phase = leave_host(call) ? FETCH_NEW : FETCH_ENDED;
	wake(f);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct fetch_call *call = userdata;
	uint64_t silent_ns = clock_monotonic_ns() - call->last_ns, left_ns;

	if (silent_ns >= call->idle_timeout_ns) {
		call->answer.error = -ETIMEDOUT;
		end_call(call);
		return 0;
	}
	left_ns = call->idle_timeout_ns - silent_ns;
	return timer_after(source, left_ns / 1000 + 1);
}

static void watch_silence(struct fetch_call *call)
{
	call->last_ns = clock_monotonic_ns();
	call->idle = sd_event_source_disable_unref(call->idle);
	if (!call->idle_timeout_ns)
		return;
	if (sd_event_add_time_relative(call->fetch->event, &call->idle, CLOCK_MONOTONIC,
				       call->idle_timeout_ns / 1000, 1000, on_idle, call) < 0)
		call->idle = NULL;
}

/* False when it has to wait for another one. */
static bool may_add(struct fetch_call *call)
{
	return call->phase == FETCH_NEW && admit_by_address(call) &&
	       (!call->http2 || admit_to_host(call));
}

static void add(struct fetch *f, struct fetch_call *call)
{
	call->phase = FETCH_RUNNING;
	watch_silence(call);
	if (f->curl.multi_add_handle(f->curl.multi, call->easy) == CURLM_OK)
		return;
	call->answer.error = -ENOMEM;
	end_call(call);
}

static void report_done(struct fetch *f, struct fetch_call *call)
{
	struct fetch_result result;

	TAILQ_REMOVE(&f->calls, call, link);
	fetch_answer_result(&call->answer, &f->curl, call->easy, &result);
	call->done(call->userdata, &result);
	free_call(call);
}

/* One answer a turn: what is done with it may take its time. */
static int on_work(sd_event_source *source, void *userdata)
{
	struct fetch *f = userdata;
	struct fetch_call *call;

	while ((call = first_in(f, FETCH_DROPPED)))
		fetch_cancel(call);
	TAILQ_FOREACH(call, &f->calls, link)
		if (may_add(call))
			add(f, call);
	call = first_in(f, FETCH_ENDED);
	if (call)
		report_done(f, call);
	if (first_in(f, FETCH_ENDED))
		wake(f);
	return 0;
}

static void on_ended(void *transfer, CURLcode code)
{
	struct fetch_call *call = transfer;

	call->answer.code = code;
	end_call(call);
}

static int open_client(struct fetch *f)
{
	int r = defer_open(&f->work, f->event, on_work, f);

	if (r < 0)
		return r;
	r = resolve_new(f->event, RESOLVE_FRESH_NS, on_resolved, f, &f->resolve);
	return r < 0 ? r : curl_open(&f->curl, f->event, on_ended);
}

static void free_client(struct fetch *f)
{
	resolve_free(f->resolve);
	defer_close(&f->work);
	sd_event_unref(f->event);
	free(f);
}

int fetch_new(sd_event *event, struct fetch **ret, struct fetch_why *ret_why)
{
	struct fetch *f = calloc(1, sizeof(*f));
	const char *error;
	int r;

	if (!f)
		return -ENOMEM;
	r = curl_load(&f->curl, &error);
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot load libcurl: %s", error);
		free(f);
		return r;
	}
	TAILQ_INIT(&f->calls);
	f->event = sd_event_ref(event);
	r = open_client(f);
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text), "cannot set up libcurl");
		free_client(f);
		return r;
	}
	*ret = f;
	return 0;
}

struct fetch *fetch_free(struct fetch *f)
{
	if (!f)
		return NULL;
	while (!TAILQ_EMPTY(&f->calls))
		fetch_cancel(TAILQ_FIRST(&f->calls));
	curl_close(&f->curl);
	free_client(f);
	return NULL;
}

int fetch_start(struct fetch *f, const struct fetch_request *request, struct fetch_call **ret)
{
	struct fetch_call *call = calloc(1, sizeof(*call));
	int r;

	if (!call)
		return -ENOMEM;
	call->fetch = f;
	call->data = request->data;
	call->done = request->done;
	call->userdata = request->userdata;
	call->answer.max_bytes = request->max_bytes;
	call->answer.body.limit = request->max_bytes;
	call->idle_timeout_ns = request->idle_timeout_ns;
	call->timeout_ns = request->timeout_ns;
	call->asked_ns = clock_monotonic_ns();
	call->answer.grpc_status = -1;
	r = apply_request(call, request);
	if (r < 0) {
		free_call(call);
		return r;
	}
	TAILQ_INSERT_TAIL(&f->calls, call, link);
	wake(f);
	*ret = call;
	return 0;
}

struct fetch_call *fetch_cancel(struct fetch_call *call)
{
	struct fetch *f;

	if (!call)
		return NULL;
	f = call->fetch;
	if (f->curl.inside) {
		call->phase = FETCH_DROPPED;
		wake(f);
		return NULL;
	}
	if (call->phase == FETCH_RUNNING || call->phase == FETCH_DROPPED)
		f->curl.multi_remove_handle(f->curl.multi, call->easy);
	TAILQ_REMOVE(&f->calls, call, link);
	free_call(call);
	return NULL;
}
