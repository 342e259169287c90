"""The shell: `verifier verify`, `feedback`, `brief`, `schema`."""
