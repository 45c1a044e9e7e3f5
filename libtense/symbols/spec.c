// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/tense.h>

#include "cxx-name.h"
#include "marks.h"

static int invalid(struct tense_spec *spec, const char **error,
		   const char *message)
{
	snprintf(spec->message, sizeof(spec->message), "%s", message);
	*error = spec->message;
	return -EINVAL;
}

/* /.../ without another slash in it: a path in front of a regex has some. */
static bool is_regex(const char *text)
{
	if (*text != '/' || !text[1])
		return false;
	for (text++; *text && *text != '/'; text++)
		if (text[0] == '\\' && text[1])
			text++;
	return text[0] == '/' && !text[1];
}

/* Returns the colon between object and pattern, which is no part of C++'s pairs. */
static const char *find_colon(const char *text)
{
	const char *symbol = NULL;

	if (is_regex(text))
		return NULL;
	/* In front of a symbol, any path may stand. */
	for (const char *s = text; (s = strstr(s, ":=")); s++)
		symbol = s;
	if (symbol)
		return symbol;
	while ((text = strchr(text, ':'))) {
		if (text[1] != ':')
			return text;
		/* object:::f */
		if (text[2] == ':')
			return text;
		text += 2;
	}
	return NULL;
}

/* C++ has single colons only in brackets: f[abi:cxx11](int). */
static bool is_object(const char *text, const char *colon)
{
	size_t len = colon - text;

	if (colon[1] == '=')
		return true;
	return !memchr(text, '(', len) && !memchr(text, '<', len) &&
	       (len < 4 || memcmp(colon - 4, "[abi", 4) != 0);
}

static int parse_regex(struct tense_spec *spec, const char **error)
{
	char reason[96];
	int code;

	spec->kind = TENSE_SPEC_REGEX;
	spec->pattern[strlen(spec->pattern) - 1] = '\0';
	memmove(spec->pattern, spec->pattern + 1, strlen(spec->pattern));
	if (!*spec->pattern)
		return invalid(spec, error, "the regular expression between the slashes is empty");
	code = regcomp(&spec->regex, spec->pattern, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	regerror(code, &spec->regex, reason, sizeof(reason));
	snprintf(spec->message, sizeof(spec->message),
		 "not a regular expression: %s", reason);
	*error = spec->message;
	/* regfree() must not see it. */
	spec->kind = TENSE_SPEC_NAME;
	return code == REG_ESPACE ? -ENOMEM : -EINVAL;
}

static int parse_version(struct tense_spec *spec, const char **error)
{
	char *at = strchr(spec->pattern, '@'), *end;

	if (!at)
		return 0;
	*at = '\0';
	at += 1 + (at[1] == '@');
	if (at[0] == '0' && at[1] == 'x') {
		errno = 0;
		spec->address = strtoull(at, &end, 16);
		if (errno || !isxdigit((unsigned char)at[2]) || *end)
			return invalid(spec, error, "what follows @0x is not a hexadecimal address");
		spec->has_address = true;
		return 0;
	}
	if (!*at)
		return invalid(spec, error, "nothing follows the @: say a version or an address of the symbol");
	spec->version = strdup(at);
	return spec->version ? 0 : -ENOMEM;
}

/*
 * Demangling all symbols of a program takes long. The last word of a name is
 * usually in the mangled symbol, too. Exceptions are operators, and constructors
 * of types with an abbreviation.
 */
static int find_needle(struct tense_spec *spec)
{
	struct tense_cxx_name name;
	const char *word, *end;

	if (strstr(spec->pattern, "operator") ||
	    !tense_cxx_name_parse(spec->pattern, &name))
		return 0;
	end = name.plain + strlen(name.plain);
	for (word = end; word > name.plain &&
	     (isalnum((unsigned char)word[-1]) || word[-1] == '_'); word--)
		;
	if (word < end && strcmp(word, "basic_string") != 0)
		spec->needle = strdup(word);
	tense_cxx_name_free(&name);
	return 0;
}

static int parse_name(struct tense_spec *spec, const char **error)
{
	char *squeezed;
	int err;

	if (*spec->pattern == '=') {
		spec->kind = TENSE_SPEC_SYMBOL;
		memmove(spec->pattern, spec->pattern + 1, strlen(spec->pattern));
	} else if (tense_cxx_is_glob(spec->pattern)) {
		spec->kind = TENSE_SPEC_GLOB;
	}
	if (spec->kind != TENSE_SPEC_GLOB) {
		err = parse_version(spec, error);
		if (err)
			return err;
	}
	if (spec->kind != TENSE_SPEC_SYMBOL) {
		squeezed = tense_cxx_squeeze(spec->pattern);
		if (!squeezed)
			return -ENOMEM;
		free(spec->pattern);
		spec->pattern = squeezed;
		spec->global = !strncmp(squeezed, "::", 2);
		if (spec->global)
			memmove(squeezed, squeezed + 2, strlen(squeezed) - 1);
	}
	if (!*spec->pattern)
		return invalid(spec, error, "no function is named: say [OBJECT:]FUNCTION");
	return spec->kind == TENSE_SPEC_NAME ? find_needle(spec) : 0;
}

/* Returns the +0x1234 at the end of the text, or NULL. */
static const char *find_frame(const char *text)
{
	const char *plus = strrchr(text, '+');

	return plus && !strncmp(plus, "+0x", 3) && plus[3] &&
	       !plus[3 + strspn(plus + 3, "0123456789abcdef")] ? plus : NULL;
}

static int parse(const char *text, struct tense_spec *spec, const char **error)
{
	const char *colon = find_colon(text), *frame = find_frame(text);
	const char *end = NULL;

	if (colon && is_object(text, colon))
		end = colon;
	else if (frame != text)
		end = frame;
	if (end) {
		spec->object = strndup(text, end - text);
		if (!spec->object)
			return -ENOMEM;
		text = end + (end == colon);
	}
	spec->pattern = strdup(text);
	if (!spec->pattern)
		return -ENOMEM;
	return is_regex(text) ? parse_regex(spec, error) :
				parse_name(spec, error);
}

int tense_spec_parse(const char *text, struct tense_spec *spec,
		     const char **error)
{
	int err;

	memset(spec, 0, sizeof(*spec));
	spec->percent = TENSE_PERCENT_REAL * TENSE_FINE;
	*error = "out of memory";
	err = parse(text, spec, error);
	if (err)
		tense_spec_free(spec);
	return err;
}

/* A decimal number of min to max that ends at a space. */
static bool parse_number(const char **text, unsigned min, unsigned max,
			 unsigned *number)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	n = strtoul(*text, &end, 10);
	if (errno || *end != ' ' || n < min || n > max)
		return false;
	*number = n;
	*text = end + 1;
	return true;
}

/* A percent with up to three decimals that ends at a space, in thousandths. */
static bool parse_percent(const char **text, unsigned *thousandths)
{
	size_t digits = strspn(*text, "0123456789");
	const char *at = *text + digits;
	unsigned n;

	if (!digits || digits > 6)
		return false;
	n = strtoul(*text, NULL, 10) * TENSE_FINE;
	if (*at == '.')
		at++;
	for (unsigned unit = TENSE_FINE / 10; unit; unit /= 10)
		if (isdigit((unsigned char)*at))
			n += (*at++ - '0') * unit;
	if (*at != ' ' || n < TENSE_PERCENT_MIN * TENSE_FINE ||
	    n > TENSE_PERCENT_MAX * TENSE_FINE)
		return false;
	*thousandths = n;
	*text = at + 1;
	return true;
}

/* Parses "from" or "to": calls are marked, and their percent does not change. */
static unsigned int parse_mark(const char **line)
{
	static const struct {
		const char *word;
		unsigned int mark;
	} words[] = { { "from ", TENSE_MARK_FROM }, { "to ", TENSE_MARK_TO } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i].word);

		if (strncmp(*line, words[i].word, len) != 0)
			continue;
		*line += len;
		return words[i].mark;
	}
	return 0;
}

int tense_spec_parse_line(const char *line, struct tense_spec *spec,
			  const char **error)
{
	unsigned slot = 0, percent = 0, marks = parse_mark(&line);
	int err;

	if (!marks &&
	    (!parse_number(&line, 1, TENSE_SPEC_SLOTS - 1, &slot) ||
	     !parse_percent(&line, &percent)))
		return invalid(spec, error, "not of the form SLOT PERCENT [OBJECT:]FUNCTION, with a slot of 1 to 15 and a percent of 1 to 100000 with at most three decimals");
	err = tense_spec_parse(line, spec, error);
	if (err)
		return err;
	spec->slot = slot;
	spec->percent = percent;
	spec->marks = marks;
	return 0;
}

void tense_spec_free(struct tense_spec *spec)
{
	if (spec->kind == TENSE_SPEC_REGEX)
		regfree(&spec->regex);
	free(spec->object);
	free(spec->pattern);
	free(spec->version);
	free(spec->needle);
	spec->kind = TENSE_SPEC_NAME;
	spec->object = spec->pattern = spec->version = spec->needle = NULL;
}

bool tense_spec_is_pattern(const struct tense_spec *spec)
{
	return spec->kind == TENSE_SPEC_GLOB || spec->kind == TENSE_SPEC_REGEX;
}

bool tense_spec_is_frame(const struct tense_spec *spec)
{
	return !tense_spec_is_pattern(spec) && *spec->pattern == '+';
}

/* Two paths of one file differ by links. */
static bool same_path(const char *wanted, const char *path)
{
	char *a, *b;
	bool same;

	if (!strcmp(wanted, path))
		return true;
	a = realpath(wanted, NULL);
	b = realpath(path, NULL);
	same = a && b && !strcmp(a, b);
	free(a);
	free(b);
	return same;
}

static bool stem_matches(const char *glob, const char *name)
{
	const char *suffix = strstr(name, ".so");
	bool matches;
	char *stem;

	if (!suffix || (suffix[3] && suffix[3] != '.'))
		return false;
	stem = strndup(name, suffix - name);
	matches = stem && !fnmatch(glob, stem, 0);

	free(stem);
	return matches;
}

/* libz is libz.so.1 and libz-1.2.so; python3 is python3.11. */
static bool same_name(const char *wanted, const char *name, bool is_main)
{
	size_t len = strlen(wanted);
	const char *rest = name + len, *suffix;

	if (!fnmatch(wanted, name, 0) || stem_matches(wanted, name))
		return true;
	if (strncmp(wanted, name, len) != 0)
		return false;
	if (is_main)
		return rest[strspn(rest, "-.0123456789")] == '\0';
	/* libz.so is libz.so.1, libz.so.1 is libz.so.1.2 */
	if (strstr(wanted, ".so"))
		return *rest == '.';
	suffix = strstr(rest, ".so");
	if (!suffix || (suffix[3] && suffix[3] != '.'))
		return false;
	return suffix == rest ||
	       (*rest == '-' &&
		rest + strspn(rest, "-.0123456789") > suffix);
}

bool tense_spec_object(const struct tense_spec *spec, const char *path,
		       const char *soname, bool is_main)
{
	const char *wanted = spec->object, *slash;

	if (!wanted)
		return true;
	if (!*wanted)
		return is_main;
	if (strchr(wanted, '/'))
		return same_path(wanted, path);
	slash = strrchr(path, '/');
	return same_name(wanted, slash ? slash + 1 : path, is_main) ||
	       (soname && same_name(wanted, soname, false));
}

/* Returns the length without the marks of a specialised copy of the function. */
static size_t base_length(const char *name)
{
	static const char *const marks[] = {
		".isra.", ".constprop.", ".lto_priv.", ".llvm.",
	};
	size_t len = strlen(name);
	const char *found;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		found = strstr(name + (*name != '\0'), marks[i]);
		if (found && (size_t)(found - name) < len)
			len = found - name;
	}
	return len;
}

static bool text_matches(const struct tense_spec *spec, const char *text)
{
	if (!strcmp(spec->pattern, text))
		return true;
	return spec->kind == TENSE_SPEC_GLOB &&
	       !fnmatch(spec->pattern, text, 0);
}

static bool symbol_matches(const struct tense_spec *spec, const char *name)
{
	size_t len = base_length(name);
	bool matches;
	char *base;

	if (text_matches(spec, name))
		return true;
	if (!name[len])
		return false;
	base = strndup(name, len);
	matches = base && text_matches(spec, base);
	free(base);
	return matches;
}

/* Compares the name with its innermost scopes only. */
static bool scope_matches(const struct tense_spec *spec, const char *text)
{
	if (spec->global)
		return false;
	while ((text = tense_cxx_inner(text)))
		if (text_matches(spec, text))
			return true;
	return false;
}

enum tense_match tense_spec_demangled(const struct tense_spec *spec,
				      const char *demangled)
{
	enum tense_match match = TENSE_MATCH_NONE;
	struct tense_cxx_name name;

	if (spec->kind == TENSE_SPEC_SYMBOL)
		return TENSE_MATCH_NONE;
	if (spec->kind == TENSE_SPEC_REGEX)
		return regexec(&spec->regex, demangled, 0, NULL, 0) ?
		       TENSE_MATCH_NONE : TENSE_MATCH_DEMANGLED;
	if (!tense_cxx_name_parse(demangled, &name))
		return TENSE_MATCH_NONE;
	if (text_matches(spec, name.full) ||
	    text_matches(spec, name.signature))
		match = TENSE_MATCH_DEMANGLED;
	else if (text_matches(spec, name.name))
		match = TENSE_MATCH_NAME;
	else if (text_matches(spec, name.plain) ||
		 scope_matches(spec, name.signature) ||
		 scope_matches(spec, name.name) ||
		 scope_matches(spec, name.plain))
		match = TENSE_MATCH_SCOPE;
	tense_cxx_name_free(&name);
	return match;
}

/* Tables, thunks and guards have names that end like those of functions. */
static bool is_special(const char *mangled)
{
	return !strncmp(mangled, "_ZT", 3) || !strncmp(mangled, "_ZG", 3);
}

static enum tense_match match_name(const struct tense_spec *spec,
				   const char *name)
{
	enum tense_match match;
	char *demangled;

	/* A pattern means names, and this function has none. */
	if (*name == '+' && tense_spec_is_pattern(spec))
		return TENSE_MATCH_NONE;
	if (spec->kind == TENSE_SPEC_SYMBOL)
		return strcmp(spec->pattern, name) ? TENSE_MATCH_NONE :
						     TENSE_MATCH_SYMBOL;
	if (spec->kind == TENSE_SPEC_REGEX) {
		if (!regexec(&spec->regex, name, 0, NULL, 0))
			return TENSE_MATCH_SYMBOL;
	} else if (symbol_matches(spec, name)) {
		return TENSE_MATCH_SYMBOL;
	}
	if (strncmp(name, "_Z", 2) != 0 || is_special(name) ||
	    (spec->needle && !strstr(name, spec->needle)))
		return TENSE_MATCH_NONE;
	demangled = tense_demangle(name);
	if (!demangled)
		return TENSE_MATCH_NONE;
	match = tense_spec_demangled(spec, demangled);
	free(demangled);
	return match;
}

enum tense_match tense_spec_match(const struct tense_spec *spec,
				  const struct tense_symbol *symbol)
{
	if (spec->has_address && symbol->value != spec->address)
		return TENSE_MATCH_NONE;
	if (spec->version && (!symbol->version ||
			      strcmp(spec->version, symbol->version) != 0))
		return TENSE_MATCH_NONE;
	return match_name(spec, symbol->name);
}

bool tense_spec_symbol(const struct tense_spec *spec, const char *mangled)
{
	return match_name(spec, mangled) != TENSE_MATCH_NONE;
}
