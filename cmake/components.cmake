# SPDX-License-Identifier: MIT
# Run by cpack for each kind of package. RPM systems have Python's modules where `cmake --install` puts them, Debian has
# a place of its own.
if(CPACK_GENERATOR STREQUAL "RPM")
  list(TRANSFORM CPACK_COMPONENTS_ALL REPLACE "^python3-dftrace$" python)
endif()
