add_library(opc_sanitize INTERFACE)
if(OPC_SANITIZE)
	# -O1: without it the tests take twice as long. What gcc says then of formats, it guesses among the checks.
	target_compile_options(opc_sanitize INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
		-fno-omit-frame-pointer -O1 $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
	target_link_options(opc_sanitize INTERFACE -fsanitize=address,undefined)
	# The sanitizer runtimes make system calls that no role is allowed: the sandbox is built out.
	add_compile_definitions(OPC_NO_SANDBOX=1)
endif()
if(OPC_FUZZ)
	# The layers report what they cover, too: without it the fuzzer sees nothing but the target's own few lines.
	target_compile_options(opc_sanitize INTERFACE -fsanitize=fuzzer-no-link -O1)
endif()
if(OPC_FUZZ_WHOLE)
	# The bytes of an input choose among messages: none of them is compared with anything, and to note each comparison took a third
	# of the time. What has room for each cluster and child is cleared at every start: room for a few.
	add_compile_options(-fno-sanitize-coverage=trace-cmp)
	add_compile_definitions(CLUSTERS_MAX=4 WORKERS_MAX=4)
endif()
if(OPC_COVERAGE)
	target_compile_options(opc_sanitize INTERFACE --coverage)
	target_link_options(opc_sanitize INTERFACE --coverage)
	add_compile_definitions(OPC_NO_SANDBOX=1)
endif()
if(OPC_PROBES)
	add_compile_definitions(OPC_PROBES=1)
endif()
