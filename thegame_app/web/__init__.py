"""The web page: the game played in a browser, and the table assistant."""
