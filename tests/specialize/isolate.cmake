# Builds in a process of their own.
add_library(belfry_isolate_parts STATIC
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/isolate.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/spawn.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/wire.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/wire_graphics.c)
target_include_directories(belfry_isolate_parts PUBLIC ${CMAKE_SOURCE_DIR}/runtime
  ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_libraries(belfry_isolate_parts PUBLIC belfry_options PkgConfig::VULKAN
  belfry_test_support ${CMAKE_DL_LIBS})
find_file(VOLK_SOURCE volk.c REQUIRED)

add_executable(belfry-isolate-wire ${CMAKE_CURRENT_LIST_DIR}/isolate_wire.c)
target_link_libraries(belfry-isolate-wire PRIVATE belfry_isolate_parts)
belfry_add_test(isolate_wire SUITE unit DRIVER none COMMAND belfry-isolate-wire)

# Helpers that crash, hang, refuse and talk nonsense.
add_executable(belfry-isolate-faults ${CMAKE_CURRENT_LIST_DIR}/isolate_faults.c
  ${CMAKE_CURRENT_LIST_DIR}/isolate_helper.c ${VOLK_SOURCE})
target_link_libraries(belfry-isolate-faults PRIVATE belfry_isolate_parts)
add_dependencies(belfry-isolate-faults belfry_build_helper belfry_test_icd)
belfry_add_test(isolate_faults SUITE unit DRIVER icd COMMAND belfry-isolate-faults)

# As the library would find the helper: beside itself.
add_library(belfry_isolate_place MODULE
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/isolate.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/spawn.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/wire.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/isolate/wire_graphics.c
  ${CMAKE_SOURCE_DIR}/runtime/base/message.c)
target_include_directories(belfry_isolate_place PRIVATE ${CMAKE_SOURCE_DIR}/runtime
  ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_libraries(belfry_isolate_place PRIVATE belfry_options PkgConfig::VULKAN
  ${CMAKE_DL_LIBS})
set_target_properties(belfry_isolate_place PROPERTIES C_VISIBILITY_PRESET default)

# A driver that compiles.
add_executable(belfry-isolate-builds ${CMAKE_CURRENT_LIST_DIR}/isolate_builds.c
  ${CMAKE_CURRENT_LIST_DIR}/isolate_helper.c ${VOLK_SOURCE})
target_link_libraries(belfry-isolate-builds PRIVATE belfry_isolate_parts)
belfry_add_shaders(belfry-isolate-builds ${CMAKE_CURRENT_LIST_DIR}/isolate.comp
  ${CMAKE_CURRENT_LIST_DIR}/isolate.vert ${CMAKE_CURRENT_LIST_DIR}/isolate.frag)
add_dependencies(belfry-isolate-builds belfry_build_helper belfry_isolate_place)
belfry_add_test(isolate_builds SUITE unit DRIVER lavapipe COMMAND belfry-isolate-builds)
