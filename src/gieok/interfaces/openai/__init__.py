"""The part of OpenAI's API that chat clients use, with memory: `/v1/models` and `/v1/chat/completions`.

alignment.py    which stored session a resent window belongs to, and what of it the window replaces
schema.py       requests and answers in OpenAI's form
completions.py  one completion: align, then call the facade
routes.py       the routes
"""
