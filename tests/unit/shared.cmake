# The page of a shared fence, built into the test: a thread sanitizer sees only what it has built.
belfry_objects(parts fence/shared_page.c os/log.c)
add_executable(test_shared_page ${CMAKE_CURRENT_LIST_DIR}/shared_page.c ${parts})
target_include_directories(test_shared_page PRIVATE ${CMAKE_SOURCE_DIR}/runtime
  ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_libraries(test_shared_page PRIVATE belfry_options PkgConfig::VULKAN PkgConfig::CMOCKA)
belfry_add_test(unit_shared_page SUITE unit DRIVER none COMMAND test_shared_page)
