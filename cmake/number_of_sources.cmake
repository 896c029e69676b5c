# SPDX-License-Identifier: MIT
# cmake -DFOLDER=runtime -DFILES=*.h -DWITHOUT=REGEX -DNAME=BF_... -DTO=.../number.h -P number_of_sources.cmake
#
# A number by which two binaries know that they are of one build, drawn from all files that both are made of and that
# may matter to the other: structs are passed between them, and whatever changes in these files may change them, or what
# is made of them. Nothing but that they are of one build is promised, and the number holds them to it.
#
# FILES and WITHOUT are optional: all of *.c and *.h; none.
if(NOT FILES)
  set(FILES "*.[ch]")
endif()
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/${FILES})
if(WITHOUT)
  list(FILTER files EXCLUDE REGEX "${WITHOUT}")
endif()
list(SORT files)
set(all "")
foreach(file ${files})
  file(SHA256 ${FOLDER}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 8 number)
set(text "/* Made by cmake/number_of_sources.cmake. */\n#define ${NAME} 0x${number}u\n")
if(EXISTS ${TO})
  file(READ ${TO} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${TO} "${text}")
endif()
