/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each setting, as the table of app/config wants them: each takes a value, which
 * the configuration's store owns, or says what is wanted instead. */
#ifndef APP_CONFIG_TAKE_H
#define APP_CONFIG_TAKE_H

#include <stddef.h>

#include "app/config/config.h"

const char *config_take_node_name(struct config *c, const char *value, size_t index);
const char *config_take_log_level(struct config *c, const char *value, size_t index);
const char *config_take_log_format(struct config *c, const char *value, size_t index);
const char *config_take_listen(struct config *c, const char *value, size_t index);
const char *config_take_telemetry_path(struct config *c, const char *value, size_t index);
const char *config_take_web_config(struct config *c, const char *value, size_t index);
const char *config_take_insecure(struct config *c, const char *value, size_t index);
const char *config_take_control_socket(struct config *c, const char *value, size_t index);
const char *config_take_scope(struct config *c, const char *value, size_t index);
const char *config_take_grace(struct config *c, const char *value, size_t index);
const char *config_take_hierarchy(struct config *c, const char *value, size_t index);
const char *config_take_nested(struct config *c, const char *value, size_t index);
const char *config_take_roots(struct config *c, const char *value, size_t index);
const char *config_take_ring_size(struct config *c, const char *value, size_t index);
const char *config_take_log_directory(struct config *c, const char *value, size_t index);
const char *config_take_names(struct config *c, const char *value, size_t index);
const char *config_take_name_wait(struct config *c, const char *value, size_t index);
const char *config_take_docker_root(struct config *c, const char *value, size_t index);
const char *config_take_podman_root(struct config *c, const char *value, size_t index);
const char *config_take_containerd_state(struct config *c, const char *value, size_t index);
const char *config_take_cri_endpoint(struct config *c, const char *value, size_t index);
const char *config_take_kubelet_url(struct config *c, const char *value, size_t index);
const char *config_take_kubelet_ca(struct config *c, const char *value, size_t index);
const char *config_take_kubelet_server_name(struct config *c, const char *value, size_t index);
const char *config_take_kubelet_token_file(struct config *c, const char *value, size_t index);
const char *config_take_kubelet_interval(struct config *c, const char *value, size_t index);
const char *config_take_api_url(struct config *c, const char *value, size_t index);
const char *config_take_api_ca(struct config *c, const char *value, size_t index);
const char *config_take_api_server_name(struct config *c, const char *value, size_t index);
const char *config_take_api_token_file(struct config *c, const char *value, size_t index);
const char *config_take_api_client_file(struct config *c, const char *value, size_t index);
const char *config_take_api_interval(struct config *c, const char *value, size_t index);
const char *config_take_stdout(struct config *c, const char *value, size_t index);
const char *config_take_checkpoint_file(struct config *c, const char *value, size_t index);
const char *config_take_file(struct config *c, const char *value, size_t index);
const char *config_take_journal(struct config *c, const char *value, size_t index);
const char *config_take_signals(struct config *c, const char *value, size_t index);
const char *config_take_shutdown_mode(struct config *c, const char *value, size_t index);
const char *config_take_shutdown_kubelet(struct config *c, const char *value, size_t index);
const char *config_take_shutdown_version(struct config *c, const char *value, size_t index);
const char *config_take_shutdown_extra(struct config *c, const char *value, size_t index);
const char *config_take_overdue_slack(struct config *c, const char *value, size_t index);
const char *config_take_status_wait(struct config *c, const char *value, size_t index);
const char *config_take_deaf_grace(struct config *c, const char *value, size_t index);
const char *config_take_max_series(struct config *c, const char *value, size_t index);
const char *config_take_max_age(struct config *c, const char *value, size_t index);
const char *config_take_budget(struct config *c, const char *value, size_t index);

#endif
