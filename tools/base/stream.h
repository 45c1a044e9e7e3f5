/* SPDX-License-Identifier: GPL-2.0 */
/* The standard streams of tense while a back end takes them for a command. */
#ifndef TOOLS_STREAM_H
#define TOOLS_STREAM_H

/*
 * Lets a stream lead to @to, unless that is 0. Returns a copy of the stream for
 * stream_bring_back(), or -1 if it is closed.
 */
int stream_divert(int stream, int to);

/* A back end has taken the stream: gets it back. */
void stream_bring_back(int stream, int kept);

#endif
