"""`python -m thegame_app` is `thegame`."""

from thegame_app.cli import main

if __name__ == "__main__":
    main()
