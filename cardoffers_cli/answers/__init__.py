"""Write me."""
