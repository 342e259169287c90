"""`python -m verifier`"""

from verifier.cli.main import console

console()
