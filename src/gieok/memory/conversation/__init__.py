"""One turn of a conversation: context, prompt and reply."""
