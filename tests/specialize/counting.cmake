# What values are used, and whether a variant is worth it: runtime/specialize/histogram.h and ab_decision.h.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
foreach(name notes histogram histogram_random)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/histogram.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options belfry_test_support)
endforeach()
foreach(name notes histogram)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none ONE_THREAD
    COMMAND belfry-specialize-${name})
endforeach()

foreach(name ab_decision ab_decision_noise)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${runtime}/specialize/ab_decision.c)
  target_include_directories(belfry-specialize-${name} PRIVATE ${runtime} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_options belfry_test_support m)
endforeach()
belfry_add_test(specialize_ab_decision SUITE unit DRIVER none COMMAND belfry-specialize-ab_decision)

# Random programs and trials; more of them: --count N --seed N.
set(programs 1500)
set(trials 1000)
set(seed 1)
if(BELFRY_SANITIZE)
  set(programs 600)
  set(trials 400)
  set(seed 10000)
endif()
belfry_add_test(specialize_histogram_random SUITE unit DRIVER none
  COMMAND belfry-specialize-histogram_random ARGS --count ${programs} --seed ${seed})
belfry_add_test(specialize_ab_decision_noise SUITE unit DRIVER none
  COMMAND belfry-specialize-ab_decision_noise ARGS --count ${trials} --seed ${seed})
