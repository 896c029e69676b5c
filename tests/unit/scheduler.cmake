# Parts of the scheduler, built into the tests: most of what they do the library keeps to itself,
# and a thread sanitizer sees only what it has built.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
add_executable(test_map ${CMAKE_CURRENT_LIST_DIR}/map.c ${runtime}/os/map.c)
add_executable(test_semaphore ${CMAKE_CURRENT_LIST_DIR}/semaphore.c ${runtime}/os/map.c
  ${runtime}/os/log.c ${runtime}/queue/semaphore.c)
add_executable(test_family ${CMAKE_CURRENT_LIST_DIR}/family.c ${runtime}/device/family.c)
add_executable(test_placement ${CMAKE_CURRENT_LIST_DIR}/placement.c ${runtime}/device/placement.c
  ${runtime}/device/family.c ${runtime}/os/log.c)
foreach(name map semaphore family placement)
  target_include_directories(test_${name} PRIVATE ${runtime} ${runtime}/include)
  target_link_libraries(test_${name} PRIVATE belfry_options PkgConfig::VULKAN PkgConfig::CMOCKA)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()

# With its allocations made to fail.
add_executable(test_label ${CMAKE_CURRENT_LIST_DIR}/label.c ${runtime}/queue/label.c)
target_include_directories(test_label PRIVATE ${runtime} ${runtime}/include)
target_link_libraries(test_label PRIVATE belfry_options PkgConfig::VULKAN PkgConfig::CMOCKA)
target_link_options(test_label PRIVATE -Wl,--wrap=malloc -Wl,--wrap=free)
belfry_add_test(unit_label SUITE unit DRIVER none COMMAND test_label)
