"""Only renders: from a finished Report to tables, JSON and JUnit XML. Nothing here measures or decides."""
