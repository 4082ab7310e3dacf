"""Long lists for a reader who pages: what each is made of, sorted and filtered."""
