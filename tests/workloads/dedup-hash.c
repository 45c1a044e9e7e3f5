// SPDX-License-Identifier: GPL-2.0
#include <openssl/evp.h>
#include <stdlib.h>

#include "dedup.h"
#include "dedup-hash.h"

struct hasher {
	EVP_MD_CTX *context;
	EVP_MD *sha256;
};

static void hasher_start(struct hasher *hasher)
{
	if (!EVP_DigestInit_ex(hasher->context, hasher->sha256, NULL))
		die("SHA-256 does not work in this OpenSSL");
}

struct hasher *hasher_new(void)
{
	struct hasher *hasher = allocate(sizeof(*hasher));

	/* Fetched once: EVP_sha256() looks it up anew in each init. */
	hasher->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	hasher->context = EVP_MD_CTX_new();
	if (!hasher->sha256 || !hasher->context)
		die("SHA-256 does not work in this OpenSSL");
	hasher_start(hasher);
	return hasher;
}

void hasher_free(struct hasher *hasher)
{
	EVP_MD_CTX_free(hasher->context);
	EVP_MD_free(hasher->sha256);
	free(hasher);
}

void hasher_add(struct hasher *hasher, const void *data, size_t length)
{
	if (!EVP_DigestUpdate(hasher->context, data, length))
		die("SHA-256 does not work in this OpenSSL");
}

void hasher_end(struct hasher *hasher, uint8_t *hash)
{
	if (!EVP_DigestFinal_ex(hasher->context, hash, NULL))
		die("SHA-256 does not work in this OpenSSL");
	hasher_start(hasher);
}
