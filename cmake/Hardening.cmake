# Flags gcc 12 and clang 14 both take are set for both, the others only for gcc. tests/hardening reads the result from the ELF.
include(CheckCSourceRuns)

add_library(opc_harden INTERFACE)
if(OPC_HARDEN)
	target_compile_options(opc_harden INTERFACE -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
		-fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero -fPIE)
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		# No -flto: what is inlined across files cannot be found any more by scripts/symbols and tests/hardening.
		target_compile_options(opc_harden INTERFACE -fzero-call-used-regs=used-gpr)
	else()
		target_compile_options(opc_harden INTERFACE -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang)
	endif()
	target_link_options(opc_harden INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
	# What no program calls is in none, and relocations take a bit each: each process has its own copy of both in memory.
	target_compile_options(opc_harden INTERFACE -ffunction-sections -fdata-sections)
	target_link_options(opc_harden INTERFACE -Wl,--gc-sections)
	set(CMAKE_REQUIRED_LINK_OPTIONS -pie -Wl,-z,pack-relative-relocs)
	check_c_source_runs("static const char *const names[] = {\"a\", \"b\"}; int main(int n, char **v) {return names[n] == v[0];}"
		OPC_PACKS_RELOCATIONS)	# binutils 2.38 writes them, glibc 2.36 reads them
	if(OPC_PACKS_RELOCATIONS)
		target_link_options(opc_harden INTERFACE -Wl,-z,pack-relative-relocs)
	endif()
	unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
if(OPC_STATIC)
	target_link_options(opc_harden INTERFACE -static-pie -Wl,--build-id=sha1)
endif()
