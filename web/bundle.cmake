# The interactive page of `berth report`: built from web/ with npm and esbuild into a C source of the
# build folder, which becomes part of berth_host. BERTH_REPORT says whether:
#   AUTO  if npm is installed and its packages can be had; else berth writes static pages
#   ON    a build without it fails
#   OFF   never
set(BERTH_REPORT AUTO CACHE STRING "Build the interactive page of `berth report`: AUTO, ON, OFF")
set_property(CACHE BERTH_REPORT PROPERTY STRINGS AUTO ON OFF)

set(page_bundle ${PROJECT_BINARY_DIR}/web/page_bundle.c)
if(BERTH_REPORT)
  find_program(NPM npm)
  find_program(NODE NAMES node nodejs)
endif()
if(BERTH_REPORT STREQUAL "ON" AND NOT (NPM AND NODE))
  message(FATAL_ERROR "BERTH_REPORT=ON needs npm and node, which are not installed")
endif()

if(BERTH_REPORT AND NPM AND NODE)
  file(GLOB page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  add_custom_command(
    OUTPUT ${page_bundle}
    COMMAND ${PROJECT_SOURCE_DIR}/web/bundle ${page_bundle} ${BERTH_REPORT} ${NPM} ${NODE}
    DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/web/bundle ${PROJECT_SOURCE_DIR}/web/bundle.mjs
            ${PROJECT_SOURCE_DIR}/web/empty_bundle.c ${PROJECT_SOURCE_DIR}/web/package-lock.json
    COMMENT "Building the interactive page of berth report" VERBATIM)
else()
  set(page_bundle ${PROJECT_SOURCE_DIR}/web/empty_bundle.c)
  if(BERTH_REPORT)
    message(STATUS "npm is not installed: `berth report` will write static pages")
  endif()
endif()
target_sources(berth_host PRIVATE ${page_bundle})
