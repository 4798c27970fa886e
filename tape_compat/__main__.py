"""`python -m tape_compat run program.py`: see `tape_compat/_src/standin/run.py`."""

from ._src.standin.run import main

if __name__ == "__main__":
    main()
