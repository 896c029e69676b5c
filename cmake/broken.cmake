# Copies of the library for tests, each in a folder of its own that looks like <build>/lib: the same
# objects, save those of the sources that differ. Never installed.

# belfry_copy(NAME DEFINITION SOURCE...): those sources of runtime/ have the definition. All that look
# at it, themselves or by a header, are to be named.
function(belfry_copy name definition)
  set(folder ${CMAKE_BINARY_DIR}/broken/${name})
  set(copy belfry_broken_${name})
  set(objects $<TARGET_OBJECTS:belfry>)
  foreach(source ${ARGN})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/runtime/${source})
      message(FATAL_ERROR "There is no runtime/${source}, which is to differ in '${name}'")
    endif()
    string(REPLACE "." "[.]" object "/${source}.o$")
    set(objects $<FILTER:${objects},EXCLUDE,${object}>)
  endforeach()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/runtime/ OUTPUT_VARIABLE sources)
  add_library(${copy} SHARED ${sources} ${objects})
  target_compile_definitions(${copy} PRIVATE ${definition})
  target_include_directories(${copy} PRIVATE ${CMAKE_SOURCE_DIR}/runtime
    ${CMAKE_SOURCE_DIR}/runtime/include ${CMAKE_BINARY_DIR}/runtime)
  add_dependencies(${copy} belfry)
  get_target_property(libraries belfry LINK_LIBRARIES)
  target_link_libraries(${copy} PRIVATE ${libraries})
  set_target_properties(${copy} PROPERTIES SOVERSION 0 OUTPUT_NAME belfry
    LIBRARY_OUTPUT_DIRECTORY ${folder})
  # The layer holds no policy: the same one, which finds the library beside itself.
  add_custom_target(${copy}_layer ALL
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:VkLayer_belfry> ${folder}
    DEPENDS VkLayer_belfry VERBATIM)
  add_dependencies(${copy} ${copy}_layer)
  configure_file(${CMAKE_BINARY_DIR}/lib/VkLayer_belfry_multi_engine.json
    ${folder}/VkLayer_belfry_multi_engine.json COPYONLY)
endfunction()

# Nothing is broken: tests may step in where races are decided (runtime/base/hook.h).
belfry_copy(hooks BELFRY_HOOKS fence/native.c fence/sleeper.c)

# Deliberately broken schedulers, for the tests that must catch them: one rule is switched off in
# each. Under sanitizers they would fail of themselves.
#   rule_m       timeline waits go to the driver at once
#   binary_wait  held packets lose their binary waits
#   recheck      nobody looks again after releasing an engine's lock
#   ticket       a queue's wait is satisfied by what its fence is when the queue comes to it
#   elision      hand-overs between engines lose some of their semaphore waits
#   causal_order signals apply in another order than they were given
if(NOT BELFRY_SANITIZE)
  belfry_copy(rule_m BELFRY_BREAK_RULE_M queue/semaphore.c)
  belfry_copy(binary_wait BELFRY_BREAK_BINARY_WAIT queue/packet.c)
  belfry_copy(recheck BELFRY_BREAK_RECHECK queue/engine.c queue/queue.c queue/command_queue.c)
  belfry_copy(ticket BELFRY_BREAK_TICKET queue/command_queue.c)
  belfry_copy(elision BELFRY_BREAK_ELISION queue/command_queue.c)
  belfry_copy(causal_order BELFRY_BREAK_CAUSAL_ORDER fence/ledger.c)
endif()
