"""Chats as text, with what each character is from."""
