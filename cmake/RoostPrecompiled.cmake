# What nearly every file includes, parsed once: a third of a clean build's time. Off where a compiler cache stands in
# front of the compiler, which knows better, and where one wants to see that every file includes what it uses.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompiled_default OFF)
else()
  set(precompiled_default ON)
endif()
option(ROOST_PCH "Precompile headers of the standard library and of fmt, Boost and Catch2" ${precompiled_default})

set(roost_precompiled <algorithm> <array> <atomic> <cerrno> <chrono> <cstdint> <cstring> <functional> <map> <memory>
    <mutex> <optional> <string> <string_view> <thread> <unordered_map> <utility> <vector> <fmt/compile.h> <fmt/format.h>
    <boost/container/small_vector.hpp>)

# roost_precompile(TARGET FROM): TARGET uses what was precompiled for FROM, whose flags it must share. Definitions may
# differ, as none of ours means anything to those headers.
function(roost_precompile target from)
  if(ROOST_PCH)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

if(ROOST_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
  add_library(roost_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(roost_precompiled PRIVATE roost_flags)
  target_precompile_headers(roost_precompiled PRIVATE ${roost_precompiled})
endif()
