# SPDX-License-Identifier: MIT
# RPM packages (cpack -G RPM), under the names that such systems use. rpmbuild strips programs and finds what they need.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
# Folders that other packages have, too.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/man /usr/share/man/man1 /usr/lib/cmake /usr/lib/pkgconfig /usr/${CMAKE_INSTALL_LIBDIR}
    /usr/${CMAKE_INSTALL_LIBDIR}/cmake /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(DFT_PYTHON_PACKAGE)
  get_filename_component(folder /usr/${DFT_PYTHON_INSTALL_DIR} DIRECTORY)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${folder} /usr/${DFT_PYTHON_INSTALL_DIR})
endif()
# Links by build id, in a folder that packages share.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
set(needs_libdftrace-dev libdftrace)
set(needs_dftrace-tools libdftrace)
set(needs_dftrace-mpi dftrace-tools)
set(needs_python3-dftrace dftrace-tools)
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(component ${package})
  if(package STREQUAL "python3-dftrace")
    set(component python) # as `cmake --install` has it; components.cmake puts it into the list
  endif()
  string(REPLACE -dev -devel CPACK_RPM_${component}_PACKAGE_NAME ${package})
  set(CPACK_RPM_${component}_PACKAGE_SUMMARY "${summary_${package}}")
  set(CPACK_RPM_${component}_PACKAGE_DESCRIPTION "${text_${package}}")
  if(needs_${package})
    set(CPACK_RPM_${component}_PACKAGE_REQUIRES "${needs_${package}} = ${PROJECT_VERSION}")
  endif()
endforeach()
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/components.cmake)
set(CPACK_RPM_dftrace-doc_PACKAGE_ARCHITECTURE noarch)
