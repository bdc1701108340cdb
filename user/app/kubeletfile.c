// SPDX-License-Identifier: Apache-2.0
/* Reads the kubelet's file; wire/kubeletconf takes it apart. */
#include "app/kubeletfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "io/fd.h"
#include "io/trusted.h"

/* Who can lead it elsewhere decides how long logind waits. */
static int read_linked(const char *path, struct kubeletconf *ret)
{
	_cleanup_(buf_free) struct buf text = {};
	struct trusted_why why;
	int r = trusted_way(path);

	if (r == 0)
		r = trusted_read(path, false, KUBELETCONF_SIZE_MAX, &text, &why);
	return r < 0 ? r : kubeletconf_read(buf_str(&text), text.len, ret);
}

int kubeletfile_read(const char *path, struct kubeletconf *ret)
{
	const char *from = path ? path : KUBELETFILE_DEFAULT;
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t size;

	memset(ret, 0, sizeof(*ret));
	size = fd_read_all(AT_FDCWD, from, KUBELETCONF_SIZE_MAX, &text);
	if (size == -ENOENT && !path)
		return 0;
	/* It is a link. */
	if (size == -ELOOP)
		return read_linked(from, ret);
	return size < 0 ? (int)size : kubeletconf_read(text, (size_t)size, ret);
}

const char *kubeletfile_why(int error)
{
	if (error == -EPERM)
		return "it is a link, and others than root may write on the way it leads";
	return error == -EBADMSG ? "it makes no sense" : strerror(-error);
}
