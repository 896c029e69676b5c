set(runtime ${CMAKE_SOURCE_DIR}/runtime)

set(trace_parts protobuf.c words.c perfetto.c file.c output.c flow.c fence_ops.c overlap.c summary.c
  track.c trace.c packets.c fences.c)

# The decoder knows the format, not the writer: no code is shared between the two.
add_library(trace_decode STATIC ${CMAKE_CURRENT_LIST_DIR}/trace_decode.c)
target_link_libraries(trace_decode PRIVATE belfry_options PkgConfig::CMOCKA)

foreach(name trace_timeline trace_fences trace_file trace_threads)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  target_link_libraries(test_${name} PRIVATE belfry_internal trace_decode PkgConfig::CMOCKA)
  set(threads)
  if(name STREQUAL "trace_fences") # its only other thread is the writer, as in the others
    set(threads ONE_THREAD)
  endif()
  belfry_add_test(unit_${name} SUITE unit DRIVER none ${threads} COMMAND test_${name})
endforeach()

# Parts that the library keeps to itself, built into the tests.
add_executable(test_trace_wire ${CMAKE_CURRENT_LIST_DIR}/trace_wire.c
  ${runtime}/trace/protobuf.c ${runtime}/trace/words.c ${runtime}/trace/perfetto.c)
add_executable(test_trace_flow ${CMAKE_CURRENT_LIST_DIR}/trace_flow.c ${runtime}/trace/flow.c)
add_executable(test_trace_summary ${CMAKE_CURRENT_LIST_DIR}/trace_summary.c
  ${runtime}/trace/overlap.c ${runtime}/trace/words.c)
foreach(name trace_wire trace_flow trace_summary)
  target_link_libraries(test_${name} PRIVATE belfry_internal PkgConfig::CMOCKA)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()

# The way to the file, with a disk of the test's own: the parts are built into the test.
list(TRANSFORM trace_parts PREPEND ${runtime}/trace/ OUTPUT_VARIABLE trace_sources)
add_executable(test_trace_output ${CMAKE_CURRENT_LIST_DIR}/trace_output.c ${trace_sources})
target_link_libraries(test_trace_output PRIVATE belfry_internal trace_decode PkgConfig::CMOCKA)
target_compile_definitions(test_trace_output PRIVATE write=disk_write)
belfry_add_test(unit_trace_output SUITE unit DRIVER none COMMAND test_trace_output)

# Stamps against a driver and a clock of the test's own; the trace is the test's, too.
add_executable(test_trace_stamps ${CMAKE_CURRENT_LIST_DIR}/trace_stamps.c ${runtime}/trace/stamps.c
  ${runtime}/trace/calibration.c)
target_include_directories(test_trace_stamps PRIVATE ${runtime})
target_link_libraries(test_trace_stamps PRIVATE belfry_options PkgConfig::CMOCKA m)
target_link_options(test_trace_stamps PRIVATE -Wl,--wrap=clock_gettime)
belfry_add_test(unit_trace_stamps SUITE unit DRIVER none COMMAND test_trace_stamps)

# What the library offers to tracers of the whole system is what is documented.
find_program(BASH_PROGRAM bash REQUIRED)
belfry_add_test(unit_trace_probes SUITE unit DRIVER none COMMAND ${BASH_PROGRAM}
  ARGS ${CMAKE_CURRENT_LIST_DIR}/trace_probes.sh $<TARGET_FILE:belfry>
  ${CMAKE_SOURCE_DIR}/docs/probes.md)
