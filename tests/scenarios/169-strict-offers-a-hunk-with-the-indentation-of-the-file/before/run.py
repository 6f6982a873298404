def run(x):
	if x:
		value = 1
