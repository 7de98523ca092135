"""Language models over the network, through pydantic-ai: Gemini, OpenAI, Anthropic and compatible servers.

model.py      `RemoteModel`: the models of the rooms, as requests to a provider
answers.py    the structured answers that are asked for, checked by pydantic
retries.py    timeouts, retries with backoff, and provider errors as `ModelUnavailable`
providers.py  the client library of each provider
"""
