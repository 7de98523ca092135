"""The stores of the rooms in SQL. Each works for one owner inside one transaction."""
