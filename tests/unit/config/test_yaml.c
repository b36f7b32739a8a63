/* test_yaml.c - what YAML and which files are taken, and what is said about the others. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/diag.h"
#include "config/file.h"
#include "config/yaml.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"

#define T(s) s, sizeof(s) - 1

static struct yaml doc;
static struct diags diags;

static int parse(const char *text, size_t n, enum yaml_use use)
{
	return yaml_parse("f", text, n, use, &doc, &diags);
}

static void forget(void)
{
	yaml_done(&doc);
	diags_done(&diags);
}

/* Each text and the one line it must give, or NULL when it must be taken without a word. */
static const struct {
	const char *text;
	size_t n;
	const char *line;
} texts[] = {
	{ T(""), NULL },
	{ T("# only a comment\n"), NULL },
	{ T("\xef\xbb\xbf"
	    "a: 1\r\nb: 2\r\n"),
	  NULL },
	{ T("{\"a\":\"b\",\n\t\"c\":[1,2,{\"d\":null}]}"), NULL },
	{ T("--- \na: 1\n...\n"), NULL },
	{ T("a: |\n  block\n  text\nb: >-\n  folded\n"), NULL },
	{ T("a:\n\tb: 2\n"),
	  "f:2:1: not valid YAML: found character that cannot start any token, while scanning for "
	  "the next token; a tab cannot indent, use spaces" },
	{ T("a: [1, 2\nb: 3\n"),
	  "f:2:2: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence" },
	{ T("a: 1\n---\nb: 2\n"), "f:2:1: a second document (---) in the file: keep one" },
	{ T("a: &x 1\nb: *x\n"), NULL },
	{ T("a: *x\n"),
	  "f:1:4: not valid YAML: found undefined alias; a text that begins with '*' needs its quotes" },
	{ T("a: *\n"), "f:1:5: not valid YAML: did not find expected alphabetic or numeric character, while "
		       "scanning an alias; a text that begins with '*' needs its quotes" },
	{ T("a: &x 1\nb: &x 2\n"), "f:2:4: not valid YAML: second occurrence, found duplicate anchor; first "
				   "occurrence" },
	{ T("a: &x [*x]\n"), "f:1:4: nested deeper than 32 levels" },
	{ T("a: &x {<<: *x}\n"), "f:1:4: nested deeper than 32 levels" },
	{ T("<<: 1\n"), "f:1:5: << is a text, a mapping was expected" },
	{ T("<<: [{a: 1}, x]\n"), "f:1:14: << is a text, a mapping was expected" },
	{ T("\"<<\": 1\n"), NULL },
	{ T("a: !!str 1\n"), "f:1:4: tags (!) are not supported: leave the tag out; a text that begins "
			     "with '!' needs its quotes" },
	{ T("<<: {a: 1}\nA: 2\n"), NULL },
	{ T("? [a]\n: 1\n"), "f:1:3: a key must be a plain word" },
	{ T("a: 1\nA: 2\n"), "f:2:1: duplicate key \"A\": it is already in line 1; keep one" },
	{ T("a: 1\nb: x\0y\n"), "f:2:5: a NUL byte (0x00): the file must be plain UTF-8 text" },
	{ T("a: \"x\\0y\"\n"), "f:1:4: a NUL character in a text: leave it out" },
	{ T("a: \xff\n"), "f:1:4: bytes that are not UTF-8 (0xff): the file must be plain UTF-8 text" },
	{ T("a: \xc3\xa4\xc0\xaf\n"),
	  "f:1:5: bytes that are not UTF-8 (0xc0): the file must be plain UTF-8 text" },
	{ T("\xff\xfe"
	    "a\0:\0"),
	  "f:1:1: bytes that are not UTF-8 (0xff): the file must be plain UTF-8 text" },
	{ T("\x7f"
	    "ELF\x02\x01"),
	  "f:1:1: a control character (0x7f): the file must be plain UTF-8 text" },
	{ T("a: \x1b[2J\n"), "f:1:4: a control character (0x1b): the file must be plain UTF-8 text" },
};

TEST_LOOP(one_line_each, 0, ARRAY_SIZE(texts))
{
	(void)parse(texts[_i].text, texts[_i].n, YAML_CONFIGURATION);
	if (texts[_i].line) {
		ck_assert_uint_eq(diags.n, 1);
		ck_assert_str_eq(diags.v[0].text, texts[_i].line);
	} else {
		ck_assert_msg(diags.n == 0, "%s", diags.n ? diags.v[0].text : "");
	}
}

TEST_LOOP(one_line_each_in_chinese, 0, ARRAY_SIZE(texts))
{
	(void)parse(texts[_i].text, texts[_i].n, YAML_CONFIGURATION);
	diags_in_chinese(&diags);
	ck_assert_uint_eq(diags.n, texts[_i].line != NULL);
	for (size_t i = 0; i < diags.n; i++)
		assert_chinese(diags.v[i].text);
}

/* What libyaml finds, as near to every one of its texts as a file can come. */
static const char *const mistakes[] = {
	"a: 1\nb\nc: 2\n",
	"a: b: c\n",
	"a: - b\n",
	"- ? a\nb: 1\n",
	"a: \"open\n",
	"a: \"x\n---\n\"\n",
	"a: \"\\q\"\n",
	"a: \"\\xzz\"\n",
	"a: \"\\uD800\"\n",
	"a: |0\n  x\n",
	"a: |x\n",
	"a: |\n \tx\n\ty\n",
	"a: |\n\tx\n",
	"a: >\n   \n  x\n\ty\n",
	"a:\n  b: 1\n c: 2\n",
	"a:\n  - 1\n  b: 2\n",
	"a: [1, 2\n",
	"a: {b: 1\n",
	"a: {b: 1]\n",
	"a: ]\n",
	"a: }\n",
	"a: ,\n",
	"a: @x\n",
	"a: `x\n",
	"a: %x\n",
	"a: & x\n",
	"a: &x! y\n",
	"a: * x\n",
	"a: *x! y\n",
	"a: *\n",
	"a: !<x y\n",
	"a: !<> y\n",
	"a: !x%zz y\n",
	"a: !x%ff y\n",
	"a: !x%c3%28 y\n",
	"a: !x!y z\n",
	"a: !x{y z\n",
	"%\n---\na: 1\n",
	"%YAML\n---\na: 1\n",
	"%YAML 1\n---\na: 1\n",
	"%YAML x\n---\na: 1\n",
	"%YAML 1.1111111111111111\n---\na: 1\n",
	"%YAML 2.0\n---\na: 1\n",
	"%YAML 1.1\n%YAML 1.1\n---\na: 1\n",
	"%YAML 1.1 x\n---\na: 1\n",
	"%YAML 1.1\na: 1\n",
	"%OTHER 1.1\n---\na: 1\n",
	"%TAG\n---\na: 1\n",
	"%TAG x y\n---\na: 1\n",
	"%TAG !x y\n---\na: 1\n",
	"%TAG !x!y\n---\na: 1\n",
	"%TAG !x! <\n---\na: 1\n",
	"%TAG !x! y z\n---\na: 1\n",
	"%TAG !x! y\n%TAG !x! y\n---\na: 1\n",
	"a: 1\n... b\n",
	"? a\n- b\n",
	"a: 1\n- b\n",
	"- a\nb: 1\n",
	"'a' 'b': 1\n",
	"a: 'b' c\n",
	"[a: : b]\n",
	"[a, ? b, : c] d\n",
	"- - a\n - b\n",
	"\"a\n b\": 1\n",
	"a: \"b\"c: d\n",
};

/* libyaml's own words are quoted, in the middle of a line in the reader's language. */
TEST_LOOP(a_mistake_of_yaml_is_quoted, 0, ARRAY_SIZE(mistakes))
{
	const char *text = mistakes[_i];

	ck_assert_msg(parse(text, strlen(text), YAML_CONFIGURATION) < 0, "%s is taken", text);
	_cleanup_free_ char *english = xstrdup(diags.v[0].text);
	const char *quoted = strstr(english, ": not valid YAML: ");

	ck_assert_msg(quoted, "%s", english);
	quoted += strlen(": not valid YAML: ");
	ck_assert_uint_eq(diags.n, 1);
	diags_in_chinese(&diags);
	assert_chinese(diags.v[0].text);
	ck_assert_msg(memmem(diags.v[0].text, strlen(diags.v[0].text), quoted, strcspn(quoted, ";")),
		      "%s: %s", diags.v[0].text, quoted);
}

static char *repeat(const char *s, size_t times, size_t *ret_n)
{
	const size_t n = strlen(s);
	char *all = xmalloc(n * times + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(all + i * n, s, n);
	*ret_n = n * times;
	return all;
}

static const struct {
	const char *unit;
	size_t times;
	const char *line;
} floods[] = {
	{ "[", 10000, "nested deeper than 32" },        { "{a: ", 10000, "nested deeper than 32" },
	{ "- - - - ", 10000, "nested deeper than 32" }, { "- x\n", 100000, "more than 20000 values" },
	{ "- &a x\n", 1001, "more than 1000 anchors" }, { "&", 100000, "not valid YAML" },
	{ "a", 2 << 20, "larger than 1024 KiB" },
};

TEST_LOOP(floods_are_refused, 0, ARRAY_SIZE(floods))
{
	size_t n;
	_cleanup_free_ char *text = repeat(floods[_i].unit, floods[_i].times, &n);

	(void)parse(text, n, YAML_CONFIGURATION);
	ck_assert_uint_gt(diags.errors, 0);
	ck_assert_uint_le(diags.n, DIAGS_MAX);
	ck_assert_msg(strstr(diags.v[0].text, floods[_i].line), "%s", diags.v[0].text);
}

TEST(too_many_keys)
{
	char text[16000];
	size_t n = 0;

	for (int i = 0; i < 1001; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "k%d: 1\n", i);
	ck_assert_int_lt(parse(text, n, YAML_CONFIGURATION), 0);
	ck_assert_str_eq(diags.v[0].text, "f:1001:1: more than 1000 keys in one mapping");
}

/* Each level repeats the one before nine times: 9^9 values from 300 bytes. */
TEST(aliases_of_aliases_are_counted)
{
	static const char text[] = "a: &a [x,x,x,x,x,x,x,x,x]\n"
				   "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
				   "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
				   "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
				   "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
				   "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
				   "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"
				   "h: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";

	ck_assert_int_lt(parse(text, sizeof(text) - 1, YAML_CONFIGURATION), 0);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "more than 20000 values"));
	forget();
	ck_assert_int_lt(parse(text, sizeof(text) - 1, YAML_MANIFEST), 0);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "more than 1000000 values"));
}

static const char *text_of(const yaml_node_t *map, const char *key)
{
	const struct yaml_item item = yaml_get(&doc, map, key);

	return item.value ? yaml_text(item.value) : "(absent)";
}

/* What stands in the mapping itself wins, then the first of a list; in a configuration case does not count.
 */
TEST(merge_keys)
{
	static const char text[] = "one: &one {a: 1, b: 1, d: 1}\n"
				   "two: &two {b: 2, c: 2}\n"
				   "in: {<<: *one, B: 3}\n"
				   "list: {c: 3, <<: [*two, *one]}\n"
				   "deep: &deep {<<: *one, e: 4}\n"
				   "last: {<<: *deep}\n";

	ck_assert_int_eq(parse(text, sizeof(text) - 1, YAML_CONFIGURATION), 0);
	const yaml_node_t *in = yaml_get(&doc, yaml_root(&doc), "in").value,
			  *list = yaml_get(&doc, yaml_root(&doc), "list").value,
			  *last = yaml_get(&doc, yaml_root(&doc), "last").value;

	ck_assert_str_eq(text_of(in, "a"), "1");
	ck_assert_str_eq(text_of(in, "B"), "3");
	ck_assert_str_eq(text_of(in, "b"), "(absent)");
	ck_assert_str_eq(text_of(list, "c"), "3");
	ck_assert_str_eq(text_of(list, "b"), "2");
	ck_assert_str_eq(text_of(list, "d"), "1");
	ck_assert_str_eq(text_of(list, "<<"), "(absent)");
	ck_assert_str_eq(text_of(last, "e"), "4");
	ck_assert_str_eq(text_of(last, "a"), "1");
}

TEST(finds_keys_and_kinds)
{
	static const char text[] = "a: 1\nb:\n  c: [x, 'null', null, ~]\nd:\n";
	static const bool nulls[] = { false, false, true, true };
	struct yaml_item item;
	size_t i = 0;

	ck_assert_int_eq(parse(text, sizeof(text) - 1, YAML_KUBECONFIG), 0);
	const yaml_node_t *root = yaml_root(&doc),
			  *list = yaml_get(&doc, yaml_get(&doc, root, "b").value, "c").value;

	ck_assert_str_eq(text_of(root, "a"), "1");
	ck_assert_ptr_null(yaml_get(&doc, root, "A").key);
	ck_assert_ptr_null(yaml_get(&doc, list, "x").key);
	ck_assert(yaml_is_null(yaml_get(&doc, root, "d").value));
	ck_assert_uint_eq(list->start_mark.line, 2);
	ck_assert_uint_eq(list->start_mark.column, 5);
	while (yaml_next(&doc, list, &i, &item))
		ck_assert_int_eq(yaml_is_null(item.value), nulls[i - 1]);
	ck_assert_uint_eq(i, ARRAY_SIZE(nulls) + 1);
}

/* -- files -- */

static char dir[SUITE_PATH_MAX];

static const char *in_dir(const char *name)
{
	static char path[SUITE_PATH_MAX + 8];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void make_dir(void)
{
	suite_folder(dir);
}

static void write_file(const char *name, off_t size, mode_t mode)
{
	const int fd = open(in_dir(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "a: 1\n", 5), 5);
	ck_assert_int_eq(size ? ftruncate(fd, size) : 0, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	(void)close(fd);
}

static void expect_file(const char *path, const char *text)
{
	const int r = yaml_read(path, YAML_CONFIGURATION, &doc, &diags);

	ck_assert_int_eq(r == 0, text == NULL);
	if (text)
		ck_assert_msg(diags.n == 1 && strstr(diags.v[0].text, text) && strstr(diags.v[0].text, path),
			      "%s", diags.n ? diags.v[0].text : "");
	diags_in_chinese(&diags);
	if (text)
		assert_chinese(diags.v[0].text);
	forget();
}

START_TEST(files_that_are_none)
{
	struct rusage before, after;

	write_file("plain", 0, 0644);
	write_file("open", 0, 0602);
	write_file("group", 0, 0660);
	write_file("mount", 0, 0440);
	write_file("alien", 0, 0644);
	write_file("big", 100 << 20, 0644);
	ck_assert_int_eq(mkfifo(in_dir("fifo"), 0600), 0);
	_cleanup_free_ char *target = xstrdup(in_dir("plain"));
	ck_assert_int_eq(symlink(target, in_dir("link")), 0);
	expect_file(in_dir("plain"), NULL);
	expect_file(in_dir("link"), NULL); /* a mounted ConfigMap is links */
	expect_file(in_dir("fifo"), "is a pipe, not a regular file");
	expect_file(in_dir("open"), "(mode 0602): chmod go-w");
	expect_file(in_dir("group"), "(mode 0660): chmod go-w");
	if (geteuid() == 0) {
		/* Of a pod's Secret: root's, for its fsGroup to read. */
		ck_assert_int_eq(chown(in_dir("mount"), 0, 2000), 0);
		ck_assert_int_eq(chown(in_dir("alien"), 1000, 0), 0);
		expect_file(in_dir("alien"), "belongs to user 1000, neither root nor user 0");
	}
	expect_file(in_dir("mount"), NULL);
	expect_file(in_dir("none"), "cannot be read: No such file");
	expect_file(dir, "is a directory");
	expect_file("/dev/zero", "is a device");
	expect_file("/proc/self/status", "changed while it was read"); /* it holds more than its size says */
	(void)getrusage(RUSAGE_SELF, &before);
	expect_file(in_dir("big"), "larger than 1024 KiB");
	(void)getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 4096); /* KiB */
}

static bool is_told(const char *path)
{
	_cleanup_(diags_done) struct diags d = { 0 };

	file_tell_exposed(path, &d);
	return d.n == 1;
}

START_TEST(secrets_that_others_can_read)
{
	static const struct {
		mode_t mode;
		gid_t group;
		bool exposed;
	} cases[] = { { 0600, 0, false }, { 0640, 0, false }, { 0640, 2000, true }, { 0604, 0, true } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file("secret", 0, cases[i].mode);
		if (cases[i].group && geteuid() != 0)
			continue; /* only root gives to any group */
		ck_assert_int_eq(chown(in_dir("secret"), (uid_t)-1, cases[i].group ? 2000 : getegid()), 0);
		ck_assert_msg(is_told(in_dir("secret")) == cases[i].exposed, "%zu", i);
	}
	ck_assert(!is_told(in_dir("none")));
}

TEST_MAIN("config/yaml")
{
	tcase_add_checked_fixture(t, NULL, forget);
	TCase *f = suite_case(suite, "files");
	tcase_add_checked_fixture(f, make_dir, NULL);
	tcase_add_test(f, files_that_are_none);
	tcase_add_test(f, secrets_that_others_can_read);
}
