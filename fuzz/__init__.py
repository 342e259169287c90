"""Fuzzing of every parser of outside bytes: what must hold, inputs that are made up, and the runner."""
