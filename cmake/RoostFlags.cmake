# Warnings, optimisation and sanitizers, in one interface target that everything of ours links.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED)

add_library(roost_flags INTERFACE)
target_compile_options(roost_flags INTERFACE -pthread)  # some libraries ask for it: then all have the same flags
target_compile_options(roost_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -fno-omit-frame-pointer -fstack-protector-strong)
target_include_directories(roost_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(roost_flags INTERFACE Threads::Threads fmt::fmt Boost::headers)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(NOT ROOST_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")  # optimised, and assertions stay on; a sanitizer's preset has its own
endif()
if(ROOST_SANITIZE)
  target_compile_options(roost_flags INTERFACE -fsanitize=${ROOST_SANITIZE} -fno-sanitize-recover=all)
  # What g++ 12 says of the standard library's own code once it is instrumented.
  target_compile_options(roost_flags INTERFACE -Wno-maybe-uninitialized)
  if(ROOST_SANITIZE MATCHES undefined)
    # The check of vtables asks a pipe whether memory is readable, and takes an object for broken when no descriptor is
    # left to make one: the tests of just that would fail for the tool's own need.
    target_compile_options(roost_flags INTERFACE -fno-sanitize=vptr)
    if(NOT ROOST_LIBFUZZER)
      # A third of the time that the build takes. A null pointer ends the program under ASan anyway, and the long fuzzing
      # looks for both.
      target_compile_options(roost_flags INTERFACE -fno-sanitize=null,alignment)
    endif()
  endif()
  target_link_options(roost_flags INTERFACE -fsanitize=${ROOST_SANITIZE})
endif()
if(ROOST_LIBFUZZER)
  target_compile_options(roost_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(roost_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
