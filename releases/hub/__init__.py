"""Where releases are published: a folder of git repositories, or huggingface.co."""
