# SPDX-License-Identifier: MIT
# Copies of the library for tests, each in a folder of its own that looks like <build>/lib: the same
# objects, save one for each break. Never installed.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# belfry_break(VARIABLE NAME): tests/breaks/NAME.break, applied when it or the source changes. The
# variable is the copy of the source that has the break; <its folder> is an include path that has it
# by the name the source has in runtime/, or layer/NAME.
function(belfry_break variable name)
  set(break ${PROJECT_SOURCE_DIR}/tests/breaks/${name}.break)
  file(STRINGS ${break} source REGEX "^file: ")
  string(REPLACE "file: " "" source "${source}")
  set(folder ${CMAKE_BINARY_DIR}/breaks/${name})
  set(sources ${PROJECT_SOURCE_DIR}/runtime)
  if(source MATCHES "^layer/")
    set(sources ${PROJECT_SOURCE_DIR})
  endif()
  set(copy ${folder}/${source})
  add_custom_command(OUTPUT ${copy} VERBATIM
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/breaks apply ${break}
      ${PROJECT_SOURCE_DIR}/runtime ${copy}
    DEPENDS ${break} ${sources}/${source} ${PROJECT_SOURCE_DIR}/tools/breaks)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${break}) # it names the source
  set(${variable} ${copy} PARENT_SCOPE)
  set(${variable}_source ${source} PARENT_SCOPE)
  set(${variable}_folder ${folder} PARENT_SCOPE)
endfunction()

# belfry_copy(NAME BREAK... [WITH FILE]): the library with these breaks, and with a file below tests/
# whose header they may name.
function(belfry_copy name)
  cmake_parse_arguments(C "" "WITH" "" ${ARGN})
  set(folder ${CMAKE_BINARY_DIR}/broken/${name})
  set(copy belfry_broken_${name})
  set(objects ${BELFRY_OBJECTS})
  set(sources)
  set(of_layer)
  foreach(break ${C_UNPARSED_ARGUMENTS})
    belfry_break(broken ${break})
    if(broken_source MATCHES "^layer/(.*)$")
      set(of_layer ${broken})
      string(REPLACE "." "[.]" layer_object "/VkLayer_belfry.dir/./${CMAKE_MATCH_1}.o$")
      continue()
    endif()
    if(broken_source MATCHES "^specialize/")
      set(of_layer ${broken}) # in front of the archive, from which its member isn't taken then
      set(layer_object "^$")
      continue()
    endif()
    list(APPEND sources ${broken})
    string(REPLACE "." "[.]" object "/${broken_source}.o$")
    set(objects $<FILTER:${objects},EXCLUDE,${object}>)
  endforeach()
  add_library(${copy} SHARED ${sources} ${objects})
  target_compile_options(${copy} PRIVATE -w) # what the break leaves unused, or out of bounds
  target_include_directories(${copy} PRIVATE ${CMAKE_SOURCE_DIR}/runtime
    ${CMAKE_SOURCE_DIR}/runtime/include ${CMAKE_BINARY_DIR}/runtime)
  if(C_WITH)
    string(REGEX REPLACE "[.]c$" ".h" header ${C_WITH})
    target_sources(${copy} PRIVATE ${PROJECT_SOURCE_DIR}/tests/${C_WITH})
    target_include_directories(${copy} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_options(${copy} PRIVATE "SHELL:-include ${header}")
    target_link_options(${copy} PRIVATE
      -Wl,--version-script=${PROJECT_SOURCE_DIR}/tests/support/exports.map)
  endif()
  add_dependencies(${copy} belfry)
  get_target_property(libraries belfry LINK_LIBRARIES)
  target_link_libraries(${copy} PRIVATE ${libraries})
  get_target_property(options belfry LINK_OPTIONS)
  target_link_options(${copy} PRIVATE ${options})
  get_target_property(soversion belfry SOVERSION)
  set_target_properties(${copy} PROPERTIES SOVERSION ${soversion} OUTPUT_NAME belfry
    LIBRARY_OUTPUT_DIRECTORY ${folder})
  # The layer holds no policy: the same one, which finds the library beside itself.
  if(NOT of_layer)
    add_custom_target(${copy}_layer ALL
      COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:VkLayer_belfry> ${folder}
      DEPENDS VkLayer_belfry VERBATIM)
  else()
    add_library(${copy}_layer MODULE ${of_layer}
      "$<FILTER:$<TARGET_OBJECTS:VkLayer_belfry>,EXCLUDE,${layer_object}>")
    foreach(property LINK_LIBRARIES LINK_OPTIONS INCLUDE_DIRECTORIES)
      get_target_property(value VkLayer_belfry ${property})
      set_property(TARGET ${copy}_layer PROPERTY ${property} "${value}")
    endforeach()
    target_compile_options(${copy}_layer PRIVATE -w)
    set_target_properties(${copy}_layer PROPERTIES OUTPUT_NAME VkLayer_belfry
      LIBRARY_OUTPUT_DIRECTORY ${folder})
  endif()
  if(BELFRY_SPECIALIZE)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_BINARY_DIR}/lib/belfry ${folder}/belfry SYMBOLIC) # the build helper
  endif()
  add_dependencies(${copy} ${copy}_layer)
  configure_file(${CMAKE_BINARY_DIR}/lib/VkLayer_belfry_multi_engine.json
    ${folder}/VkLayer_belfry_multi_engine.json COPYONLY)
endfunction()

# Nothing is broken: tests may step in where races are decided.
belfry_copy(hooks hook_monitored WITH support/hook.c)

# Deliberately broken ones, for the tests that must catch them: one for each file of tests/breaks, but
# for those whose tests have the one source in them ('unit', 'alone'), or a helper process that has it ('helper'), those whose tests are another
# preset's, and those in which nothing is broken. Under sanitizers they would fail of themselves.
if(NOT BELFRY_SANITIZE)
  file(GLOB breaks CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/tests/breaks
    ${PROJECT_SOURCE_DIR}/tests/breaks/*.break)
  list(FILTER breaks EXCLUDE REGEX "^hook_")
  list(TRANSFORM breaks REPLACE "[.]break$" "")
  set(presets release)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(presets "debug|release")
  endif()
  foreach(name IN LISTS breaks)
    file(STRINGS ${PROJECT_SOURCE_DIR}/tests/breaks/${name}.break tests
      REGEX "^(test|random|model): (${presets}) ")
    list(FILTER tests EXCLUDE REGEX " (alone|helper|unit)$")
    if(tests MATCHES " hooks( |$)") # whose tests step in where races are decided
      belfry_copy(${name} ${name} hook_monitored WITH support/hook.c)
    elseif(tests)
      belfry_copy(${name} ${name})
    endif()
  endforeach()
endif()
