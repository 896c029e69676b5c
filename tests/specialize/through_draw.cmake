# Draws, under the layer, with Khronos' validation between it and the driver too.
add_executable(belfry-specialize-through-draw ${CMAKE_CURRENT_LIST_DIR}/through_draw.c)
target_link_libraries(belfry-specialize-through-draw PRIVATE belfry_fence_fixture)
belfry_add_shaders(belfry-specialize-through-draw ${CMAKE_CURRENT_LIST_DIR}/programs/drawn.frag
  ${CMAKE_CURRENT_LIST_DIR}/programs/shown.frag ${CMAKE_CURRENT_LIST_DIR}/pipelines/full.vert)
belfry_add_test(specialize_through_draw SUITE specialize DRIVER lavapipe LAYER
  COMMAND belfry-specialize-through-draw)
belfry_add_test(specialize_through_draw_isolated SUITE specialize DRIVER lavapipe LAYER
  ENV VK_BELFRY_MULTI_ENGINE_ISOLATE=process COMMAND belfry-specialize-through-draw)
if(NOT BELFRY_SANITIZE)
  belfry_add_test(specialize_through_draw_validated SUITE specialize DRIVER lavapipe
    ENV VK_LAYER_PATH=${CMAKE_BINARY_DIR}/lib:/usr/share/vulkan/explicit_layer.d
      VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
      VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
    COMMAND belfry-specialize-through-draw)
endif()
