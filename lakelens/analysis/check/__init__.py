"""Whether a table is sound: recorded figures compared with what they are about, files with the listing."""
