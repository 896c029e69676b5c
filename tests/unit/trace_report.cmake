# Reading timelines back: the parts of 'belfry trace'. The traces are made by hand, which needs the
# wire format, and by the runtime.
belfry_objects(parts trace/protobuf.c)
add_library(trace_report_make STATIC ${CMAKE_CURRENT_LIST_DIR}/trace_report_make.c ${parts})
target_link_libraries(trace_report_make PRIVATE belfry_internal belfry_test_support)
foreach(name trace_report trace_report_damage trace_report_memory
    trace_report_picture)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  target_link_libraries(test_${name} PRIVATE trace_report_make belfry_trace_reader belfry_internal trace_decode
    belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none ONE_THREAD COMMAND test_${name})
endforeach()
belfry_add_test(unit_trace_report_command SUITE unit DRIVER none ONE_THREAD COMMAND ${SHELL_PROGRAM}
  ARGS ${CMAKE_CURRENT_LIST_DIR}/trace_report_command.sh $<TARGET_FILE:belfry_cli>
    $<TARGET_FILE:test_trace_report_memory>)
