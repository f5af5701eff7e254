# SPDX-License-Identifier: MIT
# The target `uninstall` removes what `cmake --install` has written from this build folder.
# cmake/uninstall/before.cmake, which runs first, and after.cmake, which runs last, keep a record of that.
set(all)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
  set(all ALL_COMPONENTS)
endif()
install(CODE "set(DFT_RECORDS \"${CMAKE_BINARY_DIR}/installed\")" ${all})
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/uninstall/after.cmake ${all})
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D DFT_RECORDS=${CMAKE_BINARY_DIR}/installed
                                    -P ${CMAKE_CURRENT_LIST_DIR}/uninstall/remove.cmake VERBATIM)
