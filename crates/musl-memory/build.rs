//! Compiles the functions where they are needed.

fn main() {
    println!("cargo:rerun-if-changed=src/memory.c");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("ENV") == "musl" && target("ARCH") == "x86_64" {
        cc::Build::new()
            .file("src/memory.c")
            .opt_level(2)
            // So that the compiler does not make a loop that copies into a call of the function
            // that it is.
            .flag("-ffreestanding")
            .flag("-fno-builtin")
            .flag_if_supported("-fno-tree-loop-distribute-patterns")
            .warnings_into_errors(true)
            .compile("memory");
    }
}
