# SPDX-License-Identifier: MIT
# Completions for bash, zsh and fish, made of the options that the built dftmerge and dftrun list.
if(CMAKE_CROSSCOMPILING)
  list(GET CMAKE_CROSSCOMPILING_EMULATOR 0 emulator) # NOTFOUND without one
  find_program(DFT_EMULATOR NAMES ${emulator})
endif()
if(DFT_SANITIZE OR (CMAKE_CROSSCOMPILING AND NOT DFT_EMULATOR))
  message(STATUS "completions for shells: none (this build's programs are not run)")
  return()
endif()
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "completions for shells: none (install Python 3.9 or later: python3)")
  return()
endif()
set(folder ${CMAKE_BINARY_DIR}/completion)
set(templates ${PROJECT_SOURCE_DIR}/cmake/completion)
file(GLOB sources CONFIGURE_DEPENDS ${templates}/*)
file(MAKE_DIRECTORY ${folder})
set(made bash/dftmerge bash/dftrun zsh/_dftmerge zsh/_dftrun fish/dftmerge.fish fish/dftmerge-mpi.fish fish/dftrun.fish)
list(TRANSFORM made PREPEND ${folder}/)
add_custom_command(
  OUTPUT ${made}
  COMMAND dftmerge --list-options > ${folder}/dftmerge.txt
  COMMAND dftrun --list-options > ${folder}/dftrun.txt
  COMMAND ${Python3_EXECUTABLE} ${templates}/generate.py ${folder}/dftmerge.txt ${folder}/dftrun.txt ${folder}
  DEPENDS ${sources} dftmerge dftrun VERBATIM)
add_custom_target(completion ALL DEPENDS ${made})
if(TARGET portable)
  add_dependencies(portable completion)
endif()

set(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dftrace-tools)
install(FILES ${folder}/bash/dftmerge ${folder}/bash/dftrun DESTINATION ${bash})
install(FILES ${folder}/zsh/_dftmerge ${folder}/zsh/_dftrun DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${folder}/fish/dftmerge.fish ${folder}/fish/dftrun.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
if(TARGET dftmerge-mpi)
  # bash finds a file by the name of the command.
  file(CREATE_LINK dftmerge ${folder}/dftmerge-mpi SYMBOLIC)
  install(FILES ${folder}/dftmerge-mpi DESTINATION ${bash} COMPONENT dftrace-mpi)
  install(FILES ${folder}/fish/dftmerge-mpi.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT dftrace-mpi)
endif()
