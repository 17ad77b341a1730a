#include "modules/cache_control/fingerprint.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::modules::cache_control {
namespace {

TEST_CASE("fingerprint: names that bundlers give", "[cache_control]") {
  for (const char* path :
       {"/app.0123abcd.js", "/assets/logo-3f2a9c1b.css", "/main-QVX2ZK7N.js", "/vendor_1a2b3c4d5e.js.map",
        "/app.1a2b3c4d.min.js", "/base.27e20196a850.js", "/a~5f3e9d1c2b.woff2", "/x/y.z/chunk-0A1B2C3D.mjs",
        "/index-B7k2Q9xZ.js",
        "/application-8dd28e5fbd0c6ac7b6f9f3d5f0c66a3e0e6b4f4ed6fb5a3b5df8e4bcb2b0f2d1.css",
        "/a.0123abcd.tar.gz"}) {
    INFO(path);
    CHECK(isFingerprinted(path));
  }
}

TEST_CASE("fingerprint: names of people", "[cache_control]") {
  for (const char* path : {"/jquery-3.6.0.min.js",
                           "/2026-11-20.html",
                           "/20261120.html",
                           "/photo-20261120.jpg",
                           "/style.css",
                           "/",
                           "/app.js",
                           "/app.0123abc.js",
                           "/0123abcd.js",
                           "/507f1f77bcf86cd799439011.json",
                           "/app-deadbeef.js",
                           "/app-decade20.html",
                           "/chapter-chapter2.html",
                           "/IMG_20261120T101112.jpg",
                           "/log-20261120T101112Z.txt",
                           "/user-550e8400-e29b-41d4-a716-4466554400aa.json",
                           "/app.0123abcd",
                           "/app.0123abcd.",
                           "/app.0123abcd.js/",
                           "/0123abcd.d/app.js",
                           "/lib-mp3player2x.js",
                           "/.0123abcd.js",
                           "/font-roboto400italic2x.css",
                           "/a-0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0123abcd0.js",
                           "/v-12345678.js",
                           "/a.0123abcd.js.map.gz",
                           "/a.0123abcd.averylongextension",
                           ""}) {
    INFO(path);
    CHECK_FALSE(isFingerprinted(path));
  }
}

}  // namespace
}  // namespace roost::modules::cache_control
