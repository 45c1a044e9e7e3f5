/* SPDX-License-Identifier: GPL-2.0 */
/* The ways between a guest and tense. */
#ifndef TOOLS_GUEST_CHANNELS_H
#define TOOLS_GUEST_CHANNELS_H

#include <stdbool.h>

/* The first to be opened, of a transport that is then known. */
int channel_open_control(void);
int channel_open(int channel, int mode);
/* Channels are ports of an emulator. The command gets pipes, which init carries. */
bool channel_is_port(void);
/* Tense sends nothing: all that it has to say was packed. */
bool channel_is_one_way(void);

#endif
