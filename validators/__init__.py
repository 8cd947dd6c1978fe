"""What is checked before anybody is asked: rules, tables between stages, outside benchmarks, two auditors."""
