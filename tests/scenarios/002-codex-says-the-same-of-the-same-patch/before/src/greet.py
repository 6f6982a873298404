def greet(name):
    print("hello")
    return name


def main():
    greet("world")


main()
