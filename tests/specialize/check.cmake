# The check of rebuilt pipelines, on lavapipe: the test driver runs no shaders.
file(GLOB check_shaders CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/check_shaders/*)
add_library(belfry_check_world STATIC ${CMAKE_CURRENT_LIST_DIR}/check_world.c
  ${CMAKE_CURRENT_LIST_DIR}/check_drawing.c)
target_link_libraries(belfry_check_world PUBLIC belfry_fence_fixture_inside belfry_specialize belfry_internal)
belfry_add_shaders(belfry_check_world ${CMAKE_CURRENT_LIST_DIR}/check_shaders/check_cover.vert
  ${CMAKE_CURRENT_LIST_DIR}/check_shaders/check_shade.frag)
foreach(name compute draw passes)
  add_executable(belfry-check-${name} ${CMAKE_CURRENT_LIST_DIR}/check_${name}.c)
  target_link_libraries(belfry-check-${name} PRIVATE belfry_check_world)
  belfry_add_shaders(belfry-check-${name} ${check_shaders})
  belfry_add_test(specialize_check_${name} SUITE unit DRIVER lavapipe COMMAND belfry-check-${name})
  if(NOT BELFRY_SANITIZE)
    belfry_add_test(specialize_check_${name}_validated SUITE unit DRIVER lavapipe
      ENV VK_LAYER_PATH=/usr/share/vulkan/explicit_layer.d
        VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
        VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
      COMMAND belfry-check-${name})
  endif()
endforeach()

# Without a device.
add_executable(belfry-check-inputs ${CMAKE_CURRENT_LIST_DIR}/check_inputs.c)
target_link_libraries(belfry-check-inputs PRIVATE belfry_specialize belfry_internal PkgConfig::VULKAN
  belfry_test_support m)
belfry_add_shaders(belfry-check-inputs ${check_shaders})
belfry_add_test(specialize_check_inputs SUITE unit DRIVER none ONE_THREAD COMMAND belfry-check-inputs)

# Faults, on the test driver.
add_executable(belfry-check-faults ${CMAKE_CURRENT_LIST_DIR}/check_faults.c
  ${CMAKE_CURRENT_LIST_DIR}/check_faulty.c)
target_link_libraries(belfry-check-faults PRIVATE belfry_check_world)
belfry_add_shaders(belfry-check-faults ${check_shaders})
belfry_add_test(specialize_check_faults SUITE unit DRIVER icd ONE_THREAD
  ENV BELFRY_ICD_SHAPE=q1 BELFRY_ICD_MEMORY=split COMMAND belfry-check-faults)
belfry_add_test(specialize_check_faults_nvidia SUITE unit DRIVER icd
  ENV BELFRY_ICD_SHAPE=nvidia COMMAND belfry-check-faults ARGS a_lost*)
if(NOT BELFRY_SANITIZE) # it stands in for malloc itself
  add_executable(belfry-check-memory ${CMAKE_CURRENT_LIST_DIR}/check_memory.c
    ${CMAKE_CURRENT_LIST_DIR}/check_faulty.c)
  target_link_libraries(belfry-check-memory PRIVATE belfry_check_world)
  belfry_add_shaders(belfry-check-memory ${check_shaders})
  belfry_add_test(specialize_check_memory SUITE unit DRIVER icd ENV BELFRY_ICD_SHAPE=q1
    COMMAND belfry-check-memory)
endif()
