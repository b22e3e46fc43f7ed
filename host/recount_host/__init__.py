"""The recount host: ledger, law, programs, pages and forms."""
