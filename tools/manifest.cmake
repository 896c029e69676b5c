# SPDX-License-Identifier: MIT
# Turns ctest's own list of tests into a shell file that needs no ctest: one call of `t` per test.
#
#   cmake -DBUILD=build/release -DSOURCE=. -DSUITES=unit;icd -DTO=tests.sh -P manifest.cmake
#
#   t NAME SUITE TIMEOUT "NAME=value" ... -- COMMAND ARGUMENT ...
#
# Paths below BUILD become "$root"/..., paths below SOURCE "$root"/source/...; the latter are listed
# in TO.sources, for they must travel along. ctest's WORKING_DIRECTORY is not kept: a test that
# depends on it would not run from a bundle.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} --show-only=json-v1
  OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)

# One word for the shell, with the places replaced. A value may hold anything but a quote.
function(shell_word text result)
  string(REPLACE "'" "'\\''" text "${text}")
  string(REPLACE "/usr/share/vulkan/explicit_layer.d" "'\"$root\"'/layers" text "${text}")
  string(REPLACE "${BUILD}" "'\"$root\"'" text "${text}")
  if(text MATCHES "${SOURCE}/([^:']*)")
    file(APPEND "${TO}.sources" "${CMAKE_MATCH_1}\n")
    string(REPLACE "${SOURCE}" "'\"$root\"'/source" text "${text}")
  endif()
  set(${result} "'${text}'" PARENT_SCOPE)
endfunction()

file(WRITE "${TO}" "# Written by tools/manifest.cmake from ctest's list of tests.\n")
file(WRITE "${TO}.sources" "")
string(JSON count LENGTH "${json}" tests)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON name GET "${json}" tests ${i} name)
  string(JSON words ERROR_VARIABLE none LENGTH "${json}" tests ${i} command)
  if(none)
    message(FATAL_ERROR "${name} has no command: is everything built?")
  endif()

  set(suite "")
  set(timeout 120)
  set(environment "")
  set(disabled OFF)
  string(JSON properties ERROR_VARIABLE none LENGTH "${json}" tests ${i} properties)
  math(EXPR last_property "${properties} - 1")
  foreach(p RANGE ${last_property})
    string(JSON key GET "${json}" tests ${i} properties ${p} name)
    if(key STREQUAL "LABELS")
      string(JSON suite GET "${json}" tests ${i} properties ${p} value 0)
    elseif(key STREQUAL "TIMEOUT")
      string(JSON timeout GET "${json}" tests ${i} properties ${p} value)
      string(REGEX REPLACE "[.].*" "" timeout "${timeout}")
    elseif(key STREQUAL "DISABLED")
      string(JSON disabled GET "${json}" tests ${i} properties ${p} value)
    elseif(key STREQUAL "ENVIRONMENT")
      string(JSON variables LENGTH "${json}" tests ${i} properties ${p} value)
      if(variables GREATER 0)
        math(EXPR last_variable "${variables} - 1")
        foreach(v RANGE ${last_variable})
          string(JSON text GET "${json}" tests ${i} properties ${p} value ${v})
          shell_word("${text}" word)
          string(APPEND environment " ${word}")
        endforeach()
      endif()
    endif()
  endforeach()
  if(disabled OR NOT suite IN_LIST SUITES)
    continue()
  endif()

  set(command "")
  math(EXPR last_word "${words} - 1")
  foreach(w RANGE ${last_word})
    string(JSON text GET "${json}" tests ${i} command ${w})
    shell_word("${text}" word)
    string(APPEND command " ${word}")
  endforeach()
  file(APPEND "${TO}" "t '${name}' ${suite} ${timeout}${environment} --${command}\n")
endforeach()
