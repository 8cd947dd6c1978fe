"""The contracts between stages: frozen records, vocabularies and their JSON Schemas. No I/O."""
