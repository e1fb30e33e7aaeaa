"""Everything that acts: heuristics, searches and trained players."""
