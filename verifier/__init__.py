"""verifier: the second reader for a pull request's review brief."""

__version__ = "0.1.0"
