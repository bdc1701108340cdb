// SPDX-License-Identifier: Apache-2.0
/* One line and an exit status for node-problem-detector. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "app/check/check.h"
#include "base/utf8.h"
#include "io/proc/self.h"

/* The detector's max_output_length, in bytes. */
#define LINE_MAX_BYTES 80

enum npd_status { NPD_OK, NPD_PROBLEM, NPD_UNKNOWN };

bool checknpd_runs(int asked)
{
	return asked >= 0 || asked == -EREMOTEIO || asked == -EPROTONOSUPPORT;
}

void checknpd_fail(struct checknpd *npd, const char *name, const struct buf *text)
{
	if (npd->n_fail++)
		return;
	buf_printf(&npd->problem, "%s: ", name);
	utf8_add_visible(&npd->problem, buf_str(text), text->len);
}

/* Whether the host may have a daemon all the same: the socket's directory is not in this container.
 */
static bool is_outside(const struct checknpd *npd, const char *socket)
{
	char directory[PATH_MAX];
	const char *end = strrchr(socket, '/');

	if (npd->asked != -ENOENT || !end || host_is_own_root())
		return false;
	snprintf(directory, sizeof(directory), "%.*s", (int)(end - socket), socket);
	return !host_is_dir(directory);
}

/* What else failed is counted in the room that the first one leaves. */
static void print_problem(const struct checknpd *npd)
{
	char more[32] = "";
	size_t fits;

	if (npd->n_fail > 1)
		snprintf(more, sizeof(more), " (%u more)", npd->n_fail - 1);
	fits = utf8_fit(buf_str(&npd->problem), npd->problem.len, LINE_MAX_BYTES - strlen(more));
	printf("%.*s%s\n", (int)fits, buf_str(&npd->problem), more);
}

int checknpd_print(struct checknpd *npd, const char *socket)
{
	int status = NPD_PROBLEM;

	if (checknpd_runs(npd->asked)) {
		printf("graced works here, warnings: %u\n", npd->n_warn);
		status = NPD_OK;
	} else if (npd->asked == -EACCES || npd->asked == -EPERM) {
		puts("only root may ask the daemon: run the plugin as root");
		status = NPD_UNKNOWN;
	} else if (is_outside(npd, socket)) {
		puts("the host's directory of the control socket is not mounted into this container");
		status = NPD_UNKNOWN;
	} else {
		print_problem(npd);
	}
	buf_free(&npd->problem);
	return status;
}

int checknpd_print_unknown(void)
{
	puts("the settings cannot be read");
	return NPD_UNKNOWN;
}
