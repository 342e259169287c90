"""Who answers a prompt: anthropic (a model), offline (rules), replay (a recorded reply)."""
