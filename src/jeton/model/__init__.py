"""The data types of jeton, as immutable values. Everything else is functions over them."""
