//! The answer for the model that wrote a patch: what is wrong, and what can be done.

use patch_engine::{MemoryTree, Options, Profile, apply_in_memory};

/// The answer to a patch with these sections, for one file, which is `a.py`.
fn answer(file: &str, sections: &str) -> String {
    let tree: MemoryTree = [("a.py", file)].into_iter().collect();
    let patch = format!("*** Begin Patch\n{sections}*** End Patch\n");
    let options = Options::new(Profile::Strict);
    apply_in_memory(&tree, &patch, &options).expect_err("it is refused").for_author()
}

#[test]
fn says_what_is_wrong_and_what_can_be_done() {
    for (file, sections, wanted) in [
        (
            "def a():\n    x = 1\n\n\ndef b():\n    x = 1\n",
            "*** Update File: a.py\n@@\n-    x = 1\n+    x = 2\n",
            "a.py: hunk 1 (patch line 3): it fits in more than one place: lines 2, 6\n\
             - to mean line 2, put above the hunk's first line:\n def a():\n\
             - to mean line 6, put above the hunk's first line:\n def b():",
        ),
        (
            "def a():\n    return 1\n",
            "*** Update File: a.py\n@@\n def a():\n-    return  1\n+    return 2\n",
            "a.py: hunk 1 (patch line 3): its old lines are not in the file; nearest are lines \
             1-2, where 1 of 2 agrees\n\
             - if that place is meant, take for the hunk's lines:\n \
             def a():\n-    return 1\n+    return 2\n\
             - read lines 1-2 of a.py again and copy the context and the removed lines from there",
        ),
        (
            "x\n",
            "*** Update File: b.py\n@@\n-x\n+y\n",
            "b.py (patch line 2): there is no such file\n\
             - choose another path than b.py: a file that exists (list the directory)\n\
             - to make a new file, use `*** Add File: b.py`, without `@@` and with `+` before each \
             line",
        ),
        (
            "x\n",
            "*** Update File: .git/config\n@@\n-x\n+y\n",
            ".git/config may not be touched: it belongs to a git directory\n\
             - leave .git/config alone: nothing lifts this rule",
        ),
        (
            "x\n",
            "*** Add File: a.py\n+y\n",
            "a.py (patch line 2): a file is there already\n\
             - read a.py and change it by `*** Update File: a.py`",
        ),
        // All reasons are told.
        (
            "x\nx\n",
            "*** Update File: a.py\n@@\n-x\n+y\n*** Delete File: c.py\n",
            "a.py: hunk 1 (patch line 3): it fits in more than one place: lines 1, 2\n\
             - to mean line 1, put below the hunk's last line:\n x\n\
             - to mean line 2, put above the hunk's first line:\n x\n\
             c.py (patch line 6): it is applied already: there is no such file any more\n\
             - leave this section out",
        ),
    ] {
        assert_eq!(answer(file, sections), wanted);
    }
    let told = answer("x\n", "*** Frobnicate File: a.py\n+y\n");
    let hint = "\n- correct line 2 of the patch and send the whole patch again";
    assert!(told.ends_with(hint), "{told}");
}
