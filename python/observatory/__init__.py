"""The observatory: what libraries compute against exact results. ci/observatory runs it, docs/observatory.md is its
page."""
