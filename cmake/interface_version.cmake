# SPDX-License-Identifier: MIT
# cmake -DRUNTIME=runtime -DTO=.../interface/version.h -P interface_version.cmake
#
# The number by which the layer knows its library again: drawn from every header of the library. Structs are
# passed across and inline functions look into them, so whatever changes in a header may matter; that layer
# and library are of one build is all that is promised, and the number holds them to it.
file(GLOB_RECURSE headers RELATIVE ${RUNTIME} ${RUNTIME}/*.h)
list(FILTER headers EXCLUDE REGEX "^(specialize|cli)/") # which aren't the library's
list(SORT headers)
set(all "")
foreach(header ${headers})
  file(SHA256 ${RUNTIME}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 8 number)
set(text "/* Made by cmake/interface_version.cmake. */\n#define BF_LAYER_INTERFACE_VERSION 0x${number}u\n")
if(EXISTS ${TO})
  file(READ ${TO} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${TO} "${text}")
endif()
