"""For users too: contract suites to prove a backend by, and what tests are built from. Nothing in `src` imports it."""
