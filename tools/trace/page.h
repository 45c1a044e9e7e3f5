/* SPDX-License-Identifier: GPL-2.0 */
/* A page of a trace buffer, as the kernel leaves it. */
#ifndef TOOLS_TRACE_PAGE_H
#define TOOLS_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether all events of a page, of so many bytes, lie in it. Who reads them by
 * libtraceevent has to know: that takes all lengths for good.
 */
bool trace_page_is_whole(const void *page, size_t size);

#endif
