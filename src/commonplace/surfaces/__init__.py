"""Where people meet it: parse, call Memory, print. No surface knows another."""
