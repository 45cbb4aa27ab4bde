"""What the hosts on SQL databases share: the loop of a process, the tables, and the reads."""
