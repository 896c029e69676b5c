# The whole of it, under the layer.
add_executable(belfry-specialize-through ${CMAKE_CURRENT_LIST_DIR}/through.c)
target_link_libraries(belfry-specialize-through PRIVATE belfry_fence_fixture)
belfry_add_shaders(belfry-specialize-through ${CMAKE_CURRENT_LIST_DIR}/programs/general.comp)
belfry_add_test(specialize_through_lavapipe SUITE specialize DRIVER lavapipe LAYER
  COMMAND belfry-specialize-through)
# Builds in a process of their own first; and one that crashes the driver there, of the test driver's
# making, costs the program nothing.
belfry_add_test(specialize_through_isolated SUITE specialize DRIVER lavapipe LAYER
  ENV VK_BELFRY_MULTI_ENGINE_ISOLATE=process COMMAND belfry-specialize-through
  NEEDS belfry_build_helper)

# Work in secondary command buffers.
add_executable(belfry-specialize-secondaries ${CMAKE_CURRENT_LIST_DIR}/secondaries.c
  ${CMAKE_CURRENT_LIST_DIR}/gpu.c ${VOLK_SOURCE})
belfry_add_shaders(belfry-specialize-secondaries ${CMAKE_CURRENT_LIST_DIR}/pipelines/paint.comp
  ${CMAKE_CURRENT_LIST_DIR}/pipelines/paint.frag ${CMAKE_CURRENT_LIST_DIR}/pipelines/full.vert)
# (Its device is the layer's; of the specialiser it takes the pieces that gpu.c is made of.)
target_link_libraries(belfry-specialize-secondaries PRIVATE belfry_test_vulkan belfry belfry_specialize
  belfry_internal)
add_dependencies(belfry-specialize-secondaries VkLayer_belfry)
if(NOT BELFRY_SANITIZE STREQUAL "thread") # which sees races where llvmpipe's threads draw
  belfry_add_test(specialize_secondaries SUITE specialize DRIVER lavapipe LAYER
    COMMAND belfry-specialize-secondaries)
endif()
if(NOT BELFRY_SANITIZE)
  belfry_add_test(specialize_secondaries_validated SUITE specialize DRIVER lavapipe
    ENV VK_LAYER_PATH=${CMAKE_BINARY_DIR}/lib:/usr/share/vulkan/explicit_layer.d
      VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
      VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
    COMMAND belfry-specialize-secondaries)
endif()
