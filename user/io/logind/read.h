/* SPDX-License-Identifier: Apache-2.0 */
/* logind's messages: what is read belongs to the message. -EBADMSG. */
#ifndef IO_LOGIND_READ_H
#define IO_LOGIND_READ_H

#include <systemd/sd-bus.h>

#include "io/logind/logind.h"

int logind_read_lock(sd_bus_message *m, int *ret);
int logind_read_signal(sd_bus_message *m, bool *ret_begins, const char **ret_action);
int logind_read_limit(sd_bus_message *m, uint64_t *ret_ns);
int logind_read_preparing(sd_bus_message *m, bool *ret);
/* *ret_n may be more than LOGIND_HOLDERS_MAX, the size of list. is_own() decides on each. */
int logind_read_holders(sd_bus_message *m,
			bool (*is_own)(const void *userdata, const struct logind_holder *holder),
			const void *userdata, struct logind_holder *list, size_t *ret_n);

#endif
