# SPDX-License-Identifier: MIT
# Applies a deliberate break: copies a source of the library, with one passage replaced.
#
#   cmake -DBREAK=tests/breaks/NAME.break -DROOT=runtime -DTO=FILE -P break.cmake
#
# docs/testing.md, 'Breaks', says what a .break file looks like. It fails where the source isn't
# there, and where the passage stands in it any other number of times than once.
cmake_minimum_required(VERSION 3.25)

function(fail)
  message(FATAL_ERROR "${BREAK}: ${ARGN}")
endfunction()

# The text between two of its lines; what comes after the second one is the new 'rest'.
function(take begin end)
  string(FIND "${rest}" "${begin}\n" from)
  if(NOT from EQUAL 0)
    fail("expected the line '${begin}'")
  endif()
  string(LENGTH "${begin}" length)
  string(SUBSTRING "${rest}" ${length} -1 rest)
  string(FIND "${rest}" "\n${end}\n" to)
  if(to EQUAL -1)
    fail("there is no line '${end}' after '${begin}'")
  endif()
  string(SUBSTRING "${rest}" 1 ${to} taken) # without the first line's end, and with the last one's
  math(EXPR to "${to} + 1")
  string(SUBSTRING "${rest}" ${to} -1 rest)
  set(taken "${taken}" PARENT_SCOPE)
  set(rest "${rest}" PARENT_SCOPE)
endfunction()

file(READ "${BREAK}" text)
if(NOT text MATCHES "(^|\n)file: ([^\n]+)\n")
  fail("no line names the file, as in 'file: base/map.h'")
endif()
set(name "${CMAKE_MATCH_2}")
string(FIND "${text}" "\n--- old\n" begin)
if(begin EQUAL -1)
  fail("there is no line '--- old'")
endif()
math(EXPR begin "${begin} + 1")
string(SUBSTRING "${text}" ${begin} -1 rest)
take("--- old" "--- new")
set(old "${taken}")
if(old STREQUAL "")
  fail("the old text is empty")
endif()
take("--- new" "--- end")
set(new "${taken}")

if(NOT EXISTS "${ROOT}/${name}")
  fail("there is no ${ROOT}/${name}")
endif()
file(READ "${ROOT}/${name}" source)
string(FIND "${source}" "${old}" first)
string(FIND "${source}" "${old}" last REVERSE)
if(first EQUAL -1)
  fail("the old text is not in ${name}:\n${old}")
elseif(NOT first EQUAL last)
  fail("the old text is in ${name} more than once:\n${old}")
endif()
string(LENGTH "${old}" length)
math(EXPR after "${first} + ${length}")
string(SUBSTRING "${source}" 0 ${first} head)
string(SUBSTRING "${source}" ${after} -1 tail)
file(WRITE "${TO}" "${head}${new}${tail}")
