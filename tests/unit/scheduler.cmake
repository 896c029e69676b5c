# Parts of the scheduler, built into the tests: most of what they do the library keeps to itself,
# and a thread sanitizer sees only what it has built.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
belfry_objects(map_parts base/map.c)
belfry_objects(semaphore_parts base/map.c base/message.c scheduler/semaphore.c)
belfry_objects(family_parts device/family.c)
belfry_objects(placement_parts device/placement.c device/family.c base/message.c)
foreach(name map semaphore family placement)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${${name}_parts})
  target_include_directories(test_${name} PRIVATE ${runtime} ${runtime}/include)
  target_link_libraries(test_${name} PRIVATE belfry_options PkgConfig::VULKAN belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()
# Its readers may be held up.
belfry_break(map_header hook_map_probe)
target_sources(test_map PRIVATE ${map_header} ${CMAKE_SOURCE_DIR}/tests/support/hook.c)
target_include_directories(test_map BEFORE PRIVATE ${map_header_folder} ${CMAKE_SOURCE_DIR}/tests)

# With its allocations made to fail.
belfry_objects(label_parts scheduler/label.c)
add_executable(test_label ${CMAKE_CURRENT_LIST_DIR}/label.c ${label_parts})
target_include_directories(test_label PRIVATE ${runtime} ${runtime}/include)
target_link_libraries(test_label PRIVATE belfry_options PkgConfig::VULKAN belfry_test_support)
target_link_options(test_label PRIVATE -Wl,--wrap=malloc -Wl,--wrap=free)
belfry_add_test(unit_label SUITE unit DRIVER none COMMAND test_label)
