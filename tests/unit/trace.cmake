set(runtime ${CMAKE_SOURCE_DIR}/runtime)

# The decoder knows the format, not the writer: no code is shared between the two.
add_library(trace_decode STATIC ${CMAKE_CURRENT_LIST_DIR}/trace_decode.c)
target_link_libraries(trace_decode PRIVATE belfry_options belfry_test_support)

foreach(name trace_timeline trace_fences trace_file trace_threads)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  target_link_libraries(test_${name} PRIVATE belfry_internal trace_decode belfry_test_support)
  set(threads)
  if(name STREQUAL "trace_fences") # its only other thread is the writer, as in the others
    set(threads ONE_THREAD)
  endif()
  belfry_add_test(unit_${name} SUITE unit DRIVER none ${threads} COMMAND test_${name})
endforeach()

# Parts that the library keeps to itself, built into the tests.
belfry_objects(trace_wire_parts trace/protobuf.c trace/interning.c trace/perfetto.c)
belfry_objects(trace_flow_parts trace/flow.c)
belfry_objects(trace_summary_parts trace/overlap.c trace/interning.c)
foreach(name trace_wire trace_flow trace_summary)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${${name}_parts})
  target_link_libraries(test_${name} PRIVATE belfry_internal belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()

# The way to the file, with a disk of the test's own: the parts are built into the test, and the one
# that writes for it.
belfry_objects(parts trace/protobuf.c trace/interning.c trace/perfetto.c trace/output.c trace/flow.c
  trace/fence_ops.c trace/overlap.c trace/table_cell.c trace/summary.c trace/track.c trace/trace.c trace/packets.c
  trace/fences.c)
add_executable(test_trace_output ${CMAKE_CURRENT_LIST_DIR}/trace_output.c ${runtime}/trace/file.c
  ${parts})
target_link_libraries(test_trace_output PRIVATE belfry_internal trace_decode belfry_test_support)
target_compile_definitions(test_trace_output PRIVATE write=disk_write)
belfry_add_test(unit_trace_output SUITE unit DRIVER none COMMAND test_trace_output)

# Stamps against a driver and a clock of the test's own; the trace is the test's, too.
belfry_objects(parts trace/stamps.c trace/calibration.c)
add_executable(test_trace_stamps ${CMAKE_CURRENT_LIST_DIR}/trace_stamps.c ${parts})
target_include_directories(test_trace_stamps PRIVATE ${runtime})
target_link_libraries(test_trace_stamps PRIVATE belfry_options belfry_test_support m)
target_link_options(test_trace_stamps PRIVATE -Wl,--wrap=clock_gettime)
belfry_add_test(unit_trace_stamps SUITE unit DRIVER none COMMAND test_trace_stamps)

# What the library offers to tracers of the whole system is what is documented.
find_program(BASH_PROGRAM bash REQUIRED)
belfry_add_test(unit_trace_probes SUITE unit DRIVER none COMMAND ${BASH_PROGRAM}
  ARGS ${CMAKE_CURRENT_LIST_DIR}/trace_probes.sh $<TARGET_FILE:belfry>
  ${CMAKE_SOURCE_DIR}/docs/probes.md)
