add_library(opc_warnings INTERFACE)
target_compile_options(opc_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wformat=2 -Wvla
	-Wstrict-prototypes -Wmissing-prototypes -Wundef -Wpointer-arith -Wcast-qual -Wno-missing-field-initializers)
if(OPC_WERROR)
	target_compile_options(opc_warnings INTERFACE -Werror)
endif()
