# Flags gcc 12 and clang 14 both take are set for both, the others only for gcc. tests/hardening reads the result from the ELF.
add_library(opc_harden INTERFACE)
if(OPC_HARDEN)
	target_compile_options(opc_harden INTERFACE -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
		-fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero -fPIE)
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		target_compile_options(opc_harden INTERFACE -fzero-call-used-regs=used-gpr)
	else()
		target_compile_options(opc_harden INTERFACE -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang)
	endif()
	target_link_options(opc_harden INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
if(OPC_STATIC)
	# No paths of this machine in it: the same source gives the same bytes in any folder.
	target_compile_options(opc_harden INTERFACE -ffunction-sections -fdata-sections -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
		-ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
	target_link_options(opc_harden INTERFACE -static-pie -Wl,--gc-sections,--build-id=sha1)
endif()
