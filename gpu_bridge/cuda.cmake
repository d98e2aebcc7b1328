# Device code: each kernel file assembled for each architecture by nvcc, the runtime linked statically. nvcc is called directly, since
# CMake 3.25 does not know CUDA with C++20. Sets MMAFUZZ_DEVICE_SOURCES and MMAFUZZ_DEVICE_LIBRARIES.
set(MMAFUZZ_CUDA AUTO CACHE STRING "Device units: ON, OFF, or AUTO, where nvcc is found and a GPU or an own list of architectures asks for them")
set(MMAFUZZ_CUDA_ARCHITECTURES "" CACHE STRING "Architectures of the device code (empty: 75;80;86;89;90a;100a;120a; AUTO: of the GPU at hand)")
set(MMAFUZZ_DEVICE_SOURCES gpu_bridge/no_cuda.cc)
set(MMAFUZZ_DEVICE_LIBRARIES "")

find_program(MMAFUZZ_NVCC nvcc HINTS /usr/local/cuda/bin)
set(build_device_code OFF)
if(MMAFUZZ_CUDA STREQUAL "ON")
  if(NOT MMAFUZZ_NVCC)
    message(FATAL_ERROR "MMAFUZZ_CUDA=ON needs nvcc in the path or in /usr/local/cuda/bin")
  endif()
  set(build_device_code ON)
elseif(MMAFUZZ_CUDA STREQUAL "AUTO" AND MMAFUZZ_NVCC AND (MMAFUZZ_CUDA_ARCHITECTURES OR EXISTS /dev/nvidia0))
  set(build_device_code ON)
elseif(MMAFUZZ_CUDA STREQUAL "AUTO" AND MMAFUZZ_NVCC)
  message(STATUS "nvcc without a GPU: no device units; -DMMAFUZZ_CUDA=ON builds them all the same")
endif()

if(build_device_code)
  set(architectures ${MMAFUZZ_CUDA_ARCHITECTURES})
  if(NOT architectures AND MMAFUZZ_CUDA STREQUAL "AUTO")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE capability ERROR_QUIET)
    if(capability MATCHES "^([0-9]+)\\.([0-9])")
      set(architectures ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
      if(architectures GREATER_EQUAL 90)
        string(APPEND architectures a)
      endif()
    endif()
  endif()
  if(NOT architectures)
    set(architectures 75 80 86 89 90a 100a 120a)
  endif()
  # Not -arch=sm_90a, which also assembles PTX of compute_90 and then rejects wgmma.
  set(gencode "")
  foreach(architecture ${architectures})
    list(APPEND gencode -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  set(MMAFUZZ_DEVICE_SOURCES "")
  file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/arithmetic/*.h ${CMAKE_SOURCE_DIR}/gpu_bridge/*.h ${CMAKE_SOURCE_DIR}/gpu_bridge/kernels/*.h
    ${CMAKE_SOURCE_DIR}/gpu_bridge/kernels/*.cuh)
  foreach(kernel block_scaled core cublas cuda_backend f8f6f4 mma sweep_emulated_fp8 sweep_fma_chain sweep_fma_then_add
      sweep_fused_sum sweep_generation sweep_grouped_sum sweep_narrow wgmma wmma)
    set(object ${CMAKE_BINARY_DIR}/device/${kernel}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/device
      COMMAND ${MMAFUZZ_NVCC} -std=c++20 -O3 -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler -fPIC -I${CMAKE_SOURCE_DIR} ${gencode} -c
        ${CMAKE_SOURCE_DIR}/gpu_bridge/kernels/${kernel}.cu -o ${object}
      DEPENDS gpu_bridge/kernels/${kernel}.cu ${device_headers}
      COMMENT "Assembling ${kernel}.cu for ${architectures}" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND MMAFUZZ_DEVICE_SOURCES ${object})
  endforeach()
  get_filename_component(nvcc_real ${MMAFUZZ_NVCC} REALPATH)
  get_filename_component(toolkit ${nvcc_real}/../.. ABSOLUTE)
  find_library(MMAFUZZ_CUDART cudart_static REQUIRED HINTS ${toolkit}/lib64 ${toolkit}/lib ${toolkit}/targets/x86_64-linux/lib /usr/local/cuda/lib64)
  set(MMAFUZZ_DEVICE_LIBRARIES ${MMAFUZZ_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
endif()
