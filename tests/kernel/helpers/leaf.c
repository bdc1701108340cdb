// SPDX-License-Identifier: Apache-2.0
// An application behind others: it takes some signals, and ends 0.3 s after the first.
//
//   leaf [take|stay|ignore|die]
//
// take: as above, the default; stay: it does not end; ignore: SIG_IGN; die: the default action.
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t taken;

static void take(int signal)
{
	(void)signal;
	taken = 1;
}

int main(int argc, char **argv)
{
	const char *manner = argc > 1 ? argv[1] : "take";
	struct sigaction action = {.sa_handler = !strcmp(manner, "ignore") ? SIG_IGN
						 : !strcmp(manner, "die")  ? SIG_DFL
									   : take};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	while (!taken || !strcmp(manner, "stay"))
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	return 0;
}
