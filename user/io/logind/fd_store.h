/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that outlive this process: systemd keeps them (sd_pid_notify_with_fds(3),
 * FileDescriptorStoreMax= in systemd.service(5)) and hands them to the next process of the unit.
 * Where systemd does not run this process, nothing is kept and nothing is handed over.
 */
#ifndef IO_LOGIND_FD_STORE_H
#define IO_LOGIND_FD_STORE_H

#include <stdint.h>

/*
 * The descriptor that was handed over under that name, and its number; the caller owns it. All
 * others are closed, and no child will take them for its own: to be called once, before any thread
 * is started. -ENOENT for none, -errno.
 */
int fdstore_take(const char *name, uint32_t *ret_number);

/*
 * systemd keeps a copy of fd under that name, which is plain ASCII without a colon, until
 * fdstore_remove(), whatever becomes of its other end. number is kept with it, as "NAME.NUMBER";
 * 0 is no number. 1: sent; 0: there is no systemd; -errno.
 */
int fdstore_put(const char *name, uint32_t number, int fd);

/*
 * systemd closes every copy under that name and number. To be called before the own one is closed:
 * what the descriptor holds is held until the last copy goes. As fdstore_put().
 */
int fdstore_remove(const char *name, uint32_t number);

#endif
