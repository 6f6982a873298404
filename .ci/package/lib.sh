# shellcheck shell=bash disable=SC2154 # What sources this sets $scratch and $version.
# For `source`: the program as it is shipped, and whether one is it and does what it is for. Wants the root of the repository as the working
# directory, and for `try` $scratch and $version.

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
