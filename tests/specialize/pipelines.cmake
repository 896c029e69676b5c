# A program's pipelines, and building them again: runtime/specialize/pipeline/pipeline.h.
set(here ${CMAKE_CURRENT_LIST_DIR})

# On a real driver: as the layer does it, and by programs under the layer.
foreach(name builds programs)
  add_executable(belfry-specialize-${name} ${here}/${name}.c ${here}/gpu.c)
  belfry_add_shaders(belfry-specialize-${name} ${here}/pipelines/paint.comp
    ${here}/pipelines/paint.frag ${here}/pipelines/full.vert)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_test_vulkan belfry_specialize belfry_internal)
  add_dependencies(belfry-specialize-${name} VkLayer_belfry)
endforeach()
if(NOT BELFRY_SANITIZE STREQUAL "thread") # which sees races where llvmpipe's threads draw
  belfry_add_test(specialize_builds SUITE unit DRIVER lavapipe COMMAND belfry-specialize-builds)
  belfry_add_test(specialize_programs SUITE layer DRIVER lavapipe LAYER
    ENV VK_BELFRY_MULTI_ENGINE_SPECIALIZE=exact COMMAND belfry-specialize-programs)
endif()
if(NOT BELFRY_SANITIZE)
  belfry_add_test(specialize_builds_validated SUITE unit DRIVER lavapipe
    ENV VK_LAYER_PATH=/usr/share/vulkan/explicit_layer.d
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation COMMAND belfry-specialize-builds)
  belfry_add_test(specialize_programs_validated SUITE layer DRIVER lavapipe
    ENV VK_BELFRY_MULTI_ENGINE_SPECIALIZE=exact
    VK_LAYER_PATH=${CMAKE_BINARY_DIR}/lib:/usr/share/vulkan/explicit_layer.d
    VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
    COMMAND belfry-specialize-programs)
endif()

# On a driver of the tests' own, with the runtime's parts built in, whose memory they may take.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
set(parts ${runtime}/base/map.c ${runtime}/base/sha256.c)
foreach(part pipeline/code pipeline/copy pipeline/copy_graphics pipeline/retained pipeline/pipeline
    pipeline/descriptor_shape reason shader/arena shader/facts shader/fold shader/loads shader/parse shader/reach
    shader/shader shader/watch histogram)
  list(APPEND parts ${runtime}/specialize/${part}.c)
endforeach()
add_library(belfry_specialize_parts STATIC ${here}/fake.c ${runtime}/specialize/shader/tools.cpp ${parts})
belfry_add_shaders(belfry_specialize_parts ${here}/pipelines/paint.comp
  ${here}/pipelines/paint.frag ${here}/pipelines/full.vert ${here}/pipelines/no_push.comp
  ${here}/pipelines/depth.frag ${here}/pipelines/inexact.comp)
target_include_directories(belfry_specialize_parts PUBLIC ${runtime} ${here}
  ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(belfry_specialize_parts PUBLIC belfry_options PkgConfig::VULKAN
  belfry_test_support ${SPIRV_TOOLS_LIBRARY})
foreach(name retained pipelines shortage variants)
  add_executable(belfry-specialize-${name} ${here}/${name}.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_specialize_parts)
  set_target_properties(belfry-specialize-${name} PROPERTIES LINKER_LANGUAGE CXX)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none COMMAND belfry-specialize-${name})
endforeach()
target_link_options(belfry-specialize-shortage PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc
  -Wl,--wrap=realloc)
