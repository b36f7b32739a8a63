# shellcheck shell=bash disable=SC2034
# Shared by the scripts of tests/cluster; sourced, never run. Callers have `set -euo pipefail` on.

CLUSTER_SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
STOP_LIMIT=15                          # seconds between SIGTERM and SIGKILL
READY_LIMIT=${OPC_CLUSTER_WAIT:-120}   # seconds until everything must have answered

say() { printf 'cluster: %s\n' "$*" >&2; }
die() { printf 'cluster: error: %s\n' "$*" >&2; exit 1; }

# The folder that outlives the tree: binaries by version, locks, a private Go where the machine has none.
cluster_cache() {
	if [[ -n ${OPC_CLUSTER_CACHE:-} ]]; then
		printf '%s\n' "$OPC_CLUSTER_CACHE"
	elif [[ -n ${XDG_CACHE_HOME:-} ]]; then
		printf '%s/ops-pod-cleaner/cluster\n' "$XDG_CACHE_HOME"
	elif [[ -n ${HOME:-} ]]; then
		printf '%s/.cache/ops-pod-cleaner/cluster\n' "$HOME"
	else
		die 'no place for the binaries: set OPC_CLUSTER_CACHE, XDG_CACHE_HOME or HOME'
	fi
}

need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || die "'$tool' is not installed; scripts/deps installs what the tests need"
	done
}

now_ms() { local t=${EPOCHREALTIME/[.,]/}; printf '%s\n' "${t%???}"; }

# --- processes: DIR/NAME.cmd is the command line, DIR/NAME.pid the process, DIR/NAME.log its output ---

# True when a process holds nothing any more: its last thread is gone, whether or not somebody has reaped it.
# (The command line empties and the first thread turns into a zombie while others still hold the port.)
is_gone() {
	local pid=$1 stat
	local -a tasks
	stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 0
	[[ ${stat##*) } == [ZX]* ]] || return 1
	tasks=("/proc/$pid/task/"*)
	((${#tasks[@]} <= 1))
}

# Prints the pid when NAME of DIR runs. The command line must name DIR: a recycled pid is somebody else's process.
pid_of() {
	local dir=$1 name=$2 pid
	[[ -r $dir/$name.pid ]] || return 1
	pid=$(<"$dir/$name.pid")
	[[ $pid =~ ^[0-9]+$ ]] && ! is_gone "$pid" || return 1
	tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "$dir/" || return 1
	printf '%s\n' "$pid"
}

# Keeps the command line for `restart`.
set_command() {
	local dir=$1 name=$2
	shift 2
	printf '%q ' "$@" >"$dir/$name.cmd"
}

start_one() {
	local dir=$1 name=$2
	local -a cmd
	eval "cmd=($(<"$dir/$name.cmd"))"
	# A session of its own, so that Ctrl-C or the end of a test runner's process group does not reach it.
	setsid "${cmd[@]}" </dev/null >>"$dir/$name.log" 2>&1 9>&- &
	printf '%s\n' "$!" >"$dir/$name.pid"
	# Until it has executed, its command line is still that of this script.
	until pid_of "$dir" "$name" >/dev/null || is_gone "$!"; do
		sleep 0.01
	done
}

# stop_one DIR NAME [SIGNAL]: returns when the process is gone, for the next one wants its port.
stop_one() {
	local dir=$1 name=$2 signal=${3:-TERM} pid limit
	if pid=$(pid_of "$dir" "$name"); then
		kill -s "$signal" "$pid" 2>/dev/null || true
		limit=$(($(now_ms) + STOP_LIMIT * 1000))
		until is_gone "$pid"; do
			if (($(now_ms) >= limit)); then
				say "$name did not stop within $STOP_LIMIT s; killing it"
				kill -s KILL "$pid" 2>/dev/null || true
				limit=$(($(now_ms) + STOP_LIMIT * 1000))
			fi
			sleep 0.05
		done
	fi
	rm -f "$dir/$name.pid"
}

# fail_with_log DIR NAME TEXT…
fail_with_log() {
	local dir=$1 name=$2
	shift 2
	say "error: $*; the end of $dir/$name.log:"
	tail -n 20 "$dir/$name.log" >&2 || true
	exit 1
}

# wait_until DIR NAME WHAT COMMAND…: polls until COMMAND succeeds; NAME is whose death or log explains a failure.
wait_until() {
	local dir=$1 name=$2 what=$3 limit
	shift 3
	limit=$(($(now_ms) + READY_LIMIT * 1000))
	until "$@" >/dev/null 2>&1; do
		pid_of "$dir" "$name" >/dev/null || fail_with_log "$dir" "$name" "$name stopped while waiting for $what"
		(($(now_ms) < limit)) || fail_with_log "$dir" "$name" "no $what within $READY_LIMIT s"
		sleep 0.1
	done
}

# --- the API ---

# api DIR METHOD PATH [FILE [CONTENT-TYPE]]: as administrator; the answer on stdout, failure on any status >= 400.
api() {
	local dir=$1 method=$2 path=$3 file=${4:-} type=${5:-application/yaml}
	local -a body=()
	[[ -z $file ]] || body=(-H "Content-Type: $type" --data-binary "@$file")
	curl --noproxy '*' -sS --fail-with-body --max-time 20 -X "$method" -H @"$dir/pki/admin.header" \
		-H 'Accept: application/json' --cacert "$dir/pki/ca.crt" "${body[@]}" "$(<"$dir/server")$path"
}

etcd_ready() { curl --noproxy '*' -sSf --max-time 5 "$1/health" | grep -q '"health":"true"'; }

wait_apiserver() { wait_until "$1" kube-apiserver 'answer from /readyz' api "$1" GET /readyz; }

# DIR/env: what a test wants to know, as KEY=VALUE lines that a shell can source.
write_env() {
	local dir=$1 name
	{
		cat "$dir/env.fixed"
		for name in etcd kube-apiserver kube-controller-manager; do
			printf 'PID_%s=%s\n' "$(tr a-z- A-Z_ <<<"${name#kube-}")" "$(cat "$dir/$name.pid" 2>/dev/null || true)"
		done
	} >"$dir/env.tmp"
	mv "$dir/env.tmp" "$dir/env"
}

# Turns DIR as the user wrote it into an absolute path that exists.
existing_dir() {
	[[ -d $1 ]] || die "$1: no such folder"
	(cd "$1" && pwd)
}
