# What 'cmake --install' puts where. Everything refers to everything else by relative names, so the
# whole prefix may be moved afterwards. To uninstall: the target 'uninstall'.
include("${CMAKE_CURRENT_LIST_DIR}/manifests.cmake")
