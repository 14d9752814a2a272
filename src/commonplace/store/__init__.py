"""Where notes live: get, put, delete, scan. This stage knows no search, no prompt and no model."""
