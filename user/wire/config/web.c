// SPDX-License-Identifier: Apache-2.0
/* Reads listen addresses and the web configuration of Prometheus's exporters. */
#include "wire/config/web.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/nearest.h"

#define GROUPS	 8 /* of 16 bits, in an IPv6 address */
#define HOST_MAX 45

struct span {
	const char *at;
	size_t len;
};

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) % 16 : -1;
}

/* The whole of text as a number in base 10 or 16, with at most max_digits digits; -1 if it is none
 * or above max. */
static long parse_number(struct span text, int base, size_t max_digits, long max)
{
	long value = 0;

	if (text.len == 0 || text.len > max_digits)
		return -1;
	for (size_t i = 0; i < text.len; i++) {
		int digit = hex_digit(text.at[i]);

		if (digit < 0 || digit >= base)
			return -1;
		value = value * base + digit;
	}
	return value <= max ? value : -1;
}

/* Takes what is before the next separator, or the rest; false when nothing is left to take. */
static bool take_part(struct span *text, char separator, struct span *ret)
{
	const char *end;

	if (!text->at)
		return false;
	end = memchr(text->at, separator, text->len);
	*ret = (struct span){text->at, end ? (size_t)(end - text->at) : text->len};
	*text = end ? (struct span){end + 1, text->len - ret->len - 1} : (struct span){NULL, 0};
	return true;
}

/* A leading zero is refused: some read it as octal. */
static bool parse_v4(struct span text, uint8_t *ret)
{
	struct span part;
	uint8_t bytes[4];
	size_t n = 0;

	while (take_part(&text, '.', &part)) {
		long byte = parse_number(part, 10, 3, 255);

		if (n == 4 || byte < 0 || (part.len > 1 && part.at[0] == '0'))
			return false;
		bytes[n++] = (uint8_t)byte;
	}
	if (n != 4)
		return false;
	memcpy(ret, bytes, 4);
	return true;
}

/* Groups of hexadecimal digits, the last two of which may be written as IPv4; the bytes written, or
 * -1. An empty text has none. */
static int parse_groups(struct span text, uint8_t ret[static 2 * GROUPS])
{
	struct span part;
	int n = 0;

	if (text.len == 0)
		return 0;
	while (take_part(&text, ':', &part)) {
		long group = parse_number(part, 16, 4, 0xffff);

		if (group < 0 && !text.at && n <= 2 * GROUPS - 4 && parse_v4(part, ret + n))
			return n + 4;
		if (group < 0 || n == 2 * GROUPS)
			return -1;
		ret[n++] = (uint8_t)(group >> 8);
		ret[n++] = (uint8_t)group;
	}
	return n;
}

/* A "::" stands for one group of zeros at least. */
static bool parse_v6(struct span text, uint8_t *ret)
{
	const char *gap = memmem(text.at, text.len, "::", 2);
	uint8_t head[2 * GROUPS], tail[2 * GROUPS];
	struct span rest;
	int n_head, n_tail;

	if (!gap) {
		if (parse_groups(text, head) != 2 * GROUPS)
			return false;
		memcpy(ret, head, sizeof(head));
		return true;
	}
	rest = (struct span){gap + 2, text.len - (size_t)(gap - text.at) - 2};
	n_head = parse_groups((struct span){text.at, (size_t)(gap - text.at)}, head);
	n_tail = parse_groups(rest, tail);
	if (n_head < 0 || n_tail < 0 || n_head + n_tail > 2 * GROUPS - 2 ||
	    memchr(text.at, '.', (size_t)(gap - text.at)))
		return false;
	memset(ret, 0, 2 * GROUPS);
	memcpy(ret, head, (size_t)n_head);
	memcpy(ret + 2 * GROUPS - n_tail, tail, (size_t)n_tail);
	return true;
}

static bool is_loopback(const struct listen_addr *addr)
{
	static const uint8_t one[16] = {[15] = 1};

	return addr->v6 ? memcmp(addr->bytes, one, sizeof(one)) == 0 : addr->bytes[0] == 127;
}

/* An IPv4 address in an IPv6 one's clothes, which a socket for IPv6 alone cannot have. */
static bool is_mapped(const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(bytes, mapped, sizeof(mapped)) == 0;
}

static bool parse_host(struct span host, struct listen *ret)
{
	bool is_localhost = host.len == 9 && memcmp(host.at, "localhost", 9) == 0;

	if (host.len == 0 || is_localhost) {
		ret->n_addr = 2;
		ret->addr[1].v6 = true;
		if (is_localhost) {
			memcpy(ret->addr[0].bytes, (uint8_t[]){127, 0, 0, 1}, 4);
			ret->addr[1].bytes[15] = 1;
		}
		return true;
	}
	ret->n_addr = 1;
	if (host.at[0] != '[')
		return parse_v4(host, ret->addr[0].bytes);
	ret->addr[0].v6 = true;
	return host.len > 2 && host.at[host.len - 1] == ']' &&
	       parse_v6((struct span){host.at + 1, host.len - 2}, ret->addr[0].bytes) &&
	       !is_mapped(ret->addr[0].bytes);
}

int listen_parse(const char *text, struct listen *ret)
{
	const char *colon = strrchr(text, ':');
	struct listen listen = {};
	struct span host, port;
	long number;

	if (!colon || (size_t)(colon - text) > HOST_MAX + 2)
		return -EINVAL;
	host = (struct span){text, (size_t)(colon - text)};
	port = (struct span){colon + 1, strlen(colon + 1)};
	number = parse_number(port, 10, 5, 65535);
	if (number < 0 || !parse_host(host, &listen))
		return -EINVAL;
	listen.port = (uint16_t)number;
	listen.loopback = true;
	for (size_t i = 0; i < listen.n_addr; i++)
		listen.loopback &= is_loopback(&listen.addr[i]);
	*ret = listen;
	return 0;
}

/* Holds each key of a web configuration against the table of those there are. */

#define USERS	  "basic_auth_users"
#define HASH_SIZE 60 /* $2b$10$, 22 characters of salt, 31 of hash */

struct reading {
	struct webconfig *conf;
	bool out_of_memory;
	unsigned int tls_line, ca_line, auth_type_line;
	bool require; /* client_auth_type wants a certificate */
};

struct key {
	const char *name;
	/* NULL, or what is wanted instead. NULL itself: a section. */
	const char *(*take)(struct reading *r, const struct yamlconf_value *value);
	const char *refusal; /* what there is to say of a key that is another's */
};

static const char *keep(struct reading *r, char **ret, const char *text)
{
	*ret = strdup(text);
	r->out_of_memory |= !*ret;
	return NULL;
}

static const char *take_cert(struct reading *r, const struct yamlconf_value *value)
{
	return *value->text ? keep(r, &r->conf->cert_file, value->text) : "the path of a file";
}

static const char *take_key(struct reading *r, const struct yamlconf_value *value)
{
	return *value->text ? keep(r, &r->conf->key_file, value->text) : "the path of a file";
}

static const char *take_ca(struct reading *r, const struct yamlconf_value *value)
{
	r->ca_line = value->line;
	return *value->text ? keep(r, &r->conf->client_ca_file, value->text) : "the path of a file";
}

static const char *take_auth_type(struct reading *r, const struct yamlconf_value *value)
{
	r->auth_type_line = value->line;
	r->require = strcmp(value->text, "RequireAndVerifyClientCert") == 0;
	if (r->require || strcmp(value->text, "NoClientCert") == 0)
		return NULL;
	return "NoClientCert or RequireAndVerifyClientCert: a certificate that may be missing or "
	       "false protects nothing";
}

static const char *take_min_version(struct reading *r, const struct yamlconf_value *value)
{
	r->conf->tls13 = strcmp(value->text, "TLS13") == 0;
	if (r->conf->tls13 || strcmp(value->text, "TLS12") == 0)
		return NULL;
	return "TLS12 or TLS13: what is older is broken";
}

#define NOT_CHOSEN "cannot be chosen here, leave it out: only ciphers without known faults are used"
#define NAME_FILES "is not read here: name a file by cert_file, key_file or client_ca_file"
#define NOT_HTTP \
	"is not read here, leave it out: the server speaks HTTP/1.1 and sets its own headers"

static const struct key keys[] = {
	{"tls_server_config", NULL, NULL},
	{"tls_server_config.cert_file", take_cert, NULL},
	{"tls_server_config.key_file", take_key, NULL},
	{"tls_server_config.client_ca_file", take_ca, NULL},
	{"tls_server_config.client_auth_type", take_auth_type, NULL},
	{"tls_server_config.min_version", take_min_version, NULL},
	{"tls_server_config.cert", NULL, NAME_FILES},
	{"tls_server_config.key", NULL, NAME_FILES},
	{"tls_server_config.client_ca", NULL, NAME_FILES},
	{"tls_server_config.max_version", NULL, NOT_CHOSEN},
	{"tls_server_config.cipher_suites", NULL, NOT_CHOSEN},
	{"tls_server_config.curve_preferences", NULL, NOT_CHOSEN},
	{"tls_server_config.prefer_server_cipher_suites", NULL, NOT_CHOSEN},
	{"tls_server_config.client_allowed_sans", NULL,
	 "is not checked here: let client_ca_file be a CA of the allowed clients alone"},
	{USERS, NULL, NULL},
	{"http_server_config", NULL, NOT_HTTP},
	{"rate_limit", NULL, "is not read here, leave it out: the server has limits of its own"},
};

#define N_KEYS (sizeof(keys) / sizeof(*keys))

__attribute__((format(printf, 4, 5))) static void complain(struct reading *r, unsigned int line,
							   const char *key, const char *format, ...)
{
	struct webconfig *conf = r->conf;
	struct buf text = {};
	va_list args;

	if (conf->n_problems == WEBCONFIG_PROBLEMS_MAX) {
		conf->n_unsaid++;
		return;
	}
	if (key)
		buf_printf(&text, "%s: ", key);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	r->out_of_memory |= !text.data || buf_error(&text);
	conf->problems[conf->n_problems++] =
		(struct webconfig_problem){.line = line, .text = text.data};
}

static bool is_hash(const char *text)
{
	static const char digits[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789";
	size_t begins = strlen("$2b$10$");

	return strlen(text) == HASH_SIZE && text[0] == '$' && text[1] == '2' &&
	       strchr("aby", text[2]) && text[3] == '$' && strspn(text + 4, digits + 54) == 2 &&
	       text[6] == '$' && strspn(text + begins, digits) == HASH_SIZE - begins;
}

unsigned int webconfig_cost(const char *hash)
{
	return (unsigned int)(hash[4] - '0') * 10 + (unsigned int)(hash[5] - '0');
}

/* A wrong hash may be a password: it is not repeated. */
static void take_user(struct reading *r, const struct yamlconf_entry *entry)
{
	const char *name = entry->key + strlen(USERS) + 1, *hash;
	struct webconfig_user *user = &r->conf->users[r->conf->n_users];

	if (entry->kind != YAMLCONF_VALUE || entry->n_values != 1 ||
	    !is_hash(entry->values[0].text)) {
		complain(r, entry->line, entry->key,
			 "wants a bcrypt hash ($2a$, $2b$ or $2y$), as `htpasswd -nBC 10 NAME` "
			 "makes one");
		return;
	}
	hash = entry->values[0].text;
	if (webconfig_cost(hash) < 4 || webconfig_cost(hash) > WEBCONFIG_COST_MAX) {
		complain(r, entry->line, entry->key,
			 "wants a hash of a cost from 4 to %d, not %u: 10 is usual",
			 WEBCONFIG_COST_MAX, webconfig_cost(hash));
	} else if (strchr(name, ':')) {
		complain(r, entry->line, entry->key, "no client can send a name with a colon");
	} else if (r->conf->n_users == WEBCONFIG_USERS_MAX) {
		complain(r, entry->line, entry->key, "is one user too many: %d are read",
			 WEBCONFIG_USERS_MAX);
	} else {
		keep(r, &user->name, name);
		keep(r, &user->hash, hash);
		r->conf->n_users++;
	}
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static void refuse_key(struct reading *r, const struct yamlconf_entry *entry)
{
	const char *names[N_KEYS];
	size_t n = 0, at;

	for (size_t i = 0; i < N_KEYS; i++)
		if (!keys[i].refusal)
			names[n++] = keys[i].name;
	at = nearest_find(entry->key, names, n);
	if (at < n)
		complain(r, entry->line, entry->key, "there is no such key (did you mean %s?)",
			 names[at]);
	else
		complain(r, entry->line, entry->key, "there is no such key");
}

/* False when what is below the key is of no interest. */
static bool take_entry(struct reading *r, const struct yamlconf_entry *entry)
{
	const struct key *key = find_key(entry->key);
	const char *wants;

	if (strncmp(entry->key, USERS ".", strlen(USERS) + 1) == 0) {
		take_user(r, entry);
		return false;
	}
	if (!key) {
		refuse_key(r, entry);
		return false;
	}
	if (key->refusal) {
		complain(r, entry->line, entry->key, "%s", key->refusal);
		return false;
	}
	if (!key->take) {
		if (strcmp(key->name, USERS) != 0)
			r->tls_line = entry->line;
		if (entry->kind == YAMLCONF_SECTION)
			return true;
		complain(r, entry->line, entry->key, "wants keys below it");
		return false;
	}
	if (entry->kind != YAMLCONF_VALUE || entry->n_values != 1) {
		complain(r, entry->line, entry->key, "wants one value");
		return false;
	}
	wants = key->take(r, &entry->values[0]);
	if (wants)
		complain(r, entry->line, entry->key, "wants %s", wants);
	return false;
}

/* What only shows when all is read. Dotted keys make no section of their own. */
static void check_whole(struct reading *r)
{
	struct webconfig *conf = r->conf;
	bool any = r->tls_line || conf->cert_file || conf->key_file || r->ca_line ||
		   r->auth_type_line || conf->tls13;

	conf->tls = conf->cert_file && conf->key_file;
	if (any && !conf->tls)
		complain(r, r->tls_line ? r->tls_line : 1, "tls_server_config",
			 "wants cert_file and key_file");
	if (r->ca_line && !r->require)
		complain(r, r->ca_line, "tls_server_config.client_ca_file",
			 "is of no use without client_auth_type: RequireAndVerifyClientCert");
	if (r->require && !r->ca_line)
		complain(r, r->auth_type_line, "tls_server_config.client_auth_type",
			 "wants client_ca_file, too: the CA that signs the clients' certificates");
}

static int by_line(const void *a, const void *b)
{
	const struct webconfig_problem *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static void read_all(struct reading *r, const struct yamlconf *yaml)
{
	const char *skip = NULL;

	for (size_t i = 0; i < yaml->n_errors; i++)
		complain(r, yaml->errors[i].line, yaml->errors[i].key, "%s", yaml->errors[i].text);
	r->conf->n_unsaid += yaml->n_unsaid;
	for (size_t i = 0; i < yaml->n_entries; i++) {
		const struct yamlconf_entry *entry = &yaml->entries[i];

		if (skip && yamlconf_is_below(entry->key, skip))
			continue;
		skip = take_entry(r, entry) ? NULL : entry->key;
	}
	/* Keys that were misspelt are missing, too, which is not worth a line of its own. */
	if (r->conf->n_problems == 0)
		check_whole(r);
	qsort(r->conf->problems, r->conf->n_problems, sizeof(*r->conf->problems), by_line);
}

int webconfig_parse(const char *data, size_t size, struct webconfig *ret)
{
	struct webconfig conf = {};
	struct reading r = {.conf = &conf};
	struct yamlconf yaml = {};

	if (yamlconf_parse(data, size, &yaml) < 0)
		return -ENOMEM;
	read_all(&r, &yaml);
	yamlconf_done(&yaml);
	if (r.out_of_memory) {
		webconfig_done(&conf);
		return -ENOMEM;
	}
	*ret = conf;
	return 0;
}

static void free_wiped(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void webconfig_done(struct webconfig *conf)
{
	for (size_t i = 0; i < conf->n_users; i++) {
		free(conf->users[i].name);
		free_wiped(conf->users[i].hash);
	}
	for (size_t i = 0; i < conf->n_problems; i++)
		free(conf->problems[i].text);
	free(conf->cert_file);
	free(conf->key_file);
	free(conf->client_ca_file);
	memset(conf, 0, sizeof(*conf));
}
