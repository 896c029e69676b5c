# Recording and submissions without a Vulkan device: runtime/specialize/recording.h, submission.h.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
add_library(belfry_recording_parts STATIC ${CMAKE_CURRENT_LIST_DIR}/recording_fake.c
  ${runtime}/specialize/recording.c ${runtime}/specialize/submission.c
  ${runtime}/specialize/histogram.c ${runtime}/specialize/ab_timing.c ${runtime}/base/map.c)
target_include_directories(belfry_recording_parts PUBLIC ${runtime} ${runtime}/include
  ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(belfry_recording_parts PUBLIC belfry_options PkgConfig::VULKAN
  belfry_test_support)
set(count 3000)
if(BELFRY_SANITIZE)
  set(count 300)
endif()
foreach(name recording_random recording_threads submissions)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_recording_parts)
endforeach()
foreach(name ab_timing ab_timing_random)
  add_executable(belfry-specialize-${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c
    ${CMAKE_CURRENT_LIST_DIR}/ab_timing_gpu.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_recording_parts)
endforeach()
belfry_add_test(specialize_ab_timing SUITE unit DRIVER none COMMAND belfry-specialize-ab_timing)
belfry_add_test(specialize_ab_timing_random SUITE unit DRIVER none
  COMMAND belfry-specialize-ab_timing_random ARGS --count ${count})
belfry_add_test(specialize_recording_random SUITE unit DRIVER none
  COMMAND belfry-specialize-recording_random ARGS --count ${count})
belfry_add_test(specialize_recording_threads SUITE unit DRIVER none
  COMMAND belfry-specialize-recording_threads ARGS --steps 20000)
belfry_add_test(specialize_submissions SUITE unit DRIVER none
  COMMAND belfry-specialize-submissions)
