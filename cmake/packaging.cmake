# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: the library, the tools, the headers, and how other builds find them (pkg-config,
# CMake). Included by the top CMakeLists.txt after all targets exist.
include(CMakePackageConfigHelpers)

foreach(target dftrace dftcupti dftmerge dftrun dftsqlite)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(TARGET dftmerge-mpi)
  install(TARGETS dftmerge-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dftrace-mpi)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/preload/weave/files/ DESTINATION ${CMAKE_INSTALL_DATADIR}/dftrace/weave FILES_MATCHING PATTERN "*.weave")
install(FILES ${PROJECT_SOURCE_DIR}/preload/valgrind/dftrace.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/dftrace/valgrind)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Annotations are in the header alone: programs link nothing.
add_library(dftrace_annotations INTERFACE)
set_target_properties(dftrace_annotations PROPERTIES EXPORT_NAME dftrace)
target_include_directories(dftrace_annotations INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS dftrace_annotations EXPORT dftraceTargets)

set(DFT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/dftrace)
install(EXPORT dftraceTargets NAMESPACE dftrace:: DESTINATION ${DFT_CMAKE_DIR})
set(DFT_PRELOAD_LIBRARY ${CMAKE_INSTALL_LIBDIR}/libdftrace.so)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/dftraceConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/dftraceConfig.cmake
  INSTALL_DESTINATION ${DFT_CMAKE_DIR}
  PATH_VARS DFT_PRELOAD_LIBRARY)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dftraceConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftraceConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dftraceConfigVersion.cmake
        DESTINATION ${DFT_CMAKE_DIR})

# Relative to where the .pc file lies, so that an installed tree can be moved.
file(RELATIVE_PATH DFT_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/dftrace.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dftrace.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For build lines that were written for DFTracer: -ldftracer_core and -ldftracer_preload, pkg-config dftracer, find_package(dftracer).
option(DFT_DFTRACER_NAMES "Install the library under DFTracer's names, too" ON)
if(DFT_DFTRACER_NAMES)
  foreach(name dftracer_core dftracer_preload)
    file(CREATE_LINK libdftrace.so ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/dftracer.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dftracer.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftracer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/dftracer-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/dftracer-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dftracer
    PATH_VARS DFT_PRELOAD_LIBRARY CMAKE_INSTALL_INCLUDEDIR)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftracer-config.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dftracer)
endif()
