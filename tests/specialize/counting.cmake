# What values are used, and whether a variant is worth it: runtime/specialize/tally.h and judge.h.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
foreach(name notes tally tally_random)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/tally.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options PkgConfig::CMOCKA)
endforeach()
foreach(name notes tally)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none ONE_THREAD
    COMMAND belfry-specialize-${name})
endforeach()

foreach(name judge judge_noise)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/judge.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options PkgConfig::CMOCKA m)
endforeach()
belfry_add_test(specialize_judge SUITE unit DRIVER none COMMAND belfry-specialize-judge)

# Random programs and trials; more of them: --count N --seed N.
set(programs 1500)
set(trials 1000)
set(seed 1)
if(BELFRY_SANITIZE)
  set(programs 600)
  set(trials 400)
  set(seed 10000)
endif()
belfry_add_test(specialize_tally_random SUITE unit DRIVER none
  COMMAND belfry-specialize-tally_random ARGS --count ${programs} --seed ${seed})
belfry_add_test(specialize_judge_noise SUITE unit DRIVER none
  COMMAND belfry-specialize-judge_noise ARGS --count ${trials} --seed ${seed})
