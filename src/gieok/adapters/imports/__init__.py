"""Readers for files of other programs: character cards, lorebooks, chats and exports."""
