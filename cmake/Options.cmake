# Every way to build is an option here and a preset in CMakePresets.json.
option(OPC_WERROR "treat warnings as errors" ON)
option(OPC_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(OPC_FUZZ "libFuzzer targets (clang)" OFF)
option(OPC_FUZZ_WHOLE "with OPC_FUZZ: made for the targets that run a whole process for each input" OFF)
option(OPC_COVERAGE "gcov instrumentation" OFF)
option(OPC_HARDEN "hardening flags of the release build" OFF)
option(OPC_STATIC "executables without shared libraries, for the image" OFF)
option(OPC_TESTS "build the tests" ON)
option(OPC_PROBES "live processes try forbidden things and turn against the others on command (test builds only)" OFF)

if(NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
if(OPC_PROBES AND (OPC_HARDEN OR OPC_STATIC OR NOT CMAKE_BUILD_TYPE MATCHES "Debug|RelWithDebInfo"))
	message(FATAL_ERROR "OPC_PROBES=ON makes processes that obey an attacker: it is for tests alone, and no build that is installed may "
		"have it. Configure without OPC_HARDEN, OPC_STATIC and CMAKE_BUILD_TYPE=Release, or without OPC_PROBES")
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# A tree elsewhere (a clone, a work tree) finds what this one has compiled: no object knows where the tree lies.
find_program(CCACHE ccache)
if(CCACHE)
	set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
add_compile_options(-fdebug-prefix-map=${CMAKE_SOURCE_DIR}=.)

# What is tested links 300 programs: gold takes a third of the processor time for that. What is installed is linked as ever.
find_program(GOLD ld.gold)
if(GOLD AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT OPC_HARDEN)
	add_link_options(-fuse-ld=gold)
endif()

# Every folder compiles with the top of the tree as its include path: "ipc/channel.h".
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
add_compile_definitions(_GNU_SOURCE)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)

# Executables lie in the build tree as they lie when installed.
set(OPC_BINDIR ${CMAKE_BINARY_DIR}/bin)
set(OPC_LIBEXECDIR ${CMAKE_BINARY_DIR}/libexec/ops-pod-cleaner)

# opc_process(NAME SOURCES... LIBS...): one process, one executable in libexec.
function(opc_process name)
	cmake_parse_arguments(P "ROLE" "" "SOURCES;LIBS" ${ARGN})
	add_executable(${name} ${P_SOURCES})
	if(P_ROLE)  # its main.c holds the spec of the role, and process/main.c the program
		target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/process/main.c)
		target_compile_definitions(${name} PRIVATE OPC_ROLE_SPEC=${name}_spec)
	endif()
	target_link_libraries(${name} PRIVATE ${P_LIBS} opc_warnings opc_sanitize opc_harden)
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${OPC_LIBEXECDIR})
	install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ops-pod-cleaner)
endfunction()

# opc_layer(NAME SOURCES... LIBS...): one static library per layer folder.
function(opc_layer name)
	cmake_parse_arguments(L "" "" "SOURCES;LIBS" ${ARGN})
	add_library(opc_${name} STATIC ${L_SOURCES})
	add_dependencies(opc_${name} opc_build_id)
	target_link_libraries(opc_${name} PUBLIC ${L_LIBS} PRIVATE opc_warnings opc_sanitize opc_harden)
endfunction()

# The build id: two processes of different builds refuse one another. Written anew at each build, when it changed.
find_package(Git QUIET)
set(OPC_BUILD_ID_H ${CMAKE_BINARY_DIR}/generated/build_id.h)
set(OPC_BUILD_ID_COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${OPC_BUILD_ID_H} -DGIT=${GIT_EXECUTABLE}
	-DPROJECT_VERSION=${PROJECT_VERSION} -DOPC_RELEASED=${OPC_RELEASED} -P ${CMAKE_SOURCE_DIR}/cmake/BuildId.cmake)
execute_process(COMMAND ${OPC_BUILD_ID_COMMAND} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(opc_build_id COMMAND ${OPC_BUILD_ID_COMMAND} BYPRODUCTS ${OPC_BUILD_ID_H} VERBATIM)
