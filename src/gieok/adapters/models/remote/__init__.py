"""Language models over the network, by pydantic-ai: Gemini, OpenAI, Anthropic and compatible servers."""
