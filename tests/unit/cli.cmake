find_program(SHELL_PROGRAM sh REQUIRED)
belfry_add_test(unit_cli SUITE unit DRIVER none COMMAND ${SHELL_PROGRAM}
  ARGS ${CMAKE_CURRENT_LIST_DIR}/cli_run.sh $<TARGET_FILE:belfry_cli>)
