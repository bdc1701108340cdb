// SPDX-License-Identifier: Apache-2.0
/* Reads the kubelet's file; wire/kubeletconf takes it apart. */
#include "app/kubeletfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "io/fd.h"

int kubeletfile_read(const char *path, struct kubeletconf *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t size;

	memset(ret, 0, sizeof(*ret));
	size = fd_read_all(AT_FDCWD, path ? path : KUBELETFILE_DEFAULT, KUBELETCONF_SIZE_MAX,
			   &text);
	if (size == -ENOENT && !path)
		return 0;
	return size < 0 ? (int)size : kubeletconf_read(text, (size_t)size, ret);
}

const char *kubeletfile_why(int error)
{
	return error == -EBADMSG ? "it makes no sense" : strerror(-error);
}
