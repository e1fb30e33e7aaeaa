"""What people touch: the `thegame` command, hints, the table assistant."""
