//! Load on a gateway on this machine: `cargo build --release && cargo run --release --example load`.
//!
//! It starts the program, which is built beforehand, with a script of its own and asks it, bounded in count and time, over the loopback interface:
//! many streams at once, then malformed requests, then a signal in the middle of streams. It ends with an error unless
//! everything went as it should. Its report is what stands in the README.

#![allow(clippy::print_stdout, reason = "an example shows what it measures")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

type Failure = Box<dyn Error + Send + Sync>;

/// Streams at once.
const STREAMS: usize = 1000;
/// Tokens of each.
const TOKENS: usize = 200;
/// Milliseconds for each token.
const DELAY: u64 = 50;
/// Malformed requests.
const MALFORMED: usize = 10_000;
/// A request takes at most so long.
const PATIENCE: Duration = Duration::from_secs(120);

struct Gateway {
    child: Child,
    address: String,
}

impl Gateway {
    fn start() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("gateway-load-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let script = folder.join("script.jsonl");
        std::fs::write(
            &script,
            format!(
                "{{\"generate\": \" one\", \"repeat\": {TOKENS}, \"delay_ms\": {DELAY}, \"finish\": \"length\"}}\n"
            ),
        )?;
        let program = std::env::current_exe()?;
        let program = program.parent().and_then(|folder| folder.parent()).ok_or("no folder")?;
        let mut child = Command::new(program.join("deepseek-codec-gateway"))
            .args(["--listen", "127.0.0.1:0", "--log", "off", "--max-requests", "2000"])
            .args(["--engine", "script"])
            .arg(&script)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        let mut out = BufReader::new(out);
        out.read_line(&mut line)?;
        let address = line.trim().rsplit('/').next().ok_or("no address")?.to_owned();
        // The script has been read by now.
        while !line.contains("no keys") {
            if out.read_line(&mut line)? == 0 {
                return Err("the gateway did not start".into());
            }
        }
        std::fs::remove_dir_all(&folder)?;
        Ok(Self { child, address })
    }

    /// What it has in memory, in KiB.
    fn memory(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }

    /// Seconds of a processor that it has used.
    fn processor(&self) -> Result<f64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().ok_or("no fields")?.split_whitespace().collect();
        // Fields 14 and 15, in hundredths; two stand before the bracket.
        Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
    }

    fn end(&self) -> Result<(), Failure> {
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        if killed.success() { Ok(()) } else { Err("kill".into()) }
    }
}

/// What came of a stream.
struct Came {
    /// When each token came.
    tokens: Vec<Instant>,
    first: Duration,
    is_well_formed: bool,
}

/// Asks for a stream and reads it.
async fn stream(address: &str, begun_streams: &AtomicUsize) -> Result<Came, Failure> {
    let body = r#"{"model": "deepseek-v4-pro", "stream": true, "thinking": {"type": "disabled"}, "messages": [{"role": "user", "content": "Count."}]}"#;
    let begun = Instant::now();
    let mut connection = TcpStream::connect(address).await?;
    connection.set_nodelay(true)?;
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: load\r\nconnection: close\r\ncontent-type: application/json\r\n";
    connection.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
    let (mut tokens, mut text) = (Vec::with_capacity(TOKENS), Vec::new());
    let mut buffer = vec![0; 4096];
    let mut counted = 0;
    loop {
        let read = connection.read(&mut buffer).await?;
        if read == 0 {
            break;
        }
        let now = Instant::now();
        text.extend_from_slice(&buffer[..read]);
        while let Some(at) = find(&text[counted..], b"\"delta\":{\"content\":\" ") {
            if tokens.is_empty() {
                begun_streams.fetch_add(1, Ordering::Relaxed);
            }
            tokens.push(now);
            counted += at + 1;
        }
        if text.len() > 1 << 20 {
            // What was counted is not needed any more.
            text.drain(..counted);
            counted = 0;
        }
    }
    let first = tokens.first().map_or(Duration::ZERO, |first| *first - begun);
    let is_well_formed = text.ends_with(b"data: [DONE]\n\n\r\n0\r\n\r\n");
    Ok(Came { tokens, first, is_well_formed })
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// All streams at once, begun within a second.
async fn streams(address: &str, count: usize, begun: Arc<AtomicUsize>) -> Vec<Result<Came, Failure>> {
    let mut running = Vec::with_capacity(count);
    for index in 0..count {
        let (address, begun) = (address.to_owned(), begun.clone());
        running.push(tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(index as u64 * 1_000_000 / count as u64)).await;
            timeout(PATIENCE, stream(&address, &begun)).await?
        }));
    }
    let mut came = Vec::with_capacity(count);
    for stream in running {
        came.push(stream.await.unwrap_or_else(|error| Err(error.into())));
    }
    came
}

/// A value at a share of sorted ones.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// By how many milliseconds each token came later than the engine made it: compared with the earliest of its stream, which
/// counts as being on time.
fn lateness(came: &Came) -> Vec<f64> {
    let Some(first) = came.tokens.first() else { return Vec::new() };
    let offset =
        |(at, token): (usize, &Instant)| (*token - *first).as_secs_f64() * 1e3 - (at as u64 * DELAY) as f64;
    let offsets: Vec<f64> = came.tokens.iter().enumerate().map(offset).collect();
    let earliest = offsets.iter().copied().fold(f64::INFINITY, f64::min);
    offsets.into_iter().map(|offset| offset - earliest).collect()
}

async fn many_streams(gateway: &Gateway) -> Result<(), Failure> {
    // The first requests load the vocabulary.
    streams(&gateway.address, 4, Arc::default()).await;
    let (idle, worked, begun) = (gateway.memory()?, gateway.processor()?, Instant::now());
    let running = tokio::spawn({
        let address = gateway.address.clone();
        async move { streams(&address, STREAMS, Arc::default()).await }
    });
    let mut most = 0;
    while !running.is_finished() {
        most = most.max(gateway.memory()?);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let came = running.await?;
    let took = begun.elapsed();
    let worked = gateway.processor()? - worked;
    let whole =
        came.iter().flatten().filter(|came| came.is_well_formed && came.tokens.len() == TOKENS).count();
    let mut late: Vec<f64> = came.iter().flatten().flat_map(lateness).collect();
    late.sort_unstable_by(f64::total_cmp);
    let mut first: Vec<f64> = came.iter().flatten().map(|came| came.first.as_secs_f64() * 1e3).collect();
    first.sort_unstable_by(f64::total_cmp);
    let micros = worked * 1e6 / (STREAMS * TOKENS) as f64;
    println!(
        "| {STREAMS} streams of {TOKENS} tokens at {DELAY} ms each, whole | {whole} of {STREAMS} in {:.1} s |",
        took.as_secs_f64()
    );
    println!(
        "| added to a token: p50, p99, p99.9, most | {:.2} ms, {:.2} ms, {:.2} ms, {:.2} ms |",
        quantile(&late, 0.5),
        quantile(&late, 0.99),
        quantile(&late, 0.999),
        quantile(&late, 1.0)
    );
    println!(
        "| first token, with its {DELAY} ms: p50, p99 | {:.1} ms, {:.1} ms |",
        quantile(&first, 0.5),
        quantile(&first, 0.99)
    );
    println!("| the gateway's processor time for a token, its request included | {micros:.1} µs |");
    println!(
        "| memory: idle, at most, for a stream | {} MiB, {} MiB, {:.1} KiB |",
        idle / 1024,
        most / 1024,
        most.saturating_sub(idle) as f64 / STREAMS as f64
    );
    if whole == STREAMS { Ok(()) } else { Err(format!("{} streams are not whole", STREAMS - whole).into()) }
}

/// Requests that nobody can answer.
fn malformed(index: usize) -> String {
    let deep = "[".repeat(300);
    let long = "x".repeat(5000);
    let bodies = [
        "{".to_owned(),
        String::new(),
        "null".to_owned(),
        r#"{"model": 7}"#.to_owned(),
        r#"{"model": "nobody", "messages": []}"#.to_owned(),
        r#"{"model": "deepseek-v4-pro"}"#.to_owned(),
        r#"{"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": 7}], "input": 7}"#
            .to_owned(),
        format!(r#"{{"model": {deep}"#),
        format!(
            r#"{{"model": "{long}", "messages": [{{"role": "user", "content": "{long}"}}], "input": "x"}}"#
        ),
        "\u{feff}{}\0\u{1}".to_owned(),
    ];
    let paths =
        ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/messages/count_tokens", "/tokenize"];
    let (path, body) = (paths[index % paths.len()], &bodies[index / paths.len() % bodies.len()]);
    match index % 100 {
        97 => format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"),
        98 => format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n"),
        99 => "POST / HTTP/9.9\r\n\r\n".to_owned(),
        _ => format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    }
}

async fn many_malformed(gateway: &Gateway) -> Result<(), Failure> {
    let before = gateway.memory()?;
    let begun = Instant::now();
    let places = Arc::new(Semaphore::new(64));
    let mut running = Vec::with_capacity(MALFORMED);
    for index in 0..MALFORMED {
        let place = places.clone().acquire_owned().await?;
        let address = gateway.address.clone();
        running.push(tokio::spawn(async move {
            let _place = place;
            let ask = async {
                let mut connection = TcpStream::connect(&address).await?;
                connection.write_all(malformed(index).as_bytes()).await?;
                let mut reply = Vec::new();
                connection.read_to_end(&mut reply).await?;
                Ok::<_, Failure>(reply)
            };
            let reply = timeout(PATIENCE, ask).await??;
            Ok::<_, Failure>(reply.starts_with(b"HTTP/1.1 4"))
        }));
    }
    let mut refused = 0;
    for request in running {
        refused += usize::from(request.await??);
    }
    println!(
        "| {MALFORMED} malformed requests: refused, memory before and after | {refused} in {:.1} s, {} MiB, {} MiB |",
        begun.elapsed().as_secs_f64(),
        before / 1024,
        gateway.memory()? / 1024
    );
    if refused == MALFORMED { Ok(()) } else { Err("some were not refused".into()) }
}

async fn end_in_the_middle(mut gateway: Gateway) -> Result<(), Failure> {
    let begun_streams = Arc::new(AtomicUsize::new(0));
    let running = tokio::spawn({
        let (address, begun) = (gateway.address.clone(), begun_streams.clone());
        async move { streams(&address, STREAMS, begun).await }
    });
    while begun_streams.load(Ordering::Relaxed) < STREAMS && !running.is_finished() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    gateway.end()?;
    let begun = Instant::now();
    let came = running.await?;
    let whole =
        came.iter().flatten().filter(|came| came.is_well_formed && came.tokens.len() == TOKENS).count();
    let status = gateway.child.wait()?;
    println!(
        "| SIGTERM in the middle of {STREAMS} streams: whole, the program's end | {whole}, {status} after {:.1} s |",
        begun.elapsed().as_secs_f64()
    );
    let gone = TcpStream::connect(&gateway.address).await.is_err();
    if whole == STREAMS && status.success() && gone { Ok(()) } else { Err("the end was not orderly".into()) }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let gateway = Gateway::start()?;
    println!("| | |\n| --- | --- |");
    many_streams(&gateway).await?;
    many_malformed(&gateway).await?;
    end_in_the_middle(gateway).await
}
