// SPDX-License-Identifier: Apache-2.0
// Send a signal to a PID 1 that lives on, without end.
#include "lib/box/flood.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/box/send.h"
#include "lib/claim.h"

void flood_begin(struct box_tree *tree, const struct box *box, struct flood *ret)
{
	flood_begin_with(tree, box, 9, ret);
}

void flood_begin_with(struct box_tree *tree, const struct box *box, int sig, struct flood *ret)
{
	char exe[HIER_PATH_MAX + 32], number[16], step[16];
	const struct proc_spec spec = {.exe = exe,
				       .argv = BOX_ARGV("rain", "1", number, step),
				       .cwd = tree->tmp,
				       .no_wait = true,
				       .pidns_of = box->init_pid,
				       .cgroups = {box->dir}};

	snprintf(exe, sizeof(exe), "%s/sender", tree->helpers);
	snprintf(number, sizeof(number), "%d", sig);
	snprintf(step, sizeof(step), "%d", FLOOD_STEP);
	for (int i = 0; i < FLOOD_SENDERS; i++)
		assert_int_equal(proc_start(&spec, &ret->senders[i]), 0);
}

/* How many notes of FLOOD_STEP signals the senders have taken. */
static unsigned int steps_of(const struct flood *flood)
{
	unsigned int n = 0;

	for (int i = 0; i < FLOOD_SENDERS; i++)
		for (unsigned int k = 0; page_find(flood->senders[i].page, NOTE_CHILD, k); k++)
			n++;
	return n;
}

void flood_await(const struct flood *flood, unsigned int signals)
{
	unsigned int until = steps_of(flood) + signals / FLOOD_STEP;

	for (int i = 0; i < 60000 && steps_of(flood) < until; i++)
		usleep(1000);
	assert_true(steps_of(flood) >= until);
}

int64_t flood_end(struct flood *flood)
{
	struct sent sent;
	int64_t n = 0;

	for (int i = 0; i < FLOOD_SENDERS; i++) {
		page_go(flood->senders[i].page, 1);
		assert_int_equal(send_collect(SEND_CONTAINER, NULL, &flood->senders[i], &sent, 1),
				 1);
		n += sent.result;
	}
	return n;
}
