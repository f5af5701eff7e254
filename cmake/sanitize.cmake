# SPDX-License-Identifier: MIT
# Sanitizers (DFT_SANITIZE) for everything that is ours but the preload library: that one lives in other people's
# programs, where a sanitizer's runtime cannot be, so such a build has no preload library and no tests of it.
if(DFT_SANITIZE)
  add_compile_options(-fsanitize=${DFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DFT_SANITIZE})
  if(DFT_SANITIZE MATCHES thread)
    add_library(dft_tsan OBJECT ${PROJECT_SOURCE_DIR}/cmake/tsan.c)
    link_libraries(dft_tsan)
  endif()
endif()
