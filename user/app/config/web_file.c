// SPDX-License-Identifier: Apache-2.0
/* Reads a web configuration with all its files, and logs what is wrong with them. */
#include "app/config/web_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/say.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "io/files/file.h"
#include "wire/config/web.h"

#define PEM_SIZE_MAX ((size_t)1 << 20)

struct webfile {
	struct webconfig conf;
	struct buf text, cert, key, client_ca;
	struct web_tls tls;
	struct web_user users[WEBCONFIG_USERS_MAX];
};

static void free_wiped(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_free(buf);
}

struct webfile *webfile_free(struct webfile *file)
{
	if (!file)
		return NULL;
	webconfig_done(&file->conf);
	free_wiped(&file->text);
	free_wiped(&file->cert);
	free_wiped(&file->key);
	free_wiped(&file->client_ca);
	free(file);
	return NULL;
}

DEFINE_CLEANUP(struct webfile *, webfile_free);

static int log_errors(const char *path, const struct webconfig *conf)
{
	size_t shown =
		conf->n_problems < YAMLCONF_ERRORS_MAX ? conf->n_problems : YAMLCONF_ERRORS_MAX;

	for (size_t i = 0; i < shown; i++)
		say_as("run", "%s:%u: %s", path, conf->problems[i].line, conf->problems[i].text);
	if (conf->n_problems + conf->n_unsaid > shown)
		say_as("run", "%s: and %zu more errors", path,
		       conf->n_problems + conf->n_unsaid - shown);
	return conf->n_problems ? -EINVAL : 0;
}

static int read_file(const char *path, bool secret, struct buf *ret)
{
	struct trusted_why why;

	if (trusted_read(path, secret, PEM_SIZE_MAX, ret, &why) == 0)
		return 0;
	say_as("run", "%s", why.text);
	return -EINVAL;
}

/* A path that does not begin at the root begins beside the file that names it. */
static int read_named(const char *beside, const char *name, bool secret, struct buf *ret)
{
	_cleanup_(buf_free) struct buf path = {};
	const char *slash = strrchr(beside, '/');

	if (!name)
		return 0;
	if (name[0] != '/' && slash)
		buf_add(&path, beside, (size_t)(slash + 1 - beside));
	buf_adds(&path, name);
	if (buf_error(&path)) {
		say_as("run", "cannot read %s: out of memory", name);
		return -EINVAL;
	}
	return read_file(buf_str(&path), secret, ret);
}

static int read_config(const char *path, struct webfile *file)
{
	if (read_file(path, false, &file->text) < 0)
		return -EINVAL;
	if (webconfig_parse(buf_str(&file->text), file->text.len, &file->conf) < 0) {
		say_as("run", "cannot read %s: out of memory", path);
		return -EINVAL;
	}
	return log_errors(path, &file->conf);
}

static void point(struct webfile *file)
{
	file->tls = (struct web_tls){
		.cert = buf_str(&file->cert),
		.key = buf_str(&file->key),
		.client_ca = file->conf.client_ca_file ? buf_str(&file->client_ca) : NULL,
		.tls13 = file->conf.tls13,
	};
	for (size_t i = 0; i < file->conf.n_users; i++)
		file->users[i] =
			(struct web_user){file->conf.users[i].name, file->conf.users[i].hash};
}

int webfile_load(const char *path, struct webfile **ret)
{
	_cleanup_(cleanup_webfile_free) struct webfile *file = calloc(1, sizeof(*file));
	struct web_config config = {};
	struct web_why why;

	if (!file) {
		say_as("run", "cannot read %s: out of memory", path);
		return -EINVAL;
	}
	if (read_config(path, file) < 0 ||
	    read_named(path, file->conf.cert_file, false, &file->cert) < 0 ||
	    read_named(path, file->conf.key_file, true, &file->key) < 0 ||
	    read_named(path, file->conf.client_ca_file, false, &file->client_ca) < 0)
		return -EINVAL;
	point(file);
	webfile_apply(file, &config);
	if (web_check(&config, &why) < 0) {
		say_as("run", "%s: %s", path, why.text);
		return -EINVAL;
	}
	*ret = TAKE_PTR(file);
	return 0;
}

void webfile_apply(const struct webfile *file, struct web_config *ret)
{
	ret->tls = file->conf.tls ? &file->tls : NULL;
	ret->users = file->users;
	ret->n_users = file->conf.n_users;
}

static bool same_text(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

bool webfile_same(const struct webfile *a, const struct webfile *b)
{
	return same_text(&a->text, &b->text) && same_text(&a->cert, &b->cert) &&
	       same_text(&a->key, &b->key) && same_text(&a->client_ca, &b->client_ca);
}

bool webfile_protects(const struct webfile *file)
{
	return file->conf.tls || file->conf.n_users;
}

bool webfile_bares_passwords(const struct webfile *file)
{
	return file->conf.n_users && !file->conf.tls;
}
