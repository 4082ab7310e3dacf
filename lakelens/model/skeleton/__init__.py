"""What a skeleton is made with: names and values replaced, order kept, and what a format gives so that it can be written."""
