"""The servers of bench_compression.py: each serves sidecars below /side/ and codes answers itself below /made/, at LEVELS.

/side/ has page.html and its sidecars; /made/ has the same page without.
"""

import json
import pathlib

from . import process, servers

LEVELS = {"br": 5, "zstd": 3, "gzip": 6}


class Roost(servers.Roost):
    """Keeps the forms it has made, as it does unless told otherwise."""

    rows = None
    kept_bytes = 4 << 20

    def command(self):
        compress = {"levels": LEVELS, "max_kept_bytes": self.kept_bytes}
        routes = [{"path": "/side/", "static": {"precompressed": True}},
                  {"path": "/made/", "static": {}, "compress": compress}]
        configuration = {"worker_processes": 1, "cpu_affinity": "off",
                         "listen": [{"address": "127.0.0.1", "port": self.port}], "log": {"path": ""},
                         "http": {"root_path": str(self.site), "sites": [{"host": ["*"], "routes": routes}]}}
        return [str(pathlib.Path(self.options.server).resolve()), "-f",
                self.write("server.json", json.dumps(configuration, indent=2))]


class RoostEachTime(Roost):
    """Codes every answer anew, as nginx does: what the coding itself costs."""

    name = "roost-anew"
    rows = {"made-gzip-10k", "made-gzip-100k", "made-br-10k", "made-zstd-10k"}
    kept_bytes = 0


class Nginx(servers.Nginx):
    """gzip and gzip_static of its own, brotli and brotli_static by Debian's modules."""

    rows = {"side-gzip-10k", "side-gzip-100k", "side-br-10k", "made-gzip-10k", "made-gzip-100k", "made-br-10k"}
    folder_of_modules = pathlib.Path("/usr/lib/nginx/modules")

    @classmethod
    def missing(cls, options):
        absent = [kind for kind in ("filter", "static")
                  if not (cls.folder_of_modules / f"ngx_http_brotli_{kind}_module.so").exists()]
        return super().missing(options) or (f"no libnginx-mod-http-brotli-{absent[0]}" if absent else None)

    def modules(self):
        return "".join(f"load_module {self.folder_of_modules}/ngx_http_brotli_{kind}_module.so;\n"
                       for kind in ("filter", "static"))

    def locations(self):
        return f"""
    gzip_vary on; gzip_types text/plain; gzip_comp_level {LEVELS['gzip']};
    brotli_types text/plain; brotli_comp_level {LEVELS['br']};
    location /side/ {{ gzip_static on; brotli_static on; }}
    location /made/ {{ gzip on; brotli on; }}"""


class NginxOpenFileCache(Nginx):
    name = "nginx-ofc"
    cache = servers.NginxOpenFileCache.cache


class Lighttpd(servers.Lighttpd):
    """mod_deflate, which keeps what it has made in deflate.cache-dir; it knows no sidecars."""

    rows = {"made-gzip-10k", "made-gzip-100k", "made-br-10k", "made-zstd-10k"}

    @classmethod
    def missing(cls, options):
        here = pathlib.Path("/usr/lib/lighttpd/mod_deflate.so").exists()
        return super().missing(options) or (None if here else "no lighttpd-mod-deflate")

    def command(self):
        command = super().command()
        (self.folder / "coded").mkdir(exist_ok=True)
        path = pathlib.Path(command[-1])
        path.write_text(path.read_text() + f"""
server.modules += ( "mod_deflate" )
deflate.mimetypes = ( "text/" )
deflate.allowed-encodings = ( "br", "gzip", "zstd" )
deflate.cache-dir = "{self.folder}/coded"
deflate.params = ( "BROTLI_PARAM_QUALITY" => {LEVELS['br']}, "ZSTD_c_compressionLevel" => {LEVELS['zstd']} )
deflate.compression-level = {LEVELS['gzip']}
""")
        return command


class H2o(servers.H2o):
    rows = {"side-gzip-10k", "side-gzip-100k", "side-br-10k", "made-gzip-10k", "made-gzip-100k", "made-br-10k"}

    def command(self):
        command = super().command()
        path = pathlib.Path(command[-1])
        text = path.read_text()
        start = text.index('      "/":')
        path.write_text(text[:start] + f"""      "/side/":
        file.dir: {self.site}/side
        file.send-compressed: ON
      "/made/":
        file.dir: {self.site}/made
        compress:
          gzip: {LEVELS['gzip']}
          br: {LEVELS['br']}
""")
        return command


class Caddy(servers.Server):
    """Its zstd has no level to choose: its default is meant to be about 3."""

    name = "caddy"
    program = "caddy"
    rows = {"side-gzip-10k", "side-gzip-100k", "side-br-10k", "side-zstd-10k", "made-gzip-10k", "made-gzip-100k",
            "made-zstd-10k"}

    def launch(self, command):
        # One processor to run on, as the others have one worker.
        return super().launch(["env", "GOMAXPROCS=1", f"HOME={self.folder}", *command])

    def command(self):
        text = f"""{{
  admin off
  auto_https off
  default_bind 127.0.0.1
  log {{
    level ERROR
  }}
  servers {{
    protocols h1
  }}
}}
http://127.0.0.1:{self.port} {{
  root * {self.site}
  route /side/* {{
    file_server {{
      precompressed br zstd gzip
    }}
  }}
  route /made/* {{
    encode {{
      gzip {LEVELS['gzip']}
      zstd
    }}
    file_server
  }}
}}
"""
        return ["caddy", "run", "--adapter", "caddyfile", "--config", self.write("Caddyfile", text)]


ALL = {cls.name: cls for cls in (Roost, RoostEachTime, Nginx, NginxOpenFileCache, Lighttpd, H2o, Caddy)}
