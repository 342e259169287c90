"""Where hunks and base texts come from: GitHub, a local repository, a diff file. All I/O of the evidence is here."""
