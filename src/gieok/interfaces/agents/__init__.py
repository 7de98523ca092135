"""Adapters for agent frameworks. Each file needs the package of its framework when it is used.

openai.py       `GieokSession`: the history of a session of the OpenAI Agents SDK
pydantic_ai.py  `GieokMemory`: a capability that gives a pydantic-ai agent a persona with memory
google_adk.py   `GieokMemoryService`: the memory service of a Google ADK agent
"""
