//! The program: settings, a listener, signals.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use deepseek_codec::protocol::Api;
use deepseek_codec_gateway::config::LogForm;
use deepseek_codec_gateway::flags::{Flags, engine};
use deepseek_codec_gateway::server::serve;
use deepseek_codec_gateway::state::Gateway;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "deepseek-codec-gateway: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Failure> {
    let config = Flags::parse().config()?;
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_target(false);
    match config.log.form {
        LogForm::Text => log.init(),
        LogForm::Json => log.json().flatten_event(true).init(),
        LogForm::Off => {}
    }
    let engine = engine(&config)?;
    let listen = config.listen.clone();
    let gateway = Arc::new(Gateway::new(config, engine)?);
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    // Requests are read on threads of their own: twice as many as processors, because some wait for memory.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(processors * 2)
        .build()?;
    let served: Result<(), Failure> = runtime.block_on(async {
        let listener = TcpListener::bind(&listen)
            .await
            .map_err(|error| format!("cannot listen at {listen}: {error}"))?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        gateway.arrange_masks();
        banner(&gateway, &listener)?;
        let shutdown = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        serve(listener, gateway, shutdown).await;
        Ok(())
    });
    // What was cut off may still be working.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Says where the server is, and what answers.
fn banner(gateway: &Gateway, listener: &TcpListener) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "listening at http://{}", listener.local_addr()?)?;
    writeln!(out, "engine: {}", gateway.engine.name())?;
    if let Some(loaded) = gateway.engine.loaded() {
        writeln!(out, "model: {loaded}")?;
        let names: Vec<&str> = gateway.options(Api::Chat).models.iter().map(|(name, _)| name).collect();
        writeln!(out, "served as: {}", names.join(", "))?;
    }
    if let Some(caveat) = gateway.engine.caveat() {
        writeln!(out, "note: {caveat}")?;
    }
    if gateway.config.keys.is_empty() {
        writeln!(out, "note: no keys are set, everyone who reaches this address may ask")?;
    }
    out.flush()
}
