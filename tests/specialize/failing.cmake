# Programs through the layer on the test driver, which runs no shaders: their checks find no
# difference. It fails where it is told to.
set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(belfry_icd_program STATIC ${here}/icd_program.c)
target_include_directories(belfry_icd_program PUBLIC ${here})
target_link_libraries(belfry_icd_program PUBLIC belfry_fence_fixture)
belfry_add_shaders(belfry_icd_program ${here}/programs/store.comp ${here}/pipelines/paint.frag
  ${here}/pipelines/full.vert)
foreach(name failing pinned memory_budget)
  add_executable(belfry-specialize-${name} ${here}/${name}.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_icd_program)
  add_dependencies(belfry-specialize-${name} VkLayer_belfry belfry_test_icd)
  belfry_add_test(specialize_${name} SUITE specialize DRIVER icd LAYER
    COMMAND belfry-specialize-${name})
endforeach()
belfry_add_test(specialize_failing_nvidia SUITE specialize DRIVER icd LAYER
  ENV BELFRY_ICD_SHAPE=nvidia BELFRY_ICD_MEMORY=split COMMAND belfry-specialize-failing
  ARGS every_error*)
