"""The observatory: conversions of libraries against exact conversion. ci/observatory runs it, docs/observatory.md is its
page."""
