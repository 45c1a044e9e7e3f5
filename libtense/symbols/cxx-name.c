// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cxx-name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_function(const char *, char *, size_t *, int *);

static demangle_function *find_demangler(void)
{
	static const char *const libraries[] = {
		"libstdc++.so.6", "libc++abi.so.1",
	};
	void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");

	/* A library that dlopen() loaded is not in the default scope. */
	for (size_t i = 0; !found &&
	     i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (!library)
			continue;
		found = dlsym(library, "__cxa_demangle");
		dlclose(library);
	}
	return (demangle_function *)found;
}

/* Rust's older mangling is C++'s, with a hash as the last scope. */
static void strip_hash(char *name)
{
	size_t len = strlen(name), hash = strlen("::h0123456789abcdef");

	if (len > hash && !strncmp(name + len - hash, "::h", 3) &&
	    strspn(name + len - hash + 3, "0123456789abcdef") == hash - 3)
		name[len - hash] = '\0';
}

/*
 * Older Rust writes :: within a type as two dots, so that the first dot begins no suffix.
 * The name ends after the hash, h and 16 digits.
 */
static char *demangle_rust(demangle_function *demangle, const char *mangled)
{
	char *copy = strdup(mangled), *hash = copy ? strstr(copy, "17h") : NULL, *name = NULL;
	int status = 0;

	for (; hash; hash = strstr(hash + 1, "17h")) {
		char *end = hash + 3 + strspn(hash + 3, "0123456789abcdef");

		if (end - hash != 19 || *end != 'E')
			continue;
		end[1] = '\0';
		name = demangle(copy, NULL, NULL, &status);
		break;
	}
	free(copy);
	return name;
}

char *tense_demangle(const char *mangled)
{
	demangle_function *demangle;
	char *name, *copy, *suffix;
	int status = 0;

	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	demangle = find_demangler();
	if (!demangle)
		return NULL;
	copy = strdup(mangled);
	if (!copy)
		return NULL;
	/* Copies that the compiler specialised: .constprop.0 and the like. */
	suffix = strchr(copy, '.');
	if (suffix)
		*suffix = '\0';
	name = demangle(copy, NULL, NULL, &status);
	free(copy);
	if (!name)
		name = demangle_rust(demangle, mangled);
	if (name)
		strip_hash(name);
	return name;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* A space stays between words that would otherwise run together. */
static bool keeps_space(char before, char after)
{
	return is_word(before) && is_word(after);
}

char *tense_cxx_squeeze(const char *text)
{
	char *result = calloc(1, strlen(text) + 1), *to = result;

	if (!result)
		return NULL;
	while (*text) {
		if (*text != ' ') {
			*to++ = *text++;
			continue;
		}
		text += strspn(text, " ");
		if (to > result && keeps_space(to[-1], *text))
			*to++ = ' ';
	}
	*to = '\0';
	return result;
}

/* Returns the place after the bracket that closes the one at s, or the end. */
static const char *skip_group(const char *s)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (strchr("(<[{", *s)) {
			depth++;
		} else if (s[0] == '-' && s[1] == '>') {
			s++;
		} else if (strchr(")>]}", *s) && !--depth) {
			return s + 1;
		}
	}
	return s;
}

static bool is_operator(const char *start, const char *s)
{
	size_t len = strlen("operator");

	return !strncmp(s, "operator", len) && !is_word(s[len]) &&
	       (s == start || !is_word(s[-1]));
}

/* Returns the place after "operator" and its overloaded operator or type. */
static const char *skip_operator(const char *s)
{
	static const char *const tokens[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "&&", "||", "<<", ">>",
		"<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "^=",
		"&=", "|=", "++", "--", "->", "+", "-", "*", "/", "%", "^",
		"&", "|", "~", "!", "=", "<", ">", ",",
	};

	s += strlen("operator");
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		if (!strncmp(s, tokens[i], strlen(tokens[i])))
			return s + strlen(tokens[i]);
	/* new[], "" _suffix, a type. */
	while (*s && *s != '(') {
		if (s[0] == ':' && s[1] == ':') {
			s += 2;
			continue;
		}
		s = *s == '<' ? skip_group(s) : s + 1;
	}
	return s;
}

static bool ends_with(const char *start, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - start) >= len && !strncmp(end - len, word, len);
}

/* Returns the place after the qualifiers of a member function. */
static const char *skip_qualifiers(const char *s)
{
	static const char *const words[] = {
		" const", "const", " volatile", "volatile", " &&", "&&", " &", "&",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (!strncmp(s, words[i], len) && !is_word(s[len])) {
			s += len;
			i = -1;
		}
	}
	return s;
}

/*
 * s is at an opening parenthesis. Returns NULL if it opens the parameters of the
 * function, else the place to continue.
 */
static const char *skip_parenthesis(const char *start, const char *s)
{
	const char *after = skip_group(s), *next;

	if (!strncmp(s, "(anonymous namespace)", 21))
		return after;
	if (ends_with(start, s, "decltype") || ends_with(start, s, "decltype "))
		return after;
	/* The parameters of a function that contains this one. */
	next = skip_qualifiers(after);
	return !strncmp(next, "::", 2) ? next : NULL;
}

/* Finds the name between the type returned and the parameters. */
static void find_name(const char *text, const char **from, const char **to)
{
	const char *s = text, *next;

	*from = text;
	while (*s) {
		if (is_operator(text, s)) {
			s = skip_operator(s);
			/* Between the operator and the arguments of a template. */
			s += s[0] == ' ' && s[1] == '<';
		} else if (*s == '(') {
			next = skip_parenthesis(text, s);
			if (!next)
				break;
			s = next;
		} else if (strchr("<[{", *s)) {
			s = skip_group(s);
		} else if (*s++ == ' ') {
			*from = s;
		}
	}
	*to = s;
}

/*
 * A copy without template arguments and ABI tags. The name is not squeezed: without its
 * space, operator< <int> would be operator<<int>.
 */
static char *strip_arguments(const char *name)
{
	char *result = calloc(1, strlen(name) + 1), *to = result;
	const char *s = name, *next;

	if (!result)
		return NULL;
	while (*s) {
		next = s + 1;
		if (is_operator(name, s))
			next = skip_operator(s);
		else if (*s == '(' || *s == '{')
			next = skip_group(s);
		else if (*s == '<' || !strncmp(s, "[abi:", 5))
			s = next = skip_group(s);
		memcpy(to, s, next - s);
		to += next - s;
		s = next;
	}
	*to = '\0';
	return result;
}

void tense_cxx_name_free(struct tense_cxx_name *name)
{
	free(name->full);
	free(name->signature);
	free(name->name);
	free(name->plain);
}

bool tense_cxx_name_parse(const char *demangled, struct tense_cxx_name *name)
{
	const char *from, *to;
	char *raw, *bare;

	find_name(demangled, &from, &to);
	if (from >= to)
		return false;
	raw = strndup(from, to - from);
	if (!raw)
		return false;
	name->full = tense_cxx_squeeze(demangled);
	name->signature = tense_cxx_squeeze(from);
	name->name = tense_cxx_squeeze(raw);
	bare = strip_arguments(raw);
	name->plain = bare ? tense_cxx_squeeze(bare) : NULL;
	free(bare);
	free(raw);
	if (name->full && name->signature && name->name && name->plain)
		return true;
	tense_cxx_name_free(name);
	return false;
}

bool tense_cxx_is_glob(const char *text)
{
	const char *s = text;

	while (*s) {
		if (is_operator(text, s))
			s = skip_operator(s);
		else if (strchr("(<{", *s) || !strncmp(s, "[abi:", 5))
			s = skip_group(s);
		else if (strchr("*?[", *s))
			return true;
		else
			s++;
	}
	return false;
}

const char *tense_cxx_inner(const char *name)
{
	const char *s = name;

	while (*s) {
		if (s[0] == ':' && s[1] == ':')
			return s + 2;
		if (is_operator(name, s))
			s = skip_operator(s);
		else if (strchr("(<[{", *s))
			s = skip_group(s);
		else
			s++;
	}
	return NULL;
}
