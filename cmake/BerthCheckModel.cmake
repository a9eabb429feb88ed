# berth_check_model: a test that fails when a model's arena grows beyond its budget.
#
#   find_program(BERTH berth REQUIRED)      # optional: done here if BERTH is not set
#   include(BerthCheckModel)
#   berth_check_model(NAME keyword_fits MODEL models/keyword.tflite MAX_ARENA 64K
#                     [RUNTIME plan|berth|tflm|tflite] [OPTIONS --align 8 ...] [TARGET firmware])
#
# NAME is that of the ctest test, which says what takes most memory if it fails. With TARGET, the
# check also runs before that target is built, and the build stops if the model is over the limit.
# The options are those of `berth check`.
function(berth_check_model)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;MODEL;MAX_ARENA;RUNTIME;TARGET" "OPTIONS")
  foreach(needed NAME MODEL MAX_ARENA)
    if(NOT arg_${needed})
      message(FATAL_ERROR "berth_check_model: ${needed} is missing")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "berth_check_model: what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT BERTH)
    find_program(BERTH berth HINTS ${BERTH_CHECK_MODEL_BIN})
  endif()
  if(NOT BERTH)
    message(FATAL_ERROR "berth_check_model: the program berth is not found; set BERTH to its path")
  endif()
  get_filename_component(model ${arg_MODEL} ABSOLUTE)
  if(NOT EXISTS ${model})
    message(FATAL_ERROR "berth_check_model: there is no ${model}")
  endif()
  set(command ${BERTH} check ${model} --max-arena ${arg_MAX_ARENA})
  if(arg_RUNTIME)
    list(APPEND command --runtime ${arg_RUNTIME})
  endif()
  list(APPEND command ${arg_OPTIONS})
  add_test(NAME ${arg_NAME} COMMAND ${command})
  if(arg_TARGET)
    add_custom_target(${arg_NAME}_check COMMAND ${command} VERBATIM)
    add_dependencies(${arg_TARGET} ${arg_NAME}_check)
  endif()
endfunction()

# The program installed beside this file: lib/cmake/berth or lib/<triplet>/cmake/berth of a prefix.
set(BERTH_CHECK_MODEL_BIN ${CMAKE_CURRENT_LIST_DIR}/../../../bin
                          ${CMAKE_CURRENT_LIST_DIR}/../../../../bin)
