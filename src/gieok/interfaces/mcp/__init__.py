"""The MCP server: `gieok mcp` on stdio, and `/mcp` in the service. Needs `gieok[mcp]`.

tools.py   the tools that a model may call: arguments, results, descriptions, and what they do
server.py  the protocol: lists and calls tools, lists and reads resources, answers errors
http.py    `/mcp`, behind the gateway of the service
"""
