one
<<<<<<< HEAD
two
=======
deux
>>>>>>> other
