belfry_objects(message_parts base/message.c)
add_executable(test_message ${CMAKE_CURRENT_LIST_DIR}/message.c ${message_parts})
target_include_directories(test_message PRIVATE ${CMAKE_SOURCE_DIR}/runtime
  ${CMAKE_SOURCE_DIR}/runtime/include)
target_link_libraries(test_message PRIVATE belfry_options PkgConfig::VULKAN belfry_test_support)
belfry_add_test(unit_message SUITE unit DRIVER none COMMAND test_message)
