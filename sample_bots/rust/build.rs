//! Generates the protocol's code. protox is a protoc in Rust, so that none has to be installed.

use std::{env, process::Command};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=protos");
    let files = protox::compile(["knavery/v1/referee.proto"], ["protos"])?;
    tonic_build::configure().build_server(false).compile_fds(files)?;

    let rustc = Command::new(env::var("RUSTC")?).arg("--version").output()?;
    let version = String::from_utf8(rustc.stdout)?;
    let number = version.split(' ').nth(1).unwrap_or("unknown");
    println!("cargo:rustc-env=RUSTC_VERSION={number}");
    Ok(())
}
