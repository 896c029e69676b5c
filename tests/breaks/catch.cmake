# SPDX-License-Identifier: MIT
# The tests FOLDER_catches_NAME: what tests/breaks/NAME.break says that must fail (docs/testing.md, 'Breaks').

# The lines of one kind, each the words behind the preset, for this build's preset, and their messages.
# belfry_facts(NAME KIND): 'facts' is a list of numbers; fact_N are the words, fact_N_message is the message.
function(belfry_facts name kind)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tests/breaks/${name}.break lines REGEX "^(test|random|model|message): ")
  list(REVERSE lines)
  set(message)
  set(facts)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+): (.*)$" line "${line}")
    set(text "${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_1 STREQUAL "message")
      set(message "${text}")
      continue()
    endif()
    if(CMAKE_MATCH_1 STREQUAL "${kind}")
      separate_arguments(words UNIX_COMMAND "${text}")
      list(POP_FRONT words preset)
      # docs/guarantees.md names the tests as a debug build has them: those of 'release' are there, too.
      if(NOT preset STREQUAL "debug" OR CMAKE_BUILD_TYPE STREQUAL "Debug")
        list(LENGTH facts number)
        list(APPEND facts ${number})
        set(fact_${number} "${words}" PARENT_SCOPE)
        set(fact_${number}_message "${message}" PARENT_SCOPE)
      endif()
    endif()
    set(message)
  endforeach()
  set(facts "${facts}" PARENT_SCOPE)
endfunction()

# belfry_catch(NAME FOLDER PROGRAM PATTERN [layer] [lavapipe] [hooks] [hangs] [through=FILE] [NAME=VALUE...]), as in the break:
# those tests of belfry-FOLDER-PROGRAM, which links the broken library, and with 'layer' runs under its layer.
function(belfry_catch break message folder program pattern)
  set(options)
  if(message)
    set(options --message ${message})
  endif()
  set(suite fence)
  set(driver icd)
  set(sound)
  set(environment LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/broken/${break})
  set(through)
  foreach(word IN LISTS ARGN)
    if(word STREQUAL "layer")
      set(suite layer)
      list(APPEND environment VK_INSTANCE_LAYERS=VK_LAYER_BELFRY_multi_engine
        "VK_LAYER_PATH=${CMAKE_BINARY_DIR}/broken/${break}:/usr/share/vulkan/explicit_layer.d")
    elseif(word STREQUAL "lavapipe")
      set(driver lavapipe)
    elseif(word STREQUAL "hooks")
      list(PREPEND options --hooks)
      set(sound belfry_broken_hooks)
    elseif(word STREQUAL "hangs")
      list(PREPEND options --hangs)
    elseif(word MATCHES "^through=(.*)$")
      find_program(SHELL_PROGRAM sh REQUIRED)
      set(through ${SHELL_PROGRAM} ${PROJECT_SOURCE_DIR}/tests/${CMAKE_MATCH_1} $<TARGET_FILE:belfry_cli>)
    else()
      list(APPEND environment ${word})
    endif()
  endforeach()
  if(pattern STREQUAL "-")
    set(pattern)
  endif()
  string(REGEX REPLACE "^${folder}_" "" short ${break})
  belfry_add_test(${folder}_catches_${short} SUITE ${suite} DRIVER ${driver} ENV ${environment}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/breaks/catch.sh
    ARGS ${options} ${through} $<TARGET_FILE:belfry-${folder}-${program}> ${pattern}
    NEEDS ${sound} belfry_broken_${break} belfry-${folder}-${program})
endfunction()

# belfry_catch_alone(TEST NAME SOUND BROKEN), of 'FOLDER PROGRAM ARGUMENTS... alone': the executable BROKEN has the
# source with the break in it, and SOUND the source as it is, or is 'true' where that takes long and runs in any case.
# The driver may be named behind.
function(belfry_catch_alone test break sound broken)
  set(driver none)
  if(ARGN)
    set(driver ${ARGN})
  endif()
  if(TARGET ${sound})
    set(sound $<TARGET_FILE:${sound}>)
  endif()
  belfry_facts(${break} test)
  foreach(fact IN LISTS facts)
    list(SUBLIST fact_${fact} 2 -1 arguments)
    list(POP_BACK arguments) # 'alone'
    belfry_add_test(${test} SUITE unit DRIVER ${driver} ONE_THREAD COMMAND ${PROJECT_SOURCE_DIR}/tests/breaks/catch.sh
      ARGS --message ${fact_${fact}_message} --sound ${sound} $<TARGET_FILE:${broken}> ${arguments})
  endforeach()
endfunction()

# belfry_catch_unit(NAME MESSAGE FOLDER PROGRAM ARGUMENTS...), of 'FOLDER PROGRAM ARGUMENTS... [NAME=VALUE...] unit': a
# program into which the source is built, once more with the break in it; on the test driver if one of the values is
# that driver's.
function(belfry_catch_unit break message folder program)
  foreach(target belfry_${program} test_${program} test_${folder}_${program} belfry-${folder}-${program})
    if(TARGET ${target})
      set(sound ${target})
    endif()
  endforeach()
  belfry_break(broken ${break})
  set(name ${sound}-${break})
  get_target_property(top ${sound} SOURCE_DIR)
  get_target_property(sources ${sound} SOURCES)
  string(REGEX REPLACE "(^|;)([A-Za-z_.][A-Za-z0-9_./]*[.]c)" "\\1${top}/\\2" sources "${sources}")
  # In the specialiser's objects the folder is the target's name.
  string(REGEX REPLACE "^specialize/" "belfry_specialize.dir/./" of_specializer ${broken_source})
  string(REPLACE "." "[.]" without
    "/${broken_source}.o$|/runtime/${broken_source}$|/${of_specializer}.o$")
  # Of an archive no member is taken whose names are there already.
  add_executable(${name} ${broken} "$<FILTER:${sources},EXCLUDE,${without}>")
  foreach(property LINK_LIBRARIES LINK_OPTIONS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    get_target_property(value ${sound} ${property})
    if(value)
      set_property(TARGET ${name} PROPERTY ${property} "${value}")
    endif()
  endforeach()
  target_compile_options(${name} PRIVATE -w)
  add_dependencies(${name} ${sound}) # whose shaders are compiled first
  # Headers with hooks in them are the test's own.
  set_source_files_properties(${broken} PROPERTIES INCLUDE_DIRECTORIES
    "${PROJECT_SOURCE_DIR}/runtime;${CMAKE_BINARY_DIR}/runtime/specialize")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/runtime
    ${PROJECT_SOURCE_DIR}/runtime/include ${CMAKE_BINARY_DIR}/runtime)
  if(broken_source MATCHES "^include/") # of a public header's functions the program has its own
    target_include_directories(${name} BEFORE PRIVATE ${broken_folder}/include
      ${PROJECT_SOURCE_DIR}/runtime/include/belfry)
  endif()
  list(POP_BACK ARGN) # 'unit'
  list(TRANSFORM ARGN REPLACE "^through=" "--through;${PROJECT_SOURCE_DIR}/tests/" OUTPUT_VARIABLE through)
  list(FILTER through INCLUDE REGEX "^(--through|/)")
  list(FILTER ARGN EXCLUDE REGEX "^through=")
  set(how --message ${message})
  if("hangs" IN_LIST ARGN)
    set(how --hangs)
    list(REMOVE_ITEM ARGN hangs)
  endif()
  set(environment ${ARGN})
  list(FILTER environment INCLUDE REGEX "^[A-Z_]+=")
  list(FILTER ARGN EXCLUDE REGEX "^[A-Z_]+=")
  set(driver none)
  if(environment MATCHES "BELFRY_ICD_")
    set(driver icd)
  endif()
  string(REGEX REPLACE "^${folder}_" "" short ${break})
  belfry_add_test(${folder}_catches_${short} SUITE unit DRIVER ${driver} ENV ${environment}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/breaks/catch.sh
    ARGS ${how} --sound $<TARGET_FILE:${sound}> ${through} $<TARGET_FILE:${name}> ${ARGN})
endfunction()

# belfry_catch_helper(NAME MESSAGE FOLDER PROGRAM ARGUMENTS... [icd] helper): a program that starts build helpers, on
# lavapipe or the test driver, and a helper with the break in it.
function(belfry_catch_helper break message folder program)
  belfry_break(broken ${break})
  set(name belfry_broken_${break}_helper)
  get_target_property(top belfry_build_helper SOURCE_DIR)
  get_target_property(sources belfry_build_helper SOURCES)
  list(TRANSFORM sources PREPEND ${top}/)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/runtime/${broken_source})
  add_executable(${name} ${broken} ${sources}) # in front of the archive, from which its member isn't taken then
  foreach(property LINK_LIBRARIES LINK_OPTIONS INCLUDE_DIRECTORIES)
    get_target_property(value belfry_build_helper ${property})
    if(value)
      set_property(TARGET ${name} PROPERTY ${property} "${value}")
    endif()
  endforeach()
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/runtime
    ${PROJECT_SOURCE_DIR}/runtime/include ${CMAKE_BINARY_DIR}/runtime)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${broken_folder})
  list(POP_BACK ARGN) # 'helper'
  set(driver lavapipe)
  if("icd" IN_LIST ARGN)
    set(driver icd)
    list(REMOVE_ITEM ARGN icd)
  endif()
  belfry_add_test(${folder}_catches_${break} SUITE unit DRIVER ${driver} COMMAND ${PROJECT_SOURCE_DIR}/tests/breaks/catch.sh
    ARGS --message ${message} --helper $<TARGET_FILE:${name}> $<TARGET_FILE:belfry-${folder}-${program}> ${ARGN}
    NEEDS ${name} belfry-${folder}-${program})
endfunction()

# Of all breaks, once there are the programs; those that a folder sees to by itself are 'alone', 'random' and 'model'.
function(belfry_catch_all)
  file(GLOB breaks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/breaks/*.break)
  foreach(path IN LISTS breaks)
    get_filename_component(name ${path} NAME_WLE)
    belfry_facts(${name} test)
    foreach(fact IN LISTS facts)
      if("unit" IN_LIST fact_${fact})
        belfry_catch_unit(${name} "${fact_${fact}_message}" ${fact_${fact}})
      elseif("helper" IN_LIST fact_${fact})
        belfry_catch_helper(${name} "${fact_${fact}_message}" ${fact_${fact}})
      elseif(NOT "alone" IN_LIST fact_${fact})
        belfry_catch(${name} "${fact_${fact}_message}" ${fact_${fact}})
      endif()
    endforeach()
  endforeach()
endfunction()
