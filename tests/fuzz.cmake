# model/fuzz: a few seconds of mutated model files. tools/fuzz runs the same program for long, and
# under the sanitizers.
add_executable(fuzz_model model/fuzz.c)
target_include_directories(fuzz_model PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(fuzz_model PRIVATE berth_graph berth_model berth_plan)
file(GLOB fuzz_models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.tflite)
add_test(NAME model/fuzz COMMAND fuzz_model 20000 1 0 ${fuzz_models})
