# Shaders: analysis and folding, without a device but for one test.
find_program(SPIRV_OPT spirv-opt REQUIRED)

# All of shaders/, again as spirv-opt leaves them, and some in newer SPIR-V that speaks of its
# sources; shaders.c has a table of them.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/shaders/*.*)
set(includes "")
set(rows "")
set(objects "")
set(stage_vert VERTEX)
set(stage_frag FRAGMENT)
set(stage_comp COMPUTE)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(extension ${source} LAST_EXT)
  string(SUBSTRING ${extension} 1 -1 extension)
  set(forms plain _opt)
  if(name MATCHES "^(types|reach|loops)$")
    list(APPEND forms _debug)
  endif()
  foreach(form IN LISTS forms)
    string(REPLACE plain "" form ${form})
    set(symbol ${name}${form}_${extension})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.spv)
    if(form STREQUAL "_debug")
      add_custom_command(OUTPUT ${object} DEPENDS ${source} VERBATIM
        COMMAND ${GLSLANG} --quiet -gVS --target-env vulkan1.3 -o ${object} ${source})
    elseif(form)
      add_custom_command(OUTPUT ${object} VERBATIM
        DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}_${extension}.spv
        COMMAND ${SPIRV_OPT} -O --target-env=vulkan1.1spv1.4 --scalar-block-layout
          ${CMAKE_CURRENT_BINARY_DIR}/${name}_${extension}.spv -o ${object})
    else()
      add_custom_command(OUTPUT ${object} DEPENDS ${source} VERBATIM
        COMMAND ${GLSLANG} --quiet --target-env vulkan1.1 -o ${object} ${source})
    endif()
    list(APPEND objects ${object})
    string(APPEND rows "ROW(${symbol}, \"${name}${form}.${extension}\", ${stage_${extension}})\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/rows.h CONTENT "${rows}")

add_library(belfry_specialize_helper STATIC helper.c shaders.c ${objects})
target_include_directories(belfry_specialize_helper PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}
  PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
set_source_files_properties(shaders.c PROPERTIES OBJECT_DEPENDS "${objects}"
  COMPILE_DEFINITIONS "SHADERS=\"${CMAKE_CURRENT_BINARY_DIR}\"")
target_link_libraries(belfry_specialize_helper PUBLIC belfry_specialize belfry_internal belfry_options
  PkgConfig::VULKAN belfry_test_support)

foreach(name members reach traps fold watch facts sha256)
  add_executable(belfry-specialize-${name} ${name}.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_specialize_helper)
  set_target_properties(belfry-specialize-${name} PROPERTIES LINKER_LANGUAGE CXX)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none ONE_THREAD
    COMMAND belfry-specialize-${name})
endforeach()

# Damaged modules; more of them: bin/belfry-specialize-mutate --count N --seed N.
add_executable(belfry-specialize-mutate mutate.c)
target_link_libraries(belfry-specialize-mutate PRIVATE belfry_specialize_helper)
set_target_properties(belfry-specialize-mutate PROPERTIES LINKER_LANGUAGE CXX)
belfry_add_test(specialize_mutate SUITE unit DRIVER none ONE_THREAD COMMAND belfry-specialize-mutate
  ARGS --count 1500 --seed 1)

# General and folded shaders side by side.
add_executable(belfry-specialize-device device.c)
target_link_libraries(belfry-specialize-device PRIVATE belfry_specialize_helper ${CMAKE_DL_LIBS})
set_target_properties(belfry-specialize-device PROPERTIES LINKER_LANGUAGE CXX)
belfry_add_test(specialize_device SUITE device DRIVER lavapipe COMMAND belfry-specialize-device)

# Without memory: the parts are built into the test, so that their allocations can fail.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
set(parts ${runtime}/base/sha256.c ${runtime}/specialize/shader/tools.cpp)
foreach(part shader parse loads reach facts fold watch)
  list(APPEND parts ${runtime}/specialize/shader/${part}.c)
endforeach()
add_executable(belfry-specialize-memory memory.c helper.c shaders.c ${parts})
target_include_directories(belfry-specialize-memory PRIVATE ${runtime} ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(belfry-specialize-memory PRIVATE belfry_options PkgConfig::VULKAN
  belfry_test_support ${SPIRV_TOOLS_LIBRARY})
target_link_options(belfry-specialize-memory PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc
  -Wl,--wrap=realloc -Wl,--wrap=strdup)
add_dependencies(belfry-specialize-memory belfry_specialize_helper) # makes the shaders
belfry_add_test(specialize_memory SUITE unit DRIVER none COMMAND belfry-specialize-memory)
