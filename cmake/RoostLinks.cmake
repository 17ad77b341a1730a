# roost_links_of(<source file> <result variable>)
#   The libraries named in the file's comment line `// links: roost_http roost_net` (one of its first lines), so that a
#   new fuzz target or benchmark is one new file. Changing the line configures again. Where a library of this project
#   does not exist in this build (a module switched off), the result is NOTFOUND and the caller leaves the program out.
function(roost_links_of source result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} line REGEX "^// links:" LIMIT_COUNT 1)
  string(REGEX REPLACE "^// links:" "" libraries "${line}")
  separate_arguments(libraries)
  foreach(library ${libraries})
    if(library MATCHES "^roost_" AND NOT TARGET ${library})
      message(STATUS "${source}: left out, there is no ${library} in this build")
      set(libraries NOTFOUND)
      break()
    endif()
  endforeach()
  set(${result} "${libraries}" PARENT_SCOPE)
endfunction()
