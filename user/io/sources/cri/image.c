// SPDX-License-Identifier: Apache-2.0
/* Remembers the stop signals of images, which do not change. */
#include <stdlib.h>
#include <string.h>

#include "io/sources/cri/priv.h"

bool podsrc_cri_images_get(const struct podsrc_cri_images *images, const char *key,
			   uint32_t *ret_signal)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(images->list[i].key, key) != 0)
			continue;
		*ret_signal = images->list[i].signal;
		return true;
	}
	return false;
}

void podsrc_cri_images_put(struct podsrc_cri_images *images, const char *key, uint32_t signal)
{
	uint32_t known;
	char *copy;
	size_t i;

	if (podsrc_cri_images_get(images, key, &known))
		return;
	copy = strdup(key);
	if (!copy)
		return;
	if (images->n < PODSRC_CRI_IMAGES) {
		i = images->n++;
	} else {
		i = images->oldest++ % PODSRC_CRI_IMAGES;
		free(images->list[i].key);
	}
	images->list[i].key = copy;
	images->list[i].signal = signal;
}

void podsrc_cri_images_done(struct podsrc_cri_images *images)
{
	for (size_t i = 0; i < images->n; i++)
		free(images->list[i].key);
	images->n = images->oldest = 0;
}
