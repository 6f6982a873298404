def greet(name):
    print("hello, " + name)
    return name


def main():
    greet("world")


main()
