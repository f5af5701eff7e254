# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: the library, the tools, the headers, and how other builds find them (pkg-config,
# CMake). Included by the top CMakeLists.txt after all targets exist.
include(CMakePackageConfigHelpers)

# Each thing belongs to the package whose name its component has (cpack.cmake).
install(TARGETS dftmerge dftrun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dftrace-tools)
foreach(target IN ITEMS dftrace dftcupti dftsqlite)
  if(TARGET ${target})
    set(component_dftrace libdftrace)
    set(component_dftcupti libdftrace)
    set(component_dftsqlite dftrace-tools)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component_${target}})
  endif()
endforeach()
if(TARGET dftmerge-mpi)
  install(TARGETS dftmerge-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dftrace-mpi)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/preload/weave/files/ DESTINATION ${CMAKE_INSTALL_DATADIR}/dftrace/weave COMPONENT libdftrace
        FILES_MATCHING PATTERN "*.weave")
install(FILES ${PROJECT_SOURCE_DIR}/preload/valgrind/dftrace.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/dftrace/valgrind
        COMPONENT libdftrace)

# Documents lie to each other as in the source tree, so that their links lead somewhere.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dftrace-doc)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN site EXCLUDE PATTERN generate.py EXCLUDE PATTERN pictures.py EXCLUDE PATTERN quickstart.sh EXCLUDE PATTERN __pycache__ EXCLUDE)

# The rest is for who compiles something with it.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libdftrace-dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

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
  set(DFT_DFTRACER_VERSION 2.0.0) # whose interface the headers have, and that of versions before
  foreach(name dftracer_core dftracer_preload)
    file(CREATE_LINK libdftrace.so ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libdftrace)
  endforeach()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/dftracer.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dftracer.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftracer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/dftracer-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/dftracer-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dftracer
    PATH_VARS DFT_PRELOAD_LIBRARY CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dftracer-config-version.cmake VERSION ${DFT_DFTRACER_VERSION}
                                   COMPATIBILITY AnyNewerVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dftracer-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/dftracer-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dftracer)
endif()
