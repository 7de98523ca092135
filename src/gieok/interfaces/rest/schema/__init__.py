"""The HTTP API as pydantic models: request bodies, parameters and answers. camelCase and strict."""
