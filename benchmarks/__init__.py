"""Speed, side by side with what a user would use otherwise."""
