"""Several threads that do the same."""

import threading


def in_threads(count, function):
    """Call a function in so many threads at once, and wait for all."""
    threads = [threading.Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
