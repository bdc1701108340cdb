// SPDX-License-Identifier: Apache-2.0
/* The structs of records, for their type information: test_rows reads it. The object is never
 * loaded; its layout is that of any machine with 64 bits. */
#include "core/boot/log.h"
#include "core/stop/record.h"

struct record rows_record;
struct bootlog rows_bootlog;
struct bootlog_alive rows_alive;
struct shutdown_holder rows_holder;
struct record_member rows_member;
struct wait rows_wait;
