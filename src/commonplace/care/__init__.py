"""Looking after a notebook: undoing, renaming, merging, telling what happened. It knows Memory; no files, no surface."""
