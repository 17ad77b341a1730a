# Warnings, optimisation and sanitizers, in one interface target that everything of ours links.
include(CheckCXXCompilerFlag)
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
# What makes a fault harder to exploit, in builds that are meant to run. Not with sanitizers, which look for faults
# themselves, nor without optimisation, which FORTIFY needs. For a file of 612 bytes the assertions take 2.1 % more
# instructions of user code and CET 1.9 %, the others none; four fifths of such a request's time are the kernel's.
if(NOT ROOST_SANITIZE AND NOT ROOST_LIBFUZZER AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(roost_flags INTERFACE
    -fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
  target_link_options(roost_flags INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
  foreach(option stack-clash-protection cf-protection=full)
    string(MAKE_C_IDENTIFIER "ROOST_HAS_${option}" has_option)
    check_cxx_compiler_flag(-f${option} ${has_option})
    if(${has_option})
      target_compile_options(roost_flags INTERFACE -f${option})
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(roost_flags INTERFACE -Wno-restrict)  # says wrong things of std::string then (GCC 105651)
  endif()
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
