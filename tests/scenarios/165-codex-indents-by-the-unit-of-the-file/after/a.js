function f() {
    if (a) {
        for (const c of d) {
            c();
        }
    }
}
