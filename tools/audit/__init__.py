"""How often reports state what is not so: whole studies simulated around a known truth, and what findings claim."""
