x
++ b/b.py
y
Z
w
