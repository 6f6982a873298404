gone = True
