# shellcheck shell=bash disable=SC2154 # What sources this sets $scratch and $version.
# For `source`: the program as it is shipped, and whether one is it and does what it is for. Wants the root of the repository as the working
# directory, and for `try` $scratch and $version.

say() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; }
fail() { echo "error: $*" >&2; exit 1; }

# The program that is asked ("$@") says its version, applies a patch of four files, has it done already the second time,
# refuses one that does not fit with exit code 1, and takes the first one back.
try() {
    local work=$scratch/work code
    rm -rf "$work"
    cp -r examples/todo "$work"
    [ "$("$@" --version)" = "apply-patch $version" ] || fail "$*: another version: $("$@" --version)"
    "$@" -C "$work" examples/todo.patch > "$scratch/said" 2> /dev/null || fail "$*: does not apply the patch"
    printf 'M src/store.py\nM src/todo.py\nA .gitignore\nR README.txt -> README.md\n' | diff - "$scratch/said"
    grep -q 'elif args\[:1\] == \["clear"\]' "$work/src/todo.py" || fail "$*: the file is not changed"
    "$@" --json -C "$work" examples/todo.patch | grep -q '"alreadyDone":true' || fail "$*: applies it twice"
    code=0
    printf '*** Begin Patch\n*** Delete File: missing\n*** End Patch\n' | "$@" -q -C "$work" > /dev/null 2>&1 || code=$?
    [ "$code" = 1 ] || fail "$*: exit code $code instead of 1"
    "$@" -q -C "$work" undo < /dev/null > /dev/null || fail "$*: does not undo"
    diff -r --exclude=.apply-patch examples/todo "$work"
    echo "ok: $*"
}

# Says why a command is refused: its exit code, and what it has to print.
refused() { # code text command...
    local want=$1 text=$2 code=0
    shift 2
    "$@" > "$scratch/said" 2>&1 || code=$?
    if [ "$code" != "$want" ] || ! grep -qF -- "$text" "$scratch/said"; then
        cat "$scratch/said" >&2
        fail "$*: exit code $code, wanted $want and: $text"
    fi
}

# Installs the program ("$3"...) and applies a patch with it ("$2"); `roads` prints how long that took. Then it is tried.
road() { # name program command...
    local name=$1 program=$2 begun work=$scratch/work
    shift 2
    rm -rf "$work"
    cp -r examples/todo "$work"
    begun=$(date +%s%N)
    "$@"
    "$program" -q -C "$work" examples/todo.patch
    took "$name" "$begun"
    try "$program"
}

# Notes for `roads` how long it took from a time ("$2", nanoseconds) until now.
took() { awk -v name="$1" -v took=$(($(date +%s%N) - $2)) 'BEGIN { printf "%-50s %6.1f s\n", name, took / 1e9 }' >> "$scratch/roads"; }

roads() {
    say "from nothing to an applied patch"
    cat "$scratch/roads"
}

# The target of the static program for this machine. Where it is not to be had, and cannot be installed, that of this machine.
static_target() {
    local host target
    host=$(rustc -vV | sed -n 's/^host: //p')
    target=${host%-gnu}-musl
    {
        rustup target list --installed | grep -qx "$target" || rustup target add "$target" || target=$host
        packaging/release/musl-gcc || target=$host
    } > /dev/null 2>&1
    echo "$target"
}
