foreach(name settings_load settings_file settings_api settings_manifest)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  target_link_libraries(test_${name} PRIVATE belfry_internal belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()

# The parser built into the test, so that each of its allocations can be made to fail.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
belfry_objects(parts settings/[a-z_]+.c)
add_executable(test_settings_memory ${CMAKE_CURRENT_LIST_DIR}/settings_memory.c ${parts})
target_include_directories(test_settings_memory PRIVATE ${runtime} ${runtime}/include)
target_link_libraries(test_settings_memory PRIVATE belfry_options belfry_test_support)
target_link_options(test_settings_memory PRIVATE -Wl,--wrap=malloc -Wl,--wrap=free)
belfry_add_test(unit_settings_memory SUITE unit DRIVER none ONE_THREAD COMMAND test_settings_memory)
