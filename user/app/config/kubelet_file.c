// SPDX-License-Identifier: Apache-2.0
/* Reads the kubelet's file; wire/kubernetes/kubelet_files takes it apart, core/shutdown/plan
 * judges it. */
#include "app/config/kubelet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "wire/kubernetes/kubelet_files.h"

static int __attribute__((format(printf, 3, 4)))
refuse(struct kubeletfile_why *why, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return error;
}

/* Reads at most one byte more than the limit, so that the parser sees an excess. */
static int read_any(const char *path, struct buf *ret, struct kubeletfile_why *why)
{
	_cleanup_(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *to = buf_reserve(ret, KUBELETCONF_SIZE_MAX + 1);
	ssize_t n = fd < 0 ? -errno : to ? 0 : -ENOMEM;

	if (n == 0)
		n = fd_read_full(fd, to, KUBELETCONF_SIZE_MAX + 1);
	if (n < 0)
		return refuse(why, (int)n, "cannot open %s: %s", path, strerror((int)-n));
	buf_commit(ret, (size_t)n);
	return 0;
}

/* Who can write it, or lead it elsewhere, decides how long logind waits. */
static int read_trusted(const char *path, struct buf *ret, struct kubeletfile_why *why)
{
	struct trusted_why trusted;
	struct stat st;
	int r = 0;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		r = trusted_way(path);
	if (r == -EPERM)
		return refuse(
			why, r,
			"%s: it is a link, and others than root may write on the way it leads",
			path);
	if (r < 0)
		return refuse(why, r, "%s: it is a link: %s", path, strerror(-r));
	r = trusted_read(path, false, KUBELETCONF_SIZE_MAX, ret, &trusted);
	return r < 0 ? refuse(why, r, "%s", trusted.text) : 0;
}

static void add_error(void *userdata, const char *error)
{
	struct buf *errors = userdata;

	buf_printf(errors, "%s%s", errors->len ? "; " : "", error);
}

static int judge(const struct kubeletfile *file, const char *path, const struct buf *text,
		 struct arena *arena, struct shutplan *ret, struct kubeletfile_why *why)
{
	_cleanup_(buf_free) struct buf errors = {};
	struct kubeletconf_why wrong;
	struct shutplan_config config;
	struct kubeletconf conf;
	int r = kubeletconf_read(buf_str(text), text->len, &conf, &wrong);

	if (r < 0)
		return refuse(why, r, "%s: %s", path, wrong.text);
	config = kubeletconf_plan(&conf, file->minor);
	if (shutplan_validate(&config, add_error, &errors) > 0)
		return refuse(why, -EBADMSG, "%s: a kubelet would not start with it: %s", path,
			      buf_str(&errors));
	r = shutplan_of_config(&config, shutplan_rules_of(file->minor), arena, ret);
	return r < 0 ? refuse(why, r, "%s: %s", path, strerror(-r)) : 0;
}

bool kubeletfile_is_there(const struct kubeletfile *file)
{
	struct stat st;

	return file->path || lstat(KUBELETFILE_DEFAULT, &st) == 0 || errno != ENOENT;
}

int kubeletfile_plan(const struct kubeletfile *file, struct arena *arena, struct shutplan *ret,
		     struct kubeletfile_why *ret_why)
{
	const char *path = file->path ? file->path : KUBELETFILE_DEFAULT;
	_cleanup_(buf_free) struct buf text = {};
	struct shutplan plan = {.rules = shutplan_rules_of(file->minor)};
	int r;

	*ret = plan;
	if (!kubeletfile_is_there(file))
		return 0;
	r = file->any_writer ? read_any(path, &text, ret_why) : read_trusted(path, &text, ret_why);
	if (r == 0)
		r = judge(file, path, &text, arena, &plan, ret_why);
	if (r == 0)
		*ret = plan;
	return r;
}
