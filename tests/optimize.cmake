# Tests of `berth optimize` that are more than a cmocka program.

# optimize/fuzz: mutated models, edited and written.
add_executable(fuzz_optimize optimize/fuzz.c)
target_include_directories(fuzz_optimize PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(fuzz_optimize PRIVATE berth_optimize berth_run berth_operators berth_graph
                                            berth_model berth_plan)
file(GLOB fuzz_optimize_models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.tflite)
add_test(NAME optimize/fuzz COMMAND fuzz_optimize 20000 1 0 ${fuzz_optimize_models})

# optimize/flatc: flatc, the second reader, reads every output, and the same as in the original
# where nothing was to change. tools/check-optimize also asks stock runtimes, if they are there.
if(Python3_FOUND AND TARGET berth)
  add_test(NAME optimize/flatc
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/check-optimize
                   --berth $<TARGET_FILE:berth> --flatc-limit 100000 ${PROJECT_SOURCE_DIR}/models)
else()
  add_test(NAME optimize/flatc COMMAND ${CMAKE_COMMAND} -E echo "skipped: python3 is not installed")
endif()
set_tests_properties(optimize/flatc PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
