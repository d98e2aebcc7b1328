"""The observatory: what libraries compute against exact results. ci/observatory runs it, corpus/libraries/ holds what it
found."""
