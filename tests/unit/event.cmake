# Events, built into the test: a thread sanitizer sees only what it has built, and the test decides
# what poll and the allocator do.
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
# (An event tells the observers when it has been seen.)
belfry_objects(parts scheduler/observer.c base/handle.c base/map.c base/message.c)
foreach(name event event_threads)
  add_executable(test_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${runtime}/fence/event.c ${parts})
  target_include_directories(test_${name} PRIVATE ${runtime} ${runtime}/include)
  target_compile_options(test_${name} PRIVATE -U_FORTIFY_SOURCE) # it renames ppoll
  target_link_libraries(test_${name} PRIVATE belfry_options PkgConfig::VULKAN belfry_test_support)
  belfry_add_test(unit_${name} SUITE unit DRIVER none COMMAND test_${name})
endforeach()
target_link_options(test_event PRIVATE -Wl,--wrap=ppoll -Wl,--wrap=calloc)
