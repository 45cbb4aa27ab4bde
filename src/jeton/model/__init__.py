"""The nouns of jeton as frozen values. Everything else is a function over them."""
