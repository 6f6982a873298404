x
-- a/b.py
y
z
w
