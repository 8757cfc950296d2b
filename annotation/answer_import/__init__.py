"""Import of answers given elsewhere: mapped column by column, checked, imported as a whole."""
