#!/bin/sh
# Installs apply-patch: fetches the archive for this machine from a release, holds it against the release's checksums, and puts the
# program into a directory. Needs no root. What is there before is replaced in one step, or not at all.
#
#   curl -fsSL https://github.com/apply-patch/apply-patch/releases/latest/download/install.sh | sh
#   sh install.sh --to ~/bin --version 0.1.0
#
# The checksums come from where the archive comes from: they find what broke on the way. Who does not trust the place itself
# checks the attestation of provenance: `gh attestation verify ARCHIVE --repo apply-patch/apply-patch`.
set -eu

releases=https://github.com/apply-patch/apply-patch/releases

usage() {
    cat << USAGE
Usage: install.sh [--to DIR] [--version VERSION] [--from URL]

  --to DIR            Where the program goes [default: \$XDG_BIN_HOME, or ~/.local/bin]
  --version VERSION   Which release [default: the latest]
  --from URL          Page of the releases, for a mirror
                      [default: $releases]
USAGE
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

has() { command -v "$1" > /dev/null 2>&1; }

# Writes what is at a URL into a file.
fetch() { # url file
    if has curl; then
        case $1 in
            https://*) curl --proto '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1" ;;
            *) curl -fsSL -o "$2" "$1" ;;
        esac
    elif has wget; then
        wget -q -O "$2" "$1"
    else
        fail "neither curl nor wget is installed"
    fi || fail "cannot fetch $1"
}

checksum() { # file
    if has sha256sum; then
        sha256sum "$1"
    elif has shasum; then
        shasum -a 256 "$1"
    elif has openssl; then
        openssl dgst -sha256 -r "$1"
    else
        fail "no program for checksums is installed: sha256sum, shasum or openssl"
    fi | cut -d ' ' -f 1
}

# What rustc calls this machine; nothing is known of others.
machine() {
    system=$(uname -s) processor=$(uname -m)
    case $system in
        Linux) system=unknown-linux-musl ;;
        Darwin)
            system=apple-darwin
            # A shell that is translated for the other processor sees that one.
            [ "$(sysctl -n sysctl.proc_translated 2> /dev/null || true)" != 1 ] || processor=arm64
            ;;
        MINGW* | MSYS* | CYGWIN*) fail "this is Windows: use install.ps1, in PowerShell" ;;
        *) fail "there is no program for $system; with a Rust toolchain: cargo install --locked apply-patch" ;;
    esac
    case $processor in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "there is no program for the processor $processor; with a Rust toolchain: cargo install --locked apply-patch" ;;
    esac
    echo "$processor-$system"
}

main() {
    to='' version=''
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help)
                usage
                exit 0
                ;;
            --to | --version | --from)
                [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 wants a value"
                case $1 in
                    --to) to=$2 ;;
                    --version) version=${2#v} ;;
                    --from) releases=${2%/} ;;
                esac
                shift 2
                ;;
            *)
                usage >&2
                exit 2
                ;;
        esac
    done
    if [ -z "$to" ]; then
        to=${XDG_BIN_HOME:-}
        [ -n "$to" ] || to=${HOME:?is not set, and --to is not given}/.local/bin
    fi
    target=$(machine)

    from=$releases/latest/download
    [ -z "$version" ] || from=$releases/download/v$version
    scratch=$(mktemp -d)
    new=''
    trap 'rm -rf "$scratch"; [ -z "$new" ] || rm -f "$new"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    fetch "$from/SHA256SUMS" "$scratch/SHA256SUMS"

    # The list names the archive, and so the version of the latest release, too.
    found=$(sed -n "s/^\([0-9a-f]\{64\}\)  \(apply-patch-[0-9A-Za-z.+-]*-$target\.tar\.gz\)\$/\1 \2/p" "$scratch/SHA256SUMS")
    if [ -z "$found" ]; then
        echo "install.sh: the release has no program for $target; it has:" >&2
        sed -n -e 's/^[0-9a-f]*  \(apply-patch-.*\.tar\.gz\)$/  \1/p' -e 's/^[0-9a-f]*  \(apply-patch-.*\.zip\)$/  \1/p' \
            "$scratch/SHA256SUMS" >&2
        exit 1
    fi
    [ "$(printf '%s\n' "$found" | wc -l)" -eq 1 ] || fail "the release has several archives for $target"
    wanted=${found%% *} archive=${found#* }
    named=${archive#apply-patch-} named=${named%"-$target.tar.gz"}
    [ -z "$version" ] || [ "$named" = "$version" ] || fail "version $version is wanted, and $from has $named"

    fetch "$from/$archive" "$scratch/$archive"
    seen=$(checksum "$scratch/$archive")
    [ "$seen" = "$wanted" ] || fail "$archive is not what the release says: its SHA-256 is $seen, and $wanted is wanted. Nothing is installed"

    tar -xzf "$scratch/$archive" -C "$scratch"
    program=$scratch/${archive%.tar.gz}/apply-patch
    said=$("$program" --version 2> /dev/null) || fail "the program does not run here"
    [ "$said" = "apply-patch $named" ] || fail "the program says that it is $said"

    mkdir -p "$to"
    new=$(mktemp "$to/.apply-patch.XXXXXX")
    cp "$program" "$new"
    chmod 755 "$new"
    mv -f "$new" "$to/apply-patch"
    new=''
    echo "installed $said: $to/apply-patch"
    case :$PATH: in
        *":$to:"*) ;;
        *) echo "$to is not in PATH: add it, or call the program by its path" ;;
    esac
}

# The last line: what arrives in part does nothing.
main "$@"
