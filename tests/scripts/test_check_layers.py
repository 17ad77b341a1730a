"""scripts/check_layers.py: what it allows, what it refuses, and what it says."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"


def run(root):
    return subprocess.run([sys.executable, str(SCRIPT), str(root)], capture_output=True, text=True, timeout=30)


def write(root, path, text):
    file = root / "src" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("source, included", [
    ("event/loop.cc", "base/sys.h"),
    ("event/loop.cc", "event/loop.h"),
    ("http/h1/parser.rl", "http/message.h"),
    ("modules/static_files/handler.cc", "modules/static_files/cache.h"),
    ("server/builtin_modules.cc", "modules/static_files/module.h"),
    ("main.cc", "server/bootstrap.h"),
])
def test_allowed(tmp_path, source, included):
    write(tmp_path, source, f'#include <vector>\n\n#include "{included}"\n')
    result = run(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "1 files, 1 includes" in result.stdout


@pytest.mark.parametrize("source, included, words", [
    ("base/status.cc", "log/log.h", "base may include nothing else; not log"),
    ("event/loop.cc", "net/address.h", "event may include base, log, metrics; not net"),
    ("config/reader.cc", "log/log.h", "not log"),
    ("push/hub.cc", "http/exchange.h", "not http"),
    ("http/router.h", "modules/static_files/cache.h", "not modules"),
    ("module/registry.cc", "server/bootstrap.h", "not server"),
    ("main.cc", "http/message.h", "not http"),
    ("modules/proxy/proxy.cc", "modules/static_files/cache.h", "proxy includes static_files"),
    ("surprise/thing.cc", "base/sys.h", "surprise has no place in the layering"),
    ("event/loop.cc", "loop.h", "write the path from src/"),
])
def test_refused(tmp_path, source, included, words):
    write(tmp_path, source, f'// why\n#  include "{included}"\n')
    result = run(tmp_path)
    assert result.returncode == 1
    assert f"src/{source}:2: " in result.stderr
    assert words in result.stderr


def test_every_complaint_is_told(tmp_path):
    write(tmp_path, "base/a.h", '#include "net/a.h"\n#include "net/b.h"\n')
    write(tmp_path, "log/a.h", '#include "net/a.h"\n')
    assert len(run(tmp_path).stderr.splitlines()) == 3


def test_no_sources_is_a_failure(tmp_path):
    assert run(tmp_path).returncode == 1


def test_the_sources_of_this_project_keep_the_rules():
    result = run(SCRIPT.parents[1])
    assert result.returncode == 0, result.stderr
