"""The error that programs of a bundle report as one line."""


class Refused(Exception):
    """A code and a message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
