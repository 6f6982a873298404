//! Expectations of the command line: `--expect PATH=SHA256` and `--expect-from FILE.json`.

use std::collections::BTreeMap;
use std::path::Path;

use apply_patch_api::engine::Expected;
use apply_patch_api::tools::unique_json;

/// The largest file of expectations.
const MAX_SIZE: u64 = 16 << 20;

/// Reads all expectations; the ones on the command line go before those in the file.
pub(crate) fn read(
    pairs: &[String],
    file: Option<&Path>,
) -> Result<BTreeMap<String, Expected>, String> {
    let mut expected = BTreeMap::new();
    if let Some(file) = file {
        let bytes =
            crate::outside::read_input(file, MAX_SIZE).map_err(|error| error.to_string())?;
        let read = unique_json(&bytes).and_then(serde_json::from_value);
        let map: BTreeMap<String, String> = read.map_err(|error| {
            format!("{} is not a JSON object of paths and SHA-256: {error}", file.display())
        })?;
        for (path, hash) in map {
            let hash =
                hash.parse().map_err(|error| format!("{}: {path}: {error}", file.display()))?;
            expected.insert(plain(&path), hash);
        }
    }
    for pair in pairs {
        let (path, hash) = pair
            .rsplit_once('=')
            .ok_or_else(|| format!("--expect takes PATH=SHA256, not {pair:?}"))?;
        let hash = hash.parse().map_err(|error| format!("--expect {path}: {error}"))?;
        expected.insert(plain(path), hash);
    }
    Ok(expected)
}

/// The same spelling as in a patch: without a leading `./`.
fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
