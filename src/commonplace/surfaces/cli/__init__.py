"""The command. Each command parses, calls Memory or `care` once, and prints; answers on stdout, all else on stderr."""
