p
q
r
