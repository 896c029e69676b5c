# Shaders: analysis and folding, without a device but for one test.
find_program(SPIRV_OPT spirv-opt REQUIRED)

# All of shaders/, and again as spirv-opt leaves them; shaders.c has a table of them.
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
  foreach(form "" _opt)
    set(symbol ${name}${form}_${extension})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.spv)
    if(form)
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
target_link_libraries(belfry_specialize_helper PUBLIC belfry_internal belfry_options
  PkgConfig::VULKAN PkgConfig::CMOCKA PRIVATE ${SPIRV_TOOLS_LIBRARY})

foreach(name members reach)
  add_executable(belfry-specialize-${name} ${name}.c)
  target_link_libraries(belfry-specialize-${name} PRIVATE belfry_specialize_helper)
  set_target_properties(belfry-specialize-${name} PROPERTIES LINKER_LANGUAGE CXX)
  belfry_add_test(specialize_${name} SUITE unit DRIVER none COMMAND belfry-specialize-${name})
endforeach()
