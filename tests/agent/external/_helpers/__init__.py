"""What the tests of programs outside share."""
