// SPDX-License-Identifier: Apache-2.0
/* Takes bodies apart, whatever is in them. */
#include "io/logind/read.h"

#include <errno.h>
#include <string.h>

/* What sd-bus says of a body that ends too soon, is of another type, or is none at all. */
static int checked(int r)
{
	return r > 0 ? 0 : r == -ENOMEM ? r : -EBADMSG;
}

int logind_read_lock(sd_bus_message *m, int *ret)
{
	return checked(sd_bus_message_read(m, "h", ret));
}

/* a{sv}; only "type" is read, and only when it is text. */
static int read_action(sd_bus_message *m, const char **ret)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r > 0) {
		const char *key, *type = NULL;

		r = sd_bus_message_enter_container(m, 'e', "sv");
		if (r <= 0)
			break;
		r = sd_bus_message_read(m, "s", &key);
		if (r > 0)
			r = sd_bus_message_peek_type(m, NULL, &type);
		if (r > 0 && strcmp(key, "type") == 0 && type && strcmp(type, "s") == 0)
			r = sd_bus_message_read(m, "v", "s", ret);
		else if (r > 0)
			r = sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		/* It says 0 or 1 for success. */
		r = r < 0 ? r : 1;
	}
	return r < 0 ? r : 0;
}

int logind_read_signal(sd_bus_message *m, bool *ret_begins, const char **ret_action)
{
	const char *action = "";
	int begins, r = checked(sd_bus_message_read(m, "b", &begins));

	if (r == 0 && sd_bus_message_at_end(m, true) == 0)
		r = read_action(m, &action);
	if (r < 0)
		return -EBADMSG;
	*ret_begins = begins;
	*ret_action = action;
	return 0;
}

int logind_read_limit(sd_bus_message *m, uint64_t *ret_ns)
{
	uint64_t us;
	int r = checked(sd_bus_message_read(m, "v", "t", &us));

	if (r == 0)
		*ret_ns = us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
	return r;
}

int logind_read_preparing(sd_bus_message *m, bool *ret)
{
	int preparing, r = checked(sd_bus_message_read(m, "v", "b", &preparing));

	if (r == 0)
		*ret = preparing;
	return r;
}

/* Whether what is a list of words with colons between them, one of them shutdown. */
static bool is_of_shutdown(const char *what)
{
	static const char word[] = "shutdown";

	while (*what) {
		size_t len = strcspn(what, ":");

		if (len == strlen(word) && strncmp(what, word, len) == 0)
			return true;
		what += len + (what[len] == ':');
	}
	return false;
}

enum rank {
	RANK_OWN,
	RANK_ROOT,
	RANK_OTHER,
	RANK_COUNT,
};

/* Own ones come first, then root's: a holder of many cannot hide them. ends are the ends of the
 * ranks in the list, which may be beyond its room. */
static void add_holder(struct logind_holder *list, size_t ends[static RANK_COUNT],
		       const struct logind_holder *h)
{
	size_t rank = h->own ? RANK_OWN : h->uid == 0 ? RANK_ROOT : RANK_OTHER;

	/* The first of each later rank makes room by becoming its last. */
	for (size_t i = RANK_OTHER; i > rank; i--) {
		if (ends[i - 1] < LOGIND_HOLDERS_MAX && ends[i] < LOGIND_HOLDERS_MAX)
			list[ends[i]] = list[ends[i - 1]];
		ends[i]++;
	}
	if (ends[rank] < LOGIND_HOLDERS_MAX)
		list[ends[rank]] = *h;
	ends[rank]++;
}

int logind_read_holders(sd_bus_message *m,
			bool (*is_own)(const void *userdata, const struct logind_holder *holder),
			const void *userdata, struct logind_holder *list, size_t *ret_n)
{
	int r = sd_bus_message_enter_container(m, 'a', "(ssssuu)");
	size_t ends[RANK_COUNT] = {};

	while (r > 0) {
		const char *what, *mode;
		struct logind_holder h = {};

		r = sd_bus_message_read(m, "(ssssuu)", &what, &h.who, &h.why, &mode, &h.uid,
					&h.pid);
		if (r <= 0 || strcmp(mode, "delay") != 0 || !is_of_shutdown(what))
			continue;
		h.own = is_own(userdata, &h);
		add_holder(list, ends, &h);
	}
	if (r < 0)
		return -EBADMSG;
	*ret_n = ends[RANK_OTHER];
	return 0;
}
