# stock/fuzz: a few seconds of mutated models whose memory is forecast; tools/fuzz runs it for long.
add_executable(fuzz_stock stock/fuzz.c)
target_include_directories(fuzz_stock PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fuzz_stock PRIVATE berth_stock berth_graph berth_model berth_plan)
add_test(NAME stock/fuzz COMMAND fuzz_stock 5000 1 0 ${fuzz_models})
