# SPDX-License-Identifier: MIT
# Programs that know Belfry, through its public header alone: on several drivers, under the layer and
# attached by the program itself.
set(fixture support/fixture.c support/work.c support/lines.c support/traced.c)
add_library(belfry_fixture STATIC ${fixture})
target_link_libraries(belfry_fixture PUBLIC belfry belfry_test_loader)
add_dependencies(belfry_fixture VkLayer_belfry belfry_test_icd)
# For tests that look inside, with the library's objects instead.
add_library(belfry_fixture_inside STATIC ${fixture})
target_link_libraries(belfry_fixture_inside PUBLIC belfry_internal belfry_test_vulkan)
add_dependencies(belfry_fixture_inside belfry_test_icd)

# One engine for all, several of one kind, one kind for each, and as further drivers have them; where
# each turn costs many times as much, the extremes alone.
set(fixture_shapes q1 nvidia)
if(NOT BELFRY_SANITIZE)
  list(APPEND fixture_shapes q2 radv intel nvk)
endif()

# fixture_executable(NAME SOURCE...): belfry-FOLDER-NAME of NAME.c; its tests are called FOLDER_NAME_*.
macro(fixture_executable name)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_executable(belfry-${folder}-${name} ${name}.c ${ARGN})
  target_link_libraries(belfry-${folder}-${name} PRIVATE belfry_fixture)
endmacro()

# lavapipe, or a shape of the test driver.
macro(fixture_driver driver)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(below DRIVER icd ENV BELFRY_ICD_SHAPE=${driver})
  if(${driver} STREQUAL "lavapipe")
    set(below DRIVER lavapipe ENV)
  endif()
endmacro()

# fixture_more(VARIABLE DRIVER WAY): which builds leave that to ./dev test --more. What costs most is shared: of a
# driver's two ways in, 'attached' and 'layer', asan takes one and tsan the other; of native fences asan has the
# nvidia shape's and tsan the rest; the shapes q2 and radv, and Khronos' validation, take one each; intel and nvk none.
function(fixture_more variable driver way)
  set(way "${driver} ${way}")
  set(builds address)
  if(way MATCHES "^(lavapipe attached|nvidia attached|nvidia native|(q1|q2) layer)$")
    set(builds thread)
  endif()
  if(way MATCHES "^(q2 attached|radv layer|(intel|nvk) .*|(lavapipe attached|nvidia layer) validated)$")
    list(APPEND builds plain)
  endif()
  set(${variable} ${builds} PARENT_SCOPE)
endfunction()

# fixture_test(NAME DRIVER...)
function(fixture_test name)
  fixture_executable(${name})
  foreach(driver ${ARGN})
    fixture_driver(${driver})
    # Half a minute each in a sanitizer's build: one driver of Mesa's and one shape are enough there.
    set(long)
    if(driver STREQUAL "nvidia" AND name MATCHES "^(adapters|healthy)$")
      set(long address thread)
    endif()
    fixture_more(more ${driver} attached)
    list(APPEND more ${long})
    belfry_add_test(${folder}_${name}_${driver}_attached SUITE fence MORE ${more} ${below}
      COMMAND belfry-${folder}-${name})
    fixture_more(more ${driver} layer)
    list(APPEND more ${long})
    belfry_add_test(${folder}_${name}_${driver}_layer SUITE fence MORE ${more} ${below} LAYER
      COMMAND belfry-${folder}-${name})
  endforeach()
endfunction()

# fixture_native_test(NAME DRIVER...): that executable, with native fences among the others.
function(fixture_native_test name)
  foreach(driver ${ARGN})
    fixture_driver(${driver})
    fixture_more(more ${driver} native)
    belfry_add_test(${folder}_${name}_${driver}_native SUITE fence MORE ${more} ${below}
      BELFRY_TEST_NATIVE_FENCES=1 COMMAND belfry-${folder}-${name})
  endforeach()
endfunction()

# fixture_validated_test(NAME...): with Khronos' validation and synchronisation validation next to the
# driver: what Belfry makes of it all is valid. (That layer isn't built for sanitizers.)
function(fixture_validated_test)
  if(BELFRY_SANITIZE)
    return()
  endif()
  foreach(name ${ARGN})
    foreach(driver lavapipe nvidia)
      fixture_driver(${driver})
      list(APPEND below VK_LAYER_PATH=${CMAKE_BINARY_DIR}/lib:/usr/share/vulkan/explicit_layer.d
        VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT)
      # Of layers that VK_INSTANCE_LAYERS names this loader takes the order of the folders in
      # VK_LAYER_PATH: the first is nearest the program.
      fixture_more(more ${driver} "attached validated")
      belfry_add_test(${folder}_${name}_${driver}_attached_validated SUITE fence MORE ${more} ${below}
        VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation COMMAND belfry-${folder}-${name})
      fixture_more(more ${driver} "layer validated")
      belfry_add_test(${folder}_${name}_${driver}_layer_validated SUITE fence MORE ${more} ${below}
        VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine:VK_LAYER_KHRONOS_validation
        ${belfry_for_validation} COMMAND belfry-${folder}-${name})
    endforeach()
  endforeach()
endfunction()
