"""What the model may do: one table of six tools, and the one place a call of theirs is run. It knows no store or API client."""
