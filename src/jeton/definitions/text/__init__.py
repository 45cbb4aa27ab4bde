"""Files and Python values into plain data with line numbers."""
