"""The verification pass: candidates, excerpts, status, prompt, guards, application. Pure: no I/O of its own."""
