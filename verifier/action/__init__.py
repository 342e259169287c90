"""The Action: environment and events in; comment, summary and outputs out."""
