# SPDX-License-Identifier: MIT
# Included before all that installs, so that `cmake --install` first runs before.cmake: it notes which of the folders
# that others use, too, are there already. (Folders below these have our name.)
set(shared ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR}/cmake ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_INCLUDEDIR}
           ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
           ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${CMAKE_INSTALL_MANDIR}/man1)
get_filename_component(documents ${CMAKE_INSTALL_DOCDIR} DIRECTORY)
set(all)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
  set(all ALL_COMPONENTS)
endif()
install(CODE "set(DFT_SHARED ${shared} ${documents})" ${all})
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/before.cmake ${all})
