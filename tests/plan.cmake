# plan/install: the planner's library as its users get it, in C and C++.
if(NOT BERTH_SANITIZE)
  add_test(NAME plan/install COMMAND ${PROJECT_SOURCE_DIR}/tools/check-install ${PROJECT_BINARY_DIR})
  set_tests_properties(plan/install PROPERTIES SKIP_REGULAR_EXPRESSION "skipped")
endif()
