#!/usr/bin/env bash
# Tests the packed package in Node and in headless Chromium, against the native program.
set -euo pipefail
cd "$(dirname "$0")"

if [ -z "${DEEPSEEK_CODEC:-}" ]; then
    (cd .. && cargo build --locked --release --features cli)
    metadata=$(cd .. && cargo metadata --no-deps --format-version 1)
    DEEPSEEK_CODEC=$(node -p 'JSON.parse(process.argv[1]).target_directory' "$metadata")/release/deepseek-codec
    export DEEPSEEK_CODEC
fi
if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    apt-get update -qq && apt-get install -yqq --no-install-recommends chromium >/dev/null
fi

node -e 'import("./tests/package.js").then((it) => it.install())'
cp tests/types/* tests/out/consumer/
node_modules/.bin/tsc -p tests/out/consumer/tsconfig.json
node tests/expected.js
node --expose-gc --test tests/*.test.js
