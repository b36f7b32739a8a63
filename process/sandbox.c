/* sandbox.c - see sandbox.h. Order matters: no_new_privs before seccomp, Landlock before seccomp (its calls
 * are not on the list), seccomp last. */
// SPDX-License-Identifier: Apache-2.0
#include "process/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* -- Landlock: Debian 12's header knows no network and no scopes, so the ABI is spelt out here -- */

#define LL_CREATE_VERSION      1u
#define LL_ABI_TCP             4 /* kernel 6.7 */
#define LL_RULE_PATH           1
#define LL_RULE_PORT           2
#define LL_NET_BIND_TCP        (1ull << 0)
#define LL_NET_CONNECT_TCP     (1ull << 1)
#define LL_SCOPE_ABSTRACT_UNIX (1ull << 0)
#define LL_SCOPE_SIGNAL        (1ull << 1)
#define LL_FS_ABI1             ((1ull << 13) - 1)
#define LL_FS_REFER            (1ull << 13) /* ABI 2 */
#define LL_FS_TRUNCATE         (1ull << 14) /* ABI 3 */
#define LL_FS_IOCTL_DEV        (1ull << 15) /* ABI 5 */
#define LL_FS_EXECUTE          (1ull << 0)
#define LL_FS_MAKE             (0x7full << 6) /* of anything */
#define LL_FS_MAKE_CHAR        (1ull << 6)
#define LL_FS_MAKE_BLOCK       (1ull << 11)

struct ll_ruleset {
	uint64_t fs, net, scoped;
};
struct ll_path_rule {
	uint64_t access;
	int32_t parent_fd;
} __attribute__((packed));
struct ll_port_rule {
	uint64_t access, port;
};

/* Of this kernel, 0 = none. */
static int landlock_abi(void)
{
	const long abi = syscall(444, NULL, (size_t)0, LL_CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static uint64_t landlock_fs(int abi)
{
	return LL_FS_ABI1 | (abi >= 2 ? LL_FS_REFER : 0) | (abi >= 3 ? LL_FS_TRUNCATE : 0) |
	       (abi >= 5 ? LL_FS_IOCTL_DEV : 0);
}

static int landlock_allow_dir(int ruleset, const char *dir, uint64_t fs)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct ll_path_rule rule = { fs & ~(LL_FS_EXECUTE | LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK), fd };

	if (fd < 0 || syscall(445, ruleset, LL_RULE_PATH, &rule, 0) < 0)
		return -errno;
	return 0;
}

static int landlock_enter(const struct sandbox_params *p)
{
	const int abi = landlock_abi();
	const uint64_t fs = landlock_fs(abi);
	const struct ll_ruleset attr = { fs, abi >= LL_ABI_TCP ? LL_NET_BIND_TCP | LL_NET_CONNECT_TCP : 0,
					 abi >= 6 ? LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL : 0 };
	const size_t size = abi >= 6            ? sizeof(attr)
			    : abi >= LL_ABI_TCP ? 2 * sizeof(uint64_t)
						: sizeof(uint64_t);

	if (abi == 0)
		return -ENOTSUP;
	_cleanup_close_ int ruleset = (int)syscall(444, &attr, size, 0u);

	if (ruleset < 0)
		return -errno;
	if (p->writable_dir) {
		const int r = landlock_allow_dir(ruleset, p->writable_dir, fs);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; abi >= LL_ABI_TCP && i < SANDBOX_PORTS_MAX && p->ports[i]; i++) {
		const struct ll_port_rule rule = { LL_NET_CONNECT_TCP, p->ports[i] };

		if (syscall(445, ruleset, LL_RULE_PORT, &rule, 0) < 0)
			return -errno;
	}
	return syscall(446, ruleset, 0u) < 0 ? -errno : abi;
}

/* From now on nothing new is made, anywhere. */
static int landlock_seal(void)
{
	const struct ll_ruleset attr = { LL_FS_MAKE, 0, 0 };
	_cleanup_close_ int ruleset = (int)syscall(444, &attr, sizeof(uint64_t), 0u);

	return ruleset < 0 || syscall(446, ruleset, 0u) < 0 ? -errno : 0;
}

/* -- seccomp -- */

enum profile { P_F = 1, P_W = 2, P_O = 4, P_R = P_F | P_O, P_N = P_R | P_W };

#define CONDITIONS_MAX 3

struct call_rule {
	int call;
	unsigned roles; /* of enum profile */
	uint32_t action;
	struct scmp_arg_cmp when[CONDITIONS_MAX];
};

static const struct call_rule call_rules[] = {
#define F P_F
#define O P_O
#define R P_R
#define W P_W
#define N P_N
#define HAS(arg, mask, value)                                                                                \
	{                                                                                                    \
		arg, SCMP_CMP_MASKED_EQ, mask, value                                                         \
	}
#define IS(arg, value)                HAS(arg, 0xffffffff, value)
#define ALLOW(call, roles, ...)       { SCMP_SYS(call), roles, SCMP_ACT_ALLOW, { __VA_ARGS__ } },
#define ANSWER(call, roles, err, ...) { SCMP_SYS(call), roles, SCMP_ACT_ERRNO(err), { __VA_ARGS__ } },
#include "process/profiles.def"
#undef F
#undef O
#undef R
#undef W
#undef N
};

static int add_rule(scmp_filter_ctx ctx, const struct call_rule *c)
{
	unsigned n = 0;

	while (n < CONDITIONS_MAX && c->when[n].op == SCMP_CMP_MASKED_EQ)
		n++;
	return seccomp_rule_add_array(ctx, c->action, c->call, n, c->when);
}

static int seccomp_enter(enum profile profile)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	/* abort() of a failed check must show as SIGABRT. */
	int r = ctx ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)getpid()))
		    : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(call_rules); i++)
		if (call_rules[i].roles & profile)
			r = add_rule(ctx, &call_rules[i]);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r < 0 ? r : r > 0 ? -EINVAL : 0;
}

/* -- the rest -- */

static void limit(int resource, rlim_t value)
{
	struct rlimit rl;

	if (getrlimit((__rlimit_resource_t)resource, &rl) < 0)
		return;
	if (rl.rlim_max > value)
		rl.rlim_max = value;
	if (rl.rlim_cur > rl.rlim_max)
		rl.rlim_cur = rl.rlim_max;
	(void)setrlimit((__rlimit_resource_t)resource, &rl);
}

static void set_limits(const struct sandbox_params *p)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, p->role == ROLE_REPORTER ? 256 : 128);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_NPROC, 0);
	if (p->data_bytes)
		limit(RLIMIT_DATA, p->data_bytes);
	limit(RLIMIT_FSIZE, p->file_bytes);
}

/* -- capabilities: who starts this as root gives it to the supervisor, not to those who read what others
 * wrote -- */

#define SECUREBITS_ALL                                                                                       \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |     \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static bool has_none(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 }, now[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &head, now) == 0 && memcmp(now, none, sizeof(now)) == 0;
}

/* Does none hold? Who has none does not ask: a service's filter may forbid it. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (has_none())
		return true;
	(void)prctl(PR_SET_SECUREBITS, SECUREBITS_ALL, 0, 0, 0);
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) == 0 && has_none();
}

struct report {
	char *text;
	const char *missing;
};

static void append(struct report *rep, const char *no, const char *name)
{
	const size_t n = strlen(rep->text);

	(void)snprintf(rep->text + n, 256 - n, "%s%s%s", n > 0 ? "," : "", no, name);
}

static void note(struct report *rep, bool holds, const char *name)
{
	append(rep, holds ? "" : "no ", name);
	if (!holds && !rep->missing)
		rep->missing = name;
}

static void enter_all(const struct sandbox_params *p, struct report *rep)
{
	char landlock[24];

	set_limits(p);
	note(rep, prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0,
	     "dumpable0");
	const bool nnp = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

	note(rep, nnp, "nnp");
	note(rep, drop_capabilities(), "nocaps");
	/* Kernels before 6.3 do not have it; seccomp forbids the same calls, so it is no requirement. */
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0)
		note(rep, true, "mdwe");
	const int abi = landlock_enter(p);

	(void)snprintf(landlock, sizeof(landlock), "landlock%d", abi > 0 ? abi : 0);
	note(rep, abi > 0, abi > 0 ? landlock : "landlock");
	if (abi > 0 && abi < LL_ABI_TCP)
		append(rep, "no ", "landlock-tcp"); /* told, but no reason to refuse: it never was */
	note(rep, seccomp_enter(p->role == ROLE_REPORTER ? P_O : P_W) == 0, "seccomp");
}

#if defined(OPC_NO_SANDBOX)
int sandbox_enter(const struct sandbox_params *params, char ret_text[static 256])
{
	(void)snprintf(ret_text, 256, params->mode == SANDBOX_OFF ? "off" : "built out");
	(void)enter_all;
	(void)landlock_seal;
	return params->mode == SANDBOX_REQUIRE ? -ENOTSUP : 0;
}

int sandbox_seal(const struct sandbox_params *params, char text[static 256])
{
	(void)params;
	(void)text;
	return 0;
}
#else
static int result(const struct sandbox_params *params, const struct report *rep)
{
	if (!rep->missing || params->mode != SANDBOX_REQUIRE)
		return 0;
	(void)snprintf(rep->text, 256, "%s", rep->missing);
	return -ENOTSUP;
}

int sandbox_enter(const struct sandbox_params *params, char ret_text[static 256])
{
	struct report rep = { ret_text, NULL };

	ret_text[0] = '\0';
	if (params->mode == SANDBOX_OFF) {
		(void)snprintf(ret_text, 256, "off");
		return 0;
	}
	enter_all(params, &rep);
	return result(params, &rep);
}

int sandbox_seal(const struct sandbox_params *params, char text[static 256])
{
	struct report rep = { text, NULL };

	if (params->mode == SANDBOX_OFF || params->role != ROLE_REPORTER)
		return 0;
	const int layers = landlock_abi() > 0 ? landlock_seal() : 0;

	note(&rep, layers == 0 && seccomp_enter(P_F) == 0, "sealed");
	return result(params, &rep);
}
#endif
