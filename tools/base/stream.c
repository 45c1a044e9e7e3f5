// SPDX-License-Identifier: GPL-2.0
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

int stream_divert(int stream, int to)
{
	int kept = fcntl(stream, F_DUPFD_CLOEXEC, 3);

	if (to > 0 && kept >= 0 && dup2(to, stream) < 0)
		die(STATUS_FAILED, "the standard streams: %s", strerror(errno));
	return kept;
}

void stream_bring_back(int stream, int kept)
{
	if (kept < 0)
		return;
	dup2(kept, stream);
	close(kept);
}
