# roost_embed_text(<target> <symbol> <file>)
#   Compiles the text file into the target as `extern const std::string_view roost::embedded::<symbol>` (constant
#   initialised, so usable from any static constructor). It is generated again whenever the file changes.
#   The file may not hold the closing mark `)roost_text"`.
#
# The same file is the build step: cmake -D INPUT=.. -D OUTPUT=.. -D SYMBOL=.. -P RoostEmbedText.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  file(WRITE "${OUTPUT}" "// Generated from a text file: do not edit.
#include <string_view>
namespace roost::embedded {
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL} = R\"roost_text(${text})roost_text\";
}  // namespace roost::embedded
")
  return()
endif()

set(ROOST_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(roost_embed_text target symbol file)
  get_filename_component(file ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}_${symbol}.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${file} -D OUTPUT=${output} -D SYMBOL=${symbol} -P ${ROOST_EMBED_TEXT_SCRIPT}
    DEPENDS ${file} ${ROOST_EMBED_TEXT_SCRIPT}
    COMMENT "Embedding ${file}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
