"""The parts of scripts/compare_site.py."""
