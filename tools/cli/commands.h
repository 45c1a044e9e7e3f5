/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "base/options.h"

extern const struct subcommand cmd_check, cmd_daemons, cmd_functions, cmd_kernel,
	cmd_measure, cmd_noise, cmd_profile, cmd_run, cmd_shell, cmd_trace, cmd_trace_activity, cmd_whatif;

#endif
