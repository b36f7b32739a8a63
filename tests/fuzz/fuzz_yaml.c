/* fuzz_yaml.c - any bytes as a configuration file. Properties: an error is told, or what is in force,
 * printed, reads back as the same again; and each list of namespaces decides alike whatever is read first. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_print.h"
#include "config/diag.h"
#include "model/namespaces.h"

/* Is there anything that is not printed as it is? */
static bool hides(const struct config *c)
{
	bool any = c->api_url || c->api_secret;

	for (size_t i = 0; i < c->settings.n_sinks; i++)
		any = any || c->settings.sinks[i].url || c->settings.sinks[i].secret;
	return any;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *effective(const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	config_print_effective(c, f);
	(void)fclose(f);
	return text;
}

static int load(const char *text, size_t n, struct config *c)
{
	struct diags d = { 0 };

	config_init(c);
	const int r = config_load_text("f", text, n, c, &d);

	if ((r < 0) != (d.errors > 0))
		abort();
	diags_done(&d);
	return r;
}

/* Of the namespace called so: what is not known is one of the two; an exception of it beats the rest. */
static void match(const struct str_list *l, struct str ns)
{
	static const struct label label = { STR_LIT("team"), STR_LIT("a") };
	const struct namespace_labels none = { 0 }, one = { &label, 1 };
	const enum tri blind = namespaces_match(l, ns, NULL);
	const enum tri bare = namespaces_match(l, ns, &none), labelled = namespaces_match(l, ns, &one);

	if (bare == TRI_UNKNOWN || labelled == TRI_UNKNOWN)
		abort();
	if (blind != TRI_UNKNOWN && (bare != blind || labelled != blind))
		abort();
	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.except && item.kind == NAMESPACE_NAME &&
		    namespaces_match(l, item.text, &none) != TRI_NO)
			abort();
	}
	if (namespaces_name(l, ns) && (!str_list_has(l, ns) || ns.n == 0))
		abort();
}

static void match_all(const struct policy *p)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		const struct str_list *l = &p->duty[d].namespaces;

		match(l, STR_LIT("shop"));
		for (size_t i = 0; i < l->n; i++) {
			match(l, STR_C(l->v[i]));
			match(&p->exclude_namespaces, STR_C(l->v[i]));
			match(&p->default_exclude_namespaces, STR_C(l->v[i]));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config c, back;

	if (load((const char *)data, size, &c) == 0 && !hides(&c)) {
		char *first = effective(&c);

		match_all(&c.settings.policy);
		if (load(first, strlen(first), &back) < 0)
			abort();
		char *second = effective(&back);

		if (strcmp(first, second) != 0)
			abort();
		free(first);
		free(second);
		config_done(&back);
	}
	config_done(&c);
	return 0;
}
