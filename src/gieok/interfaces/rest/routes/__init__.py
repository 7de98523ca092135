"""The calls of the HTTP API. Each one reads its input, asks the facade, and words the answer."""
