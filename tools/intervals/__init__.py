"""How often the intervals of reports hold the truth, in studies simulated around a known one."""
