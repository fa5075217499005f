"""Where the bytes of files are kept, and what is found in them."""
