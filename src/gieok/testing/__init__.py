"""Test support for programs that build on Gieok.

contracts/        contract suites for stores: subclass one to test your own store
models            `CountingModel`, a deterministic language model
embedders         `LetterEmbedder`, a deterministic embedder
model_server      a local HTTP server that imitates OpenAI, Anthropic and Gemini, with failures on demand
hostile_models    malformed and hostile model answers, as named test cases
clock, settings   a clock that a test moves, and settings that touch nothing of the user's own
"""
