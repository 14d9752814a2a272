"""Other people's libraries and services, one file each, imported only when asked for."""
