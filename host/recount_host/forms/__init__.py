"""Forms that people sign: typst templates, and the facts that fill them. Same facts, same bytes."""
