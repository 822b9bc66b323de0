#!/usr/bin/env bash
# Lets the official clients of OpenAI and Anthropic, in Python and in JavaScript, speak to a running gateway. Needs
# python3 with pip, node with npm, and cargo unless BIN names the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

if [ -z "${BIN:-}" ]; then
    cargo build --locked --manifest-path gateway/Cargo.toml
    BIN=${CARGO_TARGET_DIR:-gateway/target}/debug/deepseek-codec-gateway
fi
BIN=$(realpath "$BIN")

# A folder for these versions alone: no virtual environment, which a bare Debian cannot make.
packages=$PWD/target/gateway-sdk/$(cksum < "$here/requirements.txt" | cut -d' ' -f1)
if [ ! -e "$packages/complete" ]; then
    rm -rf "$packages"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts \
        --no-deps --target "$packages" -r "$here/requirements.txt"
    touch "$packages/complete"
fi
(cd "$here" && npm ci --silent)

# Clients read settings and keys from the environment and from the home folder: here there are none.
home=$(mktemp -d)
gateway=
trap 'if [ -n "$gateway" ]; then kill "$gateway"; fi; rm -rf "$home"' EXIT
"$BIN" --config "$here/gateway.toml" --engine script "$here/script.jsonl" --listen 127.0.0.1:0 --log off > "$home/banner" &
gateway=$!
for _ in $(seq 100); do
    grep -q engine "$home/banner" && break
    sleep 0.1
done
url=$(sed -n 's/^listening at //p' "$home/banner")

status=0
run() {
    env -i HOME="$home" PATH="$PATH" LANG=C.UTF-8 PYTHONPATH="$packages" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 \
        "$@" "$url" | tee "$home/output" || status=1
    # A script that breaks off counts as a failure too.
    tail -n 1 "$home/output" | grep -E '[0-9]+ passed, [0-9]+ failed$' >> "$home/totals" || { echo "0 passed, 1 failed" >> "$home/totals"; status=1; }
}
run python3 -W ignore "$here/check.py"
run node --no-warnings "$here/check.mjs"
kill "$gateway"
wait "$gateway" || { echo "the gateway did not end as it should"; status=1; }
gateway=
grep -oE '[0-9]+ passed, [0-9]+ failed$' "$home/totals" | awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed " failed" }'
exit "$status"
