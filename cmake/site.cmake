# SPDX-License-Identifier: MIT
# The pages of README.md and docs/ as a site that is read with any browser and without a network: `cmake --build BUILD
# --target site` makes BUILD/site/index.html. With DFT_SITE it is part of the build, and installed as the component
# dftrace-doc.
option(DFT_SITE "Build and install the site of the documentation" OFF)
set(DFT_SITE_ALL)
if(DFT_SITE)
  set(DFT_SITE_ALL ALL)
endif()
find_program(DFT_SPHINX sphinx-build)
if(DFT_SPHINX)
  message(STATUS "site of the documentation: ${DFT_SPHINX}")
  add_custom_target(site ${DFT_SITE_ALL}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/site
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 ${DFT_SPHINX} -q -W --keep-going -b html -c ${PROJECT_SOURCE_DIR}/docs/site
            -d ${CMAKE_BINARY_DIR}/site-doctrees ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/site
    VERBATIM)
else()
  message(STATUS "site of the documentation: none (install sphinx, MyST and furo: python3-sphinx)")
  add_custom_target(site ${DFT_SITE_ALL}
    COMMAND ${CMAKE_COMMAND} -E echo "The site needs Sphinx: apt-get install python3-sphinx python3-myst-parser python3-sphinx-copybutton furo, and configure again."
    COMMAND ${CMAKE_COMMAND} -E false
    VERBATIM)
endif()
if(DFT_SITE)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html COMPONENT dftrace-doc PATTERN .buildinfo EXCLUDE)
endif()
