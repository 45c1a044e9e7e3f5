// SPDX-License-Identifier: GPL-2.0
#include "candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/util.h"
#include "flame.h"
#include "libtense/symbols/spec.h"
#include "names/functions.h"
#include "names/object-cache.h"
#include "names/program.h"
#include "names/resolve.h"
#include "survey.h"
#include "whatif/names.h"

struct profile_filter {
	struct tense_spec *excluded;
	size_t nr_excluded;
	struct tense_spec object;
	bool has_object;
};

static char *parse(const char *text, struct tense_spec *spec)
{
	const char *error;

	return tense_spec_parse(text, spec, &error) ?
	       xprintf("'%s': %s", text, error) : NULL;
}

/* Calls do_name() for each name of a list until it returns a text. */
static char *for_each_name(const char *list,
			   char *(*do_name)(const char *name, void *arg),
			   void *arg)
{
	char *copy = xstrdup(list), *rest = copy, *name, *error = NULL;

	while (!error && (name = strsep(&rest, ",")))
		error = *name ? do_name(name, arg) :
				xprintf("'%s' has an empty name", list);
	free(copy);
	return error;
}

static char *add_excluded(const char *name, void *arg)
{
	struct profile_filter *f = arg;
	char *error;

	f->excluded = xrealloc(f->excluded, (f->nr_excluded + 1) *
					    sizeof(*f->excluded));
	error = parse(name, &f->excluded[f->nr_excluded]);
	if (!error)
		f->nr_excluded++;
	return error;
}

static char *parse_object(const char *object, struct profile_filter *f)
{
	char *text = xprintf("%s:*", object);
	char *error = parse(text, &f->object);

	free(text);
	f->has_object = !error;
	return error;
}

char *profile_filter_create(const char *exclude, const char *object,
			    struct profile_filter **filter)
{
	struct profile_filter *f = xmalloc(sizeof(*f));
	char *error = NULL;

	*f = (struct profile_filter){ 0 };
	*filter = f;
	if (exclude)
		error = for_each_name(exclude, add_excluded, f);
	if (object && !error)
		error = parse_object(object, f);
	return error;
}

void profile_filter_free(struct profile_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr_excluded; i++)
		tense_spec_free(&f->excluded[i]);
	free(f->excluded);
	if (f->has_object)
		tense_spec_free(&f->object);
	free(f);
}

static bool is_in(const char *path, const struct tense_spec *spec)
{
	const char *base = strrchr(path, '/');

	return tense_spec_object(spec, path, base ? base + 1 : path, false);
}

static bool is_allowed(const struct profile_filter *f,
		       const struct tense_candidate *c)
{
	if (f->has_object && !is_in(c->object, &f->object))
		return false;
	for (size_t i = 0; i < f->nr_excluded; i++)
		if ((!f->excluded[i].object ||
		     is_in(c->object, &f->excluded[i])) &&
		    tense_spec_symbol(&f->excluded[i], c->symbol))
			return false;
	return true;
}

static bool is_known(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->nr_candidates; i++)
		if (!strcmp(p->candidates[i].name, name))
			return true;
	return false;
}

static void refuse(struct profile_candidate *c, const char *reason)
{
	c->state = PROFILE_REFUSED;
	c->reason = xstrdup(reason);
}

/* Adds a candidate for functions of the resolution, all of the same name. */
static struct profile_candidate *add(struct profile *p, const char *name,
				     const struct tense_resolution *r,
				     bool is_static)
{
	const char *reason = is_static ? whatif_names_refused(r) : NULL;
	struct profile_candidate *c;

	if (is_known(p, name))
		return NULL;
	c = profile_add(p, xstrdup(name), xstrdup(r->candidates[0].object));
	if (reason)
		refuse(c, reason);
	else
		whatif_names_add(&c->found, 1, r, is_static);
	return c;
}

struct only {
	struct profile *p;
	const struct profile_filter *filter;
	struct object_cache cache;
	bool is_static;
	bool all;		/* each name was found */
};

/* Adds each function of a pattern as a candidate of its own. */
static void add_each(struct only *only, const struct tense_resolution *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct tense_resolution one = *r;

		one.candidates = &r->candidates[i];
		one.count = 1;
		if (is_allowed(only->filter, one.candidates))
			add(only->p, is_known(only->p, one.candidates->name) ?
				     one.candidates->spec :
				     one.candidates->name,
			    &one, only->is_static);
	}
}

static char *add_name(const char *name, void *arg)
{
	struct only *only = arg;
	struct tense_resolution r;
	struct tense_spec spec;
	char *error = parse(name, &spec);
	bool is_found;

	if (error)
		return error;
	is_found = tense_resolve(name, only->p->question.argv, &only->cache, &r) ==
		   TENSE_RESOLVED;
	if (r.message)
		warn("%s", r.message);
	only->all = only->all && is_found;
	if (is_found && tense_spec_is_pattern(&spec))
		add_each(only, &r);
	else if (is_found && is_allowed(only->filter, &r.candidates[0]))
		add(only->p, name, &r, only->is_static);
	tense_resolution_free(&r);
	tense_spec_free(&spec);
	return NULL;
}

bool profile_candidates_only(struct profile *p, const char *list,
			     const struct profile_filter *filter,
			     bool is_static)
{
	struct only only = {
		.p = p, .filter = filter, .is_static = is_static, .all = true,
	};
	char *error = for_each_name(list, add_name, &only);

	if (error)
		warn("profile: --only %s", error);
	free(error);
	object_cache_free(&only.cache);
	return !error && only.all;
}

static void add_refused(struct profile *p, const char *name, const char *object,
			const char *reason)
{
	if (!is_known(p, name))
		refuse(profile_add(p, xstrdup(name), xstrdup(object)), reason);
}

static double weight_of(const struct survey *survey, const struct survey_function *f)
{
	return (double)f->inclusive_ns / survey->ns;
}

static void add_surveyed(struct profile *p, const struct survey *survey,
			 const struct survey_function *f,
			 const struct profile_filter *filter,
			 struct object_cache *cache, bool is_static)
{
	struct profile_candidate *c;
	struct tense_resolution r;

	if (tense_resolve(f->spec, p->question.argv, cache, &r) != TENSE_RESOLVED) {
		add_refused(p, f->name, f->object, r.message ? r.message :
							       "it is not found");
	} else if (is_allowed(filter, &r.candidates[0])) {
		c = add(p, is_known(p, f->name) ? f->spec : f->name, &r, is_static);
		if (c)
			c->weight = weight_of(survey, f);
	}
	tense_resolution_free(&r);
}

/* The loader runs before the program, whose author cannot make it faster. */
static bool is_loader(const char *object)
{
	return !strncmp(base_name(object), "ld-linux", strlen("ld-linux"));
}

/* These have time that no question can be asked about. */
static bool is_unscalable(const struct survey_function *f)
{
	return f->obstacle == SURVEY_NO_SYMBOL || f->obstacle == SURVEY_NO_FILE ||
	       f->obstacle == SURVEY_CHOSEN;
}

/* Sums up the functions that cannot be scaled, with the reason of most of their time. */
static void count_unscalable(struct profile *p, const struct survey *survey)
{
	uint64_t ns[SURVEY_CHOSEN + 1] = { 0 }, sum = 0;
	enum survey_obstacle most = SURVEY_NO_SYMBOL;

	for (size_t i = 0; i < survey->count; i++) {
		const struct survey_function *f = &survey->functions[i];

		if (!is_unscalable(f) || !f->self_ns || is_loader(f->object))
			continue;
		p->unscalable.functions++;
		sum += f->self_ns;
		ns[f->obstacle] += f->self_ns;
		if (ns[f->obstacle] > ns[most])
			most = f->obstacle;
	}
	if (!p->unscalable.functions)
		return;
	p->unscalable.share = (double)sum / survey->ns;
	p->unscalable.reason = xstrdup(survey_obstacle_text(most));
}

/* A function that takes less of the time cannot gain enough to matter. */
#define WEIGHT_MIN	0.01

void profile_candidates_survey(struct profile *p, const struct survey *survey,
			       const struct profile_filter *filter,
			       bool is_static)
{
	size_t *candidates = xmalloc((survey->count + 1) * sizeof(*candidates));
	struct object_cache cache = { 0 };

	p->waits = survey_blocks_json(survey);
	count_unscalable(p, survey);
	for (size_t i = 0; i < survey->count; i++)
		candidates[i] = SIZE_MAX;
	/* The most inclusive time comes first. */
	for (size_t i = 0; i < survey->count; i++) {
		const struct survey_function *f = &survey->functions[i];
		size_t next = p->nr_candidates;

		if (weight_of(survey, f) < WEIGHT_MIN)
			break;
		if (is_loader(f->object))
			continue;
		if (f->spec)
			add_surveyed(p, survey, f, filter, &cache, is_static);
		else if (f->obstacle == SURVEY_NO_SYMBOL ||
			 f->obstacle == SURVEY_CHOSEN)
			add_refused(p, f->name, f->object,
				    survey_obstacle_text(f->obstacle));
		if (p->nr_candidates > next)
			candidates[i] = next;
	}
	p->stacks = flame_tree(survey, candidates);
	free(candidates);
	object_cache_free(&cache);
}

static bool is_loaded(const struct program *program, const char *path)
{
	for (size_t i = 0; i < program->count; i++)
		if (!strcmp(program->objects[i].path, path))
			return true;
	return false;
}

/* Names what the program loads, without the loader: "xz, liblzma and libc". */
static char *list_loaded(const struct program *program)
{
	char *list = xstrdup(""), *longer, *name;
	size_t left = 0;

	for (size_t i = 0; i < program->count; i++)
		left += !program->objects[i].is_loader;
	for (size_t i = 0; i < program->count; i++) {
		if (program->objects[i].is_loader)
			continue;
		left--;
		name = object_short_name(&program->objects[i]);
		longer = xprintf("%s%s%s", list, name,
				 left > 1 ? ", " : left ? " and " : "");
		free(name);
		free(list);
		list = longer;
	}
	return list;
}

void profile_warn_unloaded(const struct profile *p)
{
	char *const *argv = p->question.argv;
	char *error, *loaded;
	struct program *program = program_open(argv, &error);

	if (!program) {
		free(error);
		return;
	}
	loaded = list_loaded(program);
	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct profile_candidate *c = &p->candidates[i];

		if (c->state == PROFILE_NEVER_CALLED && c->object &&
		    !is_loaded(program, c->object))
			warn("%s: %s does not load %s when it starts. It loads %s",
			     c->name, argv[0], base_name(c->object), loaded);
	}
	free(loaded);
	program_free(program);
}
