// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/podpb.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

/* The bytes prepended to an empty buffer as hexadecimal text. */
static const char *hex(const struct pb_buf *b)
{
	static char out[4096];

	for (size_t i = 0; i < pb_size(b); i++)
		snprintf(out + 2 * i, 3, "%02x", (unsigned char)b->data[b->at + i]);
	out[2 * pb_size(b)] = '\0';
	return out;
}

static const char *encode(const char *message, const char *json)
{
	static char out[4096];
	json_error_t error;
	json_t *tree = json_loads(json, 0, &error);
	struct pb_buf b;

	ck_assert_msg(tree != NULL, "%s", error.text);
	pb_init(&b, 8);
	podpb_message(&b, message, tree);
	snprintf(out, sizeof(out), "%s", hex(&b));
	pb_done(&b);
	json_decref(tree);
	return out;
}

TEST(test_scalars_are_written_even_when_empty)
{
	/* name image state lastState ready restartCount ...: every field that is no pointer. */
	ck_assert_str_eq(encode("ContainerState", "{}"), "");
	ck_assert_str_eq(encode("LocalObjectReference", "{}"), "0a00");
	ck_assert_str_eq(encode("ContainerStatus", "{\"name\":\"c\",\"ready\":true,\"restartCount\":300}"),
			 "0a01631200"
			 "1a00"
			 "2001"
			 "28ac02"
			 "3200"
			 "3a00"
			 "4200");
	ck_assert_str_eq(encode("OwnerReference",
				"{\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\",\"apiVersion\":\"v1\"}"),
			 "0a014b1a016e2201752a027631");
}

TEST(test_pointers_are_written_only_when_set)
{
	ck_assert_str_eq(encode("Toleration", "{\"key\":\"k\",\"tolerationSeconds\":0}"),
			 "0a016b12001a0022002800");
	ck_assert_str_eq(encode("Toleration", "{\"key\":\"k\",\"tolerationSeconds\":null}"),
			 "0a016b12001a002200");
	ck_assert_str_eq(encode("OwnerReference", "{\"controller\":false}"), "0a001a0022002a003000");
}

TEST(test_negative_numbers_take_ten_bytes)
{
	ck_assert_str_eq(encode("ContainerStateTerminated", "{\"exitCode\":-1}"), "08ffffffffffffffffff01"
										  "1000"
										  "1a00"
										  "2200"
										  "2a00"
										  "3200"
										  "3a00");
}

TEST(test_times)
{
	ck_assert_str_eq(encode("ContainerStateRunning", "{\"startedAt\":\"1970-01-01T00:02:08Z\"}"),
			 "0a050880011000");
	ck_assert_str_eq(encode("ContainerStateRunning", "{\"startedAt\":\"1970-01-01T01:02:08.75+01:00\"}"),
			 "0a050880011000");
	ck_assert_str_eq(encode("ContainerStateRunning", "{\"startedAt\":null}"), "0a00");
	ck_assert_str_eq(encode("ContainerStateRunning", "{\"startedAt\":\"yesterday\"}"), "0a00");
}

TEST(test_maps_are_sorted)
{
	ck_assert_str_eq(encode("EmptyDirVolumeSource", "{\"medium\":\"M\",\"sizeLimit\":\"1Gi\"}"),
			 "0a014d12050a03314769");
	ck_assert_str_eq(encode("LabelSelector", "{\"matchLabels\":{\"b\":\"2\",\"a\":\"1\"}}"),
			 "0a060a016112013"
			 "1"
			 "0a060a016212013"
			 "2");
	ck_assert_str_eq(encode("ResourceRequirements", "{\"limits\":{\"cpu\":1}}"),
			 "0a0a0a0363707512030a0131");
}

TEST(test_int_or_string)
{
	ck_assert_str_eq(encode("TCPSocketAction", "{\"port\":80,\"host\":\"h\"}"), "0a060800105"
										    "01a00"
										    "120168");
	ck_assert_str_eq(encode("TCPSocketAction", "{\"port\":\"http\"}"), "0a0a080110001a0468747470"
									   "1200");
}

TEST(test_inline_messages)
{
	/* A volume's source stands beside its name in JSON and in field 2 in protobuf. */
	ck_assert_str_eq(encode("Volume", "{\"name\":\"v\",\"emptyDir\":{}}"), "0a0176"
									       "1204"
									       "12020a00");
	ck_assert_str_eq(encode("ConfigMapKeySelector", "{\"name\":\"n\",\"key\":\"k\"}"), "0a030a016e"
											   "12016b");
}

TEST(test_wrong_types_count_as_absent)
{
	ck_assert_str_eq(encode("Toleration", "{\"key\":1,\"operator\":[],\"effect\":{}}"),
			 "0a0012001a002200");
	ck_assert_str_eq(encode("LabelSelector", "{\"matchLabels\":7,\"matchExpressions\":\"x\"}"), "");
}

/* The hand-made frames of a bookmark and of an error, of which a real server adds the empty fields. */
TEST(test_frames)
{
	static const char expected[] = "\x00\x00\x00\x2f\x0a\x05"
				       "ADDED\x12\x26\x0a\x24"
				       "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x0f";
	char out[128];
	size_t n = podpb_frame(out, "ADDED", "Pod", 15);

	ck_assert_uint_eq(n, sizeof(expected) - 1);
	ck_assert_mem_eq(out, expected, n);
	n = podpb_frame(out, "MODIFIED", "Pod", 70000);
	ck_assert_uint_eq((unsigned char)out[1], 1);
	/* The length counts everything behind it: prefix, object and tail. */
	ck_assert_uint_eq(((unsigned)(unsigned char)out[1] << 16 | (unsigned)(unsigned char)out[2] << 8 |
			   (unsigned char)out[3]),
			  n - 4 + 70000 + PODPB_TAIL_SIZE);
}

TEST(test_status)
{
	json_t *s = json_pack("{s:s, s:s, s:s, s:i, s:{s:s, s:[{s:s}], s:i}, s:{s:s}}", "status", "Failure",
			      "message", "m", "reason", "Expired", "code", 410, "details", "name", "n",
			      "causes", "reason", "r", "retryAfterSeconds", 1, "metadata", "continue", "c");
	struct pb_buf b;

	pb_init(&b, 1);
	podpb_status(&b, s);
	ck_assert_str_eq(hex(&b), "0a070a0012001a0163"
				  "12074661696c757265"
				  "1a016d"
				  "220745787069726564"
				  "2a14"
				  "0a016e"
				  "1200"
				  "1a00"
				  "2207"
				  "0a01721200"
				  "1a00"
				  "2801"
				  "3200"
				  "309a03");
	pb_done(&b);
	json_decref(s);
}

TEST(test_list_meta)
{
	struct pb_buf b;

	pb_init(&b, 1);
	podpb_list_meta(&b, "7", "", -1);
	ck_assert_str_eq(hex(&b), "0a070a0012013"
				  "7"
				  "1a00");
	pb_done(&b);
	pb_init(&b, 1);
	podpb_list_meta(&b, "7", "x", 200);
	ck_assert_str_eq(hex(&b), "0a0b0a0012013"
				  "7"
				  "1a0178"
				  "20c801");
	pb_done(&b);
}

SUITE("apisim/podpb");
