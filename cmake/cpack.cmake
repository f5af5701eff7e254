# SPDX-License-Identifier: MIT
# Packages: `cpack` makes those of this system, `cpack -G DEB`, `-G RPM` and `-G TGZ` those that they name. What is in
# which package is said where it is installed: a component of that name.
set(DFT_PACKAGE_CONTACT "dftrace maintainers <dftrace@dftrace.invalid>" CACHE STRING
    "Who answers for packages that this build makes: Name <address>")
set(CPACK_PACKAGE_CONTACT ${DFT_PACKAGE_CONTACT})
set(CPACK_PACKAGE_VENDOR dftrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_COMPONENTS_ALL libdftrace libdftrace-dev dftrace-tools dftrace-doc)
if(TARGET dftmerge-mpi)
  list(APPEND CPACK_COMPONENTS_ALL dftrace-mpi)
endif()
if(DFT_PYTHON_PACKAGE)
  list(APPEND CPACK_COMPONENTS_ALL python3-dftrace)
endif()

# A line of a description has up to 78 columns.
set(summary_libdftrace "library that traces the I/O of unmodified programs")
set(text_libdftrace "libdftrace.so is loaded before other libraries (LD_PRELOAD), and records every
call of POSIX and STDIO I/O in a few bytes. dftrun, in the package
dftrace-tools, runs programs with it.")
set(summary_libdftrace-dev "headers for annotations in I/O traces")
set(text_libdftrace-dev "The headers with which C and C++ programs name regions in their traces, and
the files by which pkg-config and CMake find them. Programs that were written
for DFTracer compile with them, too.")
set(summary_dftrace-tools "shows where the I/O time of programs goes")
set(text_dftrace-tools "dftrun runs a program under the tracer. dftmerge reads the traces: findings,
summaries, a page to look at, comparisons of runs, SQL, and other formats.")
set(summary_dftrace-doc "documentation and examples of the I/O tracer dftrace")
set(text_dftrace-doc "A tutorial, a page for each command, the formats of traces and of output, and
small programs to try.")
set(summary_dftrace-mpi "reads I/O traces of large MPI jobs on many nodes")
set(text_dftrace-mpi "dftmerge-mpi is dftmerge, of the package dftrace-tools, whose work the ranks of
an MPI job share.")
set(summary_python3-dftrace "annotations and a reader of I/O traces for Python")
set(text_python3-dftrace "Regions and entities in traces of Python programs, a launcher (python3 -m
dftrace run), a reader of traces, and integrations of PyTorch, fsspec, pytest
and Jupyter.")

find_program(DFT_DPKG dpkg)
find_program(DFT_RPMBUILD rpmbuild)
include(cmake/debian.cmake)
include(cmake/rpm.cmake)
if(DFT_DPKG)
  set(CPACK_GENERATOR DEB)
elseif(DFT_RPMBUILD)
  set(CPACK_GENERATOR RPM)
else()
  set(CPACK_GENERATOR TGZ)
endif()
include(CPack)
