/* SPDX-License-Identifier: GPL-2.0 */
/* The targets share these functions: the input as a file, and as text. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file that holds the input, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* With a null byte at its end, perhaps more within. To be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif
