/* SPDX-License-Identifier: GPL-2.0 */
/* The function of Linux 6.1 by which a device without a page cache is spliced from. */
#define hostfd_splice_read	generic_file_splice_read
