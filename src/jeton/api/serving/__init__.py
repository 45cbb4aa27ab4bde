"""Running a server: its process, its protocol, and the files it watches."""
