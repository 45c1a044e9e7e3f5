/* SPDX-License-Identifier: GPL-2.0 */
/* The function of Linux 7.2 by which a device without a page cache is spliced from. */
#define hostfd_splice_read	copy_splice_read
