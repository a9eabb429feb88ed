# docs/readme: README.md shows what the program prints. Needs Python 3, which models.cmake looks for.
if(TARGET berth AND Python3_FOUND)
  add_test(NAME docs/readme
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/readme --check
                   $<TARGET_FILE:berth>)
endif()
