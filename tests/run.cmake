# run/valgrind/<model>: a shipped model executed under valgrind, which sees reads of uninitialised
# bytes that AddressSanitizer doesn't.
if(TARGET berth AND NOT BERTH_SANITIZE)
  find_program(VALGRIND valgrind)
  if(VALGRIND)
    foreach(model mobilenet_v1_0.25_96_int8 segmentation_float16 lstm_sequence_int8 control_flow
                  dynamic_shape resource_variables)
      add_test(NAME run/valgrind/${model}
               COMMAND ${VALGRIND} --quiet --error-exitcode=9 --leak-check=full
                       --show-leak-kinds=all --errors-for-leak-kinds=all
                       $<TARGET_FILE:berth> run --invokes 2
                       ${PROJECT_SOURCE_DIR}/models/${model}.tflite)
    endforeach()
    # Under the guard valgrind has nothing to say about right operators, and shows where wrong ones
    # leave their memory.
    add_test(NAME run/valgrind/guard
             COMMAND ${VALGRIND} --quiet --error-exitcode=9 $<TARGET_FILE:berth> run --guard
                     ${PROJECT_SOURCE_DIR}/models/svdf_keyword_int8.tflite)
    find_path(MEMCHECK valgrind/memcheck.h)
    if(MEMCHECK)
      add_test(NAME run/valgrind/faults COMMAND ${VALGRIND} $<TARGET_FILE:test_run_guard>)
      set_tests_properties(run/valgrind/faults PROPERTIES
        ENVIRONMENT BERTH_TEST_POISON=1 PASS_REGULAR_EXPRESSION "Invalid (read|write) of size")
    endif()
  else()
    add_test(NAME run/valgrind COMMAND ${CMAKE_COMMAND} -E echo "skipped: valgrind is not installed")
    set_tests_properties(run/valgrind PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endif()
endif()

# run/fuzz: a few seconds of mutated models that are executed; tools/fuzz runs it for long.
add_executable(fuzz_run run/fuzz.c)
target_include_directories(fuzz_run PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fuzz_run PRIVATE berth_run berth_operators berth_graph berth_model berth_arena
                                       berth_plan)
add_test(NAME run/fuzz COMMAND fuzz_run 3000 1 0 ${fuzz_models})

# host/fuzz: a few mutants that are streamed, with saved plans too, and planned with shared memory.
add_executable(fuzz_host host/fuzz.c)
target_include_directories(fuzz_host PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fuzz_host PRIVATE berth_host berth_optimize berth_stock berth_run
                                        berth_operators berth_graph berth_model berth_arena
                                        berth_plan)
add_test(NAME host/fuzz COMMAND fuzz_host 150 1 0 ${fuzz_models})

# One model in every way that must not matter: tools/test-corpus runs it on the reference data,
# run/ways on the shipped models.
add_executable(ways run/ways.c)
target_include_directories(ways PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(ways PRIVATE berth_host berth_optimize berth_stock berth_run berth_operators
                                   berth_graph berth_model berth_arena berth_plan)
set(way_models)
foreach(model control_flow detector_two_outputs_int8 ds_cnn_kws_int8 dynamic_shape lstm_sequence_int8
              resnet8_int8 resource_variables segmentation_float16 svdf_keyword_int8)
  list(APPEND way_models ${PROJECT_SOURCE_DIR}/models/${model}.tflite)
endforeach()
add_test(NAME run/ways COMMAND ways --quick ${way_models})
