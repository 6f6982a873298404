def plural(count, word):
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
