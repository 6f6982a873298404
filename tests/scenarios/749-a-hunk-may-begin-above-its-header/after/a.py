class A:
    def f(self):
        pass

    def g(self):
        x = 2
