"""How texts are typed: paragraphs, the features that tell one typist from another, and making them alike."""
