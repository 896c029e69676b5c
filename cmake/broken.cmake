# Deliberately broken schedulers, for the tests that must catch them: the same sources with one rule
# switched off, each in a folder of its own that looks like <build>/lib. Never installed.
#   rule_m       timeline waits go to the driver at once
#   binary_wait  held packets lose their binary waits
#   recheck      nobody looks again after releasing an engine's lock
#   ticket       a queue's wait is satisfied by what its fence is when the queue comes to it
#   elision      hand-overs between engines lose some of their semaphore waits
#   causal_order signals apply in another order than they were given
get_target_property(sources belfry SOURCES)
get_target_property(root belfry SOURCE_DIR)
list(FILTER sources EXCLUDE REGEX "[.]h$") # made with the library itself
list(TRANSFORM sources PREPEND ${root}/ REGEX "^[^/$]")
#   hooks        nothing is broken: tests may step in where races are decided (runtime/os/hook.h)
set(faults hooks)
if(NOT BELFRY_SANITIZE) # the broken ones would fail of themselves
  list(APPEND faults rule_m binary_wait recheck ticket elision causal_order)
endif()
foreach(fault ${faults})
  string(TOUPPER ${fault} FAULT)
  set(folder ${CMAKE_BINARY_DIR}/broken/${fault})
  set(copy belfry_broken_${fault})
  add_library(${copy} SHARED ${sources})
  if(fault STREQUAL "hooks")
    target_compile_definitions(${copy} PRIVATE BELFRY_HOOKS)
  else()
    target_compile_definitions(${copy} PRIVATE BELFRY_BREAK_${FAULT})
  endif()
  target_include_directories(${copy} PRIVATE ${CMAKE_SOURCE_DIR}/runtime
    ${CMAKE_SOURCE_DIR}/runtime/include ${CMAKE_BINARY_DIR}/runtime)
  add_dependencies(${copy} belfry)
  target_link_libraries(${copy} PRIVATE belfry_options belfry_spirv_tools)
  set_target_properties(${copy} PROPERTIES SOVERSION 0 OUTPUT_NAME belfry
    LIBRARY_OUTPUT_DIRECTORY ${folder})
  # The layer holds no policy: the same one, which finds the library beside itself.
  add_custom_target(${copy}_layer ALL
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:VkLayer_belfry> ${folder}
    DEPENDS VkLayer_belfry VERBATIM)
  configure_file(${CMAKE_BINARY_DIR}/lib/VkLayer_belfry_multi_engine.json
    ${folder}/VkLayer_belfry_multi_engine.json COPYONLY)
endforeach()
