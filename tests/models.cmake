# models/current: the shipped models are what their generator writes. Needs Python 3, nothing else.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME models/current
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/make_models.py --check)
else()
  add_test(NAME models/current
           COMMAND ${CMAKE_COMMAND} -E echo "skipped: python3 is not installed")
  set_tests_properties(models/current PROPERTIES SKIP_REGULAR_EXPRESSION "skipped")
endif()
