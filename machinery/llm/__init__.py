"""Talking to language models: weights, servers, client, journal and structured replies.

Nothing else in the repository imports a model library or opens a connection to a model.
"""
