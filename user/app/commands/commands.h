/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands: each takes its own argv (argv[0] is its name) and returns the exit status. */
#ifndef APP_COMMANDS_COMMANDS_H
#define APP_COMMANDS_COMMANDS_H

int cmd_trace(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_resolve(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_pods(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_shutdown(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
