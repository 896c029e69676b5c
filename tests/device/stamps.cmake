find_file(VOLK_SOURCE volk.c REQUIRED)
belfry_objects(parts trace/stamps.c trace/calibration.c)
add_executable(test_stamps ${CMAKE_CURRENT_LIST_DIR}/stamps_device.c ${parts} ${VOLK_SOURCE})
target_include_directories(test_stamps PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
target_link_libraries(test_stamps PRIVATE belfry_internal trace_decode PkgConfig::VULKAN
  belfry_test_support ${CMAKE_DL_LIBS})
belfry_add_test(device_stamps SUITE device DRIVER lavapipe COMMAND test_stamps)
