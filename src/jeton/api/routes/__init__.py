"""The routes by subject, each with its types and its handlers; `table` has all of them."""
