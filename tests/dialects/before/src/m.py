def f():
    print("a\n")
    return 1
