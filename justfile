# The recipes that ci/run uses, and those that take longer.

# The README's test command.
test:
    cargo test --workspace

# The same with the long tests whole: attacks, races, and random texts and patches run at a tenth otherwise.
test-whole:
    APPLY_PATCH_LONG_TESTS=1 cargo test --workspace

# Follows the advice of refused undos to its end, after other random histories than the tests have.
advice seeds="1000..2000":
    ADVICE_SEEDS={{seeds}} cargo test -q -p apply-patch --test runner -- advice::advice --nocapture

# Everything that is checked before a change lands: about 30 minutes on two cores.
ci:
    ci/run

# The same, and what is slow and rarely breaks, before a release: an hour and a half.
ci-whole:
    ci/run whole

# Writes the parser and the generated grammar files anew.
grammar:
    cargo run --quiet --package xtask-parser
    cargo xtask grammar

# Compares the grammar files in other people's engines, on more texts and token masks than ci/run does.
engines texts="60000" masks="30000":
    ci/grammar/run {{texts}} {{masks}}

# Draws the pictures of the README anew.
pictures:
    UPDATE_PICTURES=1 cargo test -q -p apply-patch --test runner pictures

# Counts the instructions of one, two and four times the size. `ci/run` leaves out the last.
growth:
    ci/growth whole

# Checks everything with the oldest Rust that is supported. `ci/run` only compares what all crates state.
msrv:
    ci/msrv

# Builds, installs and tries every package as it is shipped, and checks its size. `ci/run` has a program and modules for Python and
# Node that are built faster.
package:
    ci/package/run

# Writes the list of the functions that everyday commands call anew: the static program is linked by it. Needs valgrind.
hot:
    packaging/release/hot.py

# Builds every crate as crates.io would, from its archive.
crates:
    ci/package/crates

# Makes a release of the program for this machine, and tries it.
release:
    ci/release/run

# Lets a small real model write patches, with and without a matcher.
decoding outputs="4":
    ci/decoding/run {{outputs}}

# Asks the registries whether the names that are published are free, or ours.
names:
    python3 packaging/release/names.py

# Has the page of --format html drawn by a browser.
html:
    ci/html/run

# Sets up other people's MCP clients with mcp-config, and has them find the server.
clients:
    ci/clients/run

# Builds, tests and packs the extension for VS Code.
vscode:
    ci/vscode/run

# Other platforms, as far as they can be tried from Linux on x86_64; `ci/targets` has their names. None: all of them.
# Takes most of an hour, and rarely breaks.
targets *names:
    ci/targets {{names}}

# Compares the libraries with the last release, or with another revision (before the first release one has to be given): all, or those named.
semver *revision_and_crates:
    ci/semver {{revision_and_crates}}

# Runs the tests of the crate with C code under AddressSanitizer.
sanitize:
    ci/sanitize

# Fuzzes every target for so many seconds.
fuzz seconds="600":
    ci/fuzz {{seconds}}

# Runs the attacks whose name has this text; none: all of them.
hostile name="":
    APPLY_PATCH_LONG_TESTS=1 HOSTILE="{{name}}" cargo test -p apply-patch --test runner hostile

# Lets every system call of every operation go wrong in every way, and prints the table; a name: only operations with it. As root
# also power cuts, on file systems in files, mounted where nobody else sees them (`ci/crash` says why).
faults name="":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet --release --manifest-path ci/disk/Cargo.toml --target-dir ci/disk/target
    private=(); [ "$(id -u)" != 0 ] || private=(unshare -m --propagation private)
    LOGGED_DISK="$PWD/ci/disk/target/release/logged-disk" FAULTS_ALL=1 FAULTS="{{name}}" "${private[@]}" cargo test -p apply-patch --test runner faults:: -- --nocapture --include-ignored

# Tries whether any test notices where the code is made wrong; with the options of `cargo mutants`.
mutants *options:
    ci/mutants {{options}}

# Licences, duplicates, sources and advisories of the dependencies.
deny:
    ci/deny

# Each feature of patch-engine alone, what is said without it, and what it costs.
embed:
    ci/embed/run

# That all types of patch-engine's signatures can be named from it.
nameable:
    ci/nameable

# Tries the placement rules against the naive matcher, many times.
placement cases="1000000":
    PLACEMENT_CASES={{cases}} cargo test --release -p patch-engine --test engine placement

# Compares what is shown of random patches and calls with what they do, many times.
shown cases="5000":
    SHOWN_CASES={{cases}} cargo test -p file-tools --test tools shown

# Compares with other appliers on the same work, and puts the tables into benches/RESULTS.md.
compare *args:
    benches/compare {{args}}

# Installs other appliers, measures this program and them on the cases in conformance/, and writes its scoreboard.
scoreboard *args:
    conformance/all {{args}}

# Replays what models really wrote, as transcripts in the git directories DIR/OWNER+NAME/repo have it; codex: codex's own apply_patch.
real dir codex="":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet --release --locked -p apply-patch
    scratch=$(mktemp -d)
    echo "in $scratch"
    program="$(packaging/release/described target_directory)/release/apply-patch" codex="{{codex}}"
    conformance/real/gather --out "$scratch/answers" "{{dir}}"
    conformance/real/replay --program "$program" ${codex:+--codex "$codex"} --out "$scratch/results" --keep "$scratch/kept" "$scratch/answers"
    conformance/real/count --names "$scratch/results"

# Cuts the diffs of a git history off, and spoils the numbers of whole ones; counts what the program makes of both.
cut git_dir *args:
    cargo build --quiet --release --locked -p apply-patch
    conformance/cut --program "$(packaging/release/described target_directory)/release/apply-patch" {{args}} {{git_dir}}

# Compares `apply-patch git` with the commands of git that do the same.
compare-git *args:
    cargo build --quiet --release --locked -p apply-patch
    python3 benches/git.py --ours "$(packaging/release/described target_directory)/release/apply-patch" {{args}}

# Where the processor time of the workloads goes, by stage and by promise. Needs `perf`.
stages *args:
    #!/usr/bin/env bash
    set -euo pipefail
    named=$(benches/program named)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    cargo run --quiet --release --locked -p apply-patch --example workloads "$scratch"
    benches/stages.py --ours "$named" --workloads "$scratch" --record benches/RESULTS.md {{args}}

# What every command pays at its start, beside git, and the program's size by crate.
start *args:
    benches/start.py --ours "$(benches/program)" --named "$(benches/program named)" --record benches/RESULTS.md {{args}}

# What an edit costs in a server, early and in a long history.
compare-server *args:
    benches/server.py --ours "$(benches/program)" {{args}}

# Times every stage of the engine.
bench:
    cargo bench -p benches
