// SPDX-License-Identifier: Apache-2.0
/* Knows the users, and remembers which of their passwords were right and which wrong. */
#include "io/http/auth.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "io/http/auth_jobs.h"
#include "wire/config/web.h"
#include "wire/http/headers.h"

#define WRONG_MAX 64

struct user {
	char *name, *hash;
	bool known; /* the password, by its mac */
	struct webauth_mac mac;
};

struct webauth {
	struct gtls gtls;
	unsigned char key[WEBAUTH_MAC_SIZE];
	struct user *users;
	size_t n_users;
	struct webauth_mac wrong[WRONG_MAX]; /* a ring */
	size_t n_wrong, next_wrong;
	struct webauth_jobs *jobs;
	void (*told)(void *userdata);
	void *userdata;
};

static void free_users(struct user *users, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(users[i].name);
		if (users[i].hash)
			explicit_bzero(users[i].hash, strlen(users[i].hash));
		free(users[i].hash);
	}
	free(users);
}

struct webauth *webauth_free(struct webauth *auth)
{
	if (!auth)
		return NULL;
	webauth_jobs_free(auth->jobs);
	free_users(auth->users, auth->n_users);
	explicit_bzero(auth, sizeof(*auth));
	free(auth);
	return NULL;
}

static struct user *find_user(const struct webauth *auth, const char *name)
{
	struct user *found = NULL;
	size_t size = strlen(name) + 1;

	for (size_t i = 0; i < auth->n_users; i++)
		if (strlen(auth->users[i].name) + 1 == size &&
		    basicauth_same(auth->users[i].name, name, size))
			found = &auth->users[i];
	return found;
}

static void on_verdict(void *userdata, const char *name, const struct webauth_mac *mac, bool right)
{
	struct webauth *auth = userdata;
	struct user *user = find_user(auth, name);

	if (right && user) {
		user->known = true;
		user->mac = *mac;
		return;
	}
	auth->wrong[auth->next_wrong] = *mac;
	auth->next_wrong = (auth->next_wrong + 1) % WRONG_MAX;
	auth->n_wrong += auth->n_wrong < WRONG_MAX;
}

static void on_change(void *userdata)
{
	const struct webauth *auth = userdata;

	auth->told(auth->userdata);
}

static int fail(struct web_why *ret_why, int r, const char *reason)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot start to check passwords: %s",
		 reason);
	return r;
}

int webauth_new(sd_event *event, bool wait, void (*told)(void *userdata), void *userdata,
		struct webauth **ret, struct web_why *ret_why)
{
	_cleanup_(cleanup_webauth_free) struct webauth *auth = calloc(1, sizeof(*auth));
	const char *error;
	int r;

	if (!auth)
		return fail(ret_why, -ENOMEM, strerror(ENOMEM));
	auth->told = told;
	auth->userdata = userdata;
	r = webauth_jobs_new(event, wait, &(struct webauth_jobs_hooks){auth, on_verdict, on_change},
			     &auth->jobs, ret_why);
	if (r < 0)
		return r;
	if (getrandom(auth->key, sizeof(auth->key), 0) != sizeof(auth->key))
		return fail(ret_why, -EIO, "there are no random numbers");
	r = gtls_load(&auth->gtls, &error);
	if (r < 0)
		return fail(ret_why, r, error);
	*ret = TAKE_PTR(auth);
	return 0;
}

static int copy_users(const struct webauth *auth, const struct web_user *users, size_t n,
		      struct user **ret)
{
	struct user *copies = calloc(n + 1, sizeof(*copies));

	for (size_t i = 0; copies && i < n; i++) {
		const struct user *old = find_user(auth, users[i].name);

		copies[i].name = strdup(users[i].name);
		copies[i].hash = strdup(users[i].hash);
		if (!copies[i].name || !copies[i].hash) {
			free_users(copies, n);
			return -ENOMEM;
		}
		if (old && strcmp(old->hash, users[i].hash) == 0) {
			copies[i].known = old->known;
			copies[i].mac = old->mac;
		}
	}
	*ret = copies;
	return copies ? 0 : -ENOMEM;
}

int webauth_set_users(struct webauth *auth, const struct web_user *users, size_t n)
{
	struct user *copies;
	int r = copy_users(auth, users, n, &copies);

	if (r < 0)
		return r;
	free_users(auth->users, auth->n_users);
	auth->users = copies;
	auth->n_users = n;
	auth->n_wrong = auth->next_wrong = 0;
	webauth_jobs_drop(auth->jobs);
	auth->told(auth->userdata);
	return 0;
}

static bool make_mac(const struct webauth *auth, const struct basicauth *who,
		     struct webauth_mac *ret)
{
	char text[2 * BASICAUTH_SIZE];
	size_t user = strlen(who->user) + 1, password = strlen(who->password);
	bool ok;

	memcpy(text, who->user, user);
	memcpy(text + user, who->password, password);
	ok = auth->gtls.hmac_fast(GNUTLS_MAC_SHA256, auth->key, sizeof(auth->key), text,
				  user + password, ret->bytes) == 0;
	explicit_bzero(text, sizeof(text));
	return ok;
}

static bool is_wrong(const struct webauth *auth, const struct webauth_mac *mac)
{
	for (size_t i = 0; i < auth->n_wrong; i++)
		if (webauth_mac_same(&auth->wrong[i], mac))
			return true;
	return false;
}

/* The hash that is checked in the name of somebody who is not there: it takes as long as any. */
static const char *dearest_hash(const struct webauth *auth)
{
	const char *dearest = auth->users[0].hash;

	for (size_t i = 1; i < auth->n_users; i++)
		if (webconfig_cost(auth->users[i].hash) > webconfig_cost(dearest))
			dearest = auth->users[i].hash;
	return dearest;
}

static enum webauth_verdict judge(struct webauth *auth, const struct basicauth *who,
				  uint64_t now_ns)
{
	const struct user *user = find_user(auth, who->user);
	struct webauth_mac mac;

	if (!make_mac(auth, who, &mac))
		return WEBAUTH_BUSY;
	if (user && user->known && webauth_mac_same(&user->mac, &mac))
		return WEBAUTH_YES;
	if (is_wrong(auth, &mac))
		return WEBAUTH_NO;
	if (webauth_jobs_has(auth->jobs, &mac) ||
	    webauth_jobs_add(auth->jobs, who, &mac, user ? user->hash : dearest_hash(auth), now_ns))
		return WEBAUTH_WAIT;
	return WEBAUTH_BUSY;
}

enum webauth_verdict webauth_ask(struct webauth *auth, const char *header, uint64_t now_ns)
{
	enum webauth_verdict verdict;
	struct basicauth who;

	if (auth->n_users == 0)
		return WEBAUTH_YES;
	if (!basicauth_parse(header, &who))
		return WEBAUTH_NO;
	verdict = judge(auth, &who, now_ns);
	explicit_bzero(&who, sizeof(who));
	return verdict;
}
