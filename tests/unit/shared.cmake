# The page of a shared fence, and what trusted processes have beside it, built into the tests: a
# thread sanitizer sees only what it has built.
belfry_objects(parts fence/peer_memory.c fence/shared_page.c base/message.c)
foreach(name shared_page shared_area)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${parts})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/runtime
    ${CMAKE_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_${name} PRIVATE belfry_options PkgConfig::VULKAN belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()
