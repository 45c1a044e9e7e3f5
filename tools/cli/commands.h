/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of tense. Each returns the exit status. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_daemons(int argc, char **argv);
int cmd_functions(int argc, char **argv);
int cmd_kernel(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_noise(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_trace_activity(int argc, char **argv);
int cmd_whatif(int argc, char **argv);

#endif
