//! Device code without meaning, in the layout of clang: code objects and offload bundles.

/// Makes a code object of the ISA with this number.
pub fn object(mach: u32) -> Vec<u8> {
    let mut file = [&b"\x7fELF"[..], &[2, 1, 1, 64], &[0; 56]].concat();
    file[18..20].copy_from_slice(&224_u16.to_le_bytes());
    file[48..52].copy_from_slice(&mach.to_le_bytes());
    file
}

/// Makes a code object of this ISA and size.
pub fn code(mach: u32, size: usize) -> Vec<u8> {
    let mut code: Vec<u8> = (0..size).map(|at| (at * 7 % 251).to_le_bytes()[0]).collect();
    let start = object(mach);
    code[..start.len()].copy_from_slice(&start);
    code
}

/// Makes an offload bundle of these code objects, by target.
pub fn bundle(code: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut entries = vec![("host-x86_64-unknown-linux-gnu-".to_owned(), 4096, 0)];
    let mut content = Vec::new();
    for (target, bytes) in code {
        content.resize(content.len().next_multiple_of(4096), 0);
        let id = format!("hipv4-amdgcn-amd-amdhsa--{target}");
        entries.push((id, 4096 + content.len(), bytes.len()));
        content.extend(bytes);
    }
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend((entries.len() as u64).to_le_bytes());
    for (id, offset, size) in entries {
        for number in [offset, size, id.len()] {
            bundle.extend((number as u64).to_le_bytes());
        }
        bundle.extend(id.as_bytes());
    }
    bundle.resize(4096, 0);
    bundle.extend(content);
    bundle
}

/// Compresses the bundle like recent versions of clang.
pub fn compressed(bundle: &[u8]) -> Vec<u8> {
    let stream = zstd::encode_all(bundle, 3).unwrap();
    let mut out = b"CCOB\x03\0\x01\0".to_vec();
    for number in [32 + stream.len() as u64, bundle.len() as u64, 0x1234_5678] {
        out.extend(number.to_le_bytes());
    }
    out.extend(stream);
    out
}
