x
new
y
z
