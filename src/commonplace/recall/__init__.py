"""Finding: a query, and the notes that answer it with the reasons for their rank. It changes no note."""
