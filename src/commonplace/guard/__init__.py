"""May this text be remembered: pure predicates over text and notes. This stage knows no store and no clock."""
