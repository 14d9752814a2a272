"""What a workspace says of claims: its files, and its repository asked in rounds. It changes nothing and runs nothing but git."""
