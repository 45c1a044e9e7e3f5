/* SPDX-License-Identifier: GPL-2.0 */
/* A page of a trace buffer, as the kernel leaves it. */
#ifndef TOOLS_TRACE_PAGE_H
#define TOOLS_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Do all events of a page of size bytes lie within it? Ask before reading a
 * page by libtraceevent, which trusts all lengths.
 */
bool trace_page_is_whole(const void *page, size_t size);

#endif
