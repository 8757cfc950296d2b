"""Figures about what texts themselves show, without anybody having judged them."""
