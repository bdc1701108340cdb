// SPDX-License-Identifier: Apache-2.0
#include "wire/kernel/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "7: -> FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF"; what waits for what waits is set in further.
 */
bool locks_parse(const char *line, struct locks_line *ret)
{
	int pid, kind = 0;

	*ret = (struct locks_line){};
	if (sscanf(line, "%" SCNu64 ": %n", &ret->number, &kind) != 1 || !kind)
		return false;
	ret->waits = strncmp(line + kind, "-> ", 3) == 0;
	/* The device is hexadecimal; "<none>:0" in place of all three. */
	if (sscanf(line + kind + (ret->waits ? 3 : 0),
		   "%*7s %*9s %*5s %d %*[0-9a-f]:%*[0-9a-f]:%" SCNu64, &pid, &ret->inode) < 1)
		return false;
	ret->pid = pid > 0 ? (uint32_t)pid : 0;
	return true;
}
