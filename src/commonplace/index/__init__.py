"""Everything derived: the catalog, and the listing made from it. Delete it all and nothing is lost."""
