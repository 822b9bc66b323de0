#!/usr/bin/env bash
# Builds the npm package in npm/, checks its sizes, packs it and tests it.
#
#   build.sh              everything
#   build.sh --no-test    without the tests
#
# With rustup's target (`rustup target add wasm32-unknown-unknown`) the toolchain of the project is used as it is, and
# sizes are printed but not checked: its standard library is not built for size. Without it, on Debian, the compiler
# is Debian's (rustc-web), which builds the standard library from its own sources.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD

install() { # Debian packages, where they are missing
    if [ "$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -yqq --no-install-recommends "$@" >/dev/null
    else sudo apt-get update -qq && sudo apt-get install -yqq --no-install-recommends "$@" >/dev/null; fi
}

command -v node >/dev/null && command -v npm >/dev/null || install nodejs npm
command -v gzip >/dev/null || install gzip
npm ci --silent

# What runs here is built by the project's toolchain, before the variables for WebAssembly are set.
target=${CARGO_TARGET_DIR:-$here/target}
export CARGO_TARGET_DIR=$target
cargo build --locked -p bind

if [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
    own_std=no
    export RUSTFLAGS="-Ctarget-feature=+simd128"
    std_levels=()
else
    own_std=yes
    if [ ! -e /usr/lib/rustlib/src/rust/library/Cargo.lock ] || [ ! -x /usr/bin/wasm-ld-19 ]; then
        install rustc-web rust-web-src lld-19
    fi
    export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1
    export CARGO_UNSTABLE_BUILD_STD=std,panic_abort CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=/usr/bin/wasm-ld-19
    # Small parts of the standard library that take a large share of the time: numbers of 128 bits, memory.
    std_levels=()
    for crate in compiler_builtins dlmalloc alloc; do
        std_levels+=(--config "profile.release.package.$crate.opt-level=3")
    done
    # Nothing here panics by design; the texts of panics that cannot be would be a tenth of the module.
    export RUSTFLAGS="-Ctarget-feature=+simd128 -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none"
fi

# Functions that are called at one place stay functions: that compresses better, and an engine that optimises a function
# because of one loop in it has less to do. What is computed twice within a function stays so: engines see to that. Last
# come functions of one name beside each other, as the copies of a generic one are: gzip looks back 32 kilobytes.
shape="-O3 --one-caller-inline-max-function-size 40 --skip-pass=local-cse --reorder-functions-by-name"
# Named one by one: with all features binaryen writes what Node 20 and Chromium refuse.
features="--enable-bulk-memory --enable-bulk-memory-opt --enable-nontrapping-float-to-int --enable-sign-ext
    --enable-mutable-globals --enable-reference-types --enable-multivalue --enable-simd"

variant() { # FOLDER LIMIT FEATURES LEVEL: one build of the module, at most LIMIT bytes after gzip
    local out=$here/npm/$1 size
    cargo build --locked --release --lib --target wasm32-unknown-unknown --target-dir "$target/wasm" \
        --no-default-features --features "$3" --config "profile.release.package.deepseek-codec.opt-level=\"$4\"" \
        "${std_levels[@]}"
    rm -rf "$out"
    "$target/debug/bind" "$target/wasm/wasm32-unknown-unknown/release/deepseek_codec_wasm.wasm" "$out" codec
    # shellcheck disable=SC2086
    node_modules/.bin/wasm-opt $shape $features -o "$out/small.wasm" "$out/codec_bg.wasm"
    mv "$out/small.wasm" "$out/codec_bg.wasm"
    size=$(gzip -9c "$out/codec_bg.wasm" | wc -c)
    printf '%-16s %9s bytes, %9s after gzip (limit %s)\n' "$1" "$(stat -c %s "$out/codec_bg.wasm")" "$size" "$2"
    [ "$own_std" = no ] || [ "$size" -le "$2" ]
}

variant slim-no-masks 350000 "" z
variant slim 600000 masks z
variant full 1100000 vocab,masks s
cp ../src/tokenizer/vocab/deepseek.bin npm/vocabulary.bin
cp ../LICENSE npm/LICENSE
# The playground is a folder of its own that any server of files can serve.
mkdir -p playground/deepseek-codec
cp -r npm/index.js npm/full playground/deepseek-codec/
unset RUSTFLAGS RUSTC RUSTDOC RUSTC_BOOTSTRAP CARGO_UNSTABLE_BUILD_STD CARGO_UNSTABLE_BUILD_STD_FEATURES
(cd npm && npm pack --silent --pack-destination "$here")

if [ "${1:-}" != --no-test ]; then ./test.sh; fi
