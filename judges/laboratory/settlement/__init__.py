"""What replies mean that are no answers: one handler a file, registered when Django starts."""
