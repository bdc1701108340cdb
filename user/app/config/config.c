// SPDX-License-Identifier: Apache-2.0
/* Puts the configuration together from its four sources, the strongest last. */
#include "app/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/priv.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "wire/config/web.h"

static int take_fallbacks(struct config_loader *loader)
{
	options_init(&loader->config.options, "run");
	for (size_t i = 0; i < config_n_settings; i++) {
		const char *value = config_settings[i].fallback;

		if (value && config_take(loader, i, value, 0, CONFIG_FALLBACK)) {
			say_as("run", "cannot take the settings: out of memory");
			return 1;
		}
	}
	return 0;
}

/* Tells what is wrong with an address where it was given. */
static int refuse_address(const struct config_loader *loader, size_t setting, size_t index)
{
	const char *why = loader->config.webfile
				  ? "can be reached from other hosts, but the file of "
				    "--web.config.file has neither TLS nor users"
				  : "can be reached from other hosts, which takes "
				    "--web.config.file (TLS, authentication) or --web.insecure";
	const struct config_setting *s = &config_settings[setting];
	const char *address = loader->config.listen[index];
	char name[CONFIG_NAME_SIZE];

	switch (loader->sources[setting]) {
	case CONFIG_FLAG:
		return say_usage("run", "--%s: %s %s", config_flag_name(s, name), address, why);
	case CONFIG_VARIABLE:
		return say_usage("run", "%s: %s %s", config_variable_name(s, name), address, why);
	default:
		say_as("run", "%s:%u: %s: %s %s", loader->config.file, loader->lines[index], s->key,
		       address, why);
		return 1;
	}
}

/* The web configuration is read here, so that what is wrong with it is known before all starts. */
static int take_web(struct config_loader *loader)
{
	struct config *c = &loader->config;

	if (c->web_config_file && webfile_load(c->web_config_file, &c->webfile) < 0)
		return 1;
	if (c->web_insecure || (c->webfile && webfile_protects(c->webfile)))
		return 0;
	for (size_t i = 0; i < c->n_listen; i++) {
		struct listen listen;

		if (listen_parse(c->listen[i], &listen) == 0 && !listen.loopback)
			return refuse_address(loader, config_find("web.listenAddress"), i);
	}
	return 0;
}

/* Each of them may be right and together they are not. */
static int take_peer(struct config_loader *loader, enum meta_source source, const char *url)
{
	size_t setting = config_find(url);
	const struct config_setting *s = &config_settings[setting];
	struct podsrc_kubelet_why buffer;
	const char *why = options_refuse_lister(&loader->config.options, source, &buffer);
	char name[CONFIG_NAME_SIZE];

	if (!why)
		return 0;
	switch (loader->sources[setting]) {
	case CONFIG_FLAG:
		return say_usage("run", "--%s: %s", config_flag_name(s, name), why);
	case CONFIG_VARIABLE:
		return say_usage("run", "%s: %s", config_variable_name(s, name), why);
	case CONFIG_FILE:
		say_as("run", "%s: %s: %s", loader->config.file, s->key, why);
		return 1;
	default:
		return say_usage("run", "%s: %s", s->key, why);
	}
}

static int name_file(struct config_loader *loader, const struct config_flags *flags)
{
	const char *file = flags->file ? flags->file : getenv("GRACED_CONFIG");

	loader->config.check = flags->check;
	if (!file || (!*file && !flags->file))
		return 0;
	if (!*file)
		return say_usage("run", "--config wants a file, not ''");
	loader->config.file = config_store(&loader->config, file);
	return loader->config.file ? 0 : 1;
}

static int take_all(struct config_loader *loader, const struct config_flags *flags)
{
	int status;

	status = take_fallbacks(loader);
	if (!status)
		status = name_file(loader, flags);
	if (!status && loader->config.file)
		status = config_file_apply(loader, loader->config.file);
	if (!status)
		status = config_env_apply(loader);
	if (!status)
		status = config_flags_apply(loader, flags);
	if (!status)
		status = take_peer(loader, META_KUBELET, "kubelet.url");
	if (!status)
		status = take_peer(loader, META_API, "api.url");
	return status ? status : take_web(loader);
}

/* 0 with *ret, or the exit status. */
static int load(char **argv, const struct config_flags *flags, struct config *ret)
{
	struct config_loader loader = {};
	int status;

	status = take_all(&loader, flags);
	loader.config.options.command = argv[0];
	if (status)
		config_done(&loader.config);
	else
		*ret = loader.config;
	return status;
}

static void say_right(const struct config *config)
{
	if (config->file)
		printf("%s: right\n", config->file);
	else
		printf("no file is named, flags and environment are right\n");
}

bool config_load(int argc, char **argv, struct config *ret, int *ret_status)
{
	_cleanup_(config_flags_done) struct config_flags flags = {};
	int status;

	status = config_flags_read(argc, argv, &flags);
	if (!status && flags.help) {
		config_help();
		*ret_status = 0;
		return false;
	}
	if (!status)
		status = load(argv, &flags, ret);
	if (status) {
		*ret_status = status;
		return false;
	}
	config_env_warn();
	if (!ret->check)
		return true;
	say_right(ret);
	config_done(ret);
	*ret_status = 0;
	return false;
}

int config_reload(int argc, char **argv, struct config *ret)
{
	_cleanup_(config_flags_done) struct config_flags flags = {};

	if (config_flags_read(argc, argv, &flags) || load(argv, &flags, ret))
		return -EINVAL;
	return 0;
}
