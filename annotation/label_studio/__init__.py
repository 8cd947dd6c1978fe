"""Label Studio: server, projects, push and pull. The only package that imports its SDK."""
