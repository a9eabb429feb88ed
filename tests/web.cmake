# web/facts and web/page: the interactive page of `berth report`, its figures in node alone, and all
# of it in a headless Chromium. They need no npm; without node or chromium they are skipped.
find_program(NODE NAMES node nodejs)
if(NODE AND TARGET berth AND NOT BERTH_SANITIZE)
  add_test(NAME web/facts COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/web/test/facts.mjs)
  add_test(NAME web/page
           COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/web/test/page.mjs $<TARGET_FILE:berth>
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(web/page PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: " TIMEOUT 300)
elseif(NOT BERTH_SANITIZE)
  add_test(NAME web/page COMMAND ${CMAKE_COMMAND} -E echo "skipped: node is not installed")
  set_tests_properties(web/page PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
