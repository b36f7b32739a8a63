# An instrumented process takes longer to begin and to look for leaks at its end than most cases take: there the cases of a program
# share one. These change what the next case relies on, and keep a process for each.
set(OPC_PROCESS_PER_CASE
	base/private_dir cli/answers cli/commands cli/joined config/config config/zone http/client http/kept http/mail http/odd http/proxy
	loader/loader loader/program loader/resolve process/settings reporter/digest_run reporter/fallback reporter/report rules/kept_pods
	supervisor/control supervisor/hostile supervisor/known_since supervisor/no_history supervisor/saved supervisor/worker_pool
	watcher/membership worker/jobs)

# opc_unit_test(NAME SOURCES... LIBS...): one libcheck binary, run by ctest under the name unit/NAME.
function(opc_unit_test name)
	cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
	string(REPLACE "/" "_" target "test_${name}")
	add_executable(${target} ${T_SOURCES})
	target_link_libraries(${target} PRIVATE ${T_LIBS} opc_test_suite opc_warnings opc_sanitize)
	add_test(NAME unit/${name} COMMAND ${target})
	set_tests_properties(unit/${name} PROPERTIES TIMEOUT 300 LABELS unit)
	if(OPC_SANITIZE AND NOT name IN_LIST OPC_PROCESS_PER_CASE)
		set_tests_properties(unit/${name} PROPERTIES ENVIRONMENT CK_FORK=no)
	endif()
endfunction()
