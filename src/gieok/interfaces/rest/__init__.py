"""The HTTP service: one door that everything passes, thin routes behind it, one file that knows errors."""
