"""PyPI's sandman2, which makes a REST service of a database's tables, as a WSGI application for gunicorn."""

import os

from sandman2 import get_app

application = get_app(os.environ["DB_URL"], read_only=True)
