# What is remembered on disk. The archive is built into its tests: they make calls of the C library
# fail, and a thread sanitizer sees only what it has built.
add_library(belfry_archive_parts STATIC ${CMAKE_CURRENT_LIST_DIR}/archive_helper.c
  ${CMAKE_SOURCE_DIR}/runtime/base/sha256.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/archive/archive.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/archive/compact.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/archive/index.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/archive/record.c
  ${CMAKE_SOURCE_DIR}/runtime/specialize/archive/cache_file.c)
target_include_directories(belfry_archive_parts PUBLIC ${CMAKE_SOURCE_DIR}/runtime
  ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_libraries(belfry_archive_parts PUBLIC belfry_options PkgConfig::VULKAN
  belfry_test_support)
foreach(name round damage disk processes memory)
  add_executable(belfry-archive-${name} ${CMAKE_CURRENT_LIST_DIR}/archive_${name}.c)
  target_link_libraries(belfry-archive-${name} PRIVATE belfry_archive_parts)
  belfry_add_test(archive_${name} SUITE unit DRIVER none COMMAND belfry-archive-${name})
endforeach()
target_link_options(belfry-archive-disk PRIVATE -Wl,--wrap=write -Wl,--wrap=renameat
  -Wl,--wrap=getauxval)
target_link_options(belfry-archive-memory PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc
  -Wl,--wrap=realloc)
