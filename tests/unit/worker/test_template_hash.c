/* test_template_hash.c - what counts as a correction of a pod template, and what does not. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/suite.h"
#include "worker/read.h"

#define BEFORE                                                                                               \
	"{'spec':{'replicas':3,'template':{'metadata':{'labels':{'app':'web'}},'spec':{'containers':[{'"     \
	"name':"                                                                                             \
	"'app','image':'nginx:1','env':[{'name':'A','value':'1'}]}],'volumes':[{'name':'v','emptyDir':{}}]}" \
	"}},'status':{}}"

/* BEFORE with the first `from` in it replaced. */
static void hash_with(const char *from, const char *to, char ret[static TEMPLATE_HASH_MAX])
{
	char text[1024], *at;

	strcpy(text, BEFORE);
	at = strstr(text, from);
	ck_assert_msg(at != NULL, "%s", from);
	const char *rest = &(BEFORE)[(size_t)(at - text) + strlen(from)];

	(void)snprintf(at, sizeof(text) - (size_t)(at - text), "%s%s", to, rest);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	json_t *o = json_loads(text, 0, NULL);

	ck_assert_msg(o != NULL, "%s", text);
	template_hash(o, ret);
	json_decref(o);
}

static const struct {
	const char *from, *to;
	bool corrects;
} rows[] = {
	{ "nginx:1", "nginx:2", true },
	{ "'value':'1'", "'value':'2'", true },
	{ "'app':'web'", "'app':'web','more':'yes'", true },
	{ "'labels'", "'annotations':{'kubectl.kubernetes.io/restartedAt':'now'},'labels'", true },
	{ "'volumes'", "'imagePullSecrets':[{'name':'s'}],'volumes'", true },
	{ "'volumes'", "'initContainers':[{'name':'i','image':'x'}],'volumes'", true },
	{ "'emptyDir':{}", "'configMap':{'name':'c'}", true },
	{ "'image':'nginx:1'", "'image':'nginx:1','command':['x']", true },
	{ "'image':'nginx:1'", "'image':'nginx:1','resources':{'limits':{'memory':'1Gi'}}", true },
	/* Not a correction: the scale, the status, the order of keys, and what a server of a later version
	   adds. */
	{ "'replicas':3", "'replicas':0", false },
	{ "'status':{}", "'status':{'replicas':0}", false },
	{ "'name':'app','image':'nginx:1'", "'image':'nginx:1','name':'app'", false },
	{ "'image':'nginx:1'", "'image':'nginx:1','terminationMessagePolicy':'File'", false },
	{ "'volumes'", "'schedulerName':'default-scheduler','volumes'", false },
};

TEST_LOOP(what_counts, 0, (int)ARRAY_SIZE(rows))
{
	char before[TEMPLATE_HASH_MAX], after[TEMPLATE_HASH_MAX];

	hash_with("nginx:1", "nginx:1", before);
	ck_assert_uint_eq(strlen(before), TEMPLATE_HASH_MAX - 1);
	hash_with(rows[_i].from, rows[_i].to, after);
	ck_assert_msg((strcmp(before, after) != 0) == rows[_i].corrects, "%s", rows[_i].to);
}

TEST(without_a_template)
{
	char text[TEMPLATE_HASH_MAX];

	hash_with("'template'", "'podTemplate'", text);
	ck_assert_str_eq(text, "");
	template_hash(NULL, text);
	ck_assert_str_eq(text, "");
}

/* The hash stands on objects: another version of this program must give the same. */
TEST(is_what_it_was)
{
	char text[TEMPLATE_HASH_MAX];

	hash_with("nginx:1", "nginx:1", text);
	ck_assert_str_eq(text, "450dfd6df3701426");
}

TEST_MAIN("worker/template_hash")
{
	(void)t;
}
