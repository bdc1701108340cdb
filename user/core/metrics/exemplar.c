// SPDX-License-Identifier: Apache-2.0
/* Exemplars: bounded texts that name a record and a pod. */
#include "core/metrics/exemplar.h"

#include <string.h>

#include "core/metrics/label.h"

#define ELLIPSIS "\xe2\x80\xa6"

_Static_assert(sizeof(EXEMPLAR_ID_NAME EXEMPLAR_POD_NAME) - 1 + EXEMPLAR_ID_MAX +
			       EXEMPLAR_POD_MAX <=
		       EXEMPLAR_CHARACTERS,
	       "a character has one byte at least");

static void set_id(struct exemplar *exemplar, const char *id)
{
	const char *slash = id ? strchr(id, '/') : NULL;
	char clean[LABEL_MAX + 1];
	size_t len = label_clean(clean, slash ? slash + 1 : NULL);

	if (len > EXEMPLAR_ID_MAX)
		len = 0;
	memcpy(exemplar->id, clean, len);
	exemplar->id[len] = '\0';
}

static void set_pod(struct exemplar *exemplar, const char *pod)
{
	const size_t room = EXEMPLAR_POD_MAX - strlen(ELLIPSIS);
	char clean[LABEL_MAX + 1];
	size_t len = label_clean(clean, pod);
	const char *end;

	if (len <= EXEMPLAR_POD_MAX) {
		memcpy(exemplar->pod, clean, len + 1);
		return;
	}
	/* From the first byte of a character on. */
	end = clean + len - room;
	while ((*end & 0xc0) == 0x80)
		end++;
	memcpy(exemplar->pod, ELLIPSIS, strlen(ELLIPSIS));
	memcpy(exemplar->pod + strlen(ELLIPSIS), end, strlen(end) + 1);
}

void exemplar_set(struct exemplar *exemplar, uint64_t billionths, int64_t wall_ns, const char *id,
		  const char *pod)
{
	exemplar->billionths = billionths;
	exemplar->wall_ns = wall_ns;
	set_id(exemplar, id);
	set_pod(exemplar, pod);
}
