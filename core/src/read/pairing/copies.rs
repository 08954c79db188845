//! Finds files that repeat a recording in another form.

use super::file_pair::FileHint;
#[cfg(feature = "msprof")]
use super::name::{BESIDE_MSPROF, folder, of_msprof};
#[cfg(feature = "xspace")]
use super::name::{beside_xspace, of_xspace};
use super::name::{is_report, is_snapshot, stem, unpacked};

/// Why each of the files is passed over, if it is.
pub(super) fn copies(files: &[FileHint<'_>]) -> Vec<Option<&'static str>> {
    let (mut packed, mut exports, mut stems) = (Vec::new(), Vec::new(), Vec::new());
    for name in files.iter().map(|file| file.name.as_bytes()) {
        packed.extend(unpacked(name));
        exports.extend(name.strip_suffix(b".sqlite"));
        stems.extend((!is_snapshot(name)).then(|| stem(name)));
    }
    for names in [&mut packed, &mut exports, &mut stems] {
        crate::sort::ascending(names);
    }
    #[cfg(feature = "xspace")]
    let profiles: Vec<&[u8]> = {
        let mut names: Vec<_> = files.iter().filter_map(|file| of_xspace(file.name.as_bytes())).collect();
        crate::sort::ascending(&mut names);
        names
    };
    #[cfg(feature = "msprof")]
    let databases: Vec<Vec<u8>> = {
        let named = files.iter().filter(|file| of_msprof(file.name.as_bytes()).is_some());
        named.map(|file| folder(file.name)).collect()
    };
    let why = |file: &FileHint<'_>| {
        let name = file.name.as_bytes();
        #[cfg(feature = "xspace")]
        if beside_xspace(name).is_some_and(|name| has(&profiles, name)) {
            return Some("skipped because the profile in protobuf beside it has all events");
        }
        #[cfg(feature = "msprof")]
        if unpacked(name).unwrap_or(name).ends_with(BESIDE_MSPROF) && databases.contains(&folder(file.name)) {
            return Some("skipped because the database beside it has the same events");
        }
        if has(&packed, name) {
            Some("skipped because its compressed copy is there")
        } else if is_report(file.name) && has(&exports, stem(name)) {
            Some("skipped because its export is there")
        } else if is_snapshot(name) && has(&stems, stem(name)) {
            Some("skipped because the files of this snapshot are there")
        } else {
            None
        }
    };
    files.iter().map(why).collect()
}

fn has(names: &[&[u8]], name: &[u8]) -> bool {
    names.binary_search(&name).is_ok()
}
