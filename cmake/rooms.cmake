# SPDX-License-Identifier: MIT
# Rooms: the folders of preload/ and tools/. Their ROOMS file lists them; each is built as one object library.

# The names of the rooms in ROOMS of this folder, in its order. A room without a folder is an error, and a folder without a line.
function(dft_rooms out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ROOMS)
  file(STRINGS ROOMS lines REGEX "^[^#]")
  set(rooms)
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([a-z]+):([ a-z]*)$")
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/ROOMS: '${line}' is no line 'room: rooms that it may use'")
    endif()
    set(room ${CMAKE_MATCH_1})
    separate_arguments(used UNIX_COMMAND "${CMAKE_MATCH_2}")
    foreach(name IN LISTS used)
      if(NOT name IN_LIST rooms)
        message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/ROOMS: ${room} uses '${name}', which is no room above it. "
                            "The rooms above it are: ${rooms}")
      endif()
    endforeach()
    if(NOT IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${room})
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/ROOMS: there is no folder for the room '${room}'. "
                          "Make the folder, or correct the name")
    endif()
    list(APPEND rooms ${room})
  endforeach()
  file(GLOB folders RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/*.c)
  foreach(file IN LISTS folders)
    get_filename_component(folder ${file} DIRECTORY)
    if(NOT folder IN_LIST rooms)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/ROOMS: the folder '${folder}' has no line. "
                          "Add '${folder}: rooms that it may use'")
    endif()
  endforeach()
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

# The object library PREFIX_ROOM of all sources of a room. FLAGS: an interface library with how they are compiled. Sources after it are
# left out.
function(dft_add_room prefix room flags)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.c ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.S)
  foreach(left_out IN LISTS ARGN)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${left_out})
  endforeach()
  add_library(${prefix}_${room} OBJECT ${sources})
  target_link_libraries(${prefix}_${room} PRIVATE ${flags})
endfunction()
