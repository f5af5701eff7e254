# SPDX-License-Identifier: MIT
# Run by `cmake --install` before all else: which folders are there already?
set(DFT_THERE)
file(GLOB pythons LIST_DIRECTORIES true RELATIVE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}"
     "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/python3*/site-packages")
foreach(folder IN LISTS DFT_SHARED pythons)
  get_filename_component(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${folder}" ABSOLUTE)
  while(NOT folder STREQUAL "/")
    if(EXISTS "${folder}")
      list(APPEND DFT_THERE "${folder}")
    endif()
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
endforeach()
