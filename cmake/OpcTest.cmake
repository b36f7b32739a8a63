# opc_unit_test(NAME SOURCES... LIBS...): one libcheck binary, run by ctest under the name unit/NAME.
function(opc_unit_test name)
	cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
	string(REPLACE "/" "_" target "test_${name}")
	add_executable(${target} ${T_SOURCES})
	target_link_libraries(${target} PRIVATE ${T_LIBS} opc_test_suite opc_warnings opc_sanitize)
	add_test(NAME unit/${name} COMMAND ${target})
	set_tests_properties(unit/${name} PROPERTIES TIMEOUT 300 LABELS unit)
endfunction()
