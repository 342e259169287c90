from collections.abc import Sequence
from verifier.diff import FileDiff, Hunk
from verifier.verification.model import Proof
def proofs(file: FileDiff, hunks: Sequence[Hunk]) -> tuple[Proof, ...]:
    return ()
