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
