"""Who takes part: invited by link, seated by claim, asked whether they know a story, free to withdraw."""
