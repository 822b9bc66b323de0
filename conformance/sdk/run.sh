#!/usr/bin/env bash
# Validates what the program answers against the vendors' schemas and SDKs. Needs python3 with pip, and cargo unless
# BIN names the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

if [ -z "${BIN:-}" ]; then
    cargo build --release --locked --features cli
    BIN=${CARGO_TARGET_DIR:-target}/release/deepseek-codec
fi
BIN=$(realpath "$BIN")

# A folder for these versions alone: no virtual environment, which a bare Debian cannot make.
packages=$PWD/target/sdk/$(cksum < "$here/requirements.txt" | cut -d' ' -f1)
if [ ! -e "$packages/complete" ]; then
    rm -rf "$packages"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-warn-conflicts \
        --no-deps --target "$packages" -r "$here/requirements.txt"
    touch "$packages/complete"
fi

# SDKs read settings and keys from the environment and from the home folder: here there are none.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
totals=$home/totals
status=0
for script in check.py accumulate.py; do
    env -i HOME="$home" PATH="$PATH" LANG=C.UTF-8 OPEN_RESPONSES="${OPEN_RESPONSES:-}" \
        PYTHONPATH="$packages" PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1 \
        python3 "$here/$script" "$BIN" | tee "$home/output" || status=1
    # A script that breaks off counts as a failure too.
    tail -n 1 "$home/output" | grep -E '[0-9]+ passed, [0-9]+ failed$' >> "$totals" || { echo "0 passed, 1 failed" >> "$totals"; status=1; }
done
grep -oE '[0-9]+ passed, [0-9]+ failed$' "$totals" | awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed " failed" }'
exit "$status"
