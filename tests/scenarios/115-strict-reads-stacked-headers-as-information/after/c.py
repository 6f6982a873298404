class A:
    def f(self):
        return 1

class C:
    def f(self):
        return 1
