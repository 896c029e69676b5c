# What values are used, and whether a variant is worth it: runtime/specialize/tally.h and judge.h.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
foreach(name notes tally tally_random)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/tally.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options PkgConfig::CMOCKA)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none COMMAND belfry-specialize-${name})
endforeach()
foreach(name judge judge_noise)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/judge.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options PkgConfig::CMOCKA m)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none COMMAND belfry-specialize-${name})
endforeach()
