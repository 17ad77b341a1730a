"""What bench_static.py and bench_idle_memory.py are made of: servers, rows, measuring, reporting."""
