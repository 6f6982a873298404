def a():
    x = 1
    return x


def b():
    x = 1
    return 2


def c():
    y = 3
