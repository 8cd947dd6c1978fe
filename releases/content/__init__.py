"""What a release holds: items and audit tables in files, who goes where, what stays sealed."""
