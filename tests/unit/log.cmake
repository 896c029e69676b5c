# Native fence logs, without Vulkan. The reader is built into its tests: a thread sanitizer sees only
# what it has built.
belfry_objects(reader log/reader.c)
foreach(name log_reader log_times log_threads)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${reader})
endforeach()
belfry_objects(decode log/decode.c)
add_executable(test_log_decode ${CMAKE_CURRENT_LIST_DIR}/log_decode.c ${decode})
foreach(name log_reader log_times log_threads log_decode)
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/runtime
    ${CMAKE_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_${name} PRIVATE belfry_options belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()

find_program(SHELL_PROGRAM sh REQUIRED)
belfry_add_test(unit_log_cli SUITE unit DRIVER none COMMAND ${SHELL_PROGRAM}
  ARGS ${CMAKE_CURRENT_LIST_DIR}/log_cli.sh $<TARGET_FILE:belfry_cli>)

# The public header's layout, which asserts itself, in either language and for 32 bits.
set(strict -Wall -Wextra -pedantic -Werror -fsyntax-only -I${CMAKE_SOURCE_DIR}/runtime/include)
set(layout ${CMAKE_CURRENT_LIST_DIR}/log_layout.c)
belfry_add_test(unit_log_layout_c SUITE unit DRIVER none COMMAND ${CMAKE_C_COMPILER}
  ARGS -x c -std=c11 ${strict} ${layout})
belfry_add_test(unit_log_layout_cxx SUITE unit DRIVER none COMMAND ${CMAKE_CXX_COMPILER}
  ARGS -x c++ -std=c++17 ${strict} ${layout})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  belfry_add_test(unit_log_layout_32_bits SUITE unit DRIVER none COMMAND ${CMAKE_C_COMPILER}
    ARGS -x c -std=c11 -m32 -ffreestanding ${strict} ${layout})
endif()
