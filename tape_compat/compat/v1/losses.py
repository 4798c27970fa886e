def __getattr__(n):
    if n.startswith("__"): raise AttributeError(n)
    return "v1.losses."+n
