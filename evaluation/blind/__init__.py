"""Scoring against sealed golds, so that figures shown during a season reveal no gold."""
