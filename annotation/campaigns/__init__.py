"""Campaigns: which small questions are drawn for people, and what their answers come to."""
