"""What a brief is: its models, ids, layout, source text and Markdown. Knows no verdict."""
