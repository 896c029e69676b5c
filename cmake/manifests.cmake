# SPDX-License-Identifier: MIT
# belfry_manifest(OUTPUT LIBRARY_PATH [IMPLICIT]): writes the layer's manifest for one place.
# LIBRARY_PATH is relative to the manifest, so that the tree may be moved. The implicit variant is
# loaded into every Vulkan program that runs with BELFRY=1, unless DISABLE_BELFRY=1.
function(belfry_manifest output library_path)
  cmake_parse_arguments(M "IMPLICIT" "" "" ${ARGN})
  set(BELFRY_LIBRARY_PATH "${library_path}")
  math(EXPR BELFRY_LIBRARY_ARCH "8 * ${CMAKE_SIZEOF_VOID_P}")
  if(M_IMPLICIT)
    # Without the extension: what an implicit layer declares is listed to every program, and
    # loaders before 1.3.268, which don't know the name, refuse those that enable all they see.
    set(BELFRY_VARIANT [=[
        "enable_environment": {
            "BELFRY": "1"
        },
        "disable_environment": {
            "DISABLE_BELFRY": "1"
        },]=])
  else()
    set(BELFRY_VARIANT [=[
        "instance_extensions": [
            {
                "name": "VK_EXT_layer_settings",
                "spec_version": "2"
            }
        ],]=])
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/json/VkLayer_belfry.json.in" "${output}" @ONLY NEWLINE_STYLE UNIX)
endfunction()

set(BELFRY_MANIFEST VkLayer_belfry_multi_engine.json)

# The build tree's own: VK_LAYER_PATH=<build>/lib is all it takes.
belfry_manifest("${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${BELFRY_MANIFEST}" "./libVkLayer_belfry.so")
belfry_manifest("${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/implicit_layer.d/${BELFRY_MANIFEST}"
  "../libVkLayer_belfry.so" IMPLICIT)

# The installed ones.
file(RELATIVE_PATH libdir_from_manifests
  "${CMAKE_INSTALL_FULL_DATADIR}/vulkan/explicit_layer.d" "${CMAKE_INSTALL_FULL_LIBDIR}")
belfry_manifest("${PROJECT_BINARY_DIR}/install/explicit/${BELFRY_MANIFEST}"
  "${libdir_from_manifests}/libVkLayer_belfry.so")
belfry_manifest("${PROJECT_BINARY_DIR}/install/implicit/${BELFRY_MANIFEST}"
  "${libdir_from_manifests}/libVkLayer_belfry.so" IMPLICIT)
