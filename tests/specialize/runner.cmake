# What runs calls for idle threads: runtime/specialize/runner.h.
add_executable(belfry-specialize-runner ${CMAKE_CURRENT_LIST_DIR}/runner.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/runner.c)
target_include_directories(belfry-specialize-runner PRIVATE ${CMAKE_SOURCE_DIR}/runtime)
target_link_libraries(belfry-specialize-runner PRIVATE belfry_options belfry_test_support)
belfry_add_test(specialize_runner SUITE unit DRIVER none COMMAND belfry-specialize-runner)
