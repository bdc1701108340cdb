/* SPDX-License-Identifier: Apache-2.0 */
/* Unary gRPC calls over a unix socket, for tests that drive a runtime. */
#ifndef TESTS_LIB_RUNTIME_GRPC_H
#define TESTS_LIB_RUNTIME_GRPC_H

#include "base/buf.h"

#include <stdbool.h>

struct runtime_grpc;

/* 0, -ENOMEM, or -ELIBACC when there is no libcurl, which stderr tells. Connects when called. */
int runtime_grpc_open(const char *socket, struct runtime_grpc **ret);
/* NULL is fine; returns NULL. */
struct runtime_grpc *runtime_grpc_free(struct runtime_grpc *grpc);

/* Failures are printed on stderr unless quiet. */
void runtime_grpc_quiet(struct runtime_grpc *grpc, bool quiet);

/* path: "/package.Service/Method". reply gets the message without its frame. -ENOTCONN: nobody
 * answers; -EREMOTEIO: the peer's status is not OK; -EBADMSG. */
int runtime_grpc_call(struct runtime_grpc *grpc, const char *path, const struct buf *request,
		      struct buf *reply);

#endif
