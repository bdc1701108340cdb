// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

/* The one object that is compiled again when the version changes. */
const char *version_string(void)
{
	return GRACED_VERSION;
}

const char *version_commit(void)
{
	return GRACED_COMMIT;
}

const char *version_features(void)
{
#ifdef GRACED_NCURSES
	return GRACED_FEATURES " +ncurses";
#else
	return GRACED_FEATURES " -ncurses";
#endif
}
