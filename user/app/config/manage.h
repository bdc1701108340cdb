/* SPDX-License-Identifier: Apache-2.0 */
/* What is likely to go wrong in mode manage, by the configurations of graced and of the kubelet. */
#ifndef APP_CONFIG_MANAGE_H
#define APP_CONFIG_MANAGE_H

#include "app/config/config.h"
#include "app/config/kubelet_file.h"

#define MANAGE_POD_STATUS   "pod status"
#define MANAGE_KUBELET_UNIT "kubelet unit"

/* name: what it is about, in few words; both are valid during the call. */
typedef void (*manage_fn)(void *userdata, const char *name, const char *text);

/* Calls back for each; for none in other modes. file is the kubelet's, and is read. */
void manage_warn(const struct config_shutdown *options, const struct kubeletfile *file,
		 manage_fn fn, void *userdata);

/* Whether a kubelet's unit is among those that mode manage stops. */
bool manage_stops_kubelet(const struct config_shutdown *options);

/* What of api.report: status and shutdown.outOfServiceTaint has no effect, in any mode. */
void manage_warn_of_writing(const struct config_shutdown *options, manage_fn fn, void *userdata);

#endif
