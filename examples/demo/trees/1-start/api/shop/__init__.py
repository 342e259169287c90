"""The server's side of the shop."""
