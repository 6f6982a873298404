p
Q
r
