// SPDX-License-Identifier: LGPL-2.1-or-later
#include "language.h"

#include <ctype.h>
#include <string.h>

#include "symbols.h"

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text), tail = strlen(with);

	return length > tail && !strcmp(text + length - tail, with);
}

/* "package-1.2_Module_function_info", with "zm" for the hyphen. */
static bool is_packaged(const char *symbol)
{
	const char *hyphen = strstr(symbol, "zm");

	return hyphen && isdigit((unsigned char)hyphen[2]) && ends(symbol, "_info");
}

void tense_language_note(struct tense_language *of, const char *symbol)
{
	/* Newer versions of Go add the name of a calling convention. */
	of->go |= starts(symbol, "runtime.morestack");
	/* The last two are in each program, and in GHC's runtime. */
	of->haskell |= is_packaged(symbol) ||
		       (strstr(symbol, "_GHCzi") && ends(symbol, "_info")) ||
		       !strcmp(symbol, "ZCMain_main_info") ||
		       (starts(symbol, "stg_ap_") && ends(symbol, "_fast"));
}

/*
 * camlModule__function_123 or, since 5.1.1, camlModule.function_123, and assembler and
 * code of the compiler that such functions call.
 */
static bool is_ocaml(const char *symbol)
{
	static const char *const glue[] = {
		"caml_alloc1", "caml_alloc2", "caml_alloc3", "caml_allocN",
		"caml_c_call", "caml_c_call_stack_args", "caml_call_gc",
		"caml_call_realloc_stack", "caml_ml_array_bound_error",
		"caml_perform", "caml_program", "caml_raise_exception",
		"caml_raise_exn", "caml_reperform", "caml_resume",
		"caml_runstack",
	}, *const made[] = {
		"caml_apply", "caml_curry", "caml_send", "caml_tuplify",
	};
	size_t i;

	if (!starts(symbol, "caml"))
		return false;
	for (i = 0; i < sizeof(glue) / sizeof(*glue); i++)
		if (!strcmp(symbol, glue[i]))
			return true;
	for (i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (starts(symbol, made[i]) && isdigit((unsigned char)symbol[strlen(made[i])]))
			return true;
	return isupper((unsigned char)symbol[4]);
}

/* They end the names of closures, continuations and constructors. */
static bool is_haskell(const char *symbol)
{
	return ends(symbol, "_info") || ends(symbol, "_entry") ||
	       ends(symbol, "_slow") || ends(symbol, "_fast") || ends(symbol, "_ret");
}

const char *tense_language_refuses(const struct tense_language *of, const char *symbol)
{
	if (of->go)
		return "the runtime of Go checks return addresses, and ends the program if Tense replaces one";
	if (of->haskell && is_haskell(symbol))
		return "functions of Haskell do not return to their callers";
	if (is_ocaml(symbol))
		return "the runtime of OCaml checks return addresses, and ends the program if Tense replaces one";
	return NULL;
}

static int note(const struct tense_symbol *symbol, void *data)
{
	tense_language_note(data, symbol->name);
	return 0;
}

struct tense_language tense_language_of(const char *path)
{
	struct tense_language of = { false };

	tense_symbols_each(path, note, &of);
	return of;
}
