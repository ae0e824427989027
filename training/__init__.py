"""How the shipped reading model is made. Not part of the product; needs PyTorch. See README.md here."""
