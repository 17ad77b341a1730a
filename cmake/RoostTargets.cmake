include(RoostEmbedText)

# roost_layer(<folder of src/> [DEPS <other targets>...])
#   A static library roost_<folder with / as _> of every .cc below the folder, linked to the layers it stands on.
#   Folders that need build steps of their own (Ragel) add them in their CMakeLists.txt.
function(roost_layer folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc)
  if(NOT sources)  # headers only
    add_library(roost_${name} INTERFACE)
    target_link_libraries(roost_${name} INTERFACE roost_flags ${ARG_DEPS})
    return()
  endif()
  add_library(roost_${name} STATIC ${sources})
  target_link_libraries(roost_${name} PUBLIC roost_flags ${ARG_DEPS})
  roost_precompile(roost_${name} roost_precompiled)
endfunction()

# roost_unit_test(<folder of tests/unit/> [DEPS <targets>...])
#   One Catch2 program unit_<folder> of every .cc below the folder, run by ctest as one test.
function(roost_unit_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/*.cc)
  if(NOT ROOST_MYSQL)
    list(FILTER sources EXCLUDE REGEX "/modules/mysql/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${name} ${sources} $<TARGET_OBJECTS:catch_main>)
  target_include_directories(unit_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(unit_${name} PRIVATE roost_flags Catch2::Catch2 ${ARG_DEPS})
  roost_precompile(unit_${name} catch_precompiled)
  target_compile_options(unit_${name} PRIVATE -O0)  # the assertions of Catch2 take g++ twice as long otherwise
  add_test(NAME unit_${name} COMMAND unit_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(unit_${name} PROPERTIES TIMEOUT 300)
endfunction()
