"""What the model reads: the authority text and the index, as bytes that stay the same while the notes do."""
