"""Work that is done later: rows that one worker at a time holds, until the result is stored with them."""
