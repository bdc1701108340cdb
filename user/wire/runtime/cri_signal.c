// SPDX-License-Identifier: Apache-2.0
/* Signals as the container runtime interface numbers them: by name, not as any kernel does. */
#include <signal.h>

#include "wire/runtime/cri_priv.h"

#define RT_FIRST 35 /* SIGRTMIN; from here on every member is one signal further */
#define RT_LAST	 65
#define RT_MIN	 34 /* as base/signame has it */

uint32_t cri_signal(uint32_t member)
{
	static const uint8_t
		numbers[RT_FIRST] =
			{
				[1] = SIGABRT,	SIGALRM,       SIGBUS,	     SIGCHLD,
				SIGCHLD,	SIGCONT,       SIGFPE,	     [8] = SIGHUP,
				SIGILL,		SIGINT,	       SIGIO,	     SIGABRT,
				SIGKILL,	SIGPIPE,       [15] = SIGIO, SIGPROF,
				SIGPWR,		SIGQUIT,       SIGSEGV,	     SIGSTKFLT,
				SIGSTOP,	[22] = SIGSYS, SIGTERM,	     SIGTRAP,
				SIGTSTP,	SIGTTIN,       SIGTTOU,	     SIGURG,
				[29] = SIGUSR1, SIGUSR2,       SIGVTALRM,    SIGWINCH,
				SIGXCPU,	SIGXFSZ,
			};

	if (member < RT_FIRST)
		return numbers[member];
	return member <= RT_LAST ? member - RT_FIRST + RT_MIN : 0;
}
