"""What the bundled pull request's one call costs, as estimated from its recorded prompt.

python examples/demo/cost.py
"""

import json
from pathlib import Path

PROMPT = json.loads((Path(__file__).resolve().parent / "record.json").read_text())["prompt"]
DOLLARS_IN, DOLLARS_OUT = 2.0, 10.0  # a million tokens, Claude Sonnet 5.5, autumn 2026
MORE_TOKENS = 1.3  # newer models count up to 30 % more for code than characters / 3.5
TOKENS_OUT_AN_ITEM = 100

characters = sum(len(PROMPT[part]) for part in ("system", "schema", "message"))
estimate = -(-characters * 2 // 7)
tokens_in, tokens_out = estimate * MORE_TOKENS, PROMPT["blocks"] * TOKENS_OUT_AN_ITEM
dollars = (tokens_in * DOLLARS_IN + tokens_out * DOLLARS_OUT) / 1_000_000
print(f"{PROMPT['blocks']} items sent, {characters:,} characters, about {estimate:,} tokens by characters / 3.5")
print(f"about ${dollars:.3f} with {tokens_in:,.0f} tokens in and {tokens_out:,} out")
