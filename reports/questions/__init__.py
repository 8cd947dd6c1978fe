"""Questions with their options, the right ones and what is wrong with the others, for people to judge."""
