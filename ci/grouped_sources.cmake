# The sources of a folder compile eight at a time: most of their time goes into headers that they share. Names in an unnamed
# namespace must therefore differ within a folder. What has a code of its own for each instruction set stands alone; so does
# what the sanitized builds below replace one by one.
option(MMAFUZZ_GROUPED "Compile several sources at once" ON)
set(grouped_root ${CMAKE_CURRENT_LIST_DIR}/..)
cmake_path(NORMAL_PATH grouped_root)
file(GLOB_RECURSE simd_sources CONFIGURE_DEPENDS ${grouped_root}/oracles/*_simd.cc)
file(GLOB single_readers CONFIGURE_DEPENDS ${grouped_root}/triage/store/*.cc)
list(APPEND single_readers ${grouped_root}/oracles/units/plugin.cc ${grouped_root}/oracles/units/process_child.cc
  ${grouped_root}/oracles/units/recorded.cc
  ${grouped_root}/search/byte_codec.cc ${grouped_root}/triage/facts/knowledge.cc
  ${grouped_root}/gpu_bridge/device/device_protocol.cc)
set_source_files_properties(${simd_sources} ${single_readers} ${grouped_root}/cli/main.cc
  ${grouped_root}/search/code_feedback.cc ${grouped_root}/search/instrumented_dot.cc  # one defines what engines define, the other renames the namespace
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
function(mmafuzz_grouped target)
  if(NOT MMAFUZZ_GROUPED)
    return()
  endif()
  set(at_a_time 8)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${grouped_root} OUTPUT_VARIABLE name)
    cmake_path(GET name PARENT_PATH folder)
    string(REPLACE "/" "_" folder "${folder}")
    if(source IN_LIST MMAFUZZ_READERS)  # all of a folder's together, so that other objects of them replace them
      string(APPEND folder "_readers")
    endif()
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${at_a_time}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
