# Tests of the model reader that are more than a cmocka program.

# model/fuzz: a few seconds of mutated model files. tools/fuzz runs the same program for long, and
# under the sanitizers.
add_executable(fuzz_model model/fuzz.c)
target_include_directories(fuzz_model PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(fuzz_model PRIVATE berth_graph berth_model berth_plan)
file(GLOB fuzz_models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.tflite)
add_test(NAME model/fuzz COMMAND fuzz_model 20000 1 0 ${fuzz_models})

# model/flatc: flatc, the second reader, sees the same in every model. Larger models take long, as
# flatc prints each weight; give compare_flatc.py a larger limit to compare them as well.
add_executable(dump_model model/dump.c)
add_executable(write_sample model/write_sample.c)
foreach(program dump_model write_sample)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endforeach()
target_link_libraries(dump_model PRIVATE berth_host berth_model)
target_link_libraries(write_sample PRIVATE berth_model)
if(Python3_FOUND)
  if(DEFINED ENV{BERTH_SHARED})
    set(flatc_corpus $ENV{BERTH_SHARED}/corpus)
  else()
    set(flatc_corpus ${PROJECT_SOURCE_DIR}/../shared/corpus)
  endif()
  add_test(NAME model/flatc
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/model/compare_flatc.py
                   $<TARGET_FILE:dump_model> $<TARGET_FILE:write_sample> 200000
                   ${PROJECT_SOURCE_DIR}/models ${flatc_corpus})
else()
  add_test(NAME model/flatc COMMAND ${CMAKE_COMMAND} -E echo "skipped: python3 is not installed")
endif()
set_tests_properties(model/flatc PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
