"""The mutation score drawn: terminal, Stryker's JSON, a page, JUnit XML, a job summary and a badge."""
