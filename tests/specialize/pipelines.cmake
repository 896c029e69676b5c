# A program's pipelines, and building them again: runtime/specialize/pipeline.h.
find_file(VOLK_SOURCE volk.c REQUIRED)
set(shaders ${CMAKE_CURRENT_LIST_DIR}/pipelines)

add_executable(belfry-specialize-builds ${CMAKE_CURRENT_LIST_DIR}/builds.c
  ${CMAKE_CURRENT_LIST_DIR}/gpu.c ${VOLK_SOURCE})
belfry_add_shaders(belfry-specialize-builds ${shaders}/paint.comp ${shaders}/paint.frag
  ${shaders}/full.vert)
target_link_libraries(belfry-specialize-builds PRIVATE belfry_internal PkgConfig::VULKAN
  PkgConfig::CMOCKA ${CMAKE_DL_LIBS})
belfry_add_test(specialize_builds SUITE unit DRIVER lavapipe COMMAND belfry-specialize-builds)
if(NOT BELFRY_SANITIZE)
  belfry_add_test(specialize_builds_validated SUITE unit DRIVER lavapipe
    ENV VK_LAYER_PATH=/usr/share/vulkan/explicit_layer.d
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation COMMAND belfry-specialize-builds)
endif()
