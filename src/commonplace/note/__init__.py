"""The fact: values and text. This stage knows no files, no clock and no search."""
