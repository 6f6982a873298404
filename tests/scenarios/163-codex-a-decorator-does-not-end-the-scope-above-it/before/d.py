def f():
    a,
    b,

@deco(
    a,
    c,
)
def g():
    pass
