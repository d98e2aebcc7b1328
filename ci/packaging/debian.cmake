# cpack calls this when the packages' files are laid out and not yet packed: it adds what Debian asks of a package and an
# installed tree does not need, copyright and changelog, and compresses manual pages.
find_program(GZIP gzip REQUIRED)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if set
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(package ${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  set(tree ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(doc ${tree}/share/doc/${package})
  file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mmafuzz

Files: *
Copyright: 2026 the mmafuzz developers
License: Apache-2.0
 On Debian systems, the whole text of this license is in /usr/share/common-licenses/Apache-2.0.
")
  file(WRITE ${doc}/changelog "mmafuzz (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}, as built by cpack.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB pages ${tree}/share/man/man1/*.1)
  execute_process(COMMAND ${GZIP} -9nf ${doc}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# cpack writes such a script beside the trigger; it does no harm.
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/library${CPACK_PACKAGING_INSTALL_PREFIX}/share/lintian/overrides/${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}
  "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}: maintscript-calls-ldconfig\n")
# The web site is one with its scripts: it is read from disk, also where no Sphinx is.
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/dev${CPACK_PACKAGING_INSTALL_PREFIX}/share/lintian/overrides/libmmafuzz-dev
  "libmmafuzz-dev: embedded-javascript-library *\nlibmmafuzz-dev: zero-byte-file-in-doc-directory *\n")
