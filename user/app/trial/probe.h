/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a TCP port of this host takes connections: before a trial, and while it goes on. */
#ifndef APP_TRIAL_PROBE_H
#define APP_TRIAL_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct trial_port {
	uint16_t number;
	bool answered;
	/* CLOCK_BOOTTIME, of the first and last connection that was refused while it ran; 0: none. */
	uint64_t first_ns, last_ns;
};

/* Tries a connection, until one is taken: that is returned, and noted in answered. */
bool trial_port_await(struct trial_port *port);
/* Tries one during the stop of a process; a refusal counts where that still runs afterwards. */
void trial_port_try(struct trial_port *port, pid_t pid);
/* For how long connections were refused before the process ended. */
uint64_t trial_port_refused(const struct trial_port *port, uint64_t exit_ns);

#endif
