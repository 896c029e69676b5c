# SPDX-License-Identifier: MIT
# What 'cmake --install' puts where. Everything refers to everything else by relative names, so the
# whole prefix may be moved afterwards. The target 'uninstall' takes back the last installation.
include(CMakePackageConfigHelpers)
include("${CMAKE_CURRENT_LIST_DIR}/manifests.cmake")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Belfry")
file(RELATIVE_PATH libdir_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")

# Library and headers.
install(TARGETS belfry EXPORT BelfryTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime NAMELINK_COMPONENT Development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT Development FILES_MATCHING PATTERN "*.h")

# find_package(Belfry) gives Belfry::belfry.
install(EXPORT BelfryTargets NAMESPACE Belfry:: DESTINATION "${package_dir}" COMPONENT Development)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/BelfryConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/install/BelfryConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/install/BelfryConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion) # before 1.0, a new minor version may change anything
install(FILES "${PROJECT_BINARY_DIR}/install/BelfryConfig.cmake"
  "${PROJECT_BINARY_DIR}/install/BelfryConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT Development)

# pkg-config belfry: relative to the file itself.
file(RELATIVE_PATH BELFRY_PREFIX_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH BELFRY_LIBDIR_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH BELFRY_INCLUDEDIR_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/belfry.pc.in" "${PROJECT_BINARY_DIR}/install/belfry.pc"
  @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/install/belfry.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Development)

# The layer, which finds the library beside itself, and its manifests.
if(TARGET VkLayer_belfry)
  set_target_properties(VkLayer_belfry PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS VkLayer_belfry
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime NAMELINK_SKIP)
  foreach(kind explicit implicit)
    install(FILES "${PROJECT_BINARY_DIR}/install/${kind}/${BELFRY_MANIFEST}"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/vulkan/${kind}_layer.d" COMPONENT Runtime)
  endforeach()
endif()

# What the specialiser starts to build pipelines in; it looks for it beside the layer.
if(TARGET belfry_build_helper)
  install(TARGETS belfry_build_helper RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/belfry"
    COMPONENT Runtime)
endif()

# The command.
set_target_properties(belfry_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_bin}")
install(TARGETS belfry_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Runtime)

add_custom_target(uninstall
  COMMAND "${CMAKE_COMMAND}" "-DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt"
    -P "${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake"
  COMMENT "Removing what was installed last" VERBATIM USES_TERMINAL)
