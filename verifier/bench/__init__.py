"""The bench: a reader's verdicts on labelled cases, against the labels. Pure; the shell reads and writes."""
