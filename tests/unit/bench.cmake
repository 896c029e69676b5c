add_executable(belfry-bench-variants-test bench_variants.c
  ${PROJECT_SOURCE_DIR}/samples/bench/variants.c)
target_link_libraries(belfry-bench-variants-test PRIVATE belfry_options belfry_test_support)
belfry_add_test(unit_bench_variants SUITE unit DRIVER none COMMAND belfry-bench-variants-test)
